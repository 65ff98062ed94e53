-- Who acted, on what, what changed, and how often. Entries written before do not say who acted.
ALTER TABLE audit ADD COLUMN actor_kind TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN actor_id TEXT COLLATE "C";
ALTER TABLE audit ADD COLUMN object TEXT COLLATE "C";
ALTER TABLE audit ADD COLUMN changes TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN count BIGINT NOT NULL DEFAULT 1;
CREATE INDEX audit_by_actor ON audit (actor_kind, at, id);
