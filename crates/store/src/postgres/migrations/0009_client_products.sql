-- The products of a client, as bits: 1 accounting, 2 payroll, 4 invoicing. Older clients have all of them.
ALTER TABLE clients ADD COLUMN products BIGINT NOT NULL DEFAULT 7;

-- clients.callback_id_token is 0 (never), 1 (auto) or 2 (always) from here on; it was 0 (false) or 1 (true).
