//! The doctor: what could be wrong with an installation. Facts are gathered by the program; the functions of `verdicts` judge
//! them; `text` says each outcome in Spanish and English, with what to do.

mod facts;
mod finding;
mod outcomes;
mod report;
mod verdicts;

use domain::Ticks;

pub use facts::{
    AddressFacts, AddressResponse, CertificateFacts, CertificateFile, ClockFacts, DescriptorFacts, DiskFacts,
    DiskSpace, HostLookup, Listener, MailFacts, PostgresFacts, ProxyFacts, SqliteFacts, SqliteIntegrity,
    StoreFacts,
};
pub use finding::{Check, Finding, Verdict};
pub use outcomes::Outcome;
pub use report::{DoctorFinding, DoctorReport};
pub use verdicts::{
    addresses, certificates, clock, configuration, descriptors, disk, dns, outbound, proxies, store,
    unfinished,
};

/// What the doctor found, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examination {
    pub at: Ticks,
    /// In the order of `Check::ALL`.
    pub findings: Vec<Finding>,
}

impl Examination {
    /// The worst of all; what was not checked is not bad.
    pub fn verdict(&self) -> Verdict {
        let verdicts = || self.findings.iter().map(Finding::verdict);
        [Verdict::Failure, Verdict::Warning]
            .into_iter()
            .find(|bad| verdicts().any(|one| one == *bad))
            .unwrap_or(Verdict::Ok)
    }
}
