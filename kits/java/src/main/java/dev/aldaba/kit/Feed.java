package dev.aldaba.kit;

import dev.aldaba.kit.internal.Http;
import dev.aldaba.kit.internal.Json;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * The changes after a position, in order. {@link #hasNext} asks the service, and throws {@link BelowFloorException} if it
 * no longer keeps the changes after the position. Once the feed has caught up, it is false; a later call asks for newer
 * changes.
 *
 * <pre>{@code
 * Feed changes = client.changes(Resource.CUSTOMERS, company, position);
 * while (changes.hasNext()) {
 *     Change change = changes.next(); // read the record; store it together with changes.position()
 * }
 * }</pre>
 */
public final class Feed implements Iterator<Change> {
    private static final int PAGE_SIZE_DEFAULT = 500;
    private static final Pattern FLOOR = Pattern.compile("begins after ([0-9]{1,18})");

    private final AldabaClient client;
    private final String path;
    private final String company;
    private final Queue<Change> buffer = new ArrayDeque<>();
    private long position;
    private int pageSize = PAGE_SIZE_DEFAULT;
    private Duration pause;

    Feed(AldabaClient client, String path, String company, long after) {
        this.client = client;
        this.path = path;
        this.company = company;
        this.position = after;
    }

    /** The number of changes per request: 1 to 1,000. The default is 500. */
    public Feed pageSize(int changes) {
        pageSize = changes;
        return this;
    }

    /** Lets {@link #hasNext} wait: once the feed has caught up, it asks again after each pause, until it is interrupted. */
    public Feed follow(Duration pauseBetween) {
        pause = pauseBetween;
        return this;
    }

    /** The position of the last change that {@link #next} returned, or the start position. */
    public long position() {
        return position;
    }

    @Override
    public boolean hasNext() {
        while (buffer.isEmpty()) {
            buffer.addAll(fetch());
            if (buffer.isEmpty()) {
                if (pause == null) {
                    return false;
                }
                Http.sleep(pause);
            }
        }
        return true;
    }

    @Override
    public Change next() {
        if (!hasNext()) {
            throw new NoSuchElementException("the feed has caught up");
        }
        Change change = buffer.remove();
        position = change.sequenceVersion();
        return change;
    }

    private List<Change> fetch() {
        var query = new TreeMap<String, String>();
        query.put("after", Long.toString(position));
        query.put("pageSize", Integer.toString(pageSize));
        try {
            return client.typed(Call.get(path + "/changes?" + Http.encode(query)).inCompany(company),
                    Json.MAPPER.getTypeFactory().constructCollectionType(List.class, Change.class));
        } catch (ApiException refused) {
            if (refused.status() != 410) {
                throw refused;
            }
            // The start of the feed is only in the text of the message.
            var floor = FLOOR.matcher(refused.serviceMessage());
            throw new BelowFloorException(floor.find() ? Long.parseLong(floor.group(1)) : 0);
        }
    }
}
