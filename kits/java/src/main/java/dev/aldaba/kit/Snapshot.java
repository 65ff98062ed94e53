package dev.aldaba.kit;

import java.util.List;

/** All records of a list, and the position from which the feed has the later changes. */
public record Snapshot<T>(List<T> records, long position) {}
