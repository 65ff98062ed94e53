package dev.aldaba.kit.live;

import static dev.aldaba.kit.live.Dev.PATIENCE;
import static dev.aldaba.kit.live.Dev.customer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.aldaba.kit.AldabaClient;
import dev.aldaba.kit.History;
import dev.aldaba.kit.InvoicingSubscription;
import dev.aldaba.kit.Resource;
import dev.aldaba.kit.Secret;
import dev.aldaba.kit.Subscription;
import dev.aldaba.kit.TestServer;
import dev.aldaba.kit.Webhooks;
import dev.aldaba.kit.receiver.Event;
import dev.aldaba.kit.receiver.FileInboxStore;
import dev.aldaba.kit.receiver.Inbox;
import dev.aldaba.kit.receiver.Receiver;
import dev.aldaba.kit.receiver.Verifier;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Both families of webhooks, with a receiver on loopback and its inbox in a file, against a running {@code aldaba dev}. */
class LiveWebhooksTest {
    private static final Secret SECRET = Secret.of("un secreto ñ");
    private static final Secret NEXT_SECRET = Secret.of("the next secret");

    private final BlockingQueue<Event> processed = new LinkedBlockingQueue<>();
    private final BlockingQueue<Inbox.Outcome> outcomes = new LinkedBlockingQueue<>();
    private final BlockingQueue<Exception> refused = new LinkedBlockingQueue<>();
    private Dev dev;
    private AldabaClient client;
    private String company;
    private FileInboxStore store;
    private TestServer server;

    @BeforeEach
    void start(@TempDir Path folder) throws Exception {
        dev = new Dev();
        client = dev.signedInClient();
        company = dev.company();
        store = FileInboxStore.open(folder.resolve("inbox"));
        var inbox = Inbox.of(store);
        server = new TestServer(new Receiver(Verifier.of(SECRET, NEXT_SECRET),
                event -> outcomes.add(inbox.processOnce(event.received(), () -> processed.add(event))), refused::add));
    }

    @AfterEach
    void stop() throws Exception {
        server.close();
        store.close();
        assertTrue(refused.isEmpty(), refused.toString());
    }

    private Event next(Predicate<Event> isWanted) throws Exception {
        while (true) {
            Event event = processed.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertNotNull(event, "no event came");
            if (isWanted.test(event)) {
                return event;
            }
        }
    }

    /** Skips the events of other companies, which the tests of other kits may change. */
    private Event.Accounting nextOfCompany() throws Exception {
        return (Event.Accounting) next(event -> event instanceof Event.Accounting change && company.equals(change.company()));
    }

    private static void until(String what, BooleanSupplier isMet) throws Exception {
        Instant end = Instant.now().plus(PATIENCE);
        while (!isMet.getAsBoolean()) {
            assertTrue(Instant.now().isBefore(end), what);
            Thread.sleep(20);
        }
    }

    @Test
    void accountingWebhook() throws Exception {
        Webhooks webhooks = client.webhooks(Resource.CUSTOMERS);
        assertEquals(Resource.CUSTOMERS.eventTypes(), webhooks.events());
        var subscription = Subscription.toAll(Resource.CUSTOMERS, "Java", server.url() + "/hooks", SECRET);
        String id = webhooks.subscribe(subscription);
        webhooks.waitUntilActive(id, PATIENCE);
        assertEquals(id, webhooks.subscribe(subscription));
        dev.ingest(customer(company, "ñ 1", "Uno"));
        Event.Accounting event = nextOfCompany();
        assertEquals("Svc.ACC.Customers.CustomerCreated ñ 1 " + dev.tenant + " " + id,
                event.semanticName() + " " + event.recordId() + " " + event.tenantId() + " " + event.notification().webhookId());
        assertTrue(event.time().isAfter(Instant.now().minusSeconds(60)) && !event.isTest());
        var read = client.customer(event.company(), event.recordId()).orElseThrow();
        assertEquals(event.data().sequenceVersion(), read.sequenceVersion());
        replayIsProcessedOnce(webhooks.history(id), event);
        manage(webhooks, id);
        assertEquals(id, webhooks.unsubscribe(new Subscription("Java", server.url() + "/moved", NEXT_SECRET, subscription.eventTypes())));
        webhooks.delete(id);
        assertTrue(webhooks.get(id).orElseThrow().isDeleted());
    }

