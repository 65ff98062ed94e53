package dev.aldaba.kit;

import java.time.Instant;

/** An account of a company. */
public record Account(
        String correlationId, String code, String description, String state, Instant version, long sequenceVersion) {}
