package dev.aldaba.kit;

import java.time.Instant;

/** A customer of a company. */
public record Customer(
        String tradeName, String state, String vatNumber, String vatName, String accountCode, String correlationId,
        String vatNumberCorrelationId, String accountCodeCorrelationId, Instant version, long sequenceVersion) {}
