-- compatible: yes

-- What the process counts, as of seen_at, so that one address tells of all of them.
alter table processes add column metrics jsonb not null default '[]';
