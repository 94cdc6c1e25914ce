-- compatible: yes

-- One row per living process of this installation, renewed every few seconds; readyz and `yard status` read it.
create table processes (
  id text primary key,
  kind text not null,
  host text not null,
  pid integer not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now(),
  ready boolean not null,
  -- what is not ready and why, by name of the part
  parts jsonb not null default '{}'
);
create index processes_by_kind on processes (kind, seen_at);
