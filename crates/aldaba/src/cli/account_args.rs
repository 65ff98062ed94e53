//! Arguments of the commands that invite people.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use domain::Realm;
use store::InvitationState;

/// Who is invited.
#[derive(Debug, Args)]
pub(crate) struct InvitedArgs {
    /// The e-mail address, used to sign in
    pub(crate) email: String,
    /// The person's name, which they can change
    #[arg(long, default_value = "")]
    pub(crate) name: String,
    /// The language of the mail and of the pages
    #[arg(long, default_value = "es", value_parser = ["es", "en"])]
    pub(crate) lang: String,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Invitation {
    /// List invitations
    List {
        /// Only of this realm
        #[arg(long, value_parser = PossibleValuesParser::new(Realm::ALL.map(Realm::as_str)))]
        realm: Option<String>,
        /// Only in this state
        #[arg(long, value_parser = PossibleValuesParser::new(InvitationState::ALL.map(InvitationState::as_str)))]
        state: Option<String>,
    },
    /// Send an invitation with a new link; the old link is void
    Resend {
        /// The invitation's id
        id: String,
    },
    /// Revoke an invitation: its link is void
    Revoke {
        /// The invitation's id
        id: String,
    },
}
