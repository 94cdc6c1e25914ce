/**
 * What the keys and the receivers of `wanted` have under way, what those receivers were sent in the last second, and of
 * callback hosts whether the latest try failed, which of a webhook stands in its row; what is tried again has failed
 * before. Counted once for each of them, and not for each delivery: an index over what changes all the time has many
 * dead entries, and whoever counts passes all of them.
 */
// indexes: deliveries_sending, deliveries_begun
export const countPlaces = `
  of_receivers as materialized (
    select other.key_id, other.receiver, count(*)::integer as under_way
    from (select distinct key_id from wanted) as keys
    join deliveries as other on other.key_id = keys.key_id
    where other.status = 'sending' and other.lease_until > clock_timestamp()
    group by other.key_id, other.receiver
  ),
  of_keys as materialized (
    select key_id, sum(under_way)::integer as under_way from of_receivers group by key_id
  ),
  of_late as materialized (
    select receivers.receiver, count(*)::integer as count, min(other.begun_at) as first_at
    from (select distinct receiver from wanted) as receivers
    join deliveries as other on other.receiver = receivers.receiver
    where other.begun_at > statement_timestamp() - interval '1 second'
    group by receivers.receiver
  ),
  of_hosts as materialized (
    select hosts.receiver, latest.status <> 'delivered' as is_failing
    from (select distinct receiver from wanted where webhook_id is null) as hosts
    cross join lateral (
      select other.status from deliveries as other
      where other.receiver = hosts.receiver and other.begun_at is not null
        and (other.status <> 'sending' or other.tries > 1)
      order by other.begun_at desc limit 1
    ) as latest
  )`

export const joinPlaces = (one: string) => `
  left join of_receivers on of_receivers.key_id = ${one}.key_id and of_receivers.receiver = ${one}.receiver
  left join of_keys on of_keys.key_id = ${one}.key_id
  left join of_late on of_late.receiver = ${one}.receiver
  left join of_hosts on of_hosts.receiver = ${one}.receiver`

export const underWay = 'coalesce(of_receivers.under_way, 0)'
export const underWayOfKey = 'coalesce(of_keys.under_way, 0)'
export const ofLate = 'coalesce(of_late.count, 0)'

/** Of a receiver, joined with `webhook`. */
export const isFailing = '(webhook.failing_since is not null or coalesce(of_hosts.is_failing, false))'
