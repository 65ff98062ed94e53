package dev.aldaba.kit.receiver;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Keeps the last 100,000 ids and the positions of the last 100,000 records: for tests, and for applications that read the
 * change feed at every start.
 */
public final class MemoryInboxStore implements InboxStore {
    static final int ENTRIES_MAX = 100_000;

    private final Map<String, Boolean> ids = new Bounded<>();
    private final Map<Received.RecordKey, Long> latest = new Bounded<>();

    /** Drops its oldest entry when it is full. */
    private static final class Bounded<K, V> extends LinkedHashMap<K, V> {
        @Override
        protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            return size() > ENTRIES_MAX;
        }
    }

    @Override
    public synchronized boolean isProcessed(String outgoingId) {
        return ids.containsKey(outgoingId);
    }

    @Override
    public synchronized long latestSequence(Received.RecordKey record) {
        return latest.getOrDefault(record, 0L);
    }

    @Override
    public synchronized void markProcessed(Received received) {
        if (received.outgoingId() != null) {
            ids.put(received.outgoingId(), true);
        }
        if (received.sequenceVersion() > 0) {
            latest.merge(received.record(), received.sequenceVersion(), Math::max);
        }
    }

    /** What is stored, oldest first. */
    synchronized Iterable<Received> entries() {
        var all = new java.util.ArrayList<Received>();
        ids.keySet().forEach(id -> all.add(new Received(id, null, 0)));
        latest.forEach((record, number) -> all.add(new Received(null, record, number)));
        return all;
    }
}
