-- The accounts of all realms: 0 users, 1 developers, 2 operators. Operators have a role.
ALTER TABLE users RENAME TO accounts;
ALTER TABLE accounts ADD COLUMN realm INTEGER NOT NULL DEFAULT 0;
ALTER TABLE accounts ADD COLUMN role INTEGER;
DROP INDEX users_by_email;
CREATE UNIQUE INDEX accounts_by_email ON accounts (realm, email);
DROP INDEX users_by_created_at;
CREATE INDEX accounts_by_created_at ON accounts (realm, created_at, id);

-- What an account's owner sees of a session: its name, and where it began.
ALTER TABLE sessions ADD COLUMN id BLOB NOT NULL DEFAULT x'';
ALTER TABLE sessions ADD COLUMN realm INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
UPDATE sessions SET id = randomblob(16);
