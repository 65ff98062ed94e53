-- The url that was given at the subscription, and the fingerprint of the subscription with it; null: the present ones.
-- `handshake_asked_at`: its owner has asked for the next handshake attempt, which has not been made yet.
-- `handshake_while_disabled`: the handshake is sent although its owner has disabled the webhook.
ALTER TABLE webhooks ADD COLUMN original_url TEXT;
ALTER TABLE webhooks ADD COLUMN original_fingerprint BLOB;
ALTER TABLE webhooks ADD COLUMN handshake_asked_at INTEGER;
ALTER TABLE webhooks ADD COLUMN handshake_while_disabled INTEGER NOT NULL DEFAULT 0;
CREATE INDEX webhooks_by_original_fingerprint ON webhooks (tenant_no, original_fingerprint)
    WHERE unsubscribed_at IS NULL AND deleted_at IS NULL;

-- Ids of the length of a GUID that have capitals, for requests that write them without.
CREATE INDEX records_by_lower_id ON records (tenant_no, lower(correlation_id), company_no, resource)
    WHERE length(correlation_id) = 36 AND correlation_id <> lower(correlation_id);

-- The members of companies (9), accounts (1) and customers (4) in the order of the contract, and the account of each
-- customer and supplier (5) that left it out, if the company has one.
UPDATE records SET body = '{"vatName":' || (body -> '$.vatName') || ',"vatNumber":' || (body -> '$.vatNumber')
        || ',"state":' || (body -> '$.state') || ',"chartOfAccountId":' || (body -> '$.chartOfAccountId')
        || ',"accountLength":' || (body -> '$.accountLength') || ',"correlationId":' || (body -> '$.correlationId')
        || ',"version":' || (body -> '$.version') || ',"sequenceVersion":' || (body -> '$.sequenceVersion') || '}'
    WHERE resource = 9;
UPDATE records SET body = '{"correlationId":' || (body -> '$.correlationId') || ',"code":' || (body -> '$.code')
        || ',"description":' || (body -> '$.description') || ',"state":' || (body -> '$.state')
        || ',"version":' || (body -> '$.version') || ',"sequenceVersion":' || (body -> '$.sequenceVersion') || '}'
    WHERE resource = 1;
-- Accounts (resource 1) by their code, for customers that name their account by its code alone.
CREATE INDEX accounts_by_code ON records (tenant_no, company_no, body ->> 'code', state DESC, ordinal) WHERE resource = 1;
-- backfill: also run after the restore of a backup that is older than this schema.
UPDATE records SET body = '{"tradeName":' || (body -> '$.tradeName') || ',"state":' || (body -> '$.state')
        || ',"vatNumber":' || (body -> '$.vatNumber') || ',"vatName":' || (body -> '$.vatName')
        || ',"accountCode":' || (body -> '$.accountCode') || ',"correlationId":' || (body -> '$.correlationId')
        || ',"vatNumberCorrelationId":' || (body -> '$.vatNumberCorrelationId')
        || ',"accountCodeCorrelationId":' || coalesce(
            CASE WHEN body ->> '$.accountCodeCorrelationId' = '' THEN
                (SELECT json_quote(a.correlation_id) FROM records a INDEXED BY accounts_by_code
                 WHERE a.tenant_no = records.tenant_no AND a.company_no = records.company_no AND a.resource = 1
                     AND a.body ->> 'code' = records.body ->> '$.accountCode' ORDER BY a.state DESC, a.ordinal LIMIT 1)
            END, body -> '$.accountCodeCorrelationId')
        || ',"version":' || (body -> '$.version') || ',"sequenceVersion":' || (body -> '$.sequenceVersion') || '}'
    WHERE resource = 4;
UPDATE records SET body = replace(body, '"accountCodeCorrelationId":""', '"accountCodeCorrelationId":' || coalesce(
            (SELECT json_quote(a.correlation_id) FROM records a INDEXED BY accounts_by_code
             WHERE a.tenant_no = records.tenant_no AND a.company_no = records.company_no AND a.resource = 1
                 AND a.body ->> 'code' = records.body ->> '$.accountCode' ORDER BY a.state DESC, a.ordinal LIMIT 1),
            '""'))
    WHERE resource = 5 AND body ->> '$.accountCodeCorrelationId' = ''
        AND length(replace(body, '"accountCodeCorrelationId":""', '')) = length(body) - 29;
