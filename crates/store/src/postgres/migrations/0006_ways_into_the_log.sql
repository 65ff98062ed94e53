-- The tenant is written in another way in each index of the log, so that a statement can name the one that it means: the
-- plain number is the primary key's, `+ 0` goes by kind, `- 0` by record. All three have the numbers of events in order, and
-- PostgreSQL, left to choose, may walk through the whole log in search of a kind that does not occur.
DROP INDEX log_by_kind;
DROP INDEX log_by_record;
CREATE INDEX log_by_kind ON log ((tenant_no + 0), resource, kind, sequence, company_no);
CREATE INDEX log_by_record ON log ((tenant_no - 0), resource, record_key, sequence);
