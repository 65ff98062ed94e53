package dev.aldaba.kit;

import java.util.List;

/** The response to a change of a webhook of the accounting family. */
public record OperationResult(int responseState, String webhookId, List<FieldError> errors) {}
