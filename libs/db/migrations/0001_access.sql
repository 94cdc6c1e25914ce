-- compatible: yes

create table api_keys (
  id text primary key,
  name text not null,
  secret_hash text not null,
  scopes text[] not null check (cardinality(scopes) > 0),
  -- null: not bound; a list: this key sees and touches only these
  topics text[] check (cardinality(topics) > 0),
  tools text[] check (cardinality(tools) > 0),
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  revoked_at timestamptz
);

-- Moves by one with every change that could make a cached key wrong. Every process reads it each second.
create table access_epoch (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null default 0
);
insert into access_epoch default values;

create table audit (
  id text primary key,
  at timestamptz not null default now(),
  actor text not null,
  action text not null,
  target text not null,
  detail jsonb not null default '{}',
  request_id text
);
