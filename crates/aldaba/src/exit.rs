//! The exit codes and the error message of a failed command.

use identity::KeyError;
use operator::admin::AdminError;
use store::{ArchiveError, StoreError};

use crate::config::ConfigFault;
use crate::supervisor::TaskFailure;

/// The exit codes, for `--help`.
pub(crate) const CODES: &str = "Exit codes:
  0  success
  1  failure
  2  invalid command line
  3  invalid configuration
  4  store unusable (unreachable, full, another master key, a newer schema)
  5  refused: not found, already exists, or not possible in the current state
  6  applied, but some changes were rejected (changes apply)
  7  the signature does not match (verify)
  8  the service stopped responding or now refuses the receiver (listen)
  9  a background task failed (serve, dev); the log names it
  10 a check failed (doctor)";

#[derive(Debug)]
pub(crate) enum Failure {
    Failed(String),
    Usage(String),
    Config(Vec<ConfigFault>),
    Store(StoreError),
    Refused(String),
    /// The program cannot listen on an address; `remedy` says what to do.
    AddressInUse {
        why: String,
        remedy: String,
    },
    /// The result is already printed; some changes were rejected.
    SomeRejected,
    /// The result is already printed; the signature does not match.
    Mismatch,
    /// The result is already printed; a check of the doctor failed.
    CheckFailed,
    /// The service stopped responding, or refuses what it accepted before.
    ServiceLost(String),
    /// A background task of the service panicked or ended.
    TaskFailed(TaskFailure),
}

pub(crate) type CommandResult = Result<(), Failure>;

impl Failure {
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Failed(_) | Self::AddressInUse { .. } => 1,
            Self::Usage(_) => 2,
            Self::Config(_) => 3,
            Self::Store(_) => 4,
            Self::Refused(_) => 5,
            Self::SomeRejected => 6,
            Self::Mismatch => 7,
            Self::ServiceLost(_) => 8,
            Self::TaskFailed(_) => 9,
            Self::CheckFailed => 10,
        }
    }

    /// Whether standard output already explains the failure.
    pub(crate) fn is_already_printed(&self) -> bool {
        matches!(self, Self::SomeRejected | Self::Mismatch | Self::CheckFailed)
    }

    pub(crate) fn message(&self) -> String {
        match self {
            Self::Failed(why) | Self::Usage(why) | Self::Refused(why) | Self::ServiceLost(why) => why.clone(),
            Self::AddressInUse { why, remedy } => format!("{why}; {remedy}"),
            Self::Config(faults) => {
                let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
                format!("the configuration is invalid\n  {}", lines.join("\n  "))
            }
            Self::Store(error) => error.to_string(),
            Self::TaskFailed(failure) => failure.to_string(),
            Self::SomeRejected => "some changes were rejected".into(),
            Self::Mismatch => "the signature does not match".into(),
            Self::CheckFailed => "a check failed".into(),
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Exists(_)
            | StoreError::UnknownTenant(_)
            | StoreError::SandboxApart
            | StoreError::KeyInUse(_) => Self::Refused(error.to_string()),
            other => Self::Store(other),
        }
    }
}

impl From<AdminError> for Failure {
    fn from(error: AdminError) -> Self {
        match error {
            AdminError::Invalid(why) => Self::Usage(why),
            AdminError::Forbidden(_)
            | AdminError::NotFound(_)
            | AdminError::Cancelled(_)
            | AdminError::Conflict { .. } => Self::Refused(error.to_string()),
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
