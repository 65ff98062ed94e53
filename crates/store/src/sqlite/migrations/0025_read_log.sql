-- Who read what: how often a client read a resource of a company on a day, by hour (UTC). Days count from the first of year 1.
-- Resource 0: the feed of all invoicing entities. An empty company: the tenant itself, or companies beyond the bound of a day.
CREATE TABLE reads (
    tenant_no INTEGER NOT NULL,
    day INTEGER NOT NULL,
    client_id TEXT NOT NULL,
    resource INTEGER NOT NULL,
    company TEXT NOT NULL,
    hours BLOB NOT NULL,
    PRIMARY KEY (tenant_no, day, client_id, resource, company)
) WITHOUT ROWID;
CREATE INDEX reads_by_client ON reads (tenant_no, client_id, day, resource, company);
CREATE INDEX reads_by_resource ON reads (tenant_no, resource, day, client_id, company);
CREATE INDEX reads_by_company ON reads (tenant_no, company, day, client_id, resource);

-- What one request did, and what happened to one object.
CREATE INDEX audit_by_request ON audit (request_id, at, id);
CREATE INDEX audit_by_object ON audit (object, at, id);
CREATE INDEX call_log_by_request ON call_log (request_id);
