-- compatible: yes

-- What an operator turns off for everybody at once.
create table switches (
  name text primary key,
  is_on boolean not null
);
insert into switches (name, is_on) values ('tools_enabled', true);

-- The epoch moves with every change of what callers see of tools, the reload with every wish to read the folders again.
create table catalog_state (
  only_row boolean primary key default true check (only_row),
  epoch bigint not null default 0,
  reload bigint not null default 0
);
insert into catalog_state default values;

-- What a tool was at one time: its folder, named by its content.
create table tool_versions (
  tool text collate "C" not null,
  hash text not null,
  -- the author's word for it
  version text not null,
  -- json, not jsonb: the order of the parameters is the author's
  manifest json not null,
  found_at timestamptz not null default now(),
  -- when it last began to serve; null: it never did
  served_at timestamptz,
  primary key (tool, hash)
);

create index tool_versions_by_service on tool_versions (tool, served_at);

create table tools (
  name text collate "C" primary key,
  enabled boolean not null default true,
  -- what its folder holds; null: there is no such folder any more
  wanted_hash text,
  -- what runs; null until an image of a version is there
  current_hash text,
  -- what an operator rolled back from: not served again while the folder holds it
  refused_hash text,
  -- why the folder as it is now is no tool; the version before goes on serving
  faults jsonb not null default '[]',
  removed_at timestamptz,
  foreign key (name, wanted_hash) references tool_versions (tool, hash),
  foreign key (name, current_hash) references tool_versions (tool, hash)
);

-- Images live per engine.
create table images (
  tool text collate "C" not null,
  hash text not null,
  engine_id text not null,
  state text not null default 'wanted' check (state in ('wanted', 'building', 'ready', 'error')),
  image_id text,
  -- how to run it: entrypoint, volumes, user, warnings
  facts jsonb,
  -- the build's own words
  error text,
  progress text,
  -- builds that ended in a fault of the engine, not of the author
  failures integer not null default 0,
  changed_at timestamptz not null default now(),
  primary key (hash, engine_id),
  foreign key (tool, hash) references tool_versions (tool, hash),
  check (state <> 'ready' or (image_id is not null and facts is not null))
);
create index images_by_engine on images (engine_id, state);

-- What each worker found when it last read the folders.
create table catalog_scans (
  process_id text primary key,
  engine_id text,
  reload bigint not null,
  -- of all tools together: workers of one deployment find the same
  content_hash text not null,
  tool_count integer not null,
  -- folders that are no tools, with why
  faults jsonb not null default '[]',
  scanned_at timestamptz not null default now()
);
