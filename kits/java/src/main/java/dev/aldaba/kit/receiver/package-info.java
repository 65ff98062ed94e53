/**
 * Receives webhooks of both families: verifies signatures, answers handshakes, parses events, and processes each event
 * once. Start with {@link dev.aldaba.kit.receiver.Receiver}.
 */
package dev.aldaba.kit.receiver;
