-- What a client is. Kinds: 0 web, 1 browser, 2 native, 3 resource server. Every client so far is a web application.
ALTER TABLE clients ADD COLUMN kind BIGINT NOT NULL DEFAULT 0;
-- Where the client is told that a session has ended; null: nowhere.
ALTER TABLE clients ADD COLUMN backchannel_logout_uri TEXT COLLATE "C";
