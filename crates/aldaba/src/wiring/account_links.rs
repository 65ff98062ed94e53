//! Gives the administration the links of the accounts' pages and the mails that carry them.

use std::sync::Arc;

use domain::{Realm, Secret, Ticks};
use identity::AccountMails;
use operator::ports::AccountLinks;
use store::{Account, Invitation, Mail, Store};

use super::BasePorts;
use super::identity::{mail_settings, realm_urls};
use crate::config::Config;
use crate::notices::Notifier;

/// The configuration's URLs must be complete.
pub(super) fn account_links(config: &Config, base: &BasePorts) -> Arc<dyn AccountLinks> {
    let mails = AccountMails::new(&mail_settings(config), &realm_urls(config), base.random.clone());
    Arc::new(MailedLinks(mails))
}

/// The task that tells teams what has happened.
pub(crate) fn notifier(config: &Config, base: &BasePorts, store: Arc<dyn Store>) -> Notifier {
    let mails = AccountMails::new(&mail_settings(config), &realm_urls(config), base.random.clone());
    Notifier::new(store, base.clock.clone(), mails)
}

struct MailedLinks(AccountMails);

impl AccountLinks for MailedLinks {
    fn invitation_url(&self, realm: Realm, token: &Secret) -> Secret {
        self.0.invitation_url(realm, token)
    }

    fn invitation_mail(&self, invitation: &Invitation, url: &Secret, now: Ticks) -> Option<Mail> {
        self.0.invitation(invitation, url, now)
    }

    fn reset_url(&self, realm: Realm, token: &Secret) -> Secret {
        self.0.reset_url(realm, token)
    }

    fn reset_mail(&self, account: &Account, url: &Secret, now: Ticks) -> Option<Mail> {
        self.0.password_reset(account, url, now)
    }

    fn second_factor_mail(&self, account: &Account, now: Ticks) -> Option<Mail> {
        self.0.second_factor_changed(account, now)
    }
}
