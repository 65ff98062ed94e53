package dev.aldaba.kit;

/**
 * The request for an invoicing webhook.
 *
 * @param uri {@code https://<host>/api/webhooks/incoming/Invoicing}
 * @param entity the kind of record, such as {@code Customer} or {@code SaleInvoice}
 * @param action {@code CompanyData} and {@code CompanySettings} have only {@code Updated}
 * @param secret signs the deliveries: 1 to 256 bytes
 * @param isPaused creates the subscription paused
 * @param applicationName shown to people
 */
public record InvoicingSubscription(
        String uri, String entity, Action action, Secret secret, boolean isPaused, String applicationName,
        String description) {
    /** What happened to the record. */
    public enum Action {
        Created,
        Updated,
        Deleted
    }

    /** A subscription that is not paused. */
    public InvoicingSubscription(String uri, String entity, Action action, Secret secret, String applicationName) {
        this(uri, entity, action, secret, false, applicationName, "");
    }

    /** The address of a receiver on this host. */
    public static String uriOf(String host) {
        return "https://" + host + "/api/webhooks/incoming/Invoicing";
    }
}
