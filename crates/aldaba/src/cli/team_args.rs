//! The arguments of the commands for teams, developers and requests.

use super::account_args::InvitedArgs;
use clap::{Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Team {
    /// Add a team
    Add {
        /// The team's name
        name: String,
        /// The team's id, which cannot be changed later [default: a new GUID]
        #[arg(long)]
        id: Option<String>,
    },
    /// List all teams
    List,
    /// Show a team and its members
    Show {
        /// The team's id
        team: String,
    },
    /// Give a team another name
    Rename {
        /// The team's id
        team: String,
        /// The new name
        name: String,
    },
    /// Disable a team: its keys are refused, and the webhooks of its clients are suspended
    Disable {
        /// The team's id
        team: String,
    },
    /// Enable a disabled team
    Enable {
        /// The team's id
        team: String,
    },
    /// Add a developer to a team, or change the role of a member
    Join {
        /// The team's id
        team: String,
        /// The e-mail address of the developer's account
        email: String,
        /// The developer is an owner: who also changes the team and its members
        #[arg(long)]
        owner: bool,
    },
    /// Remove a developer from a team; the last owner stays
    Leave {
        /// The team's id
        team: String,
        /// The e-mail address of the developer's account
        email: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Developer {
    /// Invite a developer; prints the one-time link if no mail server is configured
    Invite {
        #[command(flatten)]
        person: InvitedArgs,
        /// The id of the team that the developer joins
        #[arg(long, value_name = "ID")]
        team: Option<String>,
        /// The developer becomes an owner of the team
        #[arg(long, requires = "team")]
        owner: bool,
    },
    /// List all developers
    List,
    /// Show a developer and their teams
    Show {
        /// The developer's id or e-mail address
        developer: String,
    },
    /// Disable a developer: sign-in to the portal is refused
    Disable {
        /// The developer's id or e-mail address
        developer: String,
    },
    /// Remove the second factors of a developer who has lost them; the password alone signs in again
    ResetSecondFactors {
        /// The developer's id or e-mail address
        developer: String,
    },
    /// Enable a disabled developer
    Enable {
        /// The developer's id or e-mail address
        developer: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Request {
    /// List what teams ask for, oldest first
    List {
        /// Only requests of this team
        #[arg(long)]
        team: Option<String>,
        /// Only requests in this state [default: all]
        #[arg(long, value_enum)]
        state: Option<RequestStateArg>,
    },
    /// Show a request
    Show {
        /// The request's id
        id: String,
    },
    /// Approve a request: what was asked for is added at once
    Approve {
        /// The request's id
        id: String,
        /// A new client gets access without the users' consent
        #[arg(long)]
        waive_consent: bool,
    },
    /// Refuse a request
    Refuse {
        /// The request's id
        id: String,
        /// Why; the team sees it
        #[arg(long)]
        reason: String,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RequestStateArg {
    Pending,
    Approved,
    Refused,
    Withdrawn,
}
