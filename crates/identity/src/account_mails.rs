//! The links of the accounts' one-time secrets, and the mails that carry them.

use std::sync::Arc;

use domain::{NoticeKind, Random, Realm, Secret, Ticks};
use store::{
    Account, INVITATION_LIFE, Invitation, Mail, Notice, NoticeReader, PASSWORD_RESET_LIFE,
    RecoveryCodeNotice, Team,
};
use ui::Lang;
use ui::mail::{Invitee, MailLink, MailNotice, MailTemplate};

use crate::mail::{MailIdentity, MailRecipient};
use crate::params::query;
use crate::settings::{MailSettings, RealmUrls};

#[derive(Clone)]
pub struct AccountMails {
    identity: MailIdentity,
    is_sent: bool,
    urls: RealmUrls,
    random: Arc<dyn Random>,
}

impl std::fmt::Debug for AccountMails {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("AccountMails")
    }
}

impl AccountMails {
    pub fn new(settings: &MailSettings, urls: &RealmUrls, random: Arc<dyn Random>) -> Self {
        let MailSettings { identity, is_sent } = settings.clone();
        Self { identity, is_sent, urls: urls.clone(), random }
    }

    /// Whether a mail server is configured.
    pub fn is_sent(&self) -> bool {
        self.is_sent
    }

    /// Whom people can ask; may be empty.
    pub(crate) fn contact(&self) -> &str {
        &self.identity.contact
    }

    pub fn invitation_url(&self, realm: Realm, token: &Secret) -> Secret {
        self.url(realm, "invitation", token)
    }

    pub fn reset_url(&self, realm: Realm, token: &Secret) -> Secret {
        self.url(realm, "reset", token)
    }

    fn url(&self, realm: Realm, page: &str, token: &Secret) -> Secret {
        let query = query([("token", token.reveal())]);
        Secret::new(format!("{}/{page}?{query}", self.urls.url(realm)))
    }

    /// The mail that carries the link of an invitation, if mails are sent and it has an address.
    pub fn invitation(&self, invitation: &Invitation, url: &Secret, now: Ticks) -> Option<Mail> {
        let invitee = match invitation.realm {
            Realm::Users => Invitee::User,
            Realm::Developers => Invitee::Developer,
            Realm::Operators => Invitee::Operator,
        };
        let link = MailLink { url: url.reveal(), valid: INVITATION_LIFE };
        let Invitation { email, name, lang, .. } = invitation;
        let recipient = MailRecipient { address: email, name, lang: Lang::choose(Some(lang), None) };
        self.compose(&recipient, &MailTemplate::Invitation { invitee, link }, now)
    }

    /// The mail that carries the link of a password reset.
    pub fn password_reset(&self, account: &Account, url: &Secret, now: Ticks) -> Option<Mail> {
        let link = MailLink { url: url.reveal(), valid: PASSWORD_RESET_LIFE };
        self.compose_for(account, &MailTemplate::PasswordReset { link }, now)
    }

    /// Tells the owner that somebody has set a new password.
    pub(crate) fn password_changed(&self, account: &Account, now: Ticks) -> Option<Mail> {
        self.compose_for(account, &MailTemplate::PasswordChanged, now)
    }

    /// Tells the owner that a second factor was added, removed or reset.
    pub fn second_factor_changed(&self, account: &Account, now: Ticks) -> Option<Mail> {
        self.compose_for(account, &MailTemplate::SecondFactorChanged, now)
    }

    /// Tells the owner that a recovery code was used, and how many are left.
    pub(crate) fn recovery_code_used(&self, account: &Account, now: Ticks) -> Option<RecoveryCodeNotice> {
        let (mails, account) = (self.clone(), account.clone());
        (self.is_sent && !account.email.is_empty()).then(|| {
            RecoveryCodeNotice::new(move |left| {
                let template = MailTemplate::RecoveryCodeUsed { left };
                mails.identity.compose(mails.random.guid(), now, &recipient(&account), &template)
            })
        })
    }

    /// The mail about those notices of a team that a member wants; none if there are none.
    pub fn notices(
        &self,
        team: &Team,
        notices: &[Notice],
        reader: &NoticeReader,
        now: Ticks,
    ) -> Option<Mail> {
        let wanted = notices.iter().filter(|notice| reader.mailed.contains(notice.kind));
        let wanted: Vec<MailNotice<'_>> = wanted.map(mail_notice).collect();
        if wanted.is_empty() {
            return None;
        }
        let url = format!("{}/teams/{}/notices", self.urls.url(Realm::Developers), team.id);
        let template = MailTemplate::Notices { team: &team.name, notices: &wanted, url: &url };
        let NoticeReader { email, given_name, lang, .. } = reader;
        let lang = Lang::choose(Some(lang), None);
        self.compose(&MailRecipient { address: email, name: given_name, lang }, &template, now)
    }

    fn compose_for(&self, account: &Account, template: &MailTemplate<'_>, now: Ticks) -> Option<Mail> {
        self.compose(&recipient(account), template, now)
    }

    fn compose(
        &self,
        recipient: &MailRecipient<'_>,
        template: &MailTemplate<'_>,
        now: Ticks,
    ) -> Option<Mail> {
        let is_sent = self.is_sent && !recipient.address.is_empty();
        is_sent.then(|| self.identity.compose(self.random.guid(), now, recipient, template))
    }
}

fn recipient(account: &Account) -> MailRecipient<'_> {
    let Account { email, given_name, lang, .. } = account;
    MailRecipient { address: email, name: given_name, lang: Lang::choose(Some(lang), None) }
}

/// Without anything that only the portal shows.
fn mail_notice(notice: &Notice) -> MailNotice<'_> {
    let reason = if notice.kind == NoticeKind::RequestRefused { notice.detail.as_str() } else { "" };
    MailNotice { kind: notice.kind, name: &notice.name, reason, since: notice.since, at: notice.at }
}
