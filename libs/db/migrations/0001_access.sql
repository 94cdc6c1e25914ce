-- compatible: yes

create table api_keys (
  -- sorts by time; collated "C" so that pages come in the order of the bytes whatever the database's locale
  id text collate "C" primary key,
  name text not null,
  -- argon2id, with its parameters and salt
  secret_hash text not null,
  -- the first 32 of the 256 bits of sha256(secret): tells a made-up key from a probable one without an argon2 run
  secret_check bytea not null check (octet_length(secret_check) = 4),
  scopes text[] not null check (cardinality(scopes) > 0),
  -- null: not bound; a list: this key sees and touches only these
  topics text[] check (cardinality(topics) > 0),
  tools text[] check (cardinality(tools) > 0),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz
);
create index api_keys_not_revoked on api_keys (expires_at) where revoked_at is null;

-- Moves by one with every change of the keys. Every process reads it each second.
create table access_epoch (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null default 0
);
insert into access_epoch default values;

create table audit (
  id text collate "C" primary key,
  at timestamptz not null default clock_timestamp(),
  -- 'operator', or 'key:<key id>'
  actor text not null,
  -- as it was then
  actor_name text not null,
  action text not null,
  -- '<kind>:<id>'
  target text not null,
  detail jsonb not null default '{}',
  request_id text
);
