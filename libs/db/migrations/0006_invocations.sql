-- compatible: yes

-- One row per accepted request to run a tool. It is written at every change of status, so it is narrow, and what is
-- large stands beside it. No foreign keys here: each would lock the row that it points to with every insert.
-- `gate` says what stands between the row and a worker, and is in the indexes in place of `status`: claiming a row and
-- renewing its lease then touch no index at all.
create table invocations (
  -- sorts by time
  id text collate "C" primary key,
  tool text collate "C" not null,
  topic text collate "C" not null,
  -- whose call it is; null: the platform's own, as a tick
  key_id text,
  status text not null check (status in
    ('queued', 'running', 'succeeded', 'failed', 'timed_out', 'cancelled', 'expired')),
  -- delayed: its time has not come; held: the tool is at its limit; open: in the queue or running; closed: final
  gate text not null check (gate in ('delayed', 'held', 'open', 'closed')),
  -- the same as status once that is final, for the index
  final_status text check ((final_status is null) = (gate <> 'closed') and final_status = status),
  priority smallint not null check (priority between 0 and 9),
  created_at timestamptz not null default clock_timestamp(),
  -- when it may start, as the caller wished; its time to live counts from here
  due_at timestamptz not null,
  -- when it may start next: later than due_at while a retry waits
  not_before timestamptz not null,
  expires_at timestamptz not null,
  -- the version that served when it was accepted, the one it is bound to (null: whichever serves), and the one that ran
  submitted_hash text not null,
  pinned_hash text,
  ran_hash text,
  -- how often it was started
  attempts integer not null default 0,
  infra_failures integer not null default 0,
  tool_failures integer not null default 0,
  -- fences the attempt: whoever has it may write an outcome. It stays when the row is closed.
  attempt_token uuid,
  lease_until timestamptz,
  worker_id text,
  engine_id text,
  -- of the version that runs, so that a lost attempt can be judged without its manifest
  rerun boolean not null default true,
  retries_max integer not null default 0,
  -- of the current attempt: from here on the tool may have seen its payload
  handed_over_at timestamptz,
  started_at timestamptz,
  finished_at timestamptz,
  cancel_requested_at timestamptz,
  reward double precision,
  feedback double precision check (feedback between -1 and 1),
  search_id text,
  replay_of text,
  check (case gate when 'open' then status in ('queued', 'running') when 'closed' then status not in ('queued', 'running')
    else status = 'queued' end),
  check (status <> 'running' or (attempt_token is not null and lease_until is not null)),
  check ((finished_at is null) = (gate <> 'closed'))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
-- lists
create index invocations_by_tool on invocations (tool, id);
create index invocations_by_topic on invocations (topic, id);
create index invocations_by_outcome on invocations (final_status, id) where gate = 'closed';
-- what a tool has in the queue and in workers: never more rows than its limit
create index invocations_open on invocations (tool) where gate = 'open';
-- the next to be admitted
create index invocations_held on invocations (tool, priority desc, id) where gate = 'held';
create index invocations_delayed on invocations (not_before) where gate = 'delayed';
-- what expires, and how much waits
create index invocations_waiting on invocations (expires_at) include (tool) where gate <> 'closed';

-- What the caller gave. `json` and not `jsonb`: it is never looked into here, and it keeps texts that jsonb refuses.
create table invocation_inputs (
  id text collate "C" primary key,
  params json not null,
  telemetry json not null,
  metadata json not null,
  callback_url text
);

-- How it ended, written with the final status.
create table invocation_outcomes (
  id text collate "C" primary key,
  result json,
  -- kind, class, message, exit_code
  failure json
);

-- What the tool wrote, for operators; kept for a shorter time.
create table invocation_raws (
  id text collate "C" primary key,
  stdout bytea not null,
  stderr_tail bytea not null,
  stored_at timestamptz not null default clock_timestamp()
);
create index invocation_raws_by_age on invocation_raws (stored_at);

create table attempts (
  invocation_id text collate "C" not null,
  attempt integer not null,
  worker_id text not null,
  engine_id text not null,
  -- known once a sandbox was taken
  container_id text,
  started_at timestamptz not null default clock_timestamp(),
  handed_over_at timestamptz,
  ended_at timestamptz,
  end_reason text,
  primary key (invocation_id, attempt)
) with (fillfactor = 70);

create table idempotency (
  -- '' for the platform's own calls
  key_id text collate "C" not null,
  key text collate "C" not null,
  body_hash bytea not null,
  invocation_id text not null,
  expires_at timestamptz not null,
  primary key (key_id, key)
);
create index idempotency_by_age on idempotency (expires_at);

-- Renewed with the leases. A worker that holds nothing renews too: its slots count for the limits of tools.
create table workers (
  id text primary key,
  engine_id text not null,
  slots integer not null check (slots >= 0),
  seen_at timestamptz not null default clock_timestamp()
) with (fillfactor = 50);
