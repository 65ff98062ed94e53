package dev.aldaba.kit;

import java.util.List;

/**
 * The request for a webhook of the accounting family.
 *
 * @param thirdPartyApplicationName the name of the application, shown to people
 * @param url the address of the receiver: https, port 443, on a public address
 * @param secret signs the deliveries: 1 to 256 bytes
 * @param eventTypes semantic names; see {@link Resource#eventTypes}
 */
public record Subscription(String thirdPartyApplicationName, String url, Secret secret, List<String> eventTypes) {
    /** A subscription to all events of a resource. */
    public static Subscription toAll(Resource resource, String application, String url, Secret secret) {
        return new Subscription(application, url, secret, resource.eventTypes());
    }
}
