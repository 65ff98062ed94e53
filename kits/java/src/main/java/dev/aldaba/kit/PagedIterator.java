package dev.aldaba.kit;

import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;

/** Reads values page by page. */
abstract class PagedIterator<T> implements Iterator<T> {
    /** Whether there is another page to fetch. */
    protected boolean hasMore = true;

    private final Queue<T> buffer = new ArrayDeque<>();

    /** Reads the next page, and says in {@link #hasMore} whether another one follows. */
    protected abstract List<T> fetch();

    @Override
    public boolean hasNext() {
        while (buffer.isEmpty() && hasMore) {
            buffer.addAll(fetch());
        }
        return !buffer.isEmpty();
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return buffer.remove();
    }
}
