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

create table schema_migrations (
  number integer not null,
  title text not null,
  compatible boolean not null,
  checksum text not null,
  applied_at timestamp with time zone default now() not null,
  constraint schema_migrations_pkey PRIMARY KEY (number)
);
