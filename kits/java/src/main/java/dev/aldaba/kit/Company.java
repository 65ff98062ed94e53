package dev.aldaba.kit;

import java.time.Instant;

/** A company of the accounting API. Its correlationId is the context of its records. */
public record Company(
        String vatName, String vatNumber, String state, long chartOfAccountId, int accountLength, String correlationId,
        Instant version, long sequenceVersion) {}
