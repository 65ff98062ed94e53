//! Authorizations: what a user has allowed an application for a tenant. Tokens, reads, feeds and webhooks all follow this
//! one fact. A pure function decides whether it stands; the stores load its inputs.

use std::collections::HashMap;

use async_trait::async_trait;
use domain::subscription::Products;
use domain::{AccountId, Area, ClientId, GrantId, MembershipId, Scopes, Suspension, TenantId, Ticks};

use crate::{AuditContext, AuditEntry, AuditKind, ClientAccess, Result, Status, WebhookOwner};

/// Outlives its tokens: it ends when it is withdrawn, when a revocation leaves no unexpired grant, and with the
/// membership.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    pub access: ClientAccess,
    /// The membership under which it was given. One that is removed and added again is another membership.
    pub membership: MembershipId,
    pub scopes: Scopes,
    pub created_at: Ticks,
    pub ended: Option<EndedAuthorization>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndedAuthorization {
    pub at: Ticks,
    pub cause: AuthorizationEnd,
}

/// Why an authorization ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuthorizationEnd {
    Withdrawn,
    /// By an administrator of the tenant.
    WithdrawnForTenant,
    Revoked,
    MembershipRemoved,
}

impl AuthorizationEnd {
    /// The name in the database.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Withdrawn => "withdrawn",
            Self::WithdrawnForTenant => "withdrawn_for_tenant",
            Self::Revoked => "revoked",
            Self::MembershipRemoved => "membership_removed",
        }
    }

    pub(crate) fn from_name(name: &str) -> Self {
        let all = [Self::Withdrawn, Self::WithdrawnForTenant, Self::MembershipRemoved];
        all.into_iter().find(|end| end.as_str() == name).unwrap_or(Self::Revoked)
    }

    fn suspension(self) -> Suspension {
        match self {
            Self::Withdrawn => Suspension::Withdrawn,
            Self::WithdrawnForTenant => Suspension::WithdrawnForTenant,
            Self::Revoked => Suspension::Revoked,
            Self::MembershipRemoved => Suspension::MembershipRemoved,
        }
    }
}

/// An authorization and what it depends on besides its tenant and its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuthorizationFacts {
    pub authorization: Authorization,
    /// None: the user was removed.
    pub user: Option<Status>,
    /// The user's present membership in the tenant.
    pub membership: Option<MembershipId>,
}

impl AuthorizationFacts {
    /// Why the authorization does not stand, apart from a disabled tenant or client.
    pub fn obstacle(&self) -> Option<Suspension> {
        let Authorization { membership, ended, .. } = &self.authorization;
        match (ended, &self.membership, self.user) {
            (Some(ended), _, _) => Some(ended.cause.suspension()),
            (None, current, _) if current.as_ref() != Some(membership) => Some(Suspension::MembershipRemoved),
            (None, _, Some(Status::Active)) => None,
            (None, _, Some(Status::Unconfirmed)) => Some(Suspension::UserUnconfirmed),
            (None, _, _) => Some(Suspension::UserDisabled),
        }
    }
}

/// What decides whether an application may receive a tenant's data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnerAccess {
    /// None: the tenant does not exist.
    pub tenant: Option<Status>,
    /// None: the client does not exist.
    pub client: Option<Status>,
    /// The client's products.
    pub products: Products,
    /// The products of the active subscriptions of the client's team; None: the client belongs to no team.
    pub team_products: Option<Products>,
    pub authorizations: Vec<AuthorizationFacts>,
}

impl OwnerAccess {
    /// Why webhooks of this area are suspended; None: they are delivered to.
    pub fn suspension(&self, area: Area) -> Option<Suspension> {
        if self.tenant != Some(Status::Active) {
            return Some(Suspension::TenantDisabled);
        }
        if self.client != Some(Status::Active) {
            return Some(Suspension::ClientDisabled);
        }
        if !self.products.contains(area.product()) {
            return Some(Suspension::ProductMissing);
        }
        if self.team_products.is_some_and(|products| !products.contains(area.product())) {
            return Some(Suspension::TeamSubscriptionMissing);
        }
        self.authorization_gap(area)
    }

    /// The authorizations that stand, apart from a disabled tenant or client.
    pub fn standing(&self) -> impl Iterator<Item = &Authorization> {
        let standing = self.authorizations.iter().filter(|facts| facts.obstacle().is_none());
        standing.map(|facts| &facts.authorization)
    }

