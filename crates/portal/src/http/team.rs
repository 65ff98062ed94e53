//! The team page: members, invitations, roles.

use domain::AccountId;
use operator::admin::SentInvitation;
use pages::{PageContext, PageError, Params, Response};
use store::{ListQuery, TeamRole};

use crate::context::Context;
use crate::views::team::{InvitationRow, MemberRow, TeamPage};

pub(crate) async fn get(context: &Context) -> Result<Response, PageError> {
    Ok(context.show(&page(context, None).await?))
}

async fn page(context: &Context, link: Option<String>) -> Result<TeamPage, PageError> {
    let members = context.developer().members(context.team.id.as_str()).await?;
    let members = members.into_iter().map(|listed| MemberRow {
        id: listed.member.account.to_string(),
        is_you: listed.member.account == context.visitor.account.id,
        name: listed.given_name,
        email: listed.email,
        role: listed.member.role.as_str(),
        is_active: listed.status == store::Status::Active,
        since: listed.member.created_at.iso(),
        since_at: listed.member.created_at,
    });
    let invitations =
        context.developer().invitations(context.team.id.as_str(), &ListQuery::default()).await?;
    let invitations = invitations.rows.iter().map(|one| InvitationRow::new(one, context.now));
    Ok(TeamPage {
        invitations: invitations.collect(),
        id: context.team.id.to_string(),
        name: context.team.name.clone(),
        members: members.collect(),
        link,
    })
}

pub(crate) async fn post(context: &Context, form: &Params) -> Result<Response, PageError> {
    let (developer, team) = (context.developer(), context.team.id.as_str());
    let member = || AccountId::new(form.get("member").unwrap_or_default());
    let role = || match form.get("role") {
        Some("owner") => TeamRole::Owner,
        _ => TeamRole::Member,
    };
    let here = context.team_path("team");
    match form.get("do") {
        Some("rename") => {
            let team = developer.rename_team(team, form.get("name").unwrap_or_default()).await?;
            Ok(context.done(&here, "saved", &serde_json::json!({ "name": team.name })))
        }
        Some("role") => {
            let changed = developer.set_role(team, &member(), role()).await?;
            Ok(context.done(&here, "role_changed", &serde_json::json!({ "role": changed.role.as_str() })))
        }
        Some("remove") => {
            let removed = developer.remove_member(team, &member()).await?;
            let is_you = removed.account == context.visitor.account.id;
            let next = if is_you { format!("{}/", context.portal.base_path()) } else { here };
            Ok(context.done(&next, "member_removed", &serde_json::json!({ "member": removed.account })))
        }
        Some("invite") => {
            let (email, lang) = (form.get("email").unwrap_or_default(), context.lang().tag());
            let sent = developer.invite(team, email, lang, role()).await?;
            show_sent(context, sent, "invited").await
        }
        Some("resend") => {
            let sent = developer.resend_invitation(team, form.get("invitation").unwrap_or_default()).await?;
            show_sent(context, sent, "invitation_resent").await
        }
        Some("revoke") => {
            let id = form.get("invitation").unwrap_or_default();
            let revoked = developer.revoke_invitation(team, id).await?;
            Ok(context.done(&here, "invitation_revoked", &serde_json::json!({ "email": revoked.email })))
        }
        _ => Err(PageError::no_action()),
    }
}

/// An invitation that was sent. A link that no mail carries is shown once, so no redirect can follow.
async fn show_sent(
    context: &Context,
    sent: SentInvitation,
    code: &'static str,
) -> Result<Response, PageError> {
    if let Some(link) = sent.link {
        return Ok(context.show(&page(context, Some(link.reveal().to_owned())).await?));
    }
    let values = serde_json::json!({ "email": sent.invitation.email });
    Ok(context.done(&context.team_path("team"), code, &values))
}
