package dev.aldaba.kit;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Objects;

/** A text that is not printed. JSON contains it in plain text. */
public final class Secret {
    private final String text;

    private Secret(String text) {
        this.text = Objects.requireNonNull(text, "the secret is missing");
    }

    @JsonCreator
    public static Secret of(String text) {
        return new Secret(text);
    }

    /** The text itself. */
    @JsonValue
    public String reveal() {
        return text;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Secret secret
                && MessageDigest.isEqual(text.getBytes(StandardCharsets.UTF_8), secret.text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public int hashCode() {
        return text.hashCode();
    }

    @Override
    public String toString() {
        return "***";
    }
}
