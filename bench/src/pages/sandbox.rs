//! The sandbox of the team: its tenant with a few records, and as many received requests as are kept.

use domain::{AccountId, Random as _, Realm, Secret, TenantId};
use store::{
    FIRST_REVISION, Membership, NewSandbox, RECEIVED_MAX, ReceivedRequest, SandboxOutcome, Status, Tenant,
};

use super::data::Writer;
use super::team::{Team, account};
use crate::Fallible;

const RECORDS: u64 = 100;
const BODY_MEMBERS: usize = 40;

/// Returns the number of the newest request that the built-in receiver has got.
pub(super) async fn write(writer: &Writer, team: &Team) -> Fallible<u64> {
    let (tenant, user) = (TenantId::new("sandbox-tenant"), AccountId::new("sandbox-user"));
    let new = NewSandbox {
        tenant: Tenant {
            id: tenant.clone(),
            name: "Sandbox".into(),
            short_code: "SBX".into(),
            status: Status::Active,
            created_at: writer.start,
            revision: FIRST_REVISION,
            sandbox_of: Some(team.id.clone()),
        },
        account: account(writer, &user, Realm::Users),
        membership: Membership::new(&writer.random, &user, &tenant, writer.start),
        password: Secret::new("a password for the bench"),
        receiver: writer.random.guid(),
    };
    match writer.store.add_sandbox(&team.id, &new, &writer.by).await? {
        SandboxOutcome::Done(_) => {}
        other => return Err(format!("the sandbox was not made: {other:?}").into()),
    }
    writer.few_records(&tenant, RECORDS).await?;
    writer.store.mark_sandbox_loaded(&tenant, writer.start).await?;
    let members =
        (0..BODY_MEMBERS).map(|number| format!(r#""member{number}":"Ferretería Íñiguez {number}""#));
    let body = format!("{{{}}}", members.collect::<Vec<_>>().join(","));
    for number in 0..RECEIVED_MAX as u64 {
        let header = |name: &str| (name.to_owned(), writer.random.token());
        let request = ReceivedRequest {
            number: 0,
            at: writer.at(number, RECEIVED_MAX as u64),
            webhook: None,
            event: "Svc.ACC.Customers.CustomerCreated".into(),
            method: "POST".into(),
            target: format!("/hook/{number}"),
            headers: ["webhook-id", "webhook-signature", "svc-webhook-signature"].map(header).into(),
            body: body.clone(),
            verified: vec!["svc-webhook-signature".into()],
            problem: String::new(),
            status: Some(200),
        };
        writer.store.add_received_request(&team.id, &tenant, &request).await?;
    }
    let newest = writer.store.received_requests(&team.id, None, 1).await?;
    Ok(newest.first().map_or(0, |request| request.number))
}
