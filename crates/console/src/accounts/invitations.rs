//! The handlers of invitations.

use domain::{OperatorRole, Realm, TenantId};
use operator::admin::{NewInvitation, Permission, SentInvitation};
use pages::{PageContext, PageError, Params, Response};
use serde_json::json;
use store::{Invitation, InvitationFilter, InvitationState};

use super::parts::{form_error, ids, list_query, next_text, require};
use super::views::invitations::{InvitationRow, InvitationsPage};
use crate::actors;
use crate::context::Context;

pub(crate) async fn list(context: &Context) -> Result<Response, PageError> {
    show(context, None).await
}

/// Without a state in the URL, those that are pending.
fn state(context: &Context) -> Option<InvitationState> {
    match context.query.get("state") {
        None => Some(InvitationState::Pending),
        Some(name) => InvitationState::from_name(name),
    }
}

/// The rows of a list, with the addresses of who invited.
pub(super) async fn rows(
    context: &Context,
    invitations: Vec<Invitation>,
) -> Result<Vec<InvitationRow>, PageError> {
    let mut rows: Vec<InvitationRow> =
        invitations.into_iter().map(|one| InvitationRow::new(one, context.now)).collect();
    let actors: Vec<String> = rows.iter().map(|row| row.invited_by.clone()).collect();
    let labels = actors::labels(context, actors.iter().map(String::as_str)).await?;
    let named = |row: &InvitationRow| {
        let tenants = row.tenants.iter().map(|id| format!("tenant:{id}"));
        tenants.chain(row.team.as_ref().map(|id| format!("team:{id}"))).collect::<Vec<_>>()
    };
    let names = actors::names(context, rows.iter().flat_map(named).collect()).await?;
    for (row, actor) in rows.iter_mut().zip(&actors) {
        row.inviter = labels.get(actor.as_str()).cloned().unwrap_or_default();
        row.names.clone_from(&names);
    }
    Ok(rows)
}

async fn show(context: &Context, link: Option<String>) -> Result<Response, PageError> {
    let query = &context.query;
    let prefix = query.get("q").map(|text| text.trim().to_lowercase()).filter(|text| !text.is_empty());
    let filter = InvitationFilter {
        realm: query.get("realm").and_then(Realm::from_name),
        state: state(context),
        team: None,
        email_prefix: prefix,
    };
    let page = context.admin().invitations(&filter, &list_query(context, "after")?).await?;
    let invited = query.get("invite").or(context.typed("realm")).or(query.get("realm"));
    Ok(context.show(&InvitationsPage {
        next: next_text(page.next.as_ref()),
        invitations: rows(context, page.rows).await?,
        link,
        invited: invited.and_then(Realm::from_name).unwrap_or(Realm::Users),
    }))
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let (admin, id) = (context.admin(), form.get("invitation").unwrap_or_default());
    require(context, Permission::Accounts)?;
    match form.get("do") {
        Some("invite") => {
            let sent = admin.invite(new_invitation(context, form)?).await.map_err(form_error)?;
            show_sent(context, sent, "account_invited").await
        }
        Some("resend") => {
            let sent = admin.resend_invitation(id).await.map_err(form_error)?;
            show_sent(context, sent, "account_invitation_resent").await
        }
        Some("revoke") => {
            let revoked = admin.revoke_invitation(id).await.map_err(form_error)?;
            let values = InvitationRow::new(revoked, context.now);
            Ok(context.done(&context.here(&[], []), "account_invitation_revoked", &values))
        }
        _ => Err(PageError::no_action()),
    }
}

fn new_invitation(context: &Context, form: &Params) -> Result<NewInvitation, PageError> {
    let text = |name| form.get(name).unwrap_or_default().trim().to_owned();
    let realm = form.get("realm").and_then(Realm::from_name);
    let realm = realm.ok_or_else(|| PageError::Refused("choose for whom the invitation is".into()))?;
    let is_for = |wanted: Realm| realm == wanted;
    let role = form.get("role").and_then(OperatorRole::from_name);
    if is_for(Realm::Operators) && role.is_none() {
        return Err(PageError::Refused("choose a role".into()));
    }
    Ok(NewInvitation {
        realm,
        email: text("email"),
        name: text("name"),
        lang: form.get("lang").unwrap_or(context.lang().tag()).to_owned(),
        tenants: ids(form, "tenants").filter(|_| is_for(Realm::Users)).map(TenantId::new).collect(),
        role: role.filter(|_| is_for(Realm::Operators)),
        team: if is_for(Realm::Developers) { text("team") } else { String::new() },
        is_team_owner: is_for(Realm::Developers) && form.is_set("team_owner"),
    })
}

/// An invitation that was sent. A link that no mail carries is shown once, so no redirect can follow.
async fn show_sent(
    context: &Context,
    sent: SentInvitation,
    code: &'static str,
) -> Result<Response, PageError> {
    if let Some(link) = sent.link {
        return show(context, Some(link.reveal().to_owned())).await;
    }
    let values = json!({ "id": sent.invitation.id.as_str(), "email": sent.invitation.email });
    Ok(context.done(&context.here(&[], []), code, &values))
}
