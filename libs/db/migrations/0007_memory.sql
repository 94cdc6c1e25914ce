-- compatible: yes

-- What outcomes and feedback add up to: overall, and per topic. A row is written with every counted outcome, so it has
-- no index but its key, and room beside it for the versions that pile up while one tool is called a lot.
-- Whoever changes any row of a tool, here or in topic_memory, has locked the tool's row here first.
create table tool_memory (
  tool text collate "C" primary key,
  attempts bigint not null default 0,
  successes bigint not null default 0,
  reward_sum double precision not null default 0,
  weight double precision not null default 1 check (weight between 0.1 and 5),
  recent double precision not null default 1 check (recent between 0.1 and 1),
  -- how many calls took how long, in buckets of a fixed logarithmic scale
  latency integer[] not null default array_fill(0, array[82]) check (cardinality(latency) = 82),
  last_failure_kind text,
  last_failure_at timestamptz,
  -- what the tool said last of its own budget, and when
  budget_remaining double precision,
  budget_seen_at timestamptz,
  -- when it was last seen to have risen
  budget_refilled_at timestamptz,
  -- the UTC day that the spend belongs to
  budget_day date,
  budget_spent double precision not null default 0 check (budget_spent >= 0),
  updated_at timestamptz not null default clock_timestamp(),
  check (successes between 0 and attempts)
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0.05);

create table topic_memory (
  tool text collate "C",
  topic text collate "C",
  attempts bigint not null,
  successes bigint not null,
  reward_sum double precision not null,
  weight double precision not null check (weight between 0.1 and 5),
  recent double precision not null check (recent between 0.1 and 1),
  latency integer[] not null check (cardinality(latency) = 82),
  last_failure_kind text,
  last_failure_at timestamptz,
  updated_at timestamptz not null default clock_timestamp(),
  primary key (tool, topic),
  check (successes between 0 and attempts)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.05);