    private void replayIsProcessedOnce(History history, Event event) throws Exception {
        outcomes.clear();
        var replay = history.replayOne(event.outgoingId());
        until("the replay", () -> history.health().replays().stream().anyMatch(one -> one.number() == replay.number() && one.isDone()));
        assertTrue(outcomes.contains(Inbox.Outcome.DUPLICATE), outcomes.toString());
        // The next event shows that the replay was not processed again.
        dev.ingest(customer(company, "2", "Dos"));
        assertEquals("2", nextOfCompany().recordId());
        var delivery = history.delivery(event.outgoingId()).orElseThrow();
        assertTrue(delivery.status().equals("delivered") && delivery.body().contains(event.outgoingId()), delivery.toString());
        boolean isFound = false;
        for (var one : history.deliveries("delivered", Instant.now().minusSeconds(3600))) {
            isFound |= event.outgoingId().equals(one.outgoingId());
        }
        assertTrue(isFound);
    }

    private void manage(Webhooks webhooks, String id) throws Exception {
        webhooks.setEnabled(id, false);
        assertFalse(webhooks.get(id).orElseThrow().isActive());
        webhooks.setEnabled(id, true);
        assertTrue(webhooks.rotateSecret(id, NEXT_SECRET, 1).oldSecretUntil().isAfter(Instant.now()));
        webhooks.changeUrl(id, server.url() + "/moved");
        webhooks.waitUntilActive(id, PATIENCE);
        webhooks.history(id).test();
        next(Event::isTest);
        var webhook = webhooks.list().stream().filter(one -> one.id().equals(id)).findFirst().orElseThrow();
        assertTrue(webhook.url().endsWith("/moved") && webhook.secret().equals(NEXT_SECRET) && webhook.events().size() == 4, webhook.toString());
        assertFalse(webhook.toString().contains(NEXT_SECRET.reveal()));
    }

    @Test
    void invoicingWebhook() throws Exception {
        var webhooks = client.invoicingWebhooks();
        var webhook = webhooks.subscribe(new InvoicingSubscription(
                server.url() + "/api/webhooks/incoming/Invoicing", "Bank", InvoicingSubscription.Action.Created, SECRET, "Java"));
        webhooks.waitUntilEffective(webhook.id(), PATIENCE);
        long position = client.companies().page(1).position();
        String id = Dev.unique("banco");
        dev.ingest(Map.of("area", "invoicing", "resource", "Bank", "action", "upsert", "correlationId", id, "user", "maría",
                "data", Map.of("name", "Caja")));
        var event = (Event.Invoicing) next(one -> one.recordId().equals(id));
        assertEquals("Bank maría Caja", event.notification().entity() + " " + event.notification().user() + " "
                + event.notification().changes().get(0).value());
        assertNotNull(event.outgoingId());
        boolean isInFeed = false;
        for (var feed = client.invoicingChanges(position); feed.hasNext(); ) {
            var change = feed.next();
            isInFeed |= change.correlationId().equals(id) && change.event().equals("Bank.Created");
        }
        assertTrue(isInFeed);
        assertTrue(webhooks.setPaused(webhook.id(), true).isPaused());
        assertFalse(webhooks.setPaused(webhook.id(), false).isPaused());
        assertTrue(webhooks.history(webhook.id()).health().handshake().isAccepted());
        assertTrue(webhooks.list().stream().anyMatch(one -> one.id().equals(webhook.id())));
        assertEquals("Deleted", webhooks.delete(webhook.id()).status());
        assertEquals(List.of(), webhooks.get(webhook.id()).stream().toList());
    }
}
