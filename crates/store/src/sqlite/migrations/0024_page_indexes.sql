-- Packs with more than 31 numbers between their ends: the few that may contain a number far before their end.
CREATE INDEX delivered_wide ON delivered (webhook, tenant_no, last_sequence, first_sequence)
    WHERE last_sequence - first_sequence > 31;

-- Whether somebody has ever authorized a client, however long its audit trail is.
CREATE INDEX audit_granted_by_client ON audit (client_id, at, id) WHERE kind = 'granted';
