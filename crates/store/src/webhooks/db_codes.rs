//! Integer codes of the webhook history columns.

use std::time::Duration;

use super::{AttemptPurpose, ReplayKind};

pub(crate) const EVENT: i64 = 0;
const HANDSHAKE: i64 = 1;
const REPLAY: i64 = 2;
const TEST: i64 = 3;

impl AttemptPurpose {
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Event { .. } => EVENT,
            Self::Handshake { .. } => HANDSHAKE,
            Self::Replay { .. } => REPLAY,
            Self::Test => TEST,
        }
    }

    /// The handshake's number; 0 for other purposes.
    pub(crate) fn handshake(self) -> i64 {
        if let Self::Handshake { number } = self { number.into() } else { 0 }
    }

    pub(crate) fn from_code(code: i64, sequence: u64, handshake: i64) -> Self {
        match code {
            EVENT => Self::Event { sequence },
            HANDSHAKE => Self::Handshake { number: u32::try_from(handshake).unwrap_or_default() },
            REPLAY => Self::Replay { sequence },
            _ => Self::Test,
        }
    }
}

impl ReplayKind {
    pub(crate) fn code(self) -> i64 {
        match self {
            Self::Events => 0,
            Self::Test => 1,
        }
    }

    pub(crate) fn from_code(code: i64) -> Self {
        if code == 0 { Self::Events } else { Self::Test }
    }
}

pub(crate) fn nanos(span: Duration) -> i64 {
    i64::try_from(span.as_nanos()).unwrap_or(i64::MAX)
}

pub(crate) fn from_nanos(nanos: i64) -> Duration {
    Duration::from_nanos(u64::try_from(nanos).unwrap_or_default())
}
