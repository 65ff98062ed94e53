package dev.aldaba.kit.receiver;

import java.util.concurrent.locks.ReentrantLock;

/** Processes each event once. The service delivers at least once, and in order per record except for replays. */
public final class Inbox {
    /** What the inbox did with an event. */
    public enum Outcome {
        /** The handler ran, for the first time. */
        PROCESSED,
        /** This event was processed before. */
        DUPLICATE,
        /** A later event of the same record was processed before. */
        SUPERSEDED
    }

    /** Handles an event. */
    @FunctionalInterface
    public interface Handler {
        void run() throws Exception;
    }

    private static final int LOCKS = 64;

    private final InboxStore store;
    private final boolean isOrdered;
    private final ReentrantLock[] locks = new ReentrantLock[LOCKS];

    private Inbox(InboxStore store, boolean isOrdered) {
        this.store = store;
        this.isOrdered = isOrdered;
        for (int index = 0; index < LOCKS; index++) {
            locks[index] = new ReentrantLock();
        }
    }

    /**
     * For applications that keep a copy of the records: skips duplicates, and events older than the latest one of their
     * record.
     */
    public static Inbox of(InboxStore store) {
        return new Inbox(store, true);
    }

    /**
     * For applications that count or forward events: skips only duplicates, so that replays of old events that were never
     * processed still run.
     */
    public static Inbox byIdOnly(InboxStore store) {
        return new Inbox(store, false);
    }

    /**
     * Runs the handler unless the event was processed before. If the handler or the store fails, the event is not marked:
     * answer 500, and it is delivered again.
     *
     * <p>Events of the same record run one after the other, for example when the service retries while the first attempt
     * is still running. This holds within one process; across processes, the transaction of the store must decide.
     */
    public Outcome processOnce(Received received, Handler handler) throws Exception {
        ReentrantLock lock = locks[Math.floorMod(received.record() == null ? 0 : received.record().hashCode(), LOCKS)];
        lock.lock();
        try {
            if (received.outgoingId() != null && store.isProcessed(received.outgoingId())) {
                return Outcome.DUPLICATE;
            }
            if (isOrdered && received.sequenceVersion() > 0
                    && store.latestSequence(received.record()) >= received.sequenceVersion()) {
                return Outcome.SUPERSEDED;
            }
            handler.run();
            store.markProcessed(received);
            return Outcome.PROCESSED;
        } finally {
            lock.unlock();
        }
    }
}
