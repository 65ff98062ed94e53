package dev.aldaba.kit;

import com.fasterxml.jackson.databind.JavaType;
import dev.aldaba.kit.internal.Http;
import dev.aldaba.kit.internal.Json;
import java.net.http.HttpClient;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Calls the APIs for one user. It is safe for concurrent use.
 *
 * <p>Responses 429 and 503 are retried after {@code Retry-After}, idempotent calls also without a response; a refused
 * access token is renewed once.
 *
 * <pre>{@code
 * var client = new AldabaClient("https://api.example.com", Secret.of("subscription key"), session);
 * for (Company company : client.companies()) {
 *     System.out.println(company.vatName() + ": " + client.customers(company.correlationId()).stream().count());
 * }
 * }</pre>
 */
public final class AldabaClient {
    private final String baseUrl;
    private final Secret key;
    private final TokenSource tokens;
    private final Http http;

    /** The base URL is that of the service without a path; the key is a subscription key. */
    public AldabaClient(String baseUrl, Secret key, TokenSource tokens) {
        this(baseUrl, key, tokens, null, RetryPolicy.DEFAULT);
    }

    /** With an HTTP client of your own, which must not follow redirects, and a retry policy. */
    public AldabaClient(String baseUrl, Secret key, TokenSource tokens, HttpClient httpClient, RetryPolicy retryPolicy) {
        this.baseUrl = Http.checkUrl("the URL of the service", baseUrl);
        this.key = Objects.requireNonNull(key, "the subscription key is missing");
        this.tokens = Objects.requireNonNull(tokens, "the source of access tokens is missing");
        this.http = new Http(httpClient, retryPolicy);
    }

    /** The companies of the user's tenant. */
    public RecordList<Company> companies() {
        return RecordList.of(this, Resource.COMPANIES, null, Company.class);
    }

    /** One company; empty if the tenant has no such company. */
    public Optional<Company> company(String id) {
        return find(Resource.COMPANIES, null, id, Company.class);
    }

    /** The customers of a company. */
    public RecordList<Customer> customers(String company) {
        return RecordList.of(this, Resource.CUSTOMERS, company, Customer.class);
    }

    /** One customer; empty if the customer or the company does not exist. */
    public Optional<Customer> customer(String company, String id) {
        return find(Resource.CUSTOMERS, company, id, Customer.class);
    }

    /** The accounts of a company. */
    public RecordList<Account> accounts(String company) {
        return RecordList.of(this, Resource.ACCOUNTS, company, Account.class);
    }

    /** One account; empty if the account or the company does not exist. */
    public Optional<Account> account(String company, String id) {
        return find(Resource.ACCOUNTS, company, id, Account.class);
    }

    /** The payroll companies of the user's tenant. */
    public RecordList<PayrollCompany> payrollCompanies() {
        return payrollCompanies("", "");
    }

    /**
     * Some payroll companies of the user's tenant.
     *
     * @param filter an expression such as {@code lastUpdate gt 2026-11-01 and companyCode ge 100}; see {@link #quote}
     * @param orderBy members such as {@code companyName desc, companyCode}
     */
    public RecordList<PayrollCompany> payrollCompanies(String filter, String orderBy) {
        return RecordList.ofPayroll(this, new TreeMap<>(Map.of("filter", filter, "OrderBy", orderBy)));
    }

    /** Quotes a text for a filter. */
    public static String quote(String text) {
        return "'" + text.replace("'", "''") + "'";
    }

    /** The records of any resource. The company is ignored for companies themselves. */
    public RecordList<StoredRecord> records(Resource resource, String company) {
        return RecordList.of(this, resource, company, StoredRecord.class);
    }

    /** One record of any resource; empty if it does not exist. */
    public Optional<StoredRecord> record(Resource resource, String company, String id) {
        return find(resource, company, id, StoredRecord.class);
    }

    /** The changes of a company's records after a position. The company is ignored for companies themselves. */
    public Feed changes(Resource resource, String company, long after) {
        return new Feed(this, resource.path(), resource.contextCompany(company), after);
    }

    /** The changes of the tenant's invoicing entities after a position. */
    public Feed invoicingChanges(long after) {
        return new Feed(this, "/invoicing/api", null, after);
    }

    /** Manages the webhooks of a resource of the accounting family. */
    public Webhooks webhooks(Resource resource) {
        return new Webhooks(this, resource);
    }

    /** Manages the webhooks of invoicing. */
    public InvoicingWebhooks invoicingWebhooks() {
        return new InvoicingWebhooks(this);
    }

    private <T> Optional<T> find(Resource resource, String company, String id, Class<T> type) {
        if (id.isEmpty()) {
            throw new IllegalArgumentException("the id of the record is empty");
        }
        return typedOrEmpty(Call.get(resource.path() + "/" + Http.segment(id)).inCompany(resource.contextCompany(company)), type);
    }

    /** Sends a call and parses the body of its response; empty for 404. */
    <T> Optional<T> typedOrEmpty(Call call, Class<T> type) {
        try {
            return Optional.of(typed(call, type));
        } catch (ApiException refused) {
            if (refused.status() == 404) {
                return Optional.empty();
            }
            throw refused;
        }
    }

    <T> T typed(Call call, Class<T> type) {
        return typed(call, Json.MAPPER.constructType(type));
    }

    <T> T typed(Call call, JavaType type) {
        return Http.parse(call.name(), send(call), type);
    }

    /** Returns a successful response, or 304 to a conditional call. Renews a refused token once. */
    Http.Response send(Call call) {
        Secret token = tokens.accessToken();
        Http.Response response = sendWith(call, token);
        if (isTokenRefused(response)) {
            response = sendWith(call, tokens.replaceToken(token));
        }
        if (response.isSuccess() || (response.status() == 304 && call.etag() != null)) {
            return response;
        }
        throw Http.error(call.name(), response);
    }

    private Http.Response sendWith(Call call, Secret token) {
        var headers = new HashMap<String, String>();
        headers.put("Ocp-Apim-Subscription-Key", key.reveal());
        headers.put("Authorization", "Bearer " + token.reveal());
        headers.put("Content-Type", "application/json");
        if (call.context() != null) {
            headers.put("context", call.context());
        }
        if (call.etag() != null) {
            headers.put("If-None-Match", call.etag());
        }
        String body = call.body() == null ? null : Json.write(call.body());
        return http.send(new Http.Request(call.method(), baseUrl + call.path(), headers, body, call.isIdempotent()));
    }

    /** Whether the service refused the access token, rather than the subscription key. */
    private static boolean isTokenRefused(Http.Response response) {
        return response.status() == 401 && response.header("WWW-Authenticate").contains("invalid_token");
    }

    @Override
    public String toString() {
        return "AldabaClient(" + baseUrl + ")";
    }
}
