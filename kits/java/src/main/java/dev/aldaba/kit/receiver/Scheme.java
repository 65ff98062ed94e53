package dev.aldaba.kit.receiver;

/** A way to sign deliveries. */
public enum Scheme {
    ACCOUNTING("svc-webhook-signature"),
    INVOICING("ms-signature"),
    /** Standard Webhooks. */
    STANDARD("webhook-signature");

    private final String header;

    Scheme(String header) {
        this.header = header;
    }

    /** The header of the signature. */
    public String header() {
        return header;
    }
}
