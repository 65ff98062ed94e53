package dev.aldaba.kit.signin;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;

/**
 * The user who signed in, from a verified id_token.
 *
 * @param sub the stable id of the user
 * @param claims all claims, such as {@code given_name} and {@code email}, depending on the requested scopes
 */
public record Identity(String sub, JsonNode claims) {
    /** The value of a claim that is a string. */
    public Optional<String> text(String claim) {
        return Optional.ofNullable(claims.path(claim).textValue());
    }
}