    /// The same, for an active tenant and an active client with the area's product.
    pub fn authorization_gap(&self, area: Area) -> Option<Suspension> {
        let needed = area.webhook_scopes();
        let mut gap = (Ticks(i64::MIN), Suspension::NotAuthorized);
        for facts in &self.authorizations {
            let Authorization { scopes, ended, .. } = &facts.authorization;
            // The nearest reason counts: what a sign-in or an administrator can mend at once, then the latest end.
            let reason = match facts.obstacle() {
                None if scopes.has_all(needed) => return None,
                None => (Ticks(i64::MAX), Suspension::ScopeMissing),
                Some(Suspension::UserUnconfirmed) => (Ticks(i64::MAX - 1), Suspension::UserUnconfirmed),
                Some(Suspension::UserDisabled) => (Ticks(i64::MAX - 2), Suspension::UserDisabled),
                Some(other) => (ended.map_or(Ticks(0), |ended| ended.at), other),
            };
            if reason.0 > gap.0 {
                gap = reason;
            }
        }
        Some(gap.1)
    }
}

/// The authorization after a code exchange under a membership; None: it does not change. One that stands is widened;
/// otherwise it begins anew.
pub(crate) fn authorize(
    before: Option<&Authorization>,
    access: &ClientAccess,
    membership: &MembershipId,
    scopes: Scopes,
    now: Ticks,
) -> Option<Authorization> {
    match before.filter(|before| before.ended.is_none() && before.membership == *membership) {
        Some(before) if before.scopes.has_all(scopes) => None,
        Some(before) => Some(Authorization { scopes: before.scopes.union(scopes), ..before.clone() }),
        None => Some(Authorization {
            access: access.clone(),
            membership: membership.clone(),
            scopes,
            created_at: now,
            ended: None,
        }),
    }
}

/// Whether the change of an authorization may let webhooks be delivered to.
pub(crate) fn concerns_webhooks(before: Option<&Authorization>, after: &Authorization) -> bool {
    let covers = |one: &Authorization, area: Area| one.scopes.has_all(area.webhook_scopes());
    let stood = before.filter(|before| before.ended.is_none() && before.membership == after.membership);
    Area::ALL.into_iter().any(|area| covers(after, area) && !stood.is_some_and(|before| covers(before, area)))
}

/// The audit entry for the end of an authorization.
pub(crate) fn access_ended_entry(
    access: &ClientAccess,
    now: Ticks,
    context: &AuditContext,
    note: &str,
) -> AuditEntry {
    AuditEntry::new(AuditKind::AccessEnded, now, context)
        .user(&access.user)
        .tenant(&access.tenant)
        .client(&access.client)
        .note(note)
}

/// The note of an access that ends with its membership.
pub(crate) const MEMBERSHIP_REMOVED: &str = "the membership was removed";

#[async_trait]
pub trait Authorizations: Send + Sync + 'static {
    /// A user's authorizations that have not ended, newest first.
    async fn user_authorizations(&self, user: &AccountId) -> Result<Vec<AuthorizationFacts>>;

    /// The same in pages, by tenant and client: those after the cursor, at most `rows_max`.
    async fn list_authorizations(
        &self,
        user: &AccountId,
        after: Option<&WebhookOwner>,
        rows_max: usize,
    ) -> Result<Vec<AuthorizationFacts>>;

    /// What a user has allowed an application for a tenant, also if it has ended.
    async fn find_authorization(&self, access: &ClientAccess) -> Result<Option<Authorization>>;

    /// The applications that a tenant's users have authorized, by id, at most `rows_max`.
    async fn authorized_clients(&self, tenant: &TenantId, rows_max: usize) -> Result<Vec<ClientId>>;

    /// How many authorizations of a client have not ended; those beyond `count_max` are not counted.
    async fn count_client_authorizations(&self, client: &ClientId, count_max: usize) -> Result<usize>;

    /// What decides whether an owner's webhooks are delivered to.
    async fn owner_access(&self, owner: &WebhookOwner) -> Result<OwnerAccess>;

    /// The same for many owners, in a bounded number of queries.
    async fn owners_access(&self, owners: &[WebhookOwner]) -> Result<HashMap<WebhookOwner, OwnerAccess>>;

    /// Ends all authorizations of a client in a tenant: revokes their grants, deletes unused codes and audits, in one
    /// transaction. Returns the revoked grants by id.
    async fn revoke_tenant_access(
        &self,
        tenant: &TenantId,
        client: &ClientId,
        now: Ticks,
        context: &AuditContext,
        note: &str,
    ) -> Result<Vec<GrantId>>;
}

#[cfg(test)]
mod tests {
    use domain::Scope;

    use domain::subscription::Product;

    use super::*;

    fn facts(scopes: &str) -> AuthorizationFacts {
        let access = ClientAccess {
            user: AccountId::new("maria"),
            client: ClientId::new("erp"),
            tenant: TenantId::new("norte"),
        };
        let membership = MembershipId::new("m1");
        let authorization = Authorization {
            access,
            membership: membership.clone(),
            scopes: Scopes::parse(scopes).scopes,
            created_at: Ticks(5),
            ended: None,
        };
        AuthorizationFacts { authorization, user: Some(Status::Active), membership: Some(membership) }
    }

    fn ended(at: i64, cause: AuthorizationEnd) -> AuthorizationFacts {
        let mut facts = facts("SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks");
        facts.authorization.ended = Some(EndedAuthorization { at: Ticks(at), cause });
        facts
    }

