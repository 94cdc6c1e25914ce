-- compatible: yes

-- The settings of tools, encrypted. No key is here that is not wrapped by one that is not here.

-- The master keys that this vault knows. The keys themselves are with the processes.
create table vault_master_keys (
  id text collate "C" primary key,
  -- derived from the key: a wrong key under a right id is noticed when a process starts
  proof bytea not null check (octet_length(proof) = 32),
  -- '<host>:<folder>' of the key file that it came in with; null: an operator gave it
  made_on text,
  created_at timestamptz not null default now()
);

-- One per tool, so that a value of one tool can never be read as one of another.
create table vault_data_keys (
  tool text collate "C" primary key,
  master_key_id text collate "C" not null references vault_master_keys (id),
  wrapped bytea not null
);
create index vault_data_keys_by_master on vault_data_keys (master_key_id, tool);

create table vault_settings (
  tool text collate "C" not null references vault_data_keys (tool),
  key text collate "C" not null,
  -- stored as a secret: stays masked whatever later manifests say
  secret boolean not null,
  -- false: the empty string
  filled boolean not null,
  sealed bytea not null,
  changed_at timestamptz not null default now(),
  primary key (tool, key)
);
