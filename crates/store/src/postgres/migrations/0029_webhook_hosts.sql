-- The host of a webhook's receiver, in lower case, without port and final dot: the operator looks for it.
CREATE INDEX webhooks_by_host ON webhooks (
    (rtrim(lower(substring(url from '^[A-Za-z]+://(\[[^]]*\]|[^/:?#]*)')), '.')), created_at, id);

-- Those that the operator looks for because something is wrong.
CREATE INDEX webhooks_suspended ON webhooks (created_at, id) WHERE suspended_at IS NOT NULL;
CREATE INDEX webhooks_disabled_by_service ON webhooks (created_at, id) WHERE disabled_at IS NOT NULL;
