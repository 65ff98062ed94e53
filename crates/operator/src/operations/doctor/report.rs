//! An examination in words, for the API, the console and the command line.

use serde::Serialize;
use ui::Lang;
use utoipa::ToSchema;

use super::{Examination, Finding};

/// What the doctor found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorReport {
    /// The worst of the findings: `ok`, `warning` or `failure`.
    #[schema(examples("ok"))]
    pub verdict: String,
    #[schema(format = DateTime)]
    pub examined_at: String,
    pub findings: Vec<DoctorFinding>,
}

/// What one check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoctorFinding {
    #[schema(examples("disk"))]
    pub check: String,
    /// `ok`, `warning`, `failure` or `notChecked`.
    #[schema(examples("warning"))]
    pub verdict: String,
    /// A stable code, for programs.
    #[schema(examples("disk_low"))]
    pub code: String,
    pub message: String,
    /// What to do about it.
    #[schema(required = true)]
    pub remedy: Option<String>,
}

impl Examination {
    pub fn report(&self, lang: Lang) -> DoctorReport {
        let finding = |finding: &Finding| DoctorFinding {
            check: finding.check.as_str().to_owned(),
            verdict: finding.verdict().as_str().to_owned(),
            code: finding.code().to_owned(),
            message: finding.sentence(lang),
            remedy: finding.remedy(lang),
        };
        DoctorReport {
            verdict: self.verdict().as_str().to_owned(),
            examined_at: self.at.iso(),
            findings: self.findings.iter().map(finding).collect(),
        }
    }
}
