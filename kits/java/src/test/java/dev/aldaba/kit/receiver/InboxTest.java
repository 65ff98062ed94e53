package dev.aldaba.kit.receiver;

import static dev.aldaba.kit.receiver.Inbox.Outcome.DUPLICATE;
import static dev.aldaba.kit.receiver.Inbox.Outcome.PROCESSED;
import static dev.aldaba.kit.receiver.Inbox.Outcome.SUPERSEDED;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class InboxTest {
    private final AtomicInteger runs = new AtomicInteger();

    private static Received event(String id, long number) {
        return new Received(id, new Received.RecordKey("t", "ACC.Customers", "c", "ñ 1"), number);
    }

    private void check(Inbox inbox, List<Received> events, Inbox.Outcome... wanted) throws Exception {
        for (int index = 0; index < wanted.length; index++) {
            int before = runs.get();
            assertEquals(wanted[index], inbox.processOnce(events.get(index), runs::incrementAndGet), "event " + index);
            assertEquals(wanted[index] == PROCESSED ? 1 : 0, runs.get() - before);
        }
    }

    @Test
    void eachEventIsProcessedOnce() throws Exception {
        var events = List.of(event("a", 7), event("a", 7), event("b", 5), event(null, 7), event(null, 8), event("i", 0), event("i", 0));
        check(Inbox.of(new MemoryInboxStore()), events, PROCESSED, DUPLICATE, SUPERSEDED, SUPERSEDED, PROCESSED, PROCESSED, DUPLICATE);
        check(Inbox.byIdOnly(new MemoryInboxStore()), events, PROCESSED, DUPLICATE, PROCESSED);
    }

    @Test
    void failedEventRunsAgain() throws Exception {
        var inbox = Inbox.of(new MemoryInboxStore());
        assertThrows(IOException.class, () -> inbox.processOnce(event("a", 7), () -> {
            throw new IOException("no");
        }));
        check(inbox, List.of(event("a", 7)), PROCESSED);
    }

    @Test
    void simultaneousAttemptsRunOnce() throws Exception {
        var inbox = Inbox.of(new MemoryInboxStore());
        Callable<Inbox.Outcome> attempt = () -> inbox.processOnce(event("a", 7), runs::incrementAndGet);
        var threads = Executors.newFixedThreadPool(16);
        try {
            for (var outcome : threads.invokeAll(Collections.nCopies(16, attempt))) {
                outcome.get();
            }
        } finally {
            threads.shutdownNow();
        }
        assertEquals(1, runs.get());
    }

    @Test
    void fileSurvivesARestartAndACutOffLine(@TempDir Path folder) throws Exception {
        Path path = folder.resolve("inbox");
        try (var store = FileInboxStore.open(path)) {
            check(Inbox.of(store), List.of(event("a", 7)), PROCESSED);
            assertThrows(IOException.class, () -> FileInboxStore.open(path));
        }
        Files.writeString(path, "{\"outgoingId\":\"b" + " ".repeat(500), StandardOpenOption.APPEND);
        var events = List.of(event("a", 7), event("b", 8), event("c", 6));
        try (var store = FileInboxStore.open(path)) {
            check(Inbox.of(store), events, DUPLICATE, PROCESSED, SUPERSEDED);
        }
        try (var store = FileInboxStore.open(path, 1)) {
            check(Inbox.of(store), List.of(event("a", 7), event("b", 8), event("d", 9)), DUPLICATE, DUPLICATE, PROCESSED);
        }
        try (var store = FileInboxStore.open(path)) {
            check(Inbox.of(store), List.of(event("b", 8), event("d", 9), event(null, 9)), DUPLICATE, DUPLICATE, SUPERSEDED);
        }
    }
}
