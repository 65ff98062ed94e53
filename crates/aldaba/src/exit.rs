//! How the program ends: documented codes, and one line that says why.

use identity::KeyError;
use operator::admin::AdminError;
use store::{ArchiveError, StoreError};

use crate::config::ConfigFault;
use crate::supervisor::TaskFailure;

/// The codes, as `--help` and the documentation list them.
pub(crate) const CODES: &str = "Exit codes:
  0  done
  1  something failed
  2  the command line is wrong
  3  the configuration is wrong
  4  the store cannot be used (unreachable, full, another master key, a newer schema)
  5  no such thing, there already is one, it is over for good, or it cannot be done as things stand
  6  done, but some changes were rejected
  7  the signature does not match (verify)
  8  the service is lost for good: it does not answer any more, or refuses what it took before (listen)
  9  a background task failed (serve, dev); the log names it";

#[derive(Debug)]
pub(crate) enum Failure {
    Failed(String),
    Usage(String),
    Config(Vec<ConfigFault>),
    Store(StoreError),
    Refused(String),
    /// An address cannot be listened on, and what to do about it.
    Busy {
        why: String,
        remedy: String,
    },
    /// The answer was given already; some of what was asked for was rejected.
    SomeRejected,
    /// The answer was given already: the signature does not match.
    Mismatch,
    /// The service is gone, or refuses what it took before.
    Lost(String),
    /// A background task of the service panicked or ended.
    TaskFailed(TaskFailure),
}

pub(crate) type Outcome = Result<(), Failure>;

impl Failure {
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Failed(_) | Self::Busy { .. } => 1,
            Self::Usage(_) => 2,
            Self::Config(_) => 3,
            Self::Store(_) => 4,
            Self::Refused(_) => 5,
            Self::SomeRejected => 6,
            Self::Mismatch => 7,
            Self::Lost(_) => 8,
            Self::TaskFailed(_) => 9,
        }
    }

    /// Whether the result on standard output has told all of it.
    pub(crate) fn is_told(&self) -> bool {
        matches!(self, Self::SomeRejected | Self::Mismatch)
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Self::Failed(why) | Self::Usage(why) | Self::Refused(why) | Self::Lost(why) => why.clone(),
            Self::Busy { why, remedy } => format!("{why}; {remedy}"),
            Self::Config(faults) => {
                let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
                format!("the configuration is wrong\n  {}", lines.join("\n  "))
            }
            Self::Store(error) => error.to_string(),
            Self::TaskFailed(failure) => failure.to_string(),
            Self::SomeRejected => "some changes were rejected".into(),
            Self::Mismatch => "the signature does not match".into(),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Exists(_) | StoreError::UnknownTenant(_) | StoreError::KeyInUse(_) => {
                Self::Refused(error.to_string())
            }
            other => Self::Store(other),
        }
    }
}

impl From<AdminError> for Failure {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Invalid(why) => Self::Usage(why),
            AdminError::NotFound(_) | AdminError::Cancelled(_) | AdminError::Conflict { .. } => {
                Self::Refused(error.to_string())
            }
            AdminError::Store(error) => error.into(),
        }
    }
}

impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        match error {
            ArchiveError::Store(error) => error.into(),
            ArchiveError::NotEmpty => Self::Refused(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<KeyError> for Failure {
    fn from(fault: KeyError) -> Self {
        match fault {
            KeyError::Store(error) => error.into(),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Failed(error.to_string())
    }
}
