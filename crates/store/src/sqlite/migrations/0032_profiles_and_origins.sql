-- The claims `family_name` and `updated_at`. Empty: no family name. Null: name and language are as they were at first.
ALTER TABLE accounts ADD COLUMN family_name TEXT NOT NULL DEFAULT '';
ALTER TABLE accounts ADD COLUMN updated_at INTEGER;

-- The origins of the redirect URIs of browser applications, for CORS. A preflight request names no client.
CREATE TABLE client_origins (
    origin TEXT NOT NULL,
    client_id TEXT NOT NULL,
    PRIMARY KEY (origin, client_id)
) WITHOUT ROWID;
CREATE INDEX client_origins_by_client ON client_origins (client_id);
