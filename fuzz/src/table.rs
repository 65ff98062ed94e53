//! The table of targets.

use crate::targets::{
    addresses, backups, changes, client, forms, headers, keys, notifications, operator_api, people, requests,
    sign_in,
};
use crate::{Shape, Target};

const BYTES_MAX: usize = 4096;

/// Nothing in `seeds/` beside, no words of its own, and the usual length.
const fn target(name: &'static str, shape: Shape, run: fn(&[u8]) -> u64, checks: &'static str) -> Target {
    Target { name, checks, run, shape, seeds: &[], dictionary: &[], bytes_max: BYTES_MAX }
}

impl Target {
    const fn seeds(self, seeds: &'static [&'static str]) -> Self {
        Self { seeds, ..self }
    }

    const fn words(self, dictionary: &'static [&'static str]) -> Self {
        Self { dictionary, ..self }
    }
}

const CONFIGURATION: &str = "[server]\nlisten = \"127.0.0.1:8080\"\n[store]\nurl = \"sqlite:a.db\"\n\
                             master_key = \"correct-horse-battery\"\n[egress]\nallow = [\"10.0.0.0/8\"]\n";
const ACCOUNTING: &str = r#"{"thirdPartyApplicationName":"App","url":"https://app.example/hook","secret":"s3cret","eventTypes":["Svc.ACC.Customers.CustomerCreated"]}"#;
const INVOICING: &str = r#"{"uri":"https://app.example/api/webhooks/incoming/Invoicing","entity":"Bank","action":"Created","secret":"x","isPaused":false,"desc":"d"}"#;
const UPSERT: &str = r#"{"area":"accounting","resource":"customers","company":"c1","correlationId":"k1","action":"upsert","data":{"tradeName":"Peña","accountCode":"430000001"},"user":"eva"}"#;
const BACKUP: &str = "{\"aldaba_backup\":1,\"schema\":40,\"taken_at\":\"2026-11-15\"}\n{\"table\":\"tenants\"}\n[\"a\",null,1]\n{\"tables\":{\"tenants\":1},\"sha256\":\"00\"}\n";
const DELIVERY: &str =
    "$\n\n\n\n\n{\"Entity\":\"Bank\",\"EntityId\":\"7\",\"TenantId\":\"t\",\"User\":\"eva\",\"Changes\":[]}";
const AUTHORIZATION: &str = "client_id=app&response_type=code&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback&scope=openid+email&state=s\
                             &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256";
const SIGN_IN: &str = "https://app.example/callback?code=c&state=$&iss=https%3A%2F%2Fauth.example%2Fauth%2Fcore\n\n\
                       {\"iss\":\"https://auth.example/auth/core\",\"aud\":\"app\",\"sub\":\"maria\",\"iat\":1800000000,\"exp\":1800000300,\"nonce\":\"$\"}";
const NATIVE: &str = "client_id=app&response_type=code&redirect_uri=http%3A%2F%2F127.0.0.1%3A4711%2Fcallback&scope=openid&nonce=n";
const PROVIDER: &str = "{\"issuer\":\"https://auth.example/auth/core\",\"jwks_uri\":\"https://auth.example/auth/core/.well-known/jwks\",\
                        \"revocation_endpoint\":\"https://auth.example/auth/core/connect/revocation\",\
                        \"end_session_endpoint\":\"https://auth.example/auth/core/connect/endsession\"}\n{\"keys\":[$]}\n\
                        {\"access_token\":\"a\",\"token_type\":\"Bearer\",\"expires_in\":3600,\"id_token\":\"$\"}";
const COMPANY_PAGE: &str = "200\nx-pagination: {\"totalCount\":1,\"pageSize\":100,\"currentPage\":1,\"totalPages\":1}|x-sequence-version: 7|etag: \"e\"\n\
                            [{\"vatName\":\"A\",\"vatNumber\":\"B\",\"state\":\"Active\",\"chartOfAccountId\":1,\"accountLength\":8,\"correlationId\":\"c1\",\
                            \"version\":\"2026-11-15T08:30:00Z\",\"sequenceVersion\":\"7\"}]";
