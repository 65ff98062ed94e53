package dev.aldaba.kit.internal;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.deser.std.StdScalarDeserializer;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.std.StdScalarSerializer;
import java.io.IOException;
import java.time.DateTimeException;
import java.time.Instant;

/** JSON as the service writes it. Not part of the kit's interface. */
public final class Json {
    /** Ignores members that this version of the kit does not know; escapes what a header cannot contain. */
    public static final JsonMapper MAPPER = JsonMapper.builder()
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(JsonWriteFeature.ESCAPE_NON_ASCII)
            .addModule(times())
            .build();

    private Json() {}

    private static SimpleModule times() {
        var module = new SimpleModule();
        module.addDeserializer(Instant.class, new StdScalarDeserializer<>(Instant.class) {
            @Override
            public Instant deserialize(JsonParser parser, DeserializationContext context) throws IOException {
                try {
                    return Instant.parse(parser.getText());
                } catch (DateTimeException notATime) {
                    return (Instant) context.handleWeirdStringValue(Instant.class, parser.getText(), "not ISO 8601");
                }
            }
        });
        module.addSerializer(Instant.class, new StdScalarSerializer<>(Instant.class) {
            @Override
            public void serialize(Instant time, JsonGenerator generator, SerializerProvider provider) throws IOException {
                generator.writeString(time.toString());
            }
        });
        return module;
    }

    public static String write(Object value) {
        try {
            return MAPPER.writeValueAsString(value);
        } catch (JsonProcessingException impossible) {
            throw new IllegalArgumentException("cannot be written as JSON: " + impossible.getOriginalMessage(), impossible);
        }
    }
}
