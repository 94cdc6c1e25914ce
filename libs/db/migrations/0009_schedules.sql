-- compatible: yes

-- When a cron tool goes off, and how that went. Whoever writes ticks of a tool has locked its row here.
create table schedules (
  tool text collate "C" primary key,
  -- the version that it was read from; '' while there is none
  hash text not null,
  -- what the manifest says: schedule, timezone, overlap, catch_up_seconds, jitter_seconds, pause_after
  asked jsonb not null,
  -- what an operator wants of these instead
  overrides jsonb not null default '{}',
  -- what a tick gives the tool, and what the tool needs for it. `json`: it keeps texts that jsonb refuses.
  call json not null,
  -- false: the tool is gone, or is no cron tool any more
  is_active boolean not null default true,
  created_at timestamptz not null default clock_timestamp(),
  -- what became of the ticks up to here is decided
  last_tick_at timestamptz not null,
  -- the first of which it is not; null: there is none, or it is paused
  next_tick_at timestamptz,
  paused_at timestamptz,
  paused_reason text,
  -- failures of the tool since its last success
  failures integer not null default 0,
  -- how the last of its runs ended
  last_invocation_id text,
  last_status text,
  -- kind and message
  last_failure json,
  last_ended_at timestamptz,
  -- ticks, and prompts that newer ones took the place of
  fired_count integer not null default 0,
  skipped_count integer not null default 0,
  missed_count integer not null default 0,
  superseded_count integer not null default 0,
  check ((paused_at is null) = (paused_reason is null)),
  check (next_tick_at is null or (paused_at is null and is_active))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
create index schedules_due on schedules (next_tick_at) where next_tick_at is not null;

-- What became of each tick. No two are of the same moment: that is what makes a tick run once.
create table ticks (
  tool text collate "C" not null,
  tick_at timestamptz not null,
  origin text not null check (origin in ('schedule', 'manual', 'backfill')),
  -- buffered: it waits for the run before it
  fate text not null check (fate in ('fired', 'buffered', 'skipped', 'missed')),
  -- why it did not run
  reason text,
  invocation_id text collate "C",
  -- a newer one takes its place: its run is to be cancelled
  is_overtaken boolean not null default false,
  written_at timestamptz not null default clock_timestamp(),
  -- null: it runs, or waits to
  ended_at timestamptz,
  -- the final status of its invocation
  status text,
  primary key (tool, tick_at),
  check ((fate = 'fired') = (invocation_id is not null)),
  check (case fate when 'fired' then true when 'buffered' then ended_at is null else ended_at is not null end)
) with (autovacuum_vacuum_scale_factor = 0.05);
create unique index ticks_by_invocation on ticks (invocation_id) where invocation_id is not null;
create index ticks_open on ticks (tool, tick_at) where ended_at is null;
-- the next to start: a backfill, which may be long, comes after all others
create index ticks_waiting on ticks (tool, (origin = 'backfill'), tick_at) where fate = 'buffered' and ended_at is null;
create index ticks_overtaken on ticks (tool) where is_overtaken and ended_at is null;
create index ticks_by_age on ticks (written_at);

-- What runs of cron tools leave for the agent.
create table prompts (
  id text collate "C" primary key,
  tool text collate "C" not null,
  invocation_id text collate "C" not null unique,
  tick_at timestamptz not null,
  -- 0 critical, 1 normal, 2 low
  priority smallint not null check (priority between 0 and 2),
  text text not null,
  -- superseded: too many waited, and newer ones took its place
  status text not null default 'waiting' check (status in ('waiting', 'claimed', 'acked', 'superseded')),
  created_at timestamptz not null default clock_timestamp(),
  -- how often it was claimed
  claims integer not null default 0,
  -- fences the claim, as attempt_token does a run
  claim uuid,
  claimed_by text,
  -- from then on anybody may claim it again
  lease_until timestamptz,
  ended_at timestamptz,
  check (status <> 'claimed' or (claim is not null and claimed_by is not null and lease_until is not null)),
  check ((ended_at is null) = (status in ('waiting', 'claimed')))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- the next to be claimed; by their time, since ids of one millisecond are in no order
create index prompts_open on prompts (priority, created_at, id) where ended_at is null;
-- how many of a tool wait
create index prompts_open_by_tool on prompts (tool) where ended_at is null;
-- lists, however rare it is what they look for
create index prompts_by_tool on prompts (tool, id);
create index prompts_ended on prompts (status, id) where ended_at is not null;
create index prompts_ended_by_tool on prompts (tool, status, id) where ended_at is not null;

-- What the last run of a tool wants to be told the next time.
create table tool_states (
  tool text collate "C" primary key,
  invocation_id text collate "C" not null,
  state json not null,
  stored_at timestamptz not null default clock_timestamp()
);
create index tool_states_by_age on tool_states (stored_at);
