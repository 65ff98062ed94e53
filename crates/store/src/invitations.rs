//! Invitations: a one-time link with which a person makes an account of a realm.

use std::time::Duration;

use async_trait::async_trait;
use domain::ids::InvitationId;
use domain::{AccountId, OperatorRole, Random, Realm, Secret, TeamId, TenantId, Ticks};

use crate::mails::SealedMail;
use crate::{
    Account, Actor, AuditContext, FIRST_REVISION, ListPage, ListQuery, Mail, MemberStep, Membership, Ports,
    Result, Status, TeamMemberChange, TeamRole, Vault,
};

/// How long the link of an invitation works.
pub const INVITATION_LIFE: Duration = Duration::from_secs(72 * 60 * 60);

/// The keyed hash of a link's secret. The purpose depends on the realm: a link of one realm finds nothing in another.
pub(crate) fn invitation_hash(vault: &Vault, realm: Realm, token: &Secret) -> [u8; 32] {
    let purpose = match realm {
        Realm::Users => "user invitation",
        Realm::Developers => "developer invitation",
        Realm::Operators => "operator invitation",
    };
    vault.fingerprint(purpose, token)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    pub id: InvitationId,
    pub realm: Realm,
    /// Lower case. Empty for the first operator, who chooses it.
    pub email: String,
    /// May be empty.
    pub name: String,
    pub lang: String,
    /// The tenants that a user becomes a member of.
    pub tenants: Vec<TenantId>,
    /// Operators alone have one.
    pub role: Option<OperatorRole>,
    /// The id of the team that a developer joins; empty for none.
    pub team: String,
    pub is_team_owner: bool,
    pub invited_by: Actor,
    pub created_at: Ticks,
    /// Until then the link works.
    pub expires_at: Ticks,
    pub accepted_at: Option<Ticks>,
    pub revoked_at: Option<Ticks>,
}

impl Invitation {
    pub fn state(&self, now: Ticks) -> InvitationState {
        if self.accepted_at.is_some() {
            InvitationState::Accepted
        } else if self.revoked_at.is_some() {
            InvitationState::Revoked
        } else if self.expires_at <= now {
            InvitationState::Expired
        } else {
            InvitationState::Pending
        }
    }

    /// Whether it can still be accepted, if need be with a new link.
    pub fn is_open(&self) -> bool {
        self.accepted_at.is_none() && self.revoked_at.is_none()
    }

    /// The address of the account: the invited one, or the person's choice where the invitation has none.
    pub(crate) fn address<'a>(&'a self, person: &'a InvitedPerson) -> &'a str {
        if self.email.is_empty() { &person.email } else { &self.email }
    }

    /// For messages: `an invitation for "maria@example.com"`.
    pub(crate) fn described(&self) -> String {
        format!("an invitation for \"{}\"", self.email)
    }

    /// The account of whoever accepts.
    pub(crate) fn account(&self, person: &InvitedPerson, now: Ticks) -> Account {
        Account {
            id: person.id.clone(),
            realm: self.realm,
            email: self.address(person).to_owned(),
            given_name: person.given_name.clone(),
            family_name: String::new(),
            lang: person.lang.clone(),
            password_hash: person.password_hash.clone(),
            status: Status::Active,
            role: match self.realm {
                Realm::Operators => Some(self.role.unwrap_or(OperatorRole::Viewer)),
                Realm::Users | Realm::Developers => None,
            },
            created_at: now,
            updated_at: now,
            revision: FIRST_REVISION,
        }
    }

    /// A membership in each tenant of `existing`; tenants that were erased since are left out.
    pub(crate) fn memberships(
        &self,
        account: &AccountId,
        existing: &[TenantId],
        random: &dyn Random,
        now: Ticks,
    ) -> Vec<Membership> {
        let tenants = self.tenants.iter().filter(|tenant| existing.contains(tenant));
        tenants.map(|tenant| Membership::new(random, account, tenant, now)).collect()
    }

    /// The team that the new developer joins.
    pub(crate) fn team_change(&self, account: &AccountId) -> Option<TeamMemberChange> {
        let role = if self.is_team_owner { TeamRole::Owner } else { TeamRole::Member };
        (self.realm == Realm::Developers && !self.team.is_empty()).then(|| TeamMemberChange {
            team: TeamId::new(self.team.as_str()),
            account: account.clone(),
            step: MemberStep::Add(role),
        })
    }

