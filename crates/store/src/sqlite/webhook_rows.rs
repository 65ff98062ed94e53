//! What statements about webhooks share in SQLite.

/// The host of the receiver, as the index `webhooks_by_host` has it.
pub(super) const HOST: &str = "rtrim(CASE WHEN substr(w.url, instr(w.url, '://') + 3, 1) = '['
        THEN substr(lower(w.url), instr(w.url, '://') + 3, instr(w.url, ']') - instr(w.url, '://') - 2)
        ELSE substr(lower(w.url), instr(w.url, '://') + 3,
            instr(replace(replace(replace(substr(w.url, instr(w.url, '://') + 3), '?', '/'), '#', '/'), ':', '/') || '/', '/') - 1)
    END, '.')";

pub(super) const LANE: &str = "record_key, sequence, attempts, first_failed_at, next_at";

pub(super) const REPLAY: &str =
    "number, kind, asked_at, after_sequence, upto_sequence, position, delivered, failed, is_done";
