-- compatible: yes

-- Vectors of what tools say of themselves, made once for all processes. Those of two models are never comparable, so the
-- model is part of the key.
create table text_vectors (
  model_id text collate "C" not null,
  -- of the text that they are of
  text_hash text collate "C" not null,
  -- one after the other, 32-bit floats
  vectors bytea not null,
  used_at timestamptz not null default clock_timestamp(),
  primary key (model_id, text_hash)
);

-- What was searched for, for as long as the calls that come of it may end.
create table searches (
  -- sorts by time
  id text collate "C" primary key,
  key_id text not null,
  topic text not null,
  query text not null,
  -- null: there was no vector to be had
  model_id text,
  vector bytea,
  created_at timestamptz not null default clock_timestamp(),
  check ((model_id is null) = (vector is null))
);

-- What ends of calls taught: these words led to this tool, and so it went. Written in the transaction that ends the call,
-- by whoever holds the lock of the tool's memory. No foreign keys: each would lock the row that it points to.
create table lessons (
  invocation_id text collate "C" primary key,
  search_id text not null,
  tool text collate "C" not null,
  topic text collate "C" not null,
  query text not null,
  model_id text,
  vector bytea,
  reward double precision not null check (reward between -1 and 1),
  -- to the millisecond, so that processes and rows agree on which is older
  learned_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  -- the transaction that wrote it last: a reader goes on from the oldest that was still open when it read
  changed_by xid8 not null default pg_current_xact_id()
);
-- which are too many
create index lessons_by_kind on lessons (tool, topic, sign(reward), learned_at, invocation_id);
-- what is new
create index lessons_by_change on lessons (topic, changed_by);
create index lessons_by_age on lessons (learned_at);

-- Moves whenever lessons are taken away otherwise than by newer ones. Whoever knows another number reads them all again.
create table lesson_state (
  only_row boolean primary key default true check (only_row),
  forgotten bigint not null default 0
);
insert into lesson_state default values;
