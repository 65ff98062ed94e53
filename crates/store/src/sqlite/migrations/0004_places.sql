-- Every collection has a number, and its records lie in a range of row numbers of its own: together, and in the order of
-- their pages, whatever the order in which changes of several companies arrived.
CREATE TABLE places (
    no INTEGER NOT NULL PRIMARY KEY,
    tenant_no INTEGER NOT NULL,
    company_no INTEGER NOT NULL,
    resource INTEGER NOT NULL
);
CREATE UNIQUE INDEX places_by_collection ON places (tenant_no, company_no, resource);
INSERT INTO places (tenant_no, company_no, resource)
    SELECT DISTINCT tenant_no, company_no, resource FROM records ORDER BY tenant_no, company_no, resource;

-- `row` is the place's number and, in its lower 32 bits, the ordinal.
CREATE TABLE placed_records (
    row INTEGER NOT NULL PRIMARY KEY,
    tenant_no INTEGER NOT NULL,
    company_no INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    correlation_id TEXT NOT NULL,
    state INTEGER NOT NULL,
    version INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    body TEXT NOT NULL
);
INSERT INTO placed_records
    SELECT p.no << 32 | r.ordinal, r.tenant_no, r.company_no, r.resource, r.ordinal, r.correlation_id, r.state, r.version,
        r.sequence, r.body
    FROM places p CROSS JOIN records r USING (tenant_no, company_no, resource) ORDER BY p.no, r.ordinal;
DROP TABLE records;
ALTER TABLE placed_records RENAME TO records;
CREATE UNIQUE INDEX records_by_id ON records (tenant_no, correlation_id, company_no, resource);
