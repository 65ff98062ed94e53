/**
 * Calls the APIs of Aldaba: typed reads with paging, the change feed, and the management of webhooks. Start with {@link
 * dev.aldaba.kit.AldabaClient}.
 */
package dev.aldaba.kit;
