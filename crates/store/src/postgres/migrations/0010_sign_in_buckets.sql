-- Token buckets that slow down password guessing, by the keyed hash of their name. A full bucket has no row.
CREATE TABLE sign_in_buckets (
    hash BYTEA NOT NULL PRIMARY KEY,
    -- When the bucket is full again if no more tokens are taken.
    full_at BIGINT NOT NULL,
    -- Attempts that hold a token and have not ended. They count as ended after the second time.
    under_way BIGINT NOT NULL,
    under_way_until BIGINT NOT NULL,
    -- The row says nothing any more.
    expires_at BIGINT NOT NULL
);
CREATE INDEX sign_in_buckets_by_expires_at ON sign_in_buckets (expires_at);

-- The keys that encrypt tickets, sealed with the master key.
CREATE TABLE ticket_keys (
    id BYTEA NOT NULL PRIMARY KEY,
    sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    -- When the key starts to encrypt; every node knows it by then.
    encrypts_from BIGINT NOT NULL
);