    /// The tenants as they are stored.
    pub(crate) fn tenants_json(&self) -> String {
        serde_json::to_string(&self.tenants).unwrap_or_default()
    }

    pub(crate) fn tenants_from_json(json: &str) -> Vec<TenantId> {
        serde_json::from_str(json).unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InvitationState {
    Pending,
    Expired,
    Accepted,
    Revoked,
}

impl InvitationState {
    pub const ALL: [Self; 4] = [Self::Pending, Self::Expired, Self::Accepted, Self::Revoked];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Expired => "expired",
            Self::Accepted => "accepted",
            Self::Revoked => "revoked",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }

    /// The condition of a state in SQL; `now` is the parameter that holds the time.
    pub(crate) fn condition(state: Option<Self>, now: &str) -> String {
        match state {
            // The parameter is bound in any case.
            None => format!("{now} IS NOT NULL"),
            Some(Self::Pending) => {
                format!("accepted_at IS NULL AND revoked_at IS NULL AND expires_at + 0 > {now}")
            }
            Some(Self::Expired) => {
                format!("accepted_at IS NULL AND revoked_at IS NULL AND expires_at + 0 <= {now}")
            }
            Some(Self::Accepted) => format!("accepted_at IS NOT NULL AND {now} IS NOT NULL"),
            Some(Self::Revoked) => {
                format!("accepted_at IS NULL AND revoked_at IS NOT NULL AND {now} IS NOT NULL")
            }
        }
    }
}

/// What the invited person chose, and the hash of their password.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvitedPerson {
    pub id: AccountId,
    /// Lower case; used only where the invitation has no address.
    pub email: String,
    pub given_name: String,
    pub lang: String,
    pub password_hash: String,
}

/// A link that is about to be sent or shown: its secret, and the mail that carries it where one is sent.
#[derive(Clone, Debug)]
pub struct InvitationLink<'a> {
    pub token: &'a Secret,
    pub expires_at: Ticks,
    pub mail: Option<&'a Mail>,
}

/// A link as it is stored: the keyed hash of its secret, and its sealed mail.
#[derive(Clone, Debug)]
pub(crate) struct SealedLink {
    pub(crate) hash: [u8; 32],
    pub(crate) expires_at: Ticks,
    pub(crate) mail: Option<SealedMail>,
}

impl InvitationLink<'_> {
    pub(crate) fn sealed(&self, realm: Realm, ports: &Ports) -> Result<SealedLink> {
        let seal = |mail: &Mail| SealedMail::of(mail, &ports.vault, &*ports.random);
        Ok(SealedLink {
            hash: invitation_hash(&ports.vault, realm, self.token),
            expires_at: self.expires_at,
            mail: self.mail.map(seal).transpose()?,
        })
    }
}

/// The outcome of an acceptance.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum AcceptOutcome {
    /// The new account.
    Accepted(Account),
    /// The link is unknown, was used or replaced, or has expired. Nothing changed.
    LinkIsVoid,
    /// The address has had an account since. Nothing changed.
    AccountExists,
}

/// The outcome of a change of an invitation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum InvitationOutcome {
    Changed(Invitation),
    NotFound,
    /// It was accepted or revoked before; nothing changed.
    Ended(Invitation),
}

/// Which invitations to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvitationFilter {
    pub realm: Option<Realm>,
    pub state: Option<InvitationState>,
    pub team: Option<TeamId>,
    /// The beginning of the address, in lower case.
    pub email_prefix: Option<String>,
}

impl InvitationFilter {
    /// The addresses that begin with the prefix: from the first on, before the second.
    pub(crate) fn email_range(&self) -> Option<(&str, String)> {
        let prefix = self.email_prefix.as_deref()?;
        Some((prefix, format!("{prefix}{}", char::MAX)))
    }
}

