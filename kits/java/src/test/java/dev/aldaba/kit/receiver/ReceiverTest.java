package dev.aldaba.kit.receiver;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.aldaba.kit.Change;
import dev.aldaba.kit.Secret;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ReceiverTest {
    private static final Secret SECRET = Secret.of("un secreto ñ");
    private static final String ACCOUNTING = """
            {"WebhookId":"w","OutgoingId":"o","ConversationId":"c","TenantId":"t",
            "ExtraPartitionInformation":{"PartitionClientId":"c","UserName":"maría"},
            "EventType":{"AppName":"Svc","Domain":"ACC","Resource":"Customers","EventType":"CustomerCreated",
            "SemanticName":"Svc.ACC.Customers.CustomerCreated"},"Timestamp":639000000000000000,
            "JsonData":"{\\"CorrelationId\\":\\"ñ 1\\",\\"Version\\":\\"11/15/2026 08:30:00\\",\\"SequenceVersion\\":\\"1192\\",\
            \\"SvcSourceInterface\\":\\"ERP\\",\\"SvcProcessId\\":\\"p\\",\\"SvcSourceAction\\":\\"Save\\"}","UserIdentifier":"u"}""";
    private static final String ACKNOWLEDGE = """
            {"WebhookId":"w","OutgoingId":"o","ConversationId":"c","TenantId":"t","ExtraPartitionInformation":{},
            "EventType":{"AppName":"Svc","Domain":"ACC","Resource":"Customers","EventType":"Acknowledge","SemanticName":"x"},
            "Timestamp":1,"JsonData":"{\\"Arguments\\":\\"Acknowledge\\"}","UserIdentifier":"u"}""";
    private static final String INVOICING =
            "{\"Entity\":\"Bank\",\"EntityId\":\"7\",\"TenantId\":\"t\",\"User\":\"eva\",\"Changes\":[{\"Name\":\"name\",\"Value\":\"Caja\"}]}";

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void signatureOfRfc4231() {
        assertEquals("sha256=5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843",
                Verifier.sign(Secret.of("Jefe"), bytes("what do ya want for nothing?")));
    }

    private static Map<String, String> standard(Secret secret, String timestamp) {
        return Map.of("webhook-id", "id", "webhook-timestamp", timestamp,
                "webhook-signature", Verifier.signStandard(secret, "id", timestamp, bytes(INVOICING)));
    }

    private static Map<String, String> with(Map<String, String> headers, String name, String value) {
        var changed = new java.util.HashMap<>(headers);
        changed.put(name, value);
        return changed;
    }

    private static void assertRefused(Verifier.Refusal refusal, Map<String, String> headers) {
        var refused = assertThrows(Verifier.RefusedException.class, () -> Verifier.of(SECRET).verify(headers::get, bytes(INVOICING)));
        assertEquals(refusal, refused.refusal());
    }

    @Test
    void signaturesOfAllSchemes() throws Exception {
        String right = Verifier.sign(SECRET, bytes(INVOICING));
        String now = Long.toString(Instant.now().getEpochSecond());
        String old = Long.toString(Instant.now().getEpochSecond() - 360);
        var both = with(standard(SECRET, now), "webhook-signature",
                Verifier.signStandard(Secret.of("new"), "id", now, bytes(INVOICING)) + " " + standard(SECRET, now).get("webhook-signature"));
        for (var headers : List.of(Map.of("svc-webhook-signature", right), Map.of("ms-signature", right), standard(SECRET, now), both)) {
            Verifier.of(Secret.of("other"), SECRET).verify(headers::get, bytes(INVOICING));
            assertThrows(Verifier.RefusedException.class, () -> Verifier.of(SECRET).verify(headers::get, bytes(" " + INVOICING)));
        }
        assertRefused(Verifier.Refusal.NO_SIGNATURE, Map.of());
        assertRefused(Verifier.Refusal.WRONG_SIGNATURE, Map.of("ms-signature", right.toLowerCase(Locale.ROOT)));
        assertRefused(Verifier.Refusal.WRONG_SIGNATURE, Map.of("ms-signature", right.substring(0, 20)));
        assertRefused(Verifier.Refusal.WRONG_SIGNATURE, Map.of("ms-signature", Verifier.sign(Secret.of("other"), bytes(INVOICING))));
        assertRefused(Verifier.Refusal.TIMESTAMP, standard(SECRET, old));
        assertRefused(Verifier.Refusal.TIMESTAMP, standard(SECRET, "soon"));
        assertRefused(Verifier.Refusal.WRONG_SIGNATURE, with(standard(SECRET, now), "webhook-id", "other"));
        assertRefused(Verifier.Refusal.WRONG_SIGNATURE, standard(Secret.of("other"), now));
        var contract = Map.of("ms-signature", right);
        assertThrows(Verifier.RefusedException.class, () -> Verifier.of(SECRET).onlyStandard().verify(contract::get, bytes(INVOICING)));
        // The key of Standard Webhooks is the base64 after whsec_; the contract's key is the whole text.
        assertEquals(Verifier.signStandard(Secret.of("ABC"), "id", now, bytes("x")), Verifier.signStandard(Secret.of("whsec_QUJD"), "id", now, bytes("x")));
        assertNotEquals(Verifier.sign(Secret.of("ABC"), bytes("x")), Verifier.sign(Secret.of("whsec_QUJD"), bytes("x")));
    }

    private final List<Event> events = new ArrayList<>();
    private Exception failure;

    private Receiver.Response receive(String method, String query, String signature, String body) throws IOException {
        var receiver = new Receiver(Verifier.of(SECRET), event -> {
            events.add(event);
            if (failure != null) {
                throw failure;
            }
        });
        var headers = Map.of("svc-webhook-signature", signature, "webhook-id", "from the header");
        return receiver.receive(new Receiver.Request(method, query, headers::get, new ByteArrayInputStream(bytes(body))));
    }

    private int post(String body) throws IOException {
        return receive("POST", null, Verifier.sign(SECRET, bytes(body)), body).status();
    }

    @Test
    void receiverAnswers() throws IOException {
        assertEquals(200, post(ACKNOWLEDGE));
        assertEquals(401, receive("POST", null, "sha256=00", ACKNOWLEDGE).status());
        assertEquals(401, receive("POST", null, Verifier.sign(SECRET, bytes(ACCOUNTING)), ACCOUNTING.replace("1192", "1193")).status());
        assertTrue(events.isEmpty());
        assertEquals(200, post(ACCOUNTING));
        assertEquals(200, post(INVOICING));
        for (String invalid : List.of("{}", "[", "", "null", "{\"Entity\":\"Bank\"}", "[]", "{\"EventType\":{},\"OutgoingId\":\"o\",\"JsonData\":\"{}\"}",
                "{\"EventType\":{},\"OutgoingId\":\"o\",\"JsonData\":\"null\"}")) {
            assertEquals(400, post(invalid), invalid);
        }
        assertEquals(413, post("x".repeat(Receiver.BODY_BYTES_MAX + 1)));
        assertEquals(405, receive("PUT", null, "", "").status());
        var change = (Event.Accounting) events.get(0);
        assertEquals("ñ 1", change.recordId());
        assertEquals("maría", change.notification().extraPartitionInformation().userName());
        assertEquals(Instant.parse("2025-11-29T08:00:00Z"), change.time());
        assertFalse(change.isTest());
        var bank = (Event.Invoicing) events.get(1);
        assertEquals("from the header", bank.outgoingId());
        assertEquals(List.of(new InvoicingNotification.Change("name", "Caja")), bank.notification().changes());
        failure = new IOException("the database is gone");
        assertEquals(500, post(ACCOUNTING));
    }

    @Test
    void echoReturnsOnlyGuids() throws IOException {
        String guid = "4be1f7c2-0a58-4f53-8e52-97d1a3c60b14";
        assertEquals(new Receiver.Response(200, guid), receive("GET", "a=b&echo=" + guid, "", ""));
        for (String query : new String[] {"echo=%3Cscript%3E", "echo=" + guid + "x", "", null}) {
            var response = receive("GET", query, "", "");
            assertTrue(response.status() == 400 && !response.text().contains("script"), response.toString());
        }
    }

    @Test
    void feedAndDeliveryAreTheSameEvent() throws Exception {
        var delivered = Event.parse(null, bytes(ACCOUNTING)).orElseThrow().received();
        var change = new Change(1192, "Svc.ACC.Customers.CustomerCreated", "ñ 1", Instant.EPOCH, "u", "p");
        assertEquals(new Received("o", Received.fromFeed(change, "t", "c").record(), 1192), delivered);
    }
}
