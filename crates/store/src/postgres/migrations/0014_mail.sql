-- Outgoing mails.
CREATE TABLE mails (
    id BYTEA NOT NULL PRIMARY KEY,
    kind TEXT COLLATE "C" NOT NULL,
    recipient TEXT COLLATE "C" NOT NULL,
    lang TEXT COLLATE "C" NOT NULL,
    -- Subject, text and HTML, sealed with the master key; empty once the mail is sent.
    sealed BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    -- Attempts that have started.
    attempts BIGINT NOT NULL,
    -- When the mail is due.
    next_at BIGINT NOT NULL,
    -- Until then one node alone may send it; 0: no node has it.
    leased_until BIGINT NOT NULL,
    last_error TEXT COLLATE "C" NOT NULL,
    sent_at BIGINT,
    -- The mail is not sent from here on.
    expires_at BIGINT NOT NULL
);
CREATE INDEX mails_by_next_at ON mails (next_at) WHERE sent_at IS NULL;
CREATE INDEX mails_by_expires_at ON mails (expires_at);
