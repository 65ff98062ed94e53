-- The claims `family_name` and `updated_at`. Empty: no family name. Null: name and language are as they were at first.
ALTER TABLE accounts ADD COLUMN family_name TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN updated_at BIGINT;

-- The origins of the redirect URIs of browser applications, for CORS. A preflight request names no client.
CREATE TABLE client_origins (
    origin TEXT COLLATE "C" NOT NULL,
    client_id TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (origin, client_id)
);
CREATE INDEX client_origins_by_client ON client_origins (client_id);
