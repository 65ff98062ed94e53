package dev.aldaba.kit;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.aldaba.kit.internal.Json;
import java.time.Instant;
import java.util.Optional;

/**
 * A record of any resource of the accounting family.
 *
 * @param document the whole record
 */
public record StoredRecord(@JsonValue ObjectNode document) {
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public StoredRecord {}

    public String correlationId() {
        return document.path("correlationId").asText();
    }

    /** Only accounts, customers, suppliers and companies have a state. */
    public Optional<String> state() {
        return Optional.ofNullable(document.path("state").textValue());
    }

    public Instant version() {
        return Instant.parse(document.path("version").asText());
    }

    public long sequenceVersion() {
        return document.path("sequenceVersion").asLong();
    }

    /** The record as a type of your own. */
    public <T> T as(Class<T> type) {
        try {
            return Json.MAPPER.treeToValue(document, type);
        } catch (JsonProcessingException invalid) {
            throw new AldabaException("the record " + correlationId() + " is not a " + type.getSimpleName(), invalid);
        }
    }
}
