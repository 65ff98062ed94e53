//! `aldaba invitation`, and `invite` of `user`, `operator` and `developer`.

use domain::{OperatorRole, Realm, TenantId};
use operator::admin::{Admin, NewInvitation, SentInvitation};
use serde::Serialize;
use store::{Invitation as StoredInvitation, InvitationFilter, InvitationState};

use super::all_pages;
use crate::cli::{Invitation, InvitedArgs};
use crate::config::Sources;
use crate::exit::CommandResult;
use crate::output::Output;

#[derive(Serialize)]
struct InvitationView {
    id: String,
    realm: &'static str,
    email: String,
    name: String,
    lang: String,
    tenants: Vec<String>,
    role: Option<&'static str>,
    team: Option<String>,
    team_owner: bool,
    invited_by: String,
    state: &'static str,
    created_at: String,
    expires_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    link: Option<String>,
}

fn view(admin: &Admin, stored: StoredInvitation) -> InvitationView {
    InvitationView {
        state: stored.state(admin.clock.now()).as_str(),
        id: stored.id.to_string(),
        realm: stored.realm.as_str(),
        email: stored.email,
        name: stored.name,
        lang: stored.lang,
        tenants: stored.tenants.iter().map(ToString::to_string).collect(),
        role: stored.role.map(OperatorRole::as_str),
        team: Some(stored.team).filter(|team| !team.is_empty()),
        team_owner: stored.is_team_owner,
        invited_by: stored.invited_by.to_string(),
        created_at: stored.created_at.iso(),
        expires_at: stored.expires_at.iso(),
        link: None,
    }
}

/// Prints the link where no mail carries it, else the id.
fn print_sent(admin: &Admin, sent: SentInvitation, output: Output) {
    let link = sent.link.map(|link| link.reveal().to_owned());
    let view = InvitationView { link, ..view(admin, sent.invitation) };
    output.print_message(&match &view.link {
        Some(_) => format!(
            "No mail server is configured: pass this link on to {}. It works once, until {}; it is not shown again.",
            view.email, view.expires_at
        ),
        None => format!("The running service mails the link to {}; it works until {}.", view.email, view.expires_at),
    });
    output.result(&view, || view.link.clone().unwrap_or_else(|| view.id.clone()));
}

fn invited(person: InvitedArgs, realm: Realm) -> NewInvitation {
    let InvitedArgs { email, name, lang } = person;
    let (tenants, role, team) = (Vec::new(), None, String::new());
    NewInvitation { realm, email, name, lang, tenants, role, team, is_team_owner: false }
}

pub(crate) async fn invite_user(
    admin: &Admin,
    person: InvitedArgs,
    tenants: Vec<String>,
    output: Output,
) -> CommandResult {
    let tenants = tenants.into_iter().map(TenantId::new).collect();
    let sent = admin.invite(NewInvitation { tenants, ..invited(person, Realm::Users) }).await?;
    print_sent(admin, sent, output);
    Ok(())
}

pub(crate) async fn invite_operator(
    admin: &Admin,
    person: InvitedArgs,
    role: OperatorRole,
    output: Output,
) -> CommandResult {
    let new = NewInvitation { role: Some(role), ..invited(person, Realm::Operators) };
    print_sent(admin, admin.invite(new).await?, output);
    Ok(())
}

/// Invites a developer, to a team where one is given.
pub(super) async fn invite_developer(
    admin: &Admin,
    person: InvitedArgs,
    team: Option<String>,
    is_team_owner: bool,
    output: Output,
) -> CommandResult {
    let team = team.unwrap_or_default();
    let new = NewInvitation { team, is_team_owner, ..invited(person, Realm::Developers) };
    print_sent(admin, admin.invite(new).await?, output);
    Ok(())
}

pub(crate) async fn run(command: Invitation, sources: &Sources, output: Output) -> CommandResult {
    let admin = super::admin(sources).await?;
    match command {
        Invitation::List { realm, state } => {
            let filter = InvitationFilter {
                realm: realm.as_deref().and_then(Realm::from_name),
                state: state.as_deref().and_then(InvitationState::from_name),
                ..InvitationFilter::default()
            };
            let now = admin.clock.now();
            let all =
                all_pages(async |query| admin.store.list_invitations(&filter, now, &query).await).await?;
            let all: Vec<InvitationView> = all.into_iter().map(|one| view(&admin, one)).collect();
            output.list(&all, &["ID", "REALM", "EMAIL", "STATE", "EXPIRES", "INVITED BY"], |one| {
                vec![
                    one.id.clone(),
                    one.realm.to_owned(),
                    one.email.clone(),
                    one.state.to_owned(),
                    one.expires_at.clone(),
                    one.invited_by.clone(),
                ]
            });
        }
        Invitation::Resend { id } => print_sent(&admin, admin.resend_invitation(&id).await?, output),
        Invitation::Revoke { id } => {
            let revoked = view(&admin, admin.revoke_invitation(&id).await?);
            let text = format!("the invitation for {} is revoked", revoked.email);
            output.done(&revoked, &text);
        }
    }
    admin.store.close().await;
    Ok(())
}
