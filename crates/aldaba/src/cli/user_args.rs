//! Arguments of `aldaba user`.

use clap::Subcommand;

use super::account_args::InvitedArgs;

#[derive(Debug, Subcommand)]
pub(crate) enum User {
    /// Add a user and print its id; the password is one line of standard input
    Add {
        /// The e-mail address, used to sign in
        email: String,
        /// The user's name, shown by pages and applications
        #[arg(long, value_name = "NAME")]
        given_name: String,
        /// The user's family name
        #[arg(long, value_name = "NAME", default_value = "")]
        family_name: String,
        /// The language of the pages for this user
        #[arg(long, default_value = "es", value_parser = ["es", "en"])]
        lang: String,
        /// The id of a tenant that the user is a member of (repeatable)
        #[arg(long = "tenant", value_name = "ID")]
        tenants: Vec<String>,
    },
    /// Invite a user; prints the one-time link if no mail server is configured
    Invite {
        #[command(flatten)]
        person: InvitedArgs,
        /// The id of a tenant that the user becomes a member of (repeatable)
        #[arg(long = "tenant", value_name = "ID")]
        tenants: Vec<String>,
    },
    /// List all users
    List,
    /// Change name or language of a user; what is not given stays unchanged
    Set {
        /// The user's e-mail address
        email: String,
        /// The user's name, shown by pages and applications
        #[arg(long, value_name = "NAME")]
        given_name: Option<String>,
        /// The user's family name; '' removes it
        #[arg(long, value_name = "NAME")]
        family_name: Option<String>,
        /// The language of the pages for this user
        #[arg(long, value_parser = ["es", "en"])]
        lang: Option<String>,
    },
    /// Disable a user: sign-in and all tokens of the user are refused
    Disable {
        /// The user's e-mail address
        email: String,
    },
    /// Enable a disabled user: tokens that have not expired work again
    Enable {
        /// The user's e-mail address
        email: String,
    },
    /// Set a new password, read from one line of standard input
    Password {
        /// The user's e-mail address
        email: String,
    },
    /// Add the user to a tenant
    Join {
        /// The user's e-mail address
        email: String,
        /// The tenant's id
        tenant: String,
    },
    /// Make a member an administrator of the tenant: who sees and ends applications' access for the whole tenant
    Admin {
        /// The user's e-mail address
        email: String,
        /// The tenant's id
        tenant: String,
        /// The user is no longer an administrator
        #[arg(long)]
        remove: bool,
    },
    /// Remove the second factors of a user who has lost them; the password alone signs in again
    ResetSecondFactors {
        /// The user's e-mail address
        email: String,
    },
    /// Remove the user from a tenant
    Leave {
        /// The user's e-mail address
        email: String,
        /// The tenant's id
        tenant: String,
    },
}
