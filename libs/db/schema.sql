-- What the migrations make. Written by scripts/write-schema.ts and compared in a test: to change it, add a migration.

create table access_epoch (
  only_row boolean default true not null,
  epoch bigint default 0 not null,
  constraint access_epoch_pkey PRIMARY KEY (only_row),
  constraint access_epoch_only_row_check CHECK (only_row)
);

create table api_keys (
  id text collate "C" not null,
  name text not null,
  secret_hash text not null,
  secret_check bytea not null,
  scopes text[] not null,
  topics text[],
  tools text[],
  created_at timestamp with time zone default clock_timestamp() not null,
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint api_keys_pkey PRIMARY KEY (id),
  constraint api_keys_scopes_check CHECK ((cardinality(scopes) > 0)),
  constraint api_keys_secret_check_check CHECK ((octet_length(secret_check) = 4)),
  constraint api_keys_tools_check CHECK ((cardinality(tools) > 0)),
  constraint api_keys_topics_check CHECK ((cardinality(topics) > 0))
);
CREATE INDEX api_keys_not_revoked ON public.api_keys USING btree (expires_at) WHERE (revoked_at IS NULL);

create table attempts (
  invocation_id text collate "C" not null,
  attempt integer not null,
  worker_id text not null,
  engine_id text not null,
  container_id text,
  started_at timestamp with time zone default clock_timestamp() not null,
  handed_over_at timestamp with time zone,
  ended_at timestamp with time zone,
  end_reason text,
  constraint attempts_pkey PRIMARY KEY (invocation_id, attempt)
) with (fillfactor=70);

create table audit (
  id text collate "C" not null,
  at timestamp with time zone default clock_timestamp() not null,
  actor text not null,
  actor_name text not null,
  action text not null,
  target text not null,
  detail jsonb default '{}'::jsonb not null,
  request_id text,
  constraint audit_pkey PRIMARY KEY (id)
);

create table callback_secrets (
  key_id text not null,
  secret_no integer default 1 not null,
  made_at timestamp with time zone,
  rotated_until timestamp with time zone,
  constraint callback_secrets_pkey PRIMARY KEY (key_id)
);

create table catalog_scans (
  process_id text not null,
  engine_id text,
  reload bigint not null,
  content_hash text not null,
  tool_count integer not null,
  faults jsonb default '[]'::jsonb not null,
  scanned_at timestamp with time zone default now() not null,
  constraint catalog_scans_pkey PRIMARY KEY (process_id)
);

create table catalog_state (
  only_row boolean default true not null,
  epoch bigint default 0 not null,
  reload bigint default 0 not null,
  constraint catalog_state_pkey PRIMARY KEY (only_row),
  constraint catalog_state_only_row_check CHECK (only_row)
);

