-- compatible: yes

-- Where somebody asked to be told what happens. The secrets that sign are with the vault, under 'webhook:<id>'.
create table webhooks (
  id text collate "C" primary key,
  -- whose it is: it is told what this key may see, for as long as the key lives
  key_id text not null,
  url text not null,
  description text not null,
  events text[] not null check (cardinality(events) > 0),
  -- null: all that the key may see
  tools text[] check (cardinality(tools) > 0),
  topics text[] check (cardinality(topics) > 0),
  -- by its owner, or by an answer of 410
  enabled boolean not null default true,
  -- when it was disabled last: what was wanted before then is told no more, also once it is enabled again
  dropped_at timestamptz not null default '-infinity',
  -- by the platform: what is to be told waits until it is resumed
  paused_reason text,
  paused_at timestamptz,
  -- since when nothing has arrived, and when that was seen last
  failing_since timestamptz,
  failed_at timestamptz,
  -- the number of the secret that signs
  secret_no integer not null default 1,
  -- until then what is sent is signed with the secrets before as well
  rotated_until timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  -- moves with whatever a try depends on
  updated_at timestamptz not null default clock_timestamp(),
  check ((paused_reason is null) = (paused_at is null)),
  check ((failing_since is null) = (failed_at is null))
);
create index webhooks_by_key on webhooks (key_id, id);

-- Which keys have a secret for the callbacks of their calls; the secrets are with the vault, under 'callbacks:<key id>'.
create table callback_secrets (
  key_id text primary key,
  secret_no integer not null default 1,
  -- null: its first secret could not be stored
  made_at timestamptz,
  rotated_until timestamptz
);

-- the UTC day on which it was told last that the budget of that day is used up
alter table tool_memory add column budget_told_on date;

-- One message on its way to one address. No foreign keys, as with invocations: a webhook that is gone is looked for.
create table deliveries (
  -- the webhook-id of the message: the same for all of its tries; sorts by time
  id text collate "C" primary key,
  -- null: to the callback_url of the call
  webhook_id text collate "C",
  -- whose secret signs, and who may see it
  key_id text not null,
  -- of a callback; that of a webhook is looked up when it is sent
  url text,
  -- who shares the places of one receiver: a hash, so that the relay can begin anywhere among them
  receiver text collate "C" not null,
  event text not null,
  invocation_id text collate "C",
  tool text not null,
  -- null: what it tells of belongs to no topic
  topic text,
  -- what it tells, where that is not an invocation
  data json,
  -- dropped: its webhook was disabled or removed, its key ended, or it could not be sent for too long
  status text not null default 'waiting' check (status in ('waiting', 'sending', 'delivered', 'dead', 'dropped')),
  tries integer not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  -- when it was asked for: when it was made, or was sent again by hand
  wanted_at timestamptz not null default clock_timestamp(),
  -- when it may be tried next
  due_at timestamptz not null default clock_timestamp(),
  -- for want of whose places it has left the queue: whoever ends a try to that receiver or of that key calls it
  parked_by text check (parked_by in ('receiver', 'key')),
  -- fences the try, as attempt_token does a run
  token uuid,
  lease_until timestamptz,
  -- when it was tried last
  begun_at timestamptz,
  ended_at timestamptz,
  check ((webhook_id is null) = (url is not null)),
  check ((invocation_id is null) = (data is not null)),
  check ((status = 'sending') = (token is not null) and (status = 'sending') = (lease_until is not null)),
  check ((ended_at is null) = (status in ('waiting', 'sending')))
) with (autovacuum_vacuum_scale_factor = 0.05);
-- a webhook is told of an invocation once
create unique index deliveries_once on deliveries (invocation_id, webhook_id) nulls not distinct
  where invocation_id is not null;
-- who waits, and which of his messages is next
create index deliveries_waiting on deliveries (receiver, due_at) where status = 'waiting';
-- who is in the queue, or was
create index deliveries_called on deliveries (receiver, due_at) where status = 'waiting' and parked_by is null;
create index deliveries_parked on deliveries (receiver, due_at) where status = 'waiting' and parked_by = 'receiver';
create index deliveries_parked_by_key on deliveries (key_id, due_at) where status = 'waiting' and parked_by = 'key';
-- what is under way, of one key and to one receiver: never more than there are places
create index deliveries_sending on deliveries (key_id, receiver) where status = 'sending';
-- how much one receiver was sent of late
create index deliveries_begun on deliveries (receiver, begun_at) where begun_at is not null;
-- lists
create index deliveries_by_webhook on deliveries (webhook_id, id) where webhook_id is not null;

create table delivery_tries (
  delivery_id text collate "C" not null,
  try integer not null,
  started_at timestamptz not null,
  took_ms integer not null,
  -- null: there was no answer
  status_code integer,
  -- why it did not arrive
  fault text,
  -- the beginning of what was answered
  answer text,
  primary key (delivery_id, try)
);
