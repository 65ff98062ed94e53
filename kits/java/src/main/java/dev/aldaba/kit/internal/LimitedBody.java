package dev.aldaba.kit.internal;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;

/** Reads a body of limited size. */
final class LimitedBody implements HttpResponse.BodySubscriber<byte[]> {
    private static final int BYTES_MAX = 64 << 20;

    private final CompletableFuture<byte[]> body = new CompletableFuture<>();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private Flow.Subscription subscription;

    @Override
    public CompletionStage<byte[]> getBody() {
        return body;
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        subscription = given;
        given.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        for (ByteBuffer buffer : buffers) {
            var piece = new byte[buffer.remaining()];
            buffer.get(piece);
            bytes.writeBytes(piece);
        }
        if (bytes.size() > BYTES_MAX) {
            subscription.cancel();
            body.completeExceptionally(new IOException("the response has more than " + BYTES_MAX + " bytes; request smaller pages"));
        }
    }

    @Override
    public void onError(Throwable error) {
        body.completeExceptionally(error);
    }

    @Override
    public void onComplete() {
        body.complete(bytes.toByteArray());
    }
}
