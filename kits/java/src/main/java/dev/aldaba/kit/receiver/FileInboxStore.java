package dev.aldaba.kit.receiver;

import dev.aldaba.kit.internal.Json;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * An inbox store in a file, for one process: a line of JSON per event, written to disk before {@link #markProcessed}
 * returns. It keeps as much as {@link MemoryInboxStore} does.
 */
public final class FileInboxStore implements InboxStore, AutoCloseable {
    private final MemoryInboxStore memory = new MemoryInboxStore();
    private final FileChannel file;
    /** The length of the file up to its last whole line. */
    private long length;

    private FileInboxStore(FileChannel file) {
        this.file = file;
    }

    /** Opens the file, or creates it. Drops entries over the limit, and a last line that a crash cut off. */
    public static FileInboxStore open(Path path) throws IOException {
        return open(path, 2 * MemoryInboxStore.ENTRIES_MAX);
    }

    /** Shortens a file with more lines. */
    static FileInboxStore open(Path path, int linesMax) throws IOException {
        var store = new FileInboxStore(FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE));
        try {
            if (store.file.tryLock() == null) {
                throw new IOException("the inbox " + path + " is used by another process");
            }
            if (store.read(path) <= linesMax) {
                return store;
            }
            store.compact(path);
            store.close();
            return open(path, Integer.MAX_VALUE);
        } catch (OverlappingFileLockException locked) {
            store.close();
            throw new IOException("the inbox " + path + " is already open", locked);
        } catch (IOException failed) {
            store.close();
            throw failed;
        }
    }

    private int read(Path path) throws IOException {
        int lines = 0;
        try (var reader = Files.newBufferedReader(path)) {
            long size = file.size();
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                long end = length + line.getBytes(StandardCharsets.UTF_8).length + 1;
                if (end > size) {
                    // Cut off by a crash: markProcessed had not returned, so the event is delivered again.
                    break;
                }
                memory.markProcessed(Json.MAPPER.readValue(line, Received.class));
                length = end;
                lines++;
            }
        }
        file.truncate(length);
        return lines;
    }

    /** Writes only what the memory still has, to a new file that replaces this one in a single step. */
    private void compact(Path path) throws IOException {
        Path next = path.resolveSibling(path.getFileName() + ".next");
        var text = new StringBuilder();
        for (Received received : memory.entries()) {
            text.append(Json.write(received)).append('\n');
        }
        byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
        try (var written = FileChannel.open(
                next, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            write(written, bytes, 0);
        }
        Files.move(next, path, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    private static void write(FileChannel channel, byte[] bytes, long position) throws IOException {
        var buffer = ByteBuffer.wrap(bytes);
        while (buffer.hasRemaining()) {
            channel.write(buffer, position + buffer.position());
        }
        channel.force(true);
    }

    @Override
    public boolean isProcessed(String outgoingId) {
        return memory.isProcessed(outgoingId);
    }

    @Override
    public long latestSequence(Received.RecordKey record) {
        return memory.latestSequence(record);
    }

    @Override
    public synchronized void markProcessed(Received received) throws IOException {
        byte[] line = (Json.write(received) + "\n").getBytes(StandardCharsets.UTF_8);
        try {
            write(file, line, length);
        } catch (IOException failed) {
            // Remove what was written of the line, so that the next one does not follow half a line.
            file.truncate(length);
            throw failed;
        }
        length += line.length;
        memory.markProcessed(received);
    }

    @Override
    public synchronized void close() throws IOException {
        file.close();
    }
}
