package dev.aldaba.kit.receiver;

import dev.aldaba.kit.Secret;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Clock;
import java.time.Duration;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Verifies deliveries with one secret, or with several during a rotation. By default one valid signature of any scheme is
 * enough. The contract's own signatures do not cover a timestamp, so that somebody who captured a delivery can send it
 * again: process each event once with an {@link Inbox}, or use {@link #onlyStandard}.
 */
public final class Verifier {
    /** What Standard Webhooks recommends between the time of a signature and now. */
    public static final Duration TOLERANCE = Duration.ofMinutes(5);

    private static final String STANDARD_PREFIX = "whsec_";

    private final List<Secret> secrets;
    private final List<Scheme> schemes;
    private final Duration tolerance;
    private final Clock clock;

    private Verifier(List<Secret> secrets, List<Scheme> schemes, Duration tolerance, Clock clock) {
        this.secrets = secrets;
        this.schemes = schemes;
        this.tolerance = tolerance;
        this.clock = clock;
    }

    /** Accepts the signatures of all schemes that were made with one of these secrets. */
    public static Verifier of(Secret... secrets) {
        return new Verifier(List.of(secrets), List.of(Scheme.values()), TOLERANCE, Clock.systemUTC());
    }

    /** Accepts only the signature of Standard Webhooks, which covers the timestamp. */
    public Verifier onlyStandard() {
        return new Verifier(secrets, List.of(Scheme.STANDARD), tolerance, clock);
    }

    /** Another tolerance between the timestamp and now, and a clock. */
    public Verifier tolerance(Duration duration, Clock given) {
        return new Verifier(secrets, schemes, duration, given);
    }

    /** Why a delivery is refused. Log it, and answer 401 without it. */
    public enum Refusal {
        NO_SIGNATURE,
        /** The secret is another one, or the body has changed. */
        WRONG_SIGNATURE,
        /** The signature is too old, or this machine's clock is wrong. */
        TIMESTAMP
    }

    /** A delivery is refused. */
    public static final class RefusedException extends Exception {
        private final Refusal refusal;

        RefusedException(Refusal refusal) {
            super(refusal.name());
            this.refusal = refusal;
        }

        public Refusal refusal() {
            return refusal;
        }
    }

    /**
     * Returns the scheme of the signature that matches.
     *
     * @param header returns the value of a header, or null
     * @param body the received body, byte by byte, before any parsing
     */
    public Scheme verify(UnaryOperator<String> header, byte[] body) throws RefusedException {
        var refusal = Refusal.NO_SIGNATURE;
        for (Scheme scheme : schemes) {
            String signature = header.apply(scheme.header());
            if (signature == null || signature.isEmpty()) {
                continue;
            }
            if (refusal == Refusal.NO_SIGNATURE) {
                refusal = Refusal.WRONG_SIGNATURE;
            }
            boolean isInTime = scheme != Scheme.STANDARD || isInTime(header.apply("webhook-timestamp"));
            for (Secret secret : secrets) {
                if (matches(scheme, header, body, secret, signature)) {
                    if (isInTime) {
                        return scheme;
                    }
                    refusal = Refusal.TIMESTAMP;
                }
            }
        }
        throw new RefusedException(refusal);
    }

    private boolean isInTime(String timestamp) {
        try {
            long age = clock.instant().getEpochSecond() - Long.parseLong(timestamp);
            return Math.abs(age) <= tolerance.toSeconds();
        } catch (NumberFormatException invalid) {
            return false;
        }
    }

    private static boolean matches(Scheme scheme, UnaryOperator<String> header, byte[] body, Secret secret, String signature) {
        if (secret.reveal().isEmpty()) {
            return false;
        }
        if (scheme != Scheme.STANDARD) {
            return isEqual(sign(secret, body), signature);
        }
        String wanted = signStandard(secret, header.apply("webhook-id"), header.apply("webhook-timestamp"), body);
        boolean isFound = false;
        // During a rotation the header has several signatures.
        for (String one : signature.split(" ")) {
            isFound |= isEqual(wanted, one);
        }
        return isFound;
    }

    /** Compares in constant time. */
    private static boolean isEqual(String wanted, String given) {
        return MessageDigest.isEqual(wanted.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
    }

    /** The contract's signature of a body, the same for both families; for tests of your own. */
    public static String sign(Secret secret, byte[] body) {
        byte[] key = secret.reveal().getBytes(StandardCharsets.UTF_8);
        return "sha256=" + HexFormat.of().withUpperCase().formatHex(mac(key, body));
    }

    /** The signature of Standard Webhooks; for tests of your own. */
    public static String signStandard(Secret secret, String id, String timestamp, byte[] body) {
        byte[] start = (id + "." + timestamp + ".").getBytes(StandardCharsets.UTF_8);
        return "v1," + Base64.getEncoder().encodeToString(mac(standardKey(secret.reveal()), start, body));
    }

    private static byte[] standardKey(String secret) {
        if (secret.startsWith(STANDARD_PREFIX)) {
            try {
                return Base64.getDecoder().decode(secret.substring(STANDARD_PREFIX.length()));
            } catch (IllegalArgumentException notBase64) {
                return secret.getBytes(StandardCharsets.UTF_8);
            }
        }
        return secret.getBytes(StandardCharsets.UTF_8);
    }

    private static byte[] mac(byte[] key, byte[]... parts) {
        try {
            var mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(key, "HmacSHA256"));
            for (byte[] part : parts) {
                mac.update(part);
            }
            return mac.doFinal();
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("this Java has no HMAC-SHA256", impossible);
        }
    }
}
