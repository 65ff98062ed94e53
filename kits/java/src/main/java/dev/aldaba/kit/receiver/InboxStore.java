package dev.aldaba.kit.receiver;

import java.io.IOException;

/**
 * The storage of an inbox: usually two tables in the application's database.
 *
 * <p>Ideally {@link #markProcessed} runs in the same transaction as your own writes: then no crash makes an event run
 * twice. Ids can be deleted after 30 days, the time that the service keeps its log.
 */
public interface InboxStore {
    /** Whether a delivery with this id was processed. */
    boolean isProcessed(String outgoingId) throws IOException;

    /** The highest position that was processed for this record; 0 if there is none. */
    long latestSequence(Received.RecordKey record) throws IOException;

    /** Stores the id, and the position if it is higher than the stored one. */
    void markProcessed(Received received) throws IOException;
}
