package dev.aldaba.kit;

/**
 * The position lies before the start of the feed: the service no longer keeps the changes in between. Read the list
 * again, and follow the feed from its position.
 */
public final class BelowFloorException extends AldabaException {
    private final long floor;

    public BelowFloorException(long floor) {
        super("the feed begins after " + floor + "; earlier changes are no longer kept;"
                + " read the list again and follow the feed from its position");
        this.floor = floor;
    }

    /** The position after which the feed begins. */
    public long floor() {
        return floor;
    }
}