/// Every mutation, its mail and its audit entry are one transaction.
#[async_trait]
pub trait Invitations: Send + Sync + 'static {
    /// Stores an invitation with its link. It replaces an open one for the same address, which is revoked. `Exists` where
    /// the address has an account, `UnknownTenant` where a tenant does not exist.
    async fn make_invitation(
        &self,
        invitation: &Invitation,
        link: &InvitationLink<'_>,
        context: &AuditContext,
    ) -> Result<()>;

    async fn find_invitation(&self, id: &InvitationId) -> Result<Option<Invitation>>;

    /// The open invitation for an address.
    async fn find_open_invitation(&self, realm: Realm, email: &str) -> Result<Option<Invitation>>;

    /// The pending invitation of a link. The link stays as it is.
    async fn find_invitation_by_token(
        &self,
        realm: Realm,
        token: &Secret,
        now: Ticks,
    ) -> Result<Option<Invitation>>;

    async fn list_invitations(
        &self,
        filter: &InvitationFilter,
        now: Ticks,
        query: &ListQuery,
    ) -> Result<ListPage<Invitation>>;

    /// Gives an open invitation a new link and a new expiry; the old link is void.
    async fn resend_invitation(
        &self,
        id: &InvitationId,
        link: &InvitationLink<'_>,
        context: &AuditContext,
    ) -> Result<InvitationOutcome>;

    async fn revoke_invitation(&self, id: &InvitationId, context: &AuditContext)
    -> Result<InvitationOutcome>;

    /// Uses a link: makes the account with its role, memberships or team, and ends the invitation. Who cannot join the team
    /// any more, because it is full, joins none.
    async fn accept_invitation(
        &self,
        realm: Realm,
        token: &Secret,
        person: &InvitedPerson,
        context: &AuditContext,
    ) -> Result<AcceptOutcome>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn invitation() -> Invitation {
        Invitation {
            id: InvitationId::new("i"),
            realm: Realm::Operators,
            email: "ana@example.com".into(),
            name: String::new(),
            lang: "es".into(),
            tenants: vec![TenantId::new("a"), TenantId::new("b")],
            role: Some(OperatorRole::Admin),
            team: String::new(),
            is_team_owner: false,
            invited_by: Actor::Operator,
            created_at: Ticks(0),
            expires_at: Ticks(10),
            accepted_at: None,
            revoked_at: None,
        }
    }

    #[test]
    fn state_follows_from_the_times() {
        let open = invitation();
        assert_eq!([Ticks(9), Ticks(10)].map(|now| open.state(now).as_str()), ["pending", "expired"]);
        let revoked = Invitation { revoked_at: Some(Ticks(3)), ..invitation() };
        let accepted = Invitation { accepted_at: Some(Ticks(3)), ..invitation() };
        assert_eq!([&revoked, &accepted].map(|one| one.state(Ticks(20)).as_str()), ["revoked", "accepted"]);
        assert!(open.is_open() && !revoked.is_open() && !accepted.is_open());
        for state in InvitationState::ALL {
            assert_eq!(InvitationState::from_name(state.as_str()), Some(state));
        }
    }

    #[test]
    fn role_is_for_operators_alone() {
        let person = InvitedPerson {
            id: AccountId::new("x"),
            email: "other@example.com".into(),
            given_name: "Ana".into(),
            lang: "en".into(),
            password_hash: "h".into(),
        };
        let role = |realm, role| Invitation { realm, role, ..invitation() }.account(&person, Ticks(5)).role;
        assert_eq!(role(Realm::Operators, Some(OperatorRole::Admin)), Some(OperatorRole::Admin));
        assert_eq!(role(Realm::Operators, None), Some(OperatorRole::Viewer));
        assert_eq!(role(Realm::Users, Some(OperatorRole::Admin)), None);
    }

    #[test]
    fn address_is_the_invited_one_if_there_is_one() {
        let person = InvitedPerson {
            id: AccountId::new("x"),
            email: "other@example.com".into(),
            given_name: "Ana".into(),
            lang: "en".into(),
            password_hash: "h".into(),
        };
        let email =
            |email: &str| Invitation { email: email.into(), ..invitation() }.account(&person, Ticks(5)).email;
        assert_eq!(email("ana@example.com"), "ana@example.com");
        assert_eq!(email(""), "other@example.com");
    }
}
