//! What only the console shows: the operator who looks at it, thousands of users, invitations, the figures of all areas and
//! who read what.

use std::time::Duration;

use domain::figures::{FigureCounts, Outcome, Resolution, Series};
use domain::ids::InvitationId;
use domain::{AccountId, Area, ClientId, OperatorRole, Random as _, Realm, Resource, Secret, TenantId};
use store::{Account, Actor, FigureDelta, Invitation, InvitationLink, Membership, ReadCount, ReadTarget};

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
const FIGURE_HOURS: u64 = 7 * 24;
const FIGURE_MINUTES: u64 = 24 * 60;
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Rows in one transaction.
const BATCH: usize = 2_000;

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
    figures(writer).await?;
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

/// A week of hours and a day of minutes of the whole service.
async fn figures(writer: &Writer) -> Fallible<()> {
    let mut counts = FigureCounts::default();
    for number in 0..100 {
        let outcome = if number % 20 == 0 { Outcome::Failed } else { Outcome::Succeeded };
        counts.count(outcome, Some(500 * (number + 1)));
    }
    let back = |resolution: Resolution, count: u64| {
        let span = resolution.span().as_secs();
        (0..count).map(move |number| writer.now.minus(Duration::from_secs(span * number)))
    };
    let times: Vec<_> =
        back(Resolution::Hour, FIGURE_HOURS).chain(back(Resolution::Minute, FIGURE_MINUTES)).collect();
    let series = Area::ALL.into_iter().map(Series::AreaCalls).chain([Series::SignIns, Series::Deliveries]);
    let delta =
        |series: Series| times.iter().map(move |at| FigureDelta { series: series.clone(), at: *at, counts });
    let deltas: Vec<FigureDelta> = series.flat_map(delta).collect();
    for batch in deltas.chunks(BATCH) {
        writer.store.add_figures(batch).await?;
    }
    Ok(())
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
