-- compatible: yes

-- However rare it is what a list looks for, and however much stands between: one walk down an index for each topic, tool
-- and status that is wanted, and never a look at a row that is not.
drop index invocations_by_tool;
create index invocations_by_tool on invocations (tool, coalesce(final_status, 'unfinished'), id);
drop index invocations_by_topic;
create index invocations_by_topic on invocations (topic, coalesce(final_status, 'unfinished'), id);
create index invocations_by_both on invocations (topic, tool, coalesce(final_status, 'unfinished'), id);
create index invocations_unfinished on invocations (id) where coalesce(final_status, 'unfinished') = 'unfinished';

-- What expires, and how much waits. It and the one before name what has not ended in words of their own, which no other
-- statement has: of millions of rows a sample holds none that is queued or runs, so the planner believes every partial
-- index to be as short, and took this one, with all that waits, for what invocations_open answers with a few.
drop index invocations_waiting;
create index invocations_waiting on invocations (expires_at) include (tool) where finished_at is null;
