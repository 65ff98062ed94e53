-- What a node says about itself: its version, its machine, since when it runs, how far the webhooks that it delivers to are behind,
-- and when the certificates of its listeners end.
ALTER TABLE nodes ADD COLUMN version TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN host TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE nodes ADD COLUMN started_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN webhooks BIGINT NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN events_behind BIGINT NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN oldest_undelivered_at BIGINT;
ALTER TABLE nodes ADD COLUMN failing BIGINT NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN disabled BIGINT NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN suspended BIGINT NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN certificate_ends_at BIGINT;
ALTER TABLE nodes ADD COLUMN operator_certificate_ends_at BIGINT;
