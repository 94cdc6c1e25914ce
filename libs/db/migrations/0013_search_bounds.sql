-- compatible: yes

-- The topics of which lessons were taken away otherwise than by newer ones: whoever knows of another transaction, or of
-- none, reads the whole topic again. What this replaces, `lesson_state.forgotten`, is read by the release before alone; its
-- row is what those hold who take lessons away, one after the other.
create table lesson_topics (
  topic text collate "C" primary key,
  forgotten xid8 not null default pg_current_xact_id(),
  forgotten_at timestamptz not null default clock_timestamp()
);

-- those of one key that are too many
create index searches_by_key on searches (key_id, id);

-- Null: of a release that did not say. They are made again.
alter table text_vectors add column dimensions integer;
