package dev.aldaba.kit;

import java.time.Instant;

/** A company of the payroll API. */
public record PayrollCompany(long companyCode, String companyName, String identifierNumber, Instant lastUpdate) {}
