-- The node that asks for a shard which another node holds, and until when; the holder gives shards back only to a node that
-- asks.
ALTER TABLE shard_leases ADD COLUMN asked_by BYTEA;
ALTER TABLE shard_leases ADD COLUMN asked_until BIGINT NOT NULL DEFAULT 0;

-- Until when a node's leases last; `shard_leases.expires_at` says when one was taken or released. A renewal changes this one row instead of all
-- leases, so that a long snapshot (a backup) does not keep hundreds of row versions a second.
CREATE TABLE lease_holders (node BYTEA PRIMARY KEY, expires_at BIGINT NOT NULL);
