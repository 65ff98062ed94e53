-- The url that was given at the subscription, and the fingerprint of the subscription with it; null: the present ones.
-- `handshake_asked_at`: its owner has asked for the next handshake attempt, which has not been made yet.
-- `handshake_while_disabled`: the handshake is sent although its owner has disabled the webhook.
ALTER TABLE webhooks ADD COLUMN original_url TEXT COLLATE "C";
ALTER TABLE webhooks ADD COLUMN original_fingerprint BYTEA;
ALTER TABLE webhooks ADD COLUMN handshake_asked_at BIGINT;
ALTER TABLE webhooks ADD COLUMN handshake_while_disabled BIGINT NOT NULL DEFAULT 0;
CREATE INDEX webhooks_by_original_fingerprint ON webhooks (tenant_no, original_fingerprint)
    WHERE unsubscribed_at IS NULL AND deleted_at IS NULL;

-- Ids of the length of a GUID that have capitals, for requests that write them without.
CREATE INDEX records_by_lower_id ON records (tenant_no, lower(correlation_id), company_no, resource)
    WHERE length(correlation_id) = 36 AND correlation_id <> lower(correlation_id);

-- The members of companies (9), accounts (1) and customers (4) in the order of the contract, and the account of each
-- customer and supplier (5) that left it out, if the company has one.
UPDATE records SET body = '{"vatName":' || (body::json -> 'vatName')::text || ',"vatNumber":' || (body::json -> 'vatNumber')::text
        || ',"state":' || (body::json -> 'state')::text || ',"chartOfAccountId":' || (body::json -> 'chartOfAccountId')::text
        || ',"accountLength":' || (body::json -> 'accountLength')::text
        || ',"correlationId":' || (body::json -> 'correlationId')::text || ',"version":' || (body::json -> 'version')::text
        || ',"sequenceVersion":' || (body::json -> 'sequenceVersion')::text || '}'
    WHERE resource = 9;
UPDATE records SET body = '{"correlationId":' || (body::json -> 'correlationId')::text || ',"code":' || (body::json -> 'code')::text
        || ',"description":' || (body::json -> 'description')::text || ',"state":' || (body::json -> 'state')::text
        || ',"version":' || (body::json -> 'version')::text
        || ',"sequenceVersion":' || (body::json -> 'sequenceVersion')::text || '}'
    WHERE resource = 1;
-- Accounts (resource 1) by their code, for customers that name their account by its code alone.
CREATE INDEX accounts_by_code ON records (tenant_no, company_no, (body::json ->> 'code'), state DESC, ordinal)
    WHERE resource = 1;
-- backfill: also run after the restore of a backup that is older than this schema.
UPDATE records r SET body = '{"tradeName":' || (body::json -> 'tradeName')::text || ',"state":' || (body::json -> 'state')::text
        || ',"vatNumber":' || (body::json -> 'vatNumber')::text || ',"vatName":' || (body::json -> 'vatName')::text
        || ',"accountCode":' || (body::json -> 'accountCode')::text
        || ',"correlationId":' || (body::json -> 'correlationId')::text
        || ',"vatNumberCorrelationId":' || (body::json -> 'vatNumberCorrelationId')::text
        || ',"accountCodeCorrelationId":' || coalesce(
            CASE WHEN body::json ->> 'accountCodeCorrelationId' = '' THEN
                (SELECT to_json(a.correlation_id)::text FROM records a
                 WHERE a.tenant_no = r.tenant_no AND a.company_no = r.company_no AND a.resource = 1
                     AND a.body::json ->> 'code' = r.body::json ->> 'accountCode' ORDER BY a.state DESC, a.ordinal LIMIT 1)
            END, (body::json -> 'accountCodeCorrelationId')::text)
        || ',"version":' || (body::json -> 'version')::text
        || ',"sequenceVersion":' || (body::json -> 'sequenceVersion')::text || '}'
    WHERE resource = 4;
UPDATE records r SET body = replace(body, '"accountCodeCorrelationId":""', '"accountCodeCorrelationId":' || coalesce(
            (SELECT to_json(a.correlation_id)::text FROM records a
             WHERE a.tenant_no = r.tenant_no AND a.company_no = r.company_no AND a.resource = 1
                 AND a.body::json ->> 'code' = r.body::json ->> 'accountCode' ORDER BY a.state DESC, a.ordinal LIMIT 1),
            '""'))
    WHERE resource = 5 AND body::json ->> 'accountCodeCorrelationId' = ''
        AND length(replace(body, '"accountCodeCorrelationId":""', '')) = length(body) - 29;
