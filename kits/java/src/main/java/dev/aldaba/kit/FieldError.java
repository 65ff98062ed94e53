package dev.aldaba.kit;

/** One error in a request, with a stable code. The field is null where the error is about the whole request. */
public record FieldError(String code, String message, String field) {}
