package dev.aldaba.kit;

import java.util.List;

/**
 * One page of a list.
 *
 * @param number counts from 1
 * @param position the position of the tenant's log when the page was read: follow the feed from there
 * @param etag for {@link RecordList#pageIfChanged}
 */
public record Page<T>(List<T> items, int number, int pagesTotal, long recordsTotal, long position, String etag) {}