    fn access(authorizations: impl IntoIterator<Item = AuthorizationFacts>) -> OwnerAccess {
        let active = Some(Status::Active);
        let authorizations = authorizations.into_iter().collect();
        OwnerAccess {
            tenant: active,
            client: active,
            products: Products::all(),
            team_products: None,
            authorizations,
        }
    }

    #[test]
    fn webhooks_need_the_scope_of_their_area_and_that_of_webhooks() {
        for (scopes, areas) in [
            ("SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks", vec![Area::Accounting, Area::Import, Area::Invoicing]),
            ("SVC.ES.NEWPOL.COR.API SVC.ES.Webhooks", vec![Area::Core, Area::Invoicing]),
            ("SVC.ES.Webhooks", vec![Area::Invoicing]),
            ("SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.COR.API SVC.ES.EquipoContex", vec![]),
        ] {
            let access = access([facts(scopes)]);
            for area in Area::ALL {
                let expected = (!areas.contains(&area)).then_some(Suspension::ScopeMissing);
                assert_eq!(access.suspension(area), expected, "{scopes} {area:?}");
            }
        }
        assert!(Area::Payroll.webhook_scopes().has(Scope::Payroll));
    }

    #[test]
    fn authorization_stands_while_user_membership_tenant_and_client_are_active() {
        let good = || facts("SVC.ES.NEWPOL.ACC.API SVC.ES.Webhooks");
        let suspension = |access: OwnerAccess| access.suspension(Area::Accounting);
        assert_eq!(suspension(access([good()])), None);
        for status in [None, Some(Status::Disabled)] {
            let tenant = OwnerAccess { tenant: status, ..access([good()]) };
            assert_eq!(suspension(tenant), Some(Suspension::TenantDisabled));
            let client = OwnerAccess { client: status, ..access([good()]) };
            assert_eq!(suspension(client), Some(Suspension::ClientDisabled));
            let user = AuthorizationFacts { user: status, ..good() };
            assert_eq!(suspension(access([user])), Some(Suspension::UserDisabled));
        }
        let products = Products::from_iter([Product::Payroll, Product::Invoicing]);
        let other_products = OwnerAccess { products, ..access([good()]) };
        assert_eq!(suspension(other_products), Some(Suspension::ProductMissing));
        for (team, expected) in
            [(products, Some(Suspension::TeamSubscriptionMissing)), (Products::all(), None)]
        {
            let of_team = OwnerAccess { team_products: Some(team), ..access([good()]) };
            assert_eq!(suspension(of_team), expected);
        }
        for membership in [None, Some(MembershipId::new("m2"))] {
            let other = AuthorizationFacts { membership, ..good() };
            assert_eq!(suspension(access([other])), Some(Suspension::MembershipRemoved));
        }
        assert_eq!(suspension(access([])), Some(Suspension::NotAuthorized));
        // A colleague's authorization is enough.
        assert_eq!(suspension(access([ended(7, AuthorizationEnd::Withdrawn), good()])), None);
    }

    #[test]
    fn latest_end_is_the_reason() {
        let two = [ended(7, AuthorizationEnd::Withdrawn), ended(9, AuthorizationEnd::Revoked)];
        assert_eq!(access(two.clone()).suspension(Area::Core), Some(Suspension::Revoked));
        let narrow = facts("SVC.ES.Webhooks");
        let all = two.into_iter().chain([narrow]);
        assert_eq!(access(all).suspension(Area::Core), Some(Suspension::ScopeMissing));
    }

    #[test]
    fn exchange_widens_what_stands_and_begins_anew_after_an_end() {
        let before = facts("openid SVC.ES.Webhooks").authorization;
        let (m1, m2) = (MembershipId::new("m1"), MembershipId::new("m2"));
        let scopes = |list| Scopes::parse(list).scopes;
        let after = |before: &Authorization, membership, list| {
            authorize(Some(before), &before.access, membership, scopes(list), Ticks(20))
        };
        assert_eq!(after(&before, &m1, "openid"), None);
        let wider = after(&before, &m1, "SVC.ES.NEWPOL.ACC.API").unwrap();
        assert_eq!(wider.scopes, scopes("openid SVC.ES.Webhooks SVC.ES.NEWPOL.ACC.API"));
        assert_eq!(wider.created_at, Ticks(5));
        let anew = Authorization { scopes: scopes("openid"), created_at: Ticks(20), ..before.clone() };
        let ended = Authorization {
            ended: Some(EndedAuthorization { at: Ticks(9), cause: AuthorizationEnd::Withdrawn }),
            ..before.clone()
        };
        assert_eq!(after(&ended, &m1, "openid"), Some(anew.clone()));
        assert_eq!(after(&before, &m2, "openid"), Some(Authorization { membership: m2, ..anew }));
    }
}
