/**
 * What the keys and the receivers of `wanted` have under way, and what those receivers were sent in the last second.
 * Counted once for each of them, and not for each delivery: an index over what changes all the time has many dead
 * entries, and whoever counts passes all of them.
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
  )`

export const joinPlaces = (one: string) => `
  left join of_receivers on of_receivers.key_id = ${one}.key_id and of_receivers.receiver = ${one}.receiver
  left join of_keys on of_keys.key_id = ${one}.key_id
  left join of_late on of_late.receiver = ${one}.receiver`

export const underWay = 'coalesce(of_receivers.under_way, 0)'
export const underWayOfKey = 'coalesce(of_keys.under_way, 0)'
export const ofLate = 'coalesce(of_late.count, 0)'
