//! Arguments of the commands about operators and the tokens of their API: operator, token.

use clap::Subcommand;
use clap::builder::PossibleValuesParser;
use domain::OperatorRole;

use super::account_args::InvitedArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum Operator {
    /// Invite an operator; prints the one-time link if no mail server is configured
    Invite {
        #[command(flatten)]
        person: InvitedArgs,
        /// viewer reads; support also handles webhooks, changes and requests; admin does everything
        #[arg(long, default_value = "admin", value_parser = role_parser())]
        role: String,
    },
    /// List all operators
    List,
    /// Disable an operator, who can then not sign in; the last one with the role admin stays
    Disable {
        /// The operator's e-mail address
        email: String,
    },
    /// Enable a disabled operator
    Enable {
        /// The operator's e-mail address
        email: String,
    },
    /// Remove the second factors of an operator who has lost them; the password alone signs in again
    ResetSecondFactors {
        /// The operator's e-mail address
        email: String,
    },
    /// Change the role of an operator; the last one with the role admin keeps it
    Role {
        /// The operator's e-mail address
        email: String,
        /// viewer reads; support also handles webhooks, changes and requests; admin does everything
        #[arg(value_parser = role_parser())]
        role: String,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum OperatorToken {
    /// Add a token and print its secret, which cannot be shown again
    Add {
        /// A name, unique among the tokens that are not revoked; the audit shows it
        name: String,
        /// viewer reads; support also handles webhooks, changes and requests; admin does everything
        #[arg(long, value_parser = role_parser())]
        role: String,
        /// How long the token is valid, for example 90d [default: until it is revoked]
        #[arg(long, value_name = "DURATION")]
        expires: Option<String>,
    },
    /// List all tokens with their last use
    List,
    /// Revoke a token permanently
    Revoke {
        /// The token's name
        name: String,
    },
}

fn role_parser() -> PossibleValuesParser {
    PossibleValuesParser::new(OperatorRole::ALL.map(OperatorRole::as_str))
}
