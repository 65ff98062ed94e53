-- What a node says about itself: its version, its machine, since when it runs, how far the webhooks that it delivers to are behind,
-- and when the certificates of its listeners end.
ALTER TABLE nodes ADD COLUMN version TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN started_at INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN webhooks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN events_behind INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN oldest_undelivered_at INTEGER;
ALTER TABLE nodes ADD COLUMN failing INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN disabled INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN suspended INTEGER NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN certificate_ends_at INTEGER;
ALTER TABLE nodes ADD COLUMN operator_certificate_ends_at INTEGER;
