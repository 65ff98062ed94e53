-- Outgoing mails.
CREATE TABLE mails (
    id BLOB NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    recipient TEXT NOT NULL,
    lang TEXT NOT NULL,
    -- Subject, text and HTML, sealed with the master key; empty once the mail is sent.
    sealed BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    -- Attempts that have started.
    attempts INTEGER NOT NULL,
    -- When the mail is due.
    next_at INTEGER NOT NULL,
    -- Until then one node alone may send it; 0: no node has it.
    leased_until INTEGER NOT NULL,
    last_error TEXT NOT NULL,
    sent_at INTEGER,
    -- The mail is not sent from here on.
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX mails_by_next_at ON mails (next_at) WHERE sent_at IS NULL;
CREATE INDEX mails_by_expires_at ON mails (expires_at);