create table deliveries (
  id text collate "C" not null,
  webhook_id text collate "C",
  key_id text not null,
  url text,
  receiver text collate "C" not null,
  event text not null,
  invocation_id text collate "C",
  tool text not null,
  topic text,
  data json,
  status text default 'waiting'::text not null,
  tries integer default 0 not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  wanted_at timestamp with time zone default clock_timestamp() not null,
  due_at timestamp with time zone default clock_timestamp() not null,
  parked_by text,
  token uuid,
  lease_until timestamp with time zone,
  begun_at timestamp with time zone,
  ended_at timestamp with time zone,
  constraint deliveries_pkey PRIMARY KEY (id),
  constraint deliveries_check CHECK (((webhook_id IS NULL) = (url IS NOT NULL))),
  constraint deliveries_check1 CHECK (((invocation_id IS NULL) = (data IS NOT NULL))),
  constraint deliveries_check2 CHECK ((((status = 'sending'::text) = (token IS NOT NULL)) AND ((status = 'sending'::text) = (lease_until IS NOT NULL)))),
  constraint deliveries_check3 CHECK (((ended_at IS NULL) = (status = ANY (ARRAY['waiting'::text, 'sending'::text])))),
  constraint deliveries_parked_by_check CHECK ((parked_by = ANY (ARRAY['receiver'::text, 'key'::text]))),
  constraint deliveries_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'sending'::text, 'delivered'::text, 'dead'::text, 'dropped'::text])))
) with (autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX deliveries_begun ON public.deliveries USING btree (receiver, begun_at) WHERE (begun_at IS NOT NULL);
CREATE INDEX deliveries_by_webhook ON public.deliveries USING btree (webhook_id, id) WHERE (webhook_id IS NOT NULL);
CREATE INDEX deliveries_called ON public.deliveries USING btree (receiver, due_at) WHERE ((status = 'waiting'::text) AND (parked_by IS NULL));
CREATE UNIQUE INDEX deliveries_once ON public.deliveries USING btree (invocation_id, webhook_id) NULLS NOT DISTINCT WHERE (invocation_id IS NOT NULL);
CREATE INDEX deliveries_parked ON public.deliveries USING btree (receiver, due_at) WHERE ((status = 'waiting'::text) AND (parked_by = 'receiver'::text));
CREATE INDEX deliveries_parked_by_key ON public.deliveries USING btree (key_id, due_at) WHERE ((status = 'waiting'::text) AND (parked_by = 'key'::text));
CREATE INDEX deliveries_sending ON public.deliveries USING btree (key_id, receiver) WHERE (status = 'sending'::text);
CREATE INDEX deliveries_waiting ON public.deliveries USING btree (receiver, due_at) WHERE (status = 'waiting'::text);

create table delivery_tries (
  delivery_id text collate "C" not null,
  try integer not null,
  started_at timestamp with time zone not null,
  took_ms integer not null,
  status_code integer,
  fault text,
  answer text,
  constraint delivery_tries_pkey PRIMARY KEY (delivery_id, try)
);

create table idempotency (
  key_id text collate "C" not null,
  key text collate "C" not null,
  body_hash bytea not null,
  invocation_id text not null,
  expires_at timestamp with time zone not null,
  constraint idempotency_pkey PRIMARY KEY (key_id, key)
);
CREATE INDEX idempotency_by_age ON public.idempotency USING btree (expires_at);

create table images (
  tool text collate "C" not null,
  hash text not null,
  engine_id text not null,
  state text default 'wanted'::text not null,
  image_id text,
  facts jsonb,
  error text,
  progress text,
  failures integer default 0 not null,
  changed_at timestamp with time zone default now() not null,
  constraint images_pkey PRIMARY KEY (hash, engine_id),
  constraint images_check CHECK (((state <> 'ready'::text) OR ((image_id IS NOT NULL) AND (facts IS NOT NULL)))),
  constraint images_state_check CHECK ((state = ANY (ARRAY['wanted'::text, 'building'::text, 'ready'::text, 'error'::text])))
);
CREATE INDEX images_by_engine ON public.images USING btree (engine_id, state);

create table invocation_inputs (
  id text collate "C" not null,
  params json not null,
  telemetry json not null,
  metadata json not null,
  callback_url text,
  constraint invocation_inputs_pkey PRIMARY KEY (id)
);

create table invocation_outcomes (
  id text collate "C" not null,
  result json,
  failure json,
  constraint invocation_outcomes_pkey PRIMARY KEY (id)
);

create table invocation_raws (
  id text collate "C" not null,
  stdout bytea not null,
  stderr_tail bytea not null,
  stored_at timestamp with time zone default clock_timestamp() not null,
  constraint invocation_raws_pkey PRIMARY KEY (id)
);
CREATE INDEX invocation_raws_by_age ON public.invocation_raws USING btree (stored_at);

create table invocations (
  id text collate "C" not null,
  tool text collate "C" not null,
  topic text collate "C" not null,
  key_id text,
  status text not null,
  gate text not null,
  final_status text,
  priority smallint not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  due_at timestamp with time zone not null,
  not_before timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  submitted_hash text not null,
  pinned_hash text,
  ran_hash text,
  attempts integer default 0 not null,
  infra_failures integer default 0 not null,
  tool_failures integer default 0 not null,
  attempt_token uuid,
  lease_until timestamp with time zone,
  worker_id text,
  engine_id text,
  rerun boolean default true not null,
  retries_max integer default 0 not null,
  handed_over_at timestamp with time zone,
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  cancel_requested_at timestamp with time zone,
  reward double precision,
  feedback double precision,
  search_id text,
  replay_of text,
  constraint invocations_pkey PRIMARY KEY (id),
  constraint invocations_check CHECK ((((final_status IS NULL) = (gate <> 'closed'::text)) AND (final_status = status))),
  constraint invocations_check1 CHECK (
CASE gate
    WHEN 'open'::text THEN (status = ANY (ARRAY['queued'::text, 'running'::text]))
    WHEN 'closed'::text THEN (status <> ALL (ARRAY['queued'::text, 'running'::text]))
    ELSE (status = 'queued'::text)
END),
  constraint invocations_check2 CHECK (((status <> 'running'::text) OR ((attempt_token IS NOT NULL) AND (lease_until IS NOT NULL)))),
  constraint invocations_check3 CHECK (((finished_at IS NULL) = (gate <> 'closed'::text))),
  constraint invocations_feedback_check CHECK (((feedback >= ('-1'::integer)::double precision) AND (feedback <= (1)::double precision))),
  constraint invocations_gate_check CHECK ((gate = ANY (ARRAY['delayed'::text, 'held'::text, 'open'::text, 'closed'::text]))),
  constraint invocations_priority_check CHECK (((priority >= 0) AND (priority <= 9))),
  constraint invocations_status_check CHECK ((status = ANY (ARRAY['queued'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'timed_out'::text, 'cancelled'::text, 'expired'::text])))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX invocations_by_both ON public.invocations USING btree (topic, tool, COALESCE(final_status, 'unfinished'::text), id);
CREATE INDEX invocations_by_outcome ON public.invocations USING btree (final_status, id) WHERE (gate = 'closed'::text);
CREATE INDEX invocations_by_pin ON public.invocations USING btree (tool, pinned_hash) WHERE (pinned_hash IS NOT NULL);
CREATE INDEX invocations_by_tool ON public.invocations USING btree (tool, COALESCE(final_status, 'unfinished'::text), id);
CREATE INDEX invocations_by_topic ON public.invocations USING btree (topic, COALESCE(final_status, 'unfinished'::text), id);
CREATE INDEX invocations_delayed ON public.invocations USING btree (not_before) WHERE (gate = 'delayed'::text);
CREATE INDEX invocations_held ON public.invocations USING btree (tool, priority DESC, id) WHERE (gate = 'held'::text);
CREATE INDEX invocations_open ON public.invocations USING btree (tool) WHERE (gate = 'open'::text);
CREATE INDEX invocations_unfinished ON public.invocations USING btree (id) WHERE (COALESCE(final_status, 'unfinished'::text) = 'unfinished'::text);
CREATE INDEX invocations_waiting ON public.invocations USING btree (expires_at) INCLUDE (tool) WHERE (finished_at IS NULL);

create table lesson_state (
  only_row boolean default true not null,
  forgotten bigint default 0 not null,
  constraint lesson_state_pkey PRIMARY KEY (only_row),
  constraint lesson_state_only_row_check CHECK (only_row)
);

create table lesson_topics (
  topic text collate "C" not null,
  forgotten xid8 default pg_current_xact_id() not null,
  forgotten_at timestamp with time zone default clock_timestamp() not null,
  constraint lesson_topics_pkey PRIMARY KEY (topic)
);

create table lessons (
  invocation_id text collate "C" not null,
  search_id text not null,
  tool text collate "C" not null,
  topic text collate "C" not null,
  query text not null,
  model_id text,
  vector bytea,
  reward double precision not null,
  learned_at timestamp with time zone default date_trunc('milliseconds'::text, clock_timestamp()) not null,
  changed_by xid8 default pg_current_xact_id() not null,
  constraint lessons_pkey PRIMARY KEY (invocation_id),
  constraint lessons_reward_check CHECK (((reward >= ('-1'::integer)::double precision) AND (reward <= (1)::double precision)))
);
CREATE INDEX lessons_by_age ON public.lessons USING btree (learned_at);
CREATE INDEX lessons_by_change ON public.lessons USING btree (topic, changed_by);
CREATE INDEX lessons_by_kind ON public.lessons USING btree (tool, topic, sign(reward), learned_at, invocation_id);

create table processes (
  id text not null,
  kind text not null,
  host text not null,
  pid integer not null,
  started_at timestamp with time zone default now() not null,
  seen_at timestamp with time zone default now() not null,
  ready boolean not null,
  parts jsonb default '{}'::jsonb not null,
  metrics jsonb default '[]'::jsonb not null,
  constraint processes_pkey PRIMARY KEY (id)
);
CREATE INDEX processes_by_kind ON public.processes USING btree (kind, seen_at);

create table prompts (
  id text collate "C" not null,
  tool text collate "C" not null,
  invocation_id text collate "C" not null,
  tick_at timestamp with time zone not null,
  priority smallint not null,
  text text not null,
  status text default 'waiting'::text not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  claims integer default 0 not null,
  claim uuid,
  claimed_by text,
  lease_until timestamp with time zone,
  ended_at timestamp with time zone,
  constraint prompts_pkey PRIMARY KEY (id),
  constraint prompts_invocation_id_key UNIQUE (invocation_id),
  constraint prompts_check CHECK (((status <> 'claimed'::text) OR ((claim IS NOT NULL) AND (claimed_by IS NOT NULL) AND (lease_until IS NOT NULL)))),
  constraint prompts_check1 CHECK (((ended_at IS NULL) = (status = ANY (ARRAY['waiting'::text, 'claimed'::text])))),
  constraint prompts_priority_check CHECK (((priority >= 0) AND (priority <= 2))),
  constraint prompts_status_check CHECK ((status = ANY (ARRAY['waiting'::text, 'claimed'::text, 'acked'::text, 'superseded'::text])))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX prompts_by_tool ON public.prompts USING btree (tool, id);
CREATE INDEX prompts_ended ON public.prompts USING btree (status, id) WHERE (ended_at IS NOT NULL);
CREATE INDEX prompts_ended_by_tool ON public.prompts USING btree (tool, status, id) WHERE (ended_at IS NOT NULL);
CREATE INDEX prompts_open ON public.prompts USING btree (priority, created_at, id) WHERE (ended_at IS NULL);
CREATE INDEX prompts_open_by_tool ON public.prompts USING btree (tool) WHERE (ended_at IS NULL);

create table schedules (
  tool text collate "C" not null,
  hash text not null,
  asked jsonb not null,
  overrides jsonb default '{}'::jsonb not null,
  call json not null,
  is_active boolean default true not null,
  created_at timestamp with time zone default clock_timestamp() not null,
  last_tick_at timestamp with time zone not null,
  next_tick_at timestamp with time zone,
  paused_at timestamp with time zone,
  paused_reason text,
  failures integer default 0 not null,
  last_invocation_id text,
  last_status text,
  last_failure json,
  last_ended_at timestamp with time zone,
  fired_count integer default 0 not null,
  skipped_count integer default 0 not null,
  missed_count integer default 0 not null,
  superseded_count integer default 0 not null,
  constraint schedules_pkey PRIMARY KEY (tool),
  constraint schedules_check CHECK (((paused_at IS NULL) = (paused_reason IS NULL))),
  constraint schedules_check1 CHECK (((next_tick_at IS NULL) OR ((paused_at IS NULL) AND is_active)))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX schedules_due ON public.schedules USING btree (next_tick_at) WHERE (next_tick_at IS NOT NULL);

create table schema_migrations (
  number integer not null,
  title text not null,
  compatible boolean not null,
  checksum text not null,
  applied_at timestamp with time zone default now() not null,
  constraint schema_migrations_pkey PRIMARY KEY (number)
);

create table searches (
  id text collate "C" not null,
  key_id text not null,
  topic text not null,
  query text not null,
  model_id text,
  vector bytea,
  created_at timestamp with time zone default clock_timestamp() not null,
  constraint searches_pkey PRIMARY KEY (id),
  constraint searches_check CHECK (((model_id IS NULL) = (vector IS NULL)))
);
CREATE INDEX searches_by_key ON public.searches USING btree (key_id, id);

create table switches (
  name text not null,
  is_on boolean not null,
  constraint switches_pkey PRIMARY KEY (name)
);

create table text_vectors (
  model_id text collate "C" not null,
  text_hash text collate "C" not null,
  vectors bytea not null,
  used_at timestamp with time zone default clock_timestamp() not null,
  dimensions integer,
  constraint text_vectors_pkey PRIMARY KEY (model_id, text_hash)
);

create table ticks (
  tool text collate "C" not null,
  tick_at timestamp with time zone not null,
  origin text not null,
  fate text not null,
  reason text,
  invocation_id text collate "C",
  is_overtaken boolean default false not null,
  written_at timestamp with time zone default clock_timestamp() not null,
  ended_at timestamp with time zone,
  status text,
  constraint ticks_pkey PRIMARY KEY (tool, tick_at),
  constraint ticks_check CHECK (((fate = 'fired'::text) = (invocation_id IS NOT NULL))),
  constraint ticks_check1 CHECK (
CASE fate
    WHEN 'fired'::text THEN true
    WHEN 'buffered'::text THEN (ended_at IS NULL)
    ELSE (ended_at IS NOT NULL)
END),
  constraint ticks_fate_check CHECK ((fate = ANY (ARRAY['fired'::text, 'buffered'::text, 'skipped'::text, 'missed'::text]))),
  constraint ticks_origin_check CHECK ((origin = ANY (ARRAY['schedule'::text, 'manual'::text, 'backfill'::text])))
) with (autovacuum_vacuum_scale_factor=0.05);
CREATE INDEX ticks_by_age ON public.ticks USING btree (written_at);
CREATE UNIQUE INDEX ticks_by_invocation ON public.ticks USING btree (invocation_id) WHERE (invocation_id IS NOT NULL);
CREATE INDEX ticks_open ON public.ticks USING btree (tool, tick_at) WHERE (ended_at IS NULL);
CREATE INDEX ticks_overtaken ON public.ticks USING btree (tool) WHERE (is_overtaken AND (ended_at IS NULL));
CREATE INDEX ticks_waiting ON public.ticks USING btree (tool, ((origin = 'backfill'::text)), tick_at) WHERE ((fate = 'buffered'::text) AND (ended_at IS NULL));

create table tool_memory (
  tool text collate "C" not null,
  attempts bigint default 0 not null,
  successes bigint default 0 not null,
  reward_sum double precision default 0 not null,
  weight double precision default 1 not null,
  recent double precision default 1 not null,
  latency integer[] default array_fill(0, ARRAY[82]) not null,
  last_failure_kind text,
  last_failure_at timestamp with time zone,
  budget_remaining double precision,
  budget_seen_at timestamp with time zone,
  budget_refilled_at timestamp with time zone,
  budget_day date,
  budget_spent double precision default 0 not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  budget_told_on date,
  constraint tool_memory_pkey PRIMARY KEY (tool),
  constraint tool_memory_budget_spent_check CHECK ((budget_spent >= (0)::double precision)),
  constraint tool_memory_check CHECK (((successes >= 0) AND (successes <= attempts))),
  constraint tool_memory_latency_check CHECK ((cardinality(latency) = 82)),
  constraint tool_memory_recent_check CHECK (((recent >= (0.1)::double precision) AND (recent <= (1)::double precision))),
  constraint tool_memory_weight_check CHECK (((weight >= (0.1)::double precision) AND (weight <= (5)::double precision)))
) with (fillfactor=20, autovacuum_vacuum_scale_factor=0.05);

create table tool_states (
  tool text collate "C" not null,
  invocation_id text collate "C" not null,
  state json not null,
  stored_at timestamp with time zone default clock_timestamp() not null,
  constraint tool_states_pkey PRIMARY KEY (tool)
);
CREATE INDEX tool_states_by_age ON public.tool_states USING btree (stored_at);

create table tool_versions (
  tool text collate "C" not null,
  hash text not null,
  version text not null,
  manifest json not null,
  found_at timestamp with time zone default now() not null,
  served_at timestamp with time zone,
  constraint tool_versions_pkey PRIMARY KEY (tool, hash)
);
CREATE INDEX tool_versions_by_service ON public.tool_versions USING btree (tool, served_at);

create table tools (
  name text collate "C" not null,
  enabled boolean default true not null,
  wanted_hash text,
  current_hash text,
  refused_hash text,
  faults jsonb default '[]'::jsonb not null,
  removed_at timestamp with time zone,
  constraint tools_pkey PRIMARY KEY (name)
);

create table topic_memory (
  tool text collate "C" not null,
  topic text collate "C" not null,
  attempts bigint not null,
  successes bigint not null,
  reward_sum double precision not null,
  weight double precision not null,
  recent double precision not null,
  latency integer[] not null,
  last_failure_kind text,
  last_failure_at timestamp with time zone,
  updated_at timestamp with time zone default clock_timestamp() not null,
  constraint topic_memory_pkey PRIMARY KEY (tool, topic),
  constraint topic_memory_check CHECK (((successes >= 0) AND (successes <= attempts))),
  constraint topic_memory_latency_check CHECK ((cardinality(latency) = 82)),
  constraint topic_memory_recent_check CHECK (((recent >= (0.1)::double precision) AND (recent <= (1)::double precision))),
  constraint topic_memory_weight_check CHECK (((weight >= (0.1)::double precision) AND (weight <= (5)::double precision)))
) with (fillfactor=70, autovacuum_vacuum_scale_factor=0.05);

create table vault_data_keys (
  tool text collate "C" not null,
  master_key_id text collate "C" not null,
  wrapped bytea not null,
  constraint vault_data_keys_pkey PRIMARY KEY (tool)
);
CREATE INDEX vault_data_keys_by_master ON public.vault_data_keys USING btree (master_key_id, tool);

create table vault_master_keys (
  id text collate "C" not null,
  proof bytea not null,
  made_on text,
  created_at timestamp with time zone default now() not null,
  constraint vault_master_keys_pkey PRIMARY KEY (id),
  constraint vault_master_keys_proof_check CHECK ((octet_length(proof) = 32))
);

create table vault_settings (
  tool text collate "C" not null,
  key text collate "C" not null,
  secret boolean not null,
  filled boolean not null,
  sealed bytea not null,
  changed_at timestamp with time zone default now() not null,
  constraint vault_settings_pkey PRIMARY KEY (tool, key)
);

create table webhooks (
  id text collate "C" not null,
  key_id text not null,
  url text not null,
  description text not null,
  events text[] not null,
  tools text[],
  topics text[],
  enabled boolean default true not null,
  dropped_at timestamp with time zone default '-infinity'::timestamp with time zone not null,
  paused_reason text,
  paused_at timestamp with time zone,
  failing_since timestamp with time zone,
  failed_at timestamp with time zone,
  secret_no integer default 1 not null,
  rotated_until timestamp with time zone,
  created_at timestamp with time zone default clock_timestamp() not null,
  updated_at timestamp with time zone default clock_timestamp() not null,
  constraint webhooks_pkey PRIMARY KEY (id),
  constraint webhooks_check CHECK (((paused_reason IS NULL) = (paused_at IS NULL))),
  constraint webhooks_check1 CHECK (((failing_since IS NULL) = (failed_at IS NULL))),
  constraint webhooks_events_check CHECK ((cardinality(events) > 0)),
  constraint webhooks_tools_check CHECK ((cardinality(tools) > 0)),
  constraint webhooks_topics_check CHECK ((cardinality(topics) > 0))
);
CREATE INDEX webhooks_by_key ON public.webhooks USING btree (key_id, id);

create table workers (
  id text not null,
  engine_id text not null,
  slots integer not null,
  seen_at timestamp with time zone default clock_timestamp() not null,
  constraint workers_pkey PRIMARY KEY (id),
  constraint workers_slots_check CHECK ((slots >= 0))
) with (fillfactor=50);

alter table images add constraint images_tool_hash_fkey FOREIGN KEY (tool, hash) REFERENCES tool_versions(tool, hash);

alter table tools add constraint tools_name_current_hash_fkey FOREIGN KEY (name, current_hash) REFERENCES tool_versions(tool, hash);

alter table tools add constraint tools_name_wanted_hash_fkey FOREIGN KEY (name, wanted_hash) REFERENCES tool_versions(tool, hash);

alter table vault_data_keys add constraint vault_data_keys_master_key_id_fkey FOREIGN KEY (master_key_id) REFERENCES vault_master_keys(id);

alter table vault_settings add constraint vault_settings_tool_fkey FOREIGN KEY (tool) REFERENCES vault_data_keys(tool);
