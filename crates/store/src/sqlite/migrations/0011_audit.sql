-- Who acted, on what, what changed, and how often. Entries written before do not say who acted.
ALTER TABLE audit ADD COLUMN actor_kind TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN actor_id TEXT;
ALTER TABLE audit ADD COLUMN object TEXT;
ALTER TABLE audit ADD COLUMN changes TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN count INTEGER NOT NULL DEFAULT 1;
CREATE INDEX audit_by_actor ON audit (actor_kind, at, id);