const TOKEN_REQUEST: &str = "POST /auth/core/connect/token\ncontent-type: application/x-www-form-urlencoded\n\n\
                             grant_type=authorization_code&code=$code&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback&client_id=app&client_secret=secret";
const AUTHORIZE: &str = "GET /auth/core/connect/authorize?client_id=app&response_type=code&redirect_uri=https%3A%2F%2Fapp.example%2Fcallback&scope=openid&state=s\n\
                         cookie: __Host-aldaba-session=$session\nsec-fetch-site: cross-site\nsec-fetch-mode: navigate\naccept-language: es\n\n";
const READ: &str = "GET /accounting/api/customers?pageSize=5\nocp-apim-subscription-key: $key\nauthorization: Bearer $access\ncontext: {\"clientId\":\"c1\"}\n\n";

/// Every target. A new parser of outside text joins here.
pub const TARGETS: &[Target] = &[
    target("authorization_request", Shape::Form, identity::fuzzing::authorization_request,
        "a registered address gets the response, PKCE is obeyed, errors are those of the specifications")
        .seeds(&[AUTHORIZATION, NATIVE, "client_id=app", "redirect_uri=https%3A%2F%2Fapp.example%2Fcallback&request=e30.eyJzdGF0ZSI6InMifQ."])
        .words(&["prompt=", "none", "login", "consent", "select_account", "max_age=", "ui_locales=", "acr_values=tenant:", "2fa",
            "id_token_hint=", "response_mode=", "form_post", "query", "nonce=", "state=", "request=", "request_uri=", "offline_access",
            "SVC.ES.NEWPOL.ACC.API", "com.example.app:/callback", "code_challenge=", "S256", "plain"]),
    target("backup_lines", Shape::Lines, backups::backup_lines, "complete with its digest, or refused")
        .seeds(&[BACKUP, "{}\n", "[1]\n"])
        .words(&["{\"table\":\"", "\"sha256\":\"", "\"tables\":{", "aldaba_backup", "[null]\n", "tenants", "webhooks", "meta"]),
    target("body_splitter", Shape::Lines, operator::fuzzing::body_splitter,
        "the same items however the body is cut, each within the limit"),
    target("cbor", Shape::Binary, identity::fuzzing::cbor, "within the limits of depth and items, and the same value when written again"),
    target("change", Shape::Json, changes::change, "one record within the limits, or a documented code")
        .seeds(&[UPSERT, r#"{"area":"payroll","resource":"companies","action":"upsert","data":{"companyCode":12,"companyName":"x","identifierNumber":""}}"#, r#"{"area":"invoicing","resource":"Due","correlationId":"d1","action":"upsert","data":{}}"#,
            r#"{"area":"accounting","resource":"companies","correlationId":"c1","action":"upsert","data":{"accountLength":8}}"#,
            r#"{"area":"accounting","resource":"accounts","company":"c","correlationId":"1","action":"disable"}"#, r#"{"area":"accounting","resource":"x"}"#, "{"])
        .words(&["area", "accounting", "core", "import", "payroll", "invoicing", "resource", "company", "correlationId", "action", "upsert", "disable", "enable", "delete", "fail", "data", "user",
            "sourceInterface", "sourceAction", "accountLength", "accountCode", "companyCode", "lastUpdate", "version", "state",
            "payroll-companies", "customers", "suppliers", "journal-entries", "identifierNumber"]),
    target("client_authentication", Shape::Form, identity::fuzzing::client_authentication,
        "credentials from one place, and the ones that were encoded")
        .seeds(&["\nclient_id=app&client_secret=s", "Basic YXBwOnM=\ngrant_type=authorization_code&code=c", "Basic YSUyNmI6JTNB\n",
            "Bearer x\nclient_id=app", "\n"])
        .words(&["Basic ", "client_id=", "client_secret=", "YTpi", "OjphOg==", "grant_type=", "refresh_token"]),
    target("client_provider", Shape::Json, sign_in::client_provider,
        "finished only with this issuer's document, the right key and its id_token; nothing is sent unencrypted")
        .seeds(&[PROVIDER, "{\"issuer\":\"https://other.example\",\"jwks_uri\":\"\",\"revocation_endpoint\":\"\",\"end_session_endpoint\":\"\"}\n\n", "[]\n[]\n[]", "\n{\"keys\":[]}\n{\"error\":\"x\"}"])
        .words(&["\"issuer\":", "\"jwks_uri\":", "http://localhost:1/k", "http://auth.example/k", "\"keys\":[$]", "\"kid\":\"k\"", "\"kty\":\"RSA\"", "\"use\":\"enc\"", "\"alg\":\"none\"",
            "\"access_token\":", "\"id_token\":\"$\"", "\"expires_in\":9223372036854775807", "\"refresh_token\":", "null", "$"]),
    target("client_responses", Shape::Json, client::client_responses, "what another parser reads, from one request, and no error with a secret")
        .seeds(&[COMPANY_PAGE, "404\n\n{\"code\":\"record_not_found\",\"message\":\"There is no such record.\",\"requestId\":\"r\",\"errors\":[]}", "304\netag: \"e\"\n",
            "401\nwww-authenticate: Bearer error=\"invalid_token\"\n{}", "429\nretry-after: 5\nslow down", "200\n\n[]", "200\n\ncompanyCode eq 7",
            "200\n\n[{\"sequenceVersion\":\"9\",\"event\":\"Svc.INV.Bank.BankCreated\",\"correlationId\":\"b\",\"version\":\"v\",\"user\":\"u\",\"processId\":\"p\"}]"])
        .words(&["x-pagination: ", "x-sequence-version: ", "retry-after: ", "www-authenticate: ", "invalid_token", "\"totalPages\":", "\"sequenceVersion\":", "\"errors\":[", "\"field\":",
            "503", "410", "18446744073709551615", "|", "companyName eq 'a'"]),
    target("client_sign_in", Shape::Lines, sign_in::client_sign_in,
        "finished only by this browser's callback, with claims for this client and this sign-in")
        .seeds(&[SIGN_IN, "state=$&iss=https%3A%2F%2Fauth.example%2Fauth%2Fcore&error=access_denied&error_description=no\n\n",
            "code=c&state=x\n\n{}", "https://app.example/callback?code=c&state=$&iss=https://auth.example/auth/core#x\n{\"alg\":\"none\"}\n{}"])
        .words(&["state=$", "&iss=", "code=", "id_token=", "error=", "\"alg\":\"HS256\"", "\"kid\":\"k\"", "\"nonce\":\"$\"", "\"aud\":[\"app\",\"b\"]", "\"azp\":\"app\"",
            "\"exp\":9223372036854775807", "\"iat\":-1", "\"at_hash\":\"\"", "null"]),
    target("codes", Shape::Text, people::codes, "codes and secrets are the same in their canonical form")
        .seeds(&["123456", "12 34-56", "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", "0o1il-abcde", "abcde-fghjk"]),
    target("configuration", Shape::Lines, aldaba::fuzzing::configuration, "faults name their line, secrets are not repeated")
        .seeds(&[CONFIGURATION, "[server]\nlisten = 1\n", "x = 1\n", "[a\n", "[portal.approval]\nclients = true\n", "5m"])
        .words(&["[server]\n", "[operator]\n", "[store]\n", "url = ", "listen = ", "_file = ", "5m", "\"0s\"", "[portal.approval]\n", "true", "0x10", "1979-05-27", "mail"]),
    target("connection_url", Shape::Url, store::fuzzing::connection_url, "no message with the password, and TLS to other machines unless it is switched off")
        .seeds(&["db.example/x", "localhost/x", "db.example/x?sslmode=disable", "db.example/x?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem", "db.example/x?sslmode=allow",
            "localhost,db.example:5433/x?hostaddr=10.1.2.3", "[::1]/x?connect_timeout=3", "db.example/x?unknown=1", "/x?host=/run/postgresql"])
        .words(&["?sslmode=", "&sslrootcert=", "system", "disable", "prefer", "require", "verify-ca", "host=", "hostaddr=", "port=", "%40", "@", "?", "localhost", "127.0.0.1", "password="]),
    target("context", Shape::Json, gateway::fuzzing::context, "a company that is the same when written again, or a refusal with its name"),
    target("cookies", Shape::Header, identity::fuzzing::cookies, "one value of a name, neither ambiguous nor too long")
        .seeds(&["__Host-session=abc; other=1", "a=b", "__Host-session=a\n__Host-session=b", "__Host-session="])
        .words(&["__Host-session=", "__Host-session", "; "]),
    target("delivery", Shape::Json, notifications::delivery, "an integrator's receiver accepts the right signature alone")
        .seeds(&[DELIVERY, "\n$\n\n\n\n{}", "\n\nmsg_1\n1794000000\n$\n{\"a\":1}", "sha256=00\n\n\n\n\n{}", "\n\n\n\n\n"])
        .words(&["$", "sha256=", "v1,", "1794000000", "msg_1", "WebhookId", "OutgoingId", "EventType", "JsonData", "Timestamp"]),
    target("delivery_history", Shape::Form, webhooks::fuzzing::delivery_history, "a page within its bounds whose link names the same one, and a name that is the same when written again")
        .seeds(&["pageSize=5&before=639000000000000000-7&status=failed&since=2026-11-15T08%3A30%3A00Z", "pageSize=0", "before=x", "status=unknown", "since=yesterday", "PAGESIZE=1&pagesize=2",
            "0190a5b2-7c11-4d52-9d3a-1f0f6f0b2c3d", "42", ""])
        .words(&["pageSize=", "before=", "status=", "since=", "delivered", "waiting", "failed", "0-0", "9223372036854775807-18446744073709551615", "-1-1", "%2B1"]),
    target("egress_address", Shape::Url, addresses::egress_address, "no address that is not public, none but the allowed ones")
        .seeds(&["203.0.113.7", "8.8.8.8", "10.0.0.1", "::ffff:10.0.0.1", "fd00:ec2::254", "64:ff9b::a9fe:a9fe", "2606:4700::1", "10.0.0.0/8", "::/0",
            "169.254.169.254/32"]),
    target("encrypted_backup", Shape::Binary, backups::encrypted_backup, "nothing is decrypted that was changed")
        .seeds(&["=age-encryption.org/v1\n-> X25519 TEiF0ypqr+bpvcqXNyCVJpL7OuwPdVwPL7KQEbFDOCc\nhjabGXwSLQ9c3S6Lw2i+S2Tu2fiwQHHslbBN6B41FLE\n--- WyJp9F/9FOZh7gJdheq2WIJcwHgYc8NIVh3ddwhrcNg\n",
            "\u{1}\u{1}a", "", "=x", "\u{40}\u{0}\n"])
        .words(&["-> X25519 ", "-> scrypt ", "--- ", "age-encryption.org/v1\n", "\n"]),
    target("feed_query", Shape::Form, gateway::fuzzing::feed_query, "a position and a page size within their bounds, as a second parser reads them")
        .seeds(&["after=5&pageSize=100", "after=0", "after=", "pageSize=", "pageSize=0", "pageSize=1001", "after=9223372036854775808", "AFTER=1&after=2", "after=%2B1", "x=1"])
        .words(&["after=", "pageSize=", "9223372036854775807", "%2B", "%30", "00", "1000"]),
    target("filter", Shape::Text, domain::fuzzing::filter, "the same filter when printed, and the same matches in a second implementation")
        .words(&["companyCode", "companyName", "lastUpdate", " eq ", " and ", " or ", "not ", "contains(", "startswith(", "''", "(", ")", " desc", "identifierNumber"]),
    target("forwarded", Shape::Header, headers::forwarded, "only a trusted proxy changes the client's address")
        .seeds(&["198.51.100.7", "198.51.100.7, 10.0.0.2", "[2001:db8::7]:1234", "10.0.0.3\n10.0.0.2", "x, 198.51.100.7:80"])
        .words(&["10.0.0.2", "::1", "198.51.100.7", "[::1]:1", "::ffff:10.0.0.1", "fe80::1%1", "[fe80::1%1]:5"]),
    target("gateway_credentials", Shape::Header, gateway::fuzzing::gateway_credentials, "the key from one place, the token of the scheme Bearer, and neither empty")
        .seeds(&["key\nBearer a.b.c\n", "\nbearer  x \nsubscription-key=key", "=\nBasic YTpi\nsubscription-key=key", "\n\nsubscription-key=a&SUBSCRIPTION-KEY=b", "a|b\nBearer \nx=1", "\n\nsubscription-key="])
        .words(&["Bearer ", "bearer\t", "BEARER ", "Bearer", "subscription-key=", "Subscription-Key=", "|", "=", "%00", "\n"]),
    target("id_token_hint", Shape::Json, identity::fuzzing::id_token_hint, "accepted only from our issuer, and never with a jti")
        .seeds(&[r#"{"iss":"https://id.example/auth/core","aud":"app","sub":"maria"}"#,
            r#"{"iss":"https://id.example/auth/core","aud":"app","sub":"maria","jti":"g.1"}"#, r#"{"iss":"x","aud":["app"],"sub":1}"#, "x.y.z"])
        .words(&["\"jti\":null", "\"jti\":\"\"", "\"iss\"", "\"aud\"", "\"sub\"", "\"exp\":0", "https://id.example/auth/core", "null"]),
    target("ids", Shape::Text, people::ids, "ids and scopes within their limits, the same when written again")
        .seeds(&["0190a5b2-7c11-4d52-9d3a-1f0f6f0b2c3d", "openid offline_access", "changes", "cliente ñ/1", "{0190a5b27c114d529d3a1f0f6f0b2c3d}"])
        .words(&["openid", "profile", "email", "SVC.ES.Webhooks", "urn:uuid:", ".."]),
    target("json", Shape::Json, domain::fuzzing::json, "the same value as another parser's, without duplicate members, at most 64 deep"),
    target("negotiation", Shape::Header, headers::negotiation, "encodings, ETags and languages that were asked for")
        .seeds(&["gzip, br;q=0.5", "*;q=0.1, identity", "W/\"a1\", \"b\"", "en-GB;q=0.8, es;q=0.9", "fr", "*"])
        .words(&["gzip", "br", "identity", "x-gzip", "en", "es", "W/\"a1\"", "\"a1\"", ";q=0.001", ";q=inf"]),
    target("new_password", Shape::Text, people::new_password, "a verdict that is the same each time, in bounded time")
        .seeds(&["correct horse battery\nMaría López\nmaria@example.com", "aaaaaaaaaaaa", "abcdefghijkl", "P4ssw0rd!P4ssw0rd!", "short", "marialopez2026\nmarialopez\n"])
        .words(&["password", "qwerty", "1234567890", "contraseña", "abababab", "maria"]),
    target("operator_api", Shape::Json, operator_api::operator_api,
        "documented errors with the id of the response, never the service's own fault")
        .seeds(&["POST /tenants\nr-1\n{\"name\":\"Uno\"}", "POST /users\n\n{\"email\":\"eva@example.com\",\"name\":\"Eva\"}",
            "POST /clients\nñ\n{\"name\":\"App\",\"redirectUris\":[\"https://app.example/cb\"],\"products\":[\"accounting\"]}",
            "POST /subscriptions\n\n{\"name\":\"S\",\"products\":[\"payroll\"],\"ratePerMinute\":5}", "POST /tokens\n\n{\"name\":\"t\",\"role\":\"viewer\"}",
            "POST /invitations\n\n{\"email\":\"eva@example.com\",\"realm\":\"developers\"}", "GET /audit?limit=5&after=1\n\n", "GET /webhooks?state=failing&limit=2\n\n",
            "GET /search?q=%C3%B1\n\n", "POST /tenants/t/changes\n\n{\"area\":\"core\"}", "PATCH /users/u\n\n{\"name\":null}", "DELETE /tokens/x\n\n", "GET /stats\n\n",
            "POST /tenants/t/changes\nr-2|k=key-1|t=application/x-ndjson|a=application/json\n{\"area\":\"core\"}\n{}", "POST /tenants\n|t=text/plain\n{}", "GET /audit\n|a=text/csv\n"])
        .words(&["/tenants", "/users", "/clients", "/subscriptions", "/teams", "/developers", "/operators", "/invitations", "/requests", "/webhooks", "/audit", "/search?q=", "?limit=",
            "&after=", "?format=csv", "%00", "%2F", "..", "\"name\":", "\"email\":", "\"password\":", "\"products\":[", "\"redirectUris\":[", "\"kind\":\"native\"", "\"role\":", "\"lang\":", "null",
            "PATCH ", "DELETE ", "GET ", "POST ", "|k=", "|t=", "|a=", "application/x-ndjson", "application/json; charset=utf-8", "text/csv", "*/*"]),
    target("page_form", Shape::Form, forms::page_form, "the same values from a form and from JSON, none with a NUL")
        .seeds(&["a=1&b=2&token=t", r#"{"a":"1","b":["x","y"],"name":null}"#, "redirectUris=a&redirectUris=b", "[]"])
        .words(&["token=", "name=", "\"a\":", "redirectUris", "{", "}"]),
    target("page_host", Shape::Url, aldaba::fuzzing::page_host, "the page on the host of the APIs alone, and its values for this machine alone")
        .seeds(&["/docs/\napi.example", "/docs/\nid.example", "https://api.example/docs/\nlocalhost", "/docs/settings.json\n[::1]:8080", "/docs/\nAPI.example:443", "127.0.0.1", "/docs/\n"])
        .words(&["api.example", "localhost", "127.0.0.1", "[::1]", ":443", ":8080", "@", "https://", "\n"]),
    target("pages", Shape::Form, requests::pages, "a page, JSON or a redirect within the service, never the service's own fault")
        .seeds(&["GET /portal/teams/team/\ncookie: __Host-aldaba-developer-session=$session\n\n", "GET /portal/\n\n", "GET /console/audit?limit=5&before=639000000000000000.x\naccept: application/json\ncookie: __Host-aldaba-operator-session=$session\n\n",
            "GET /portal/teams/team/notices?before=1.0190a5b2-7c11-4d52-9d3a-1f0f6f0b2c3d&format=json\ncookie: __Host-aldaba-developer-session=$session\n\n",
            "GET /console/webhooks?since=2026-11-15T08:30&format=csv\ncookie: __Host-aldaba-operator-session=$session\n\n",
            "POST /portal/teams/team/applications\ncookie: __Host-aldaba-developer-session=$session\ncontent-type: application/x-www-form-urlencoded\n\ntoken=$developer&do=add&name=App&redirectUris=https%3A%2F%2Fapp.example%2Fcb",
            "POST /console/tenants\ncookie: __Host-aldaba-operator-session=$session\ncontent-type: application/json\naccept: application/json\n\n{\"token\":\"$operator\",\"do\":\"add\",\"name\":\"Uno\"}",
            "POST /portal/login\ncontent-type: application/x-www-form-urlencoded\n\nticket=x&email=maria%40example.com", "GET /console/nothing\nhost: ops.example\n\n"])
        .words(&["/portal/teams/team/", "/console/", "audit", "reads", "webhooks", "notices", "calls", "deliveries", "subscriptions", "applications", "search?q=", "tenants/tenant", "users/users", "?format=csv",
            "?format=json", "?format=events", "&before=", "&after=", "&since=", "&until=", "&limit=", "639000000000000000.x", "-9223372036854775808.", "&do=", "token=$developer", "token=$operator",
            "accept: application/json\n", "cookie: __Host-aldaba-developer-session=$session\n", "cookie: __Host-aldaba-operator-session=$session\n", "POST ", "GET ", "%00", "%FF"]),
    target("paging", Shape::Form, gateway::fuzzing::paging, "a page within its bounds, with links to the right pages")
        .words(&["pageNumber=", "pageSize=", "filter=", "OrderBy=", "subscription-key="]),
    target("passkey_assertion", Shape::Lines, identity::fuzzing::passkey_assertion, "accepted only with the bytes that the authenticator signed")
        .seeds(&["", "3~another", "0~{}", "1~", "2x", "{\"id\":\"YQ\",\"rawId\":\"YQ\",\"type\":\"public-key\",\"response\":{}}", "9"])
        .words(&["0~", "1~", "2~", "3~", "webauthn.get", "\"challenge\":", "\"origin\":\"https://id.example\"", "\"crossOrigin\":true"]),
    target("passkey_registration", Shape::Binary, identity::fuzzing::passkey_registration,
        "a credential within its limits whose key can be used"),
    target("path_prefix", Shape::Url, requests::path_prefix, "pages below the prefix and other routes without it; a Location gets it once")
        .seeds(&["/aldaba/console/login?a=b\n/console/", "/console\n//other.example/", "/aldaba/operator/v1/tenants\n/operator/v1/tenants/a", "/aldaba\n/aldaba/x", "/aldabas/x?y\nhttps://app.example/", "http://ops.example/aldaba/metrics?\n"])
        .words(&["/aldaba", "/console", "//", "?", "/aldaba/aldaba", "%2F", "\n", "https://"]),
    target("people", Shape::Text, people::people, "addresses and names are stored as they are found again")
        .seeds(&["maria@example.com", " Peña & Asociados ", "İ@ŞİRKET.example", "a@b@c", "12345678Z", "@", "X1234567L"])
        .words(&["@", "İ", "ẞ", "Σ", "ǰ"]),
    target("pkce", Shape::Text, identity::fuzzing::pkce, "a verifier matches its own challenge alone")
        .seeds(&["dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk\nE9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk\n$", "short\n$", "x\nx"])
        .words(&["$", "\n", "~", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"]),
    target("public_api", Shape::Form, requests::public_api, "documented errors with the id of the response, redirects and CORS for registered addresses alone, never the service's own fault")
        .seeds(&[TOKEN_REQUEST, AUTHORIZE, READ, "POST /auth/core/connect/token\ncontent-type: application/x-www-form-urlencoded\norigin: https://spa.example\n\ngrant_type=refresh_token&refresh_token=$refresh&client_id=spa",
            "POST /auth/core/connect/revocation\nauthorization: Basic YXBwOnNlY3JldA==\ncontent-type: application/x-www-form-urlencoded\n\ntoken=$refresh",
            "POST /auth/core/connect/introspect\nauthorization: Basic YXBwOnNlY3JldA==\ncontent-type: application/x-www-form-urlencoded\n\ntoken=$access&token_type_hint=access_token",
            "GET /auth/core/connect/userinfo\nauthorization: Bearer $access\nx-request-id: r-1\n\n", "GET /auth/core/connect/endsession?id_token_hint=$hint&post_logout_redirect_uri=https%3A%2F%2Fapp.example%2Fbye&state=s\n\n",
            "OPTIONS /auth/core/connect/token\norigin: https://spa.example\naccess-control-request-method: POST\n\n", "GET /auth/core/.well-known/openid-configuration\nhost: auth.example\n\n",
            "GET /accounting/api/customers/changes?after=0&pageSize=2&subscription-key=$key\nauthorization: bearer $access\ncontext: {\"clientId\":\"c1\"}\n\n",
            "POST /accounting/api/customers/webhooks/subscribe\nocp-apim-subscription-key: $key\nauthorization: Bearer $access\ncontent-type: application/json\n\n{\"thirdPartyApplicationName\":\"App\",\"url\":\"https://app.example/hook\",\"secret\":\"s3cret\",\"eventTypes\":[\"Svc.ACC.Customers.CustomerCreated\"]}",
            "GET /nothing\nuser-agent: x\n\n", "DELETE /auth/core/connect/token\n\n"])
        .words(&["/auth/core/", "/connect/", "authorize?", "token", "userinfo", "endsession?", "/accounting/api/", "/customers", "/webhooks", "/changes", "$access", "$refresh", "$code", "$hint", "$key", "$session",
            "authorization: Bearer $access\n", "ocp-apim-subscription-key: $key\n", "context: none\n", "origin: https://spa.example\n", "origin: null\n", "host: \n", "sec-fetch-site: cross-site\n", "sec-fetch-mode: navigate\n",
            "content-type: application/json\n", "if-none-match: *\n", "x-request-id: ", "prompt=none", "response_mode=form_post", "&lang=", "post_logout_redirect_uri=", "OPTIONS ", "HEAD ", "GET ", "POST "]),
    target("receiver_response", Shape::Header, webhooks::fuzzing::receiver_response, "the exchange ends, with at most 16 KiB of the body")
        .seeds(&["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 503 X\r\nRetry-After: 120\r\nContent-Length: 0\r\n\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No\r\n\r\n",
            "HTTP/1.0 302 F\r\nLocation: /\r\n\r\nx", "garbage"])
        .words(&["HTTP/1.1 ", "\r\n", "\r\n\r\n", "Content-Length: ", "Transfer-Encoding: chunked\r\n", "Retry-After: ", "Set-Cookie: a=b\r\n", "101", "0\r\n\r\n",
            "ffffffffffffffff\r\n", "Sun, 06 Nov 2094 08:49:37 GMT", "Connection: close\r\n"]),
    target("receiver_url", Shape::Url, addresses::receiver_url, "host, port and path as a second parser reads them; https on port 443")
        .seeds(&["https://receiver.example/hook?a=b", "https://127.0.0.1/", "http://localhost:9000/", "https://[::1]:443/x", "HTTPS://A.example:443",
            "https://user@host/", "https://0x7f.1/", "https://a.example/api/webhooks/incoming/Invoicing"]),
    target("redirect_uri", Shape::Url, addresses::redirect, "no odd address is registered, and only the port of a loopback address may differ")
        .seeds(&["https://app.example/cb", "http://127.0.0.1/cb\nhttp://127.0.0.1:4711/cb", "http://localhost:8765/callback", "com.example.app:/cb",
            "urn:ietf:wg:oauth:2.0:oob", "http://oob/", "http://[::1]:1/x\nhttp://[::1]/x"])
        .words(&["\n", "http://127.0.0.1", "http://[::1]", "com.example.app:/", "http://oob"]),
    target("stored_keys", Shape::Text, keys::stored_keys, "the key that the digits say, recipients that are the same when written again, and nothing printed")
        .seeds(&["a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7a7", "A7", "# created\nAGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0\n",
            "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p", " 00 "])
        .words(&["AGE-SECRET-KEY-1", "age1", "#", "\n", "a7a7", "00", " "]),
    target("subscription", Shape::Json, webhooks::fuzzing::subscription, "both families: every fault with its member, values as another parser reads them")
        .seeds(&[ACCOUNTING, INVOICING, r#"{"secret":"x","overlapHours":24.0}"#, r#"{"secret":"","url":1}"#, "[]"])
        .words(&["eventTypes", "secret", "url", "uri", "entity", "action", "isPaused", "overlapHours", "description", "desc", "from", "Svc.ACC.Customers.CustomerUpdated",
            "Deleted", "thirdPartyApplicationName"]),
    target("tags", Shape::Form, aldaba::fuzzing::tags, "tags of the document, or a short refusal")
        .seeds(&["tags=Customers,Invoicing", "tags=customers&TAGS=+invoicing", "tags=Custmers", "other=1", "tags=,,,"])
        .words(&["tags=", "Customers", "Accounts", "Payments", ","]),
    target("ticket", Shape::Binary, identity::fuzzing::ticket, "opens as it was issued, in its realm and its browser alone")
        .seeds(&["", "=", "=AAAA", "\u{1}\u{1}x", "\u{10}\u{0}A", "\u{7f}\u{3}_-="]),
    target("times", Shape::Text, people::times, "not before year 1, and the same in every format that keeps it")
        .seeds(&["2026-11-15", "2026-11-15T08:30:00.1234567Z", "2026-11-15T01:00:00+01:00", "0001-01-01", "9999-12-31T23:59:59.9999999Z", "x"])
        .words(&["T", "Z", "+14:00", "-23:59", "[Europe/Madrid]", "24:00", ":60", "W01", "+010000-01-01"]),
    target("tokens", Shape::Text, identity::fuzzing::tokens, "accepted only as our key signed it, cached or not"),
];
