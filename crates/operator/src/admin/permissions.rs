//! What an operator's role permits: the one place that decides it, for the API, the console and the command line.

use domain::OperatorRole;
use store::AuditContext;

use super::{AdminError, Result};

/// What is done. Reading needs no permission: every role reads everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Enables, disables, deletes, tests and replays webhooks.
    Webhooks,
    /// Applies changes to the records of tenants.
    Changes,
    /// Decides on what teams ask for.
    Requests,
    /// Users and their memberships, developers, operators, invitations.
    Accounts,
    /// Clients, subscriptions, their secrets and keys, tokens of this API.
    Keys,
    /// Tenants, and the settings of teams.
    Configuration,
    /// Makes and downloads backups, which contain everything.
    Backups,
}

impl Permission {
    pub const ALL: [Self; 7] = [
        Self::Webhooks,
        Self::Changes,
        Self::Requests,
        Self::Accounts,
        Self::Keys,
        Self::Configuration,
        Self::Backups,
    ];

    /// The least role that has this permission; the roles above it have it too.
    pub fn least_role(self) -> OperatorRole {
        match self {
            Self::Webhooks | Self::Changes | Self::Requests => OperatorRole::Support,
            Self::Accounts | Self::Keys | Self::Configuration | Self::Backups => OperatorRole::Admin,
        }
    }

    pub fn is_given_to(self, role: OperatorRole) -> bool {
        role >= self.least_role()
    }

    /// For messages.
    fn what(self) -> &'static str {
        match self {
            Self::Webhooks => "changing or testing webhooks",
            Self::Changes => "applying changes",
            Self::Requests => "deciding on requests",
            Self::Accounts => "changing accounts",
            Self::Keys => "changing clients, subscriptions, keys and tokens",
            Self::Configuration => "changing tenants and settings",
            Self::Backups => "making and downloading backups",
        }
    }
}

/// The roles from this one up, for messages: `support or admin`.
pub(crate) fn roles_from(least: OperatorRole) -> String {
    let enough = OperatorRole::ALL.into_iter().filter(|role| *role >= least);
    enough.map(OperatorRole::as_str).collect::<Vec<_>>().join(" or ")
}

/// Who acts, and in which role.
#[derive(Clone, Debug)]
pub struct Authority {
    context: AuditContext,
    role: OperatorRole,
}

/// Nobody in particular, who changes nothing.
impl Default for Authority {
    fn default() -> Self {
        Self { context: AuditContext::default(), role: OperatorRole::Viewer }
    }
}

impl Authority {
    pub fn new(context: AuditContext, role: OperatorRole) -> Self {
        Self { context, role }
    }

    /// Who may do everything: a bearer of the operator's token, and who runs commands on the machine.
    pub fn admin(context: AuditContext) -> Self {
        Self::new(context, OperatorRole::Admin)
    }

    pub fn role(&self) -> OperatorRole {
        self.role
    }

    /// The context for the audit, if the role permits what is to be done. Nothing else gives the context, and no mutation
    /// of the store works without one, so that none forgets this check.
    pub fn require(&self, permission: Permission) -> Result<&AuditContext> {
        if permission.is_given_to(self.role) {
            return Ok(&self.context);
        }
        let (needed, role) = (roles_from(permission.least_role()), self.role.as_str());
        let what = permission.what();
        Err(AdminError::Forbidden(format!("{what} needs the role {needed}; you have the role {role}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn authority(role: OperatorRole) -> Authority {
        Authority::new(AuditContext { request_id: "r".into(), ..AuditContext::default() }, role)
    }

    #[test]
    fn roles_permit_what_the_table_says() {
        use Permission::{Accounts, Backups, Changes, Configuration, Keys, Requests, Webhooks};
        let table = [
            (Webhooks, [false, true, true]),
            (Changes, [false, true, true]),
            (Requests, [false, true, true]),
            (Accounts, [false, false, true]),
            (Keys, [false, false, true]),
            (Configuration, [false, false, true]),
            (Backups, [false, false, true]),
        ];
        assert_eq!(table.map(|(permission, _)| permission), Permission::ALL);
        for (permission, permitted) in table {
            let roles = OperatorRole::ALL.map(|role| authority(role).require(permission).is_ok());
            assert_eq!(roles, permitted, "{permission:?}");
        }
    }

    #[test]
    fn refusal_names_the_role_that_is_needed_and_the_one_that_acts() {
        let why = authority(OperatorRole::Support).require(Permission::Accounts).unwrap_err().to_string();
        assert_eq!(why, "changing accounts needs the role admin; you have the role support");
        let why = authority(OperatorRole::Viewer).require(Permission::Changes).unwrap_err().to_string();
        assert_eq!(why, "applying changes needs the role support or admin; you have the role viewer");
    }

    #[test]
    fn nobody_in_particular_changes_nothing() {
        assert!(Permission::ALL.iter().all(|one| Authority::default().require(*one).is_err()));
    }
}
