-- The node that asks for a shard which another node holds, and until when; the holder gives shards back only to a node that
-- asks.
ALTER TABLE shard_leases ADD COLUMN asked_by BLOB;
ALTER TABLE shard_leases ADD COLUMN asked_until INTEGER NOT NULL DEFAULT 0;
