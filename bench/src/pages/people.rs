//! What only the console shows: the operator who looks at it, thousands of users, invitations, the figures of all areas and
//! who read what.

use std::time::Duration;

use domain::figures::{Resolution, Series};
use domain::ids::InvitationId;
use domain::{AccountId, Area, ClientId, OperatorRole, Random as _, Realm, Resource, Secret, TenantId};
use store::{Account, Actor, Invitation, InvitationLink, Membership, ReadCount, ReadTarget};

use super::counts::figures;
use super::data::{Size, Writer};
use super::team::{account, small_tenant};
use crate::Fallible;

pub(super) const OPERATOR: &str = "operator-0";
pub(super) const USER: &str = "user-0";
const OPERATORS: usize = 20;
const USERS: usize = 5_000;
const INVITATIONS: usize = 500;
const READ_DAYS: i64 = 7;
/// Companies that were read on each day, besides the tenant itself.
const READ_COMPANIES: usize = 500;
/// Of the record with a history, whose resource no webhook is for.
pub(super) const CHANGES_OF_RECORD: u64 = 400;
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

pub(super) async fn write(
    writer: &Writer,
    tenant: &TenantId,
    client: &ClientId,
    size: &Size,
) -> Fallible<AccountId> {
    for number in 0..OPERATORS {
        let id = AccountId::new(format!("operator-{number}"));
        let role = Some(if number == 0 { OperatorRole::Admin } else { OperatorRole::Viewer });
        let operator = Account { role, ..account(writer, &id, Realm::Operators) };
        writer.store.add_account(&operator, &[], &writer.by).await?;
    }
    for number in 0..if size.is_small { 100 } else { USERS } {
        let id = AccountId::new(format!("user-{number}"));
        let membership = Membership::new(&writer.random, &id, tenant, writer.start);
        let user = account(writer, &id, Realm::Users);
        writer.store.add_account(&user, &[membership], &writer.by).await?;
    }
    invitations(writer, tenant).await?;
    figures_of_service(writer, size).await?;
    reads(writer, tenant, client).await?;
    writer.changes_of_one_record(&small_tenant(0), CHANGES_OF_RECORD).await?;
    Ok(AccountId::new(OPERATOR))
}

async fn invitations(writer: &Writer, tenant: &TenantId) -> Fallible<()> {
    for number in 0..INVITATIONS {
        let expires_at = writer.now + WEEK;
        let invitation = Invitation {
            id: InvitationId::new(format!("invitation-{number}")),
            realm: Realm::Users,
            email: format!("invited-{number}@example.com"),
            name: "Lucía".into(),
            lang: "es".into(),
            tenants: vec![tenant.clone()],
            role: None,
            team: String::new(),
            is_team_owner: false,
            invited_by: Actor::Service,
            created_at: writer.now,
            expires_at,
            accepted_at: None,
            revoked_at: None,
        };
        let token = Secret::new(writer.random.token());
        let link = InvitationLink { token: &token, expires_at, mail: None };
        writer.store.make_invitation(&invitation, &link, &writer.by).await?;
    }
    Ok(())
}

/// The figures of the whole service.
async fn figures_of_service(writer: &Writer, size: &Size) -> Fallible<()> {
    let series = || Area::ALL.into_iter().map(Series::AreaCalls).chain([Series::SignIns, Series::Deliveries]);
    figures(writer, series(), Resolution::Hour, size).await?;
    figures(writer, series(), Resolution::Minute, size).await
}

/// One client read the customers of many companies on each day.
async fn reads(writer: &Writer, tenant: &TenantId, client: &ClientId) -> Fallible<()> {
    let today = writer.now.day();
    for day in today - READ_DAYS + 1..=today {
        let count = |company: usize| ReadCount {
            tenant: tenant.clone(),
            client: client.clone(),
            target: ReadTarget::Resource(Resource::customers()),
            company: Some(format!("company-{company}").into()),
            hour: day * 24,
            reads: 10,
        };
        writer.store.add_reads(&(0..READ_COMPANIES).map(count).collect::<Vec<_>>()).await?;
    }
    Ok(())
}
