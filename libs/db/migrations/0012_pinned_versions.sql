-- compatible: yes

-- Which versions replays hold on to: what else names a version goes with its age. Written by a replay alone.
create index invocations_by_pin on invocations (tool, pinned_hash) where pinned_hash is not null;
