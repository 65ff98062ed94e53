//! What the pages of users, developers and operators share: sessions, second factors, sign-ins, and the actions on an account.

use std::time::Duration;

use domain::{Realm, Ticks};
use operator::admin::{DeveloperChange, OperatorChange, SentReset, UserChange};
use operator::audit::{self, AuditRequest};
use pages::{PageContext, PageError, Params, Response};
use serde_json::json;
use store::{Account, Status};

use super::views::account::{AccountPart, FactorRow, RecordRow, SessionRow};
use crate::context::Context;

/// How many of the latest sign-ins and audit records a page shows.
const SIGN_INS_MAX: usize = 5;
const RECORDS_MAX: usize = 10;
/// Sign-ins are looked for so far back.
const SIGN_INS_WITHIN: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The link of a password reset, where no mail carries it.
pub(super) fn shown_reset(sent: &SentReset) -> Option<String> {
    sent.link.as_ref().map(|link| link.reveal().to_owned())
}

/// Reads the sessions, factors and audit of an account of any realm.
pub(super) async fn read(
    context: &Context,
    account: &Account,
    link: Option<String>,
) -> Result<AccountPart, PageError> {
    let admin = context.admin();
    let factors = admin.second_factors(account).await?;
    let sessions = admin.sessions(account).await?;
    let (sign_ins, records) = records(context, account).await?;
    Ok(AccountPart {
        id: account.id.to_string(),
        email: account.email.clone(),
        name: account.full_name(),
        given_name: account.given_name.clone(),
        family_name: account.family_name.clone(),
        lang: account.lang.clone(),
        state: account.status.as_str(),
        role: account.role.map(domain::OperatorRole::as_str),
        created: account.created_at.iso(),
        factors: factors.factors.iter().map(FactorRow::new).collect(),
        recovery_codes_left: factors.recovery_codes_left,
        sessions: sessions.iter().map(SessionRow::new).collect(),
        sign_ins,
        records,
        link,
        realm: account.realm,
        status: account.status,
        operator_role: account.role,
        created_at: account.created_at,
    })
}

/// The latest sign-ins and audit records of an account.
async fn records(
    context: &Context,
    account: &Account,
) -> Result<(Vec<RecordRow>, Vec<RecordRow>), PageError> {
    let store = &*context.admin().store;
    let name = format!("{}:{}", account.realm.person(), account.id);
    let of_account = AuditRequest { rows_max: Some(RECORDS_MAX), ..AuditRequest::default() }.of_target(&name);
    let sign_ins = AuditRequest {
        kind: Some(store::AuditKind::signed_in(account.realm).as_str().to_owned()),
        user: of_account.user.clone(),
        // Only users are named by their sign-ins; others are who acts.
        actor: Some(name).filter(|_| account.realm != Realm::Users),
        since: Some(Ticks(context.now.0.saturating_sub(ticks(SIGN_INS_WITHIN)))),
        rows_max: Some(SIGN_INS_MAX),
        ..AuditRequest::default()
    };
    let rows = async |request: &AuditRequest| -> Result<Vec<RecordRow>, PageError> {
        let page = audit::page(store, request).await?;
        Ok(page.records.into_iter().map(RecordRow::new).collect())
    };
    Ok((rows(&sign_ins).await?, rows(&of_account).await?))
}

fn ticks(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos() / 100).unwrap_or(i64::MAX)
}

/// What an action on an account leads to.
pub(super) enum ActionOutcome {
    Done(Response),
    /// The page of the account is shown with this link.
    ShowLink(String),
    /// The form names another action.
    Other,
}

/// Carries out an action that accounts of every realm have. `here` is the account's page.
pub(super) async fn act(
    context: &Context,
    account: &Account,
    here: &str,
    form: &Params,
) -> Result<ActionOutcome, PageError> {
    let (admin, realm, id) = (context.admin(), account.realm, account.id.as_str());
    let code = match form.get("do") {
        Some("rename") => {
            change(context, account, None, Some(form)).await?;
            "account_renamed"
        }
        Some("disable") => {
            change(context, account, Some(Status::Disabled), None).await?;
            "account_disabled"
        }
        Some("enable") => {
            change(context, account, Some(Status::Active), None).await?;
            "account_enabled"
        }
        Some("reset_factors") => {
            admin.reset_second_factors(realm, id).await?;
            "account_factors_reset"
        }
        Some("end_sessions") => {
            admin.end_sessions(realm, id).await?;
            "account_sessions_ended"
        }
        Some("reset_password") => {
            let sent = admin.send_password_reset(realm, id).await?;
            if let Some(link) = shown_reset(&sent) {
                return Ok(ActionOutcome::ShowLink(link));
            }
            "account_reset_sent"
        }
        _ => return Ok(ActionOutcome::Other),
    };
    Ok(ActionOutcome::Done(context.done(here, code, &json!({ "id": id }))))
}

/// Changes the state, or name and language, of an account.
async fn change(
    context: &Context,
    account: &Account,
    status: Option<Status>,
    profile: Option<&Params>,
) -> Result<Account, PageError> {
    let admin = context.admin();
    let given_name = profile.map(|form| form.get("name").unwrap_or_default().to_owned());
    let family_name = profile.map(|form| form.get("family_name").unwrap_or_default().to_owned());
    let lang = profile.and_then(|form| form.get("lang")).map(str::to_owned);
    Ok(match account.realm {
        Realm::Users => {
            let change = UserChange { status, password: None, given_name, family_name, lang };
            admin.update_user(account, change, None).await?
        }
        Realm::Developers => {
            admin.update_developer(account, DeveloperChange { status, given_name, lang }, None).await?
        }
        Realm::Operators => {
            let change = OperatorChange { status, role: None, given_name, lang };
            admin.update_operator(account, change, None).await?
        }
    })
}
