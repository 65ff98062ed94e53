package dev.aldaba.kit;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** An error response of the service. */
public final class ApiException extends AldabaException {
    private final int status;
    private final String code;
    private final String requestId;
    private final transient List<FieldError> errors;
    private final Duration retryAfter;
    private final String serviceMessage;

    public ApiException(
            String call, int status, String code, String message, String requestId, List<FieldError> errors, Duration retryAfter) {
        super(text(call, status, message, requestId, errors));
        this.status = status;
        this.code = code;
        this.serviceMessage = message;
        this.requestId = requestId;
        this.errors = List.copyOf(errors);
        this.retryAfter = retryAfter;
    }

    private static String text(String call, int status, String message, String requestId, List<FieldError> errors) {
        var text = new StringBuilder(call + ": " + status + " " + message);
        for (FieldError error : errors) {
            if (!message.equals(error.message())) {
                text.append(" [").append(error.code()).append("] ").append(error.message());
            }
        }
        return text.append(" (").append(remedy(status)).append("; request ").append(requestId).append(')').toString();
    }

    /** The HTTP status. */
    public int status() {
        return status;
    }

    /** For programs: the service lists all codes, with causes and cures, at {@code /docs/errors}. It may be empty. */
    public String code() {
        return code;
    }

    /** The message of the service. */
    public String serviceMessage() {
        return serviceMessage;
    }

    /** The id of the request, to report to the operator of the service. */
    public String requestId() {
        return requestId;
    }

    /** The individual errors. */
    public List<FieldError> errors() {
        return errors;
    }

    /** The pause that the service asks for. */
    public Optional<Duration> retryAfter() {
        return Optional.ofNullable(retryAfter);
    }

    /** Whether the response or one of its errors has this code. */
    public boolean hasCode(String wanted) {
        return code.equals(wanted) || errors.stream().anyMatch(error -> wanted.equals(error.code()));
    }

    private static String remedy(int status) {
        return switch (status) {
            case 400 -> "correct the request";
            case 401 -> "check the subscription key, then the token";
            case 403 -> "request the missing scope at sign-in, or wait for tomorrow's quota";
            case 404 -> "check the company and the id; records of other tenants are not found either";
            case 409 -> "the request conflicts with the current state; read it before trying again";
            case 413 -> "send a smaller request";
            case 429 -> "wait as long as Retry-After says";
            default -> status >= 500 ? "an error of the service; try again later" : "see the message";
        };
    }
}
