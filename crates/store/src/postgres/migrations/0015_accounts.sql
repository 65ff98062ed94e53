-- The accounts of all realms: 0 users, 1 developers, 2 operators. Operators have a role.
ALTER TABLE users RENAME TO accounts;
ALTER TABLE accounts ADD COLUMN realm BIGINT NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN role BIGINT;
DROP INDEX users_by_email;
CREATE UNIQUE INDEX accounts_by_email ON accounts (realm, email);
DROP INDEX users_by_created_at;
CREATE INDEX accounts_by_created_at ON accounts (realm, created_at, id);

-- What an account's owner sees of a session: its name, and where it began.
ALTER TABLE sessions ADD COLUMN id BYTEA NOT NULL DEFAULT '\x';
ALTER TABLE sessions ADD COLUMN realm BIGINT NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN address TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN user_agent TEXT COLLATE "C" NOT NULL DEFAULT '';
UPDATE sessions SET id = uuid_send(gen_random_uuid());
