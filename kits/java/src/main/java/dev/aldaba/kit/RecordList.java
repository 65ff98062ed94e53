package dev.aldaba.kit;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JavaType;
import dev.aldaba.kit.internal.Http;
import dev.aldaba.kit.internal.Json;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * A list of records. It sends requests only when pages are read; iterating reads all pages as needed.
 *
 * <p>The order is that of creation, so records created meanwhile come at the end. If records are deleted meanwhile, an
 * iterator may skip one; {@link #snapshot} does not.
 */
public final class RecordList<T> implements Iterable<T> {
    private static final int PAGE_SIZE_DEFAULT = 100;
    private static final int PAGE_SIZE_MAX = 1000;
    private static final int SNAPSHOT_TRIES_MAX = 5;
    private static final int SNAPSHOT_RECORDS_MAX = 1_000_000;

    private final AldabaClient client;
    private final String path;
    private final Resource resource;
    private final String company;
    private final JavaType type;
    private final int pageSize;
    private final Map<String, String> parameters;

    private RecordList(
            AldabaClient client, String path, Resource resource, String company, JavaType type, int pageSize,
            Map<String, String> parameters) {
        this.client = client;
        this.path = path;
        this.resource = resource;
        this.company = company;
        this.type = type;
        this.pageSize = pageSize;
        this.parameters = parameters;
    }

    static <T> RecordList<T> of(AldabaClient client, Resource resource, String company, Class<T> type) {
        return new RecordList<>(client, resource.path(), resource, resource.contextCompany(company), listOf(type), PAGE_SIZE_DEFAULT, Map.of());
    }

    static RecordList<PayrollCompany> ofPayroll(AldabaClient client, Map<String, String> parameters) {
        return new RecordList<>(client, "/payroll/api/companies", null, null, listOf(PayrollCompany.class), PAGE_SIZE_DEFAULT, parameters);
    }

    private static JavaType listOf(Class<?> type) {
        return Json.MAPPER.getTypeFactory().constructCollectionType(List.class, type);
    }

    /** The list with another number of records per page: 1 to 1,000. The default is 100. */
    public RecordList<T> pageSize(int records) {
        if (records < 1 || records > PAGE_SIZE_MAX) {
            throw new IllegalArgumentException("the page size must be from 1 to " + PAGE_SIZE_MAX);
        }
        return new RecordList<>(client, path, resource, company, type, records, parameters);
    }

    /** One page, counted from 1. A page after the last is empty. */
    public Page<T> page(int number) {
        return readPage(number, null).orElseThrow(() -> new AldabaException(path + ": 304 to an unconditional request"));
    }

    /** One page, or nothing if it still has this etag. */
    public Optional<Page<T>> pageIfChanged(int number, String etag) {
        return readPage(number, etag);
    }

    @Override
    public Iterator<T> iterator() {
        return new PagedIterator<>() {
            private int number = 1;

            @Override
            protected List<T> fetch() {
                Page<T> page = page(number++);
                hasMore = page.number() < page.pagesTotal() && !page.items().isEmpty();
                return page.items();
            }
        };
    }

    /** All records; pages are read as needed. */
    public Stream<T> stream() {
        return StreamSupport.stream(spliterator(), false);
    }

    /**
     * All records at once, with the position from which the feed continues without a gap. If records were deleted
     * meanwhile, the list is read again.
     */
    public Snapshot<T> snapshot() {
        if (resource == null) {
            throw new AldabaException("payroll companies have no feed; iterate over the list");
        }
        for (int attempt = 0; attempt < SNAPSHOT_TRIES_MAX; attempt++) {
            Snapshot<T> snapshot = readAll();
            if (!resource.canBeDeleted() || !wasDeletedSince(snapshot.position())) {
                return snapshot;
            }
        }
        throw new AldabaException("records were deleted while the list was read, " + SNAPSHOT_TRIES_MAX
                + " times; try again later or with larger pages");
    }

    private Snapshot<T> readAll() {
        Page<T> page = page(1);
        // Later pages may contain newer changes, which the feed then repeats. That is harmless.
        long position = page.position();
        List<T> records = new ArrayList<>(page.items());
        while (page.number() < page.pagesTotal()) {
            page = page(page.number() + 1);
            records.addAll(page.items());
            if (records.size() > SNAPSHOT_RECORDS_MAX) {
                throw new AldabaException("there are more than " + SNAPSHOT_RECORDS_MAX + " records; iterate over the list");
            }
        }
        return new Snapshot<>(List.copyOf(records), position);
    }

    private boolean wasDeletedSince(long position) {
        boolean wasDeleted = false;
        for (Feed feed = client.changes(resource, company, position); feed.hasNext(); ) {
            wasDeleted |= feed.next().event().endsWith("Deleted");
        }
        return wasDeleted;
    }

    private record Totals(long totalCount, int totalPages) {}

    private Optional<Page<T>> readPage(int number, String etag) {
        var query = new LinkedHashMap<>(parameters);
        query.put("pageNumber", Integer.toString(number));
        query.put("pageSize", Integer.toString(pageSize));
        var call = Call.get(path + "?" + Http.encode(query)).inCompany(company).ifNoneMatch(etag);
        Http.Response response = client.send(call);
        if (response.status() == 304) {
            return Optional.empty();
        }
        List<T> items = Http.parse(call.name(), response, type);
        try {
            Totals totals = Json.MAPPER.readValue(response.header("X-Pagination"), Totals.class);
            String position = response.header("X-Sequence-Version");
            return Optional.of(new Page<>(items, number, totals.totalPages(), totals.totalCount(),
                    position.isEmpty() ? 0 : Long.parseLong(position), response.header("ETag")));
        } catch (JsonProcessingException | NumberFormatException invalid) {
            throw new AldabaException(call.name() + ": invalid response (X-Pagination); check that the URL is that of the service", invalid);
        }
    }
}
