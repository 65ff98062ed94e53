//! The arguments of `aldaba audit`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use store::AuditKind;

#[derive(Debug, Args)]
pub(crate) struct Audit {
    /// Only entries of this kind
    #[arg(long, value_parser = PossibleValuesParser::new(AuditKind::ALL.map(AuditKind::as_str)))]
    pub(crate) kind: Option<String>,
    /// Only entries of this user (e-mail address or id)
    #[arg(long)]
    pub(crate) user: Option<String>,
    /// Only entries of this tenant
    #[arg(long, value_name = "ID")]
    pub(crate) tenant: Option<String>,
    /// Only entries of this client
    #[arg(long, value_name = "ID")]
    pub(crate) client: Option<String>,
    /// Only what this actor did: service, anonymous, operator, token, cli, user, developer or client, or one of them as
    /// in cli:maria
    #[arg(long)]
    pub(crate) actor: Option<String>,
    /// Only entries since then: a duration (24h) or a time (2026-11-15T08:30:00Z)
    #[arg(long, value_name = "DURATION|TIME", value_parser = super::webhook_args::since)]
    pub(crate) since: Option<super::Since>,
    /// Only older entries: the cursor of an entry, as printed at the end of a page and in --json
    #[arg(long, value_name = "CURSOR")]
    pub(crate) before: Option<String>,
    /// The number of entries [default: 100; with --json, all]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
}
