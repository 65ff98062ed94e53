package dev.aldaba.kit.live;

import static dev.aldaba.kit.live.Dev.PATIENCE;
import static dev.aldaba.kit.live.Dev.customer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.aldaba.kit.AldabaClient;
import dev.aldaba.kit.ApiException;
import dev.aldaba.kit.Change;
import dev.aldaba.kit.Customer;
import dev.aldaba.kit.Resource;
import dev.aldaba.kit.Secret;
import dev.aldaba.kit.SignInRequiredException;
import dev.aldaba.kit.signin.AuthorizationRequest;
import dev.aldaba.kit.signin.CallbackException;
import dev.aldaba.kit.signin.OAuthException;
import dev.aldaba.kit.signin.PendingSignIn;
import dev.aldaba.kit.signin.Session;
import dev.aldaba.kit.signin.TokenStore;
import dev.aldaba.kit.signin.Tokens;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Sign-in, reads and the feed, against a running {@code aldaba dev}. */
class LiveTest {
    @Test
    void signInRefreshAndSignOut() throws Exception {
        var dev = new Dev();
        var completed = dev.completeSignIn();
        assertEquals(dev.person.path("email").asText(), completed.identity().text("email").orElseThrow());
        // An expired access token is renewed, and the next refresh token is saved.
        Tokens fresh = completed.tokens();
        var store = TokenStore.inMemory(new Tokens(fresh.accessToken(), Instant.now(), fresh.refreshToken(), fresh.idToken(), fresh.sub()));
        var session = new Session(dev.signIn(), store);
        AldabaClient client = dev.client(session);
        client.companies().page(1);
        Tokens renewed = store.load().orElseThrow();
        assertNotEquals(fresh.refreshToken(), renewed.refreshToken());
        assertNotEquals(fresh.accessToken(), renewed.accessToken());
        // A token that the service refuses is renewed, too.
        String spoiled = renewed.accessToken().reveal().replaceAll(".{8}$", "AAAAAAAA");
        store.save(new Tokens(Secret.of(spoiled), renewed.expiresAt(), renewed.refreshToken(), renewed.idToken(), renewed.sub()));
        client.companies().page(1);
        assertTrue(dev.signIn().signOutUrl(renewed, null).startsWith(dev.text("auth_url") + "/auth/core/"));
        Tokens last = store.load().orElseThrow();
        session.signOut();
        assertThrows(SignInRequiredException.class, () -> client.companies().page(1));
        assertEquals("invalid_grant", assertThrows(OAuthException.class, () -> dev.signIn().refresh(last)).code());
    }

    @Test
    void forgedCallbackIsRefused() throws Exception {
        var dev = new Dev();
        var request = AuthorizationRequest.accounting().loginHint(dev.person.path("email").asText()).language("es");
        var started = dev.signIn().start(request);
        String callback = dev.browse(started.url());
        PendingSignIn other = dev.signIn().start(request).pending();
        var refused = assertThrows(CallbackException.class, () -> dev.signIn().finish(other, callback));
        assertEquals(CallbackException.Reason.STATE, refused.reason());
        // The code of another sign-in does not go with this verifier.
        PendingSignIn own = started.pending();
        var stolen = new PendingSignIn(own.state(), own.nonce(), other.verifier(), true);
        assertEquals("invalid_grant", assertThrows(OAuthException.class, () -> dev.signIn().finish(stolen, callback)).code());
    }

    private record TradeName(String tradeName) {}

    @Test
    void reads() throws Exception {
        var dev = new Dev();
        var client = dev.signedInClient();
        String company = dev.company();
        assertEquals("Panadería Ñandú", client.company(company).orElseThrow().vatName());
        dev.ingest(Map.of("area", "accounting", "resource", "accounts", "company", company, "action", "upsert",
                "correlationId", "account", "data", Map.of("code", "430000001", "description", "Clientes")));
        var changes = new ArrayList<Object>();
        for (int number = 0; number < 7; number++) {
            changes.add(customer(company, "cliente/ñ " + number, "Cliente " + number));
        }
        dev.ingest(changes.toArray());
        var customers = client.customers(company).pageSize(3);
        List<Customer> all = customers.stream().toList();
        assertEquals(7, all.size());
        assertEquals("Cliente 6", all.get(6).tradeName());
        var page = customers.page(3);
        assertTrue(page.items().size() == 1 && page.pagesTotal() == 3 && page.recordsTotal() == 7
                && page.position() >= all.get(6).sequenceVersion(), page.toString());
        assertTrue(customers.pageIfChanged(3, page.etag()).isEmpty());
        Customer one = client.customer(company, "cliente/ñ 4").orElseThrow();
        assertEquals("Cliente 4", one.tradeName());
        assertEquals("Clientes", client.account(company, one.accountCodeCorrelationId()).orElseThrow().description());
        var record = client.record(Resource.CUSTOMERS, company, "cliente/ñ 4").orElseThrow();
        assertEquals(new TradeName("Cliente 4"), record.as(TradeName.class));
        assertEquals(one.version(), record.version());
        assertTrue(client.customer(company, "missing").isEmpty());
        assertEquals(404, assertThrows(ApiException.class, () -> client.customers("another company").page(1)).status());
    }

    @Test
    void payrollIsFilteredAndOrdered() throws Exception {
        var client = new Dev().signedInClient();
        var all = client.payrollCompanies("", "companyCode desc").stream().toList();
        assertTrue(all.size() > 1 && all.get(0).companyCode() > all.get(1).companyCode(), all.toString());
        String filter = "companyName eq " + AldabaClient.quote(all.get(1).companyName()) + " and companyCode eq " + all.get(1).companyCode();
        assertEquals(List.of(all.get(1)), client.payrollCompanies(filter, "").stream().toList());
        assertEquals(400, assertThrows(ApiException.class, () -> client.payrollCompanies("nothing eq 1", "").page(1)).status());
    }

    @Test
    void feedFollowsTheSnapshot() throws Exception {
        var dev = new Dev();
        var client = dev.signedInClient();
        String company = dev.company();
        dev.ingest(customer(company, "1", "Uno"));
        var snapshot = client.customers(company).snapshot();
        assertEquals(1, snapshot.records().size());
        dev.ingest(customer(company, "2", "Dos"), customer(company, "1", "Uno bis"), customer(company, "3", "Tres"));
        var feed = client.changes(Resource.CUSTOMERS, company, snapshot.position()).pageSize(2);
        var seen = new ArrayList<String>();
        feed.forEachRemaining(change -> seen.add(change.correlationId() + " " + change.event()));
        assertEquals(List.of("2 Svc.ACC.Customers.CustomerCreated", "1 Svc.ACC.Customers.CustomerUpdated",
                "3 Svc.ACC.Customers.CustomerCreated"), seen);
        // Another process goes on where the last one stopped, and waits for what comes.
        var resumed = client.changes(Resource.CUSTOMERS, company, feed.position()).follow(Duration.ofMillis(20));
        CompletableFuture<Change> next = CompletableFuture.supplyAsync(resumed::next);
        dev.ingest(customer(company, "4", "Cuatro"));
        Change change = next.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        assertEquals("4 maría", change.correlationId() + " " + change.user());
        assertFalse(feed.position() >= resumed.position());
    }
}
