//! Gives the administration the links of the accounts' pages and the mails that carry them.

use std::sync::Arc;

use domain::{Realm, Secret, Ticks};
use identity::AccountMails;
use operator::ports::AccountLinks;
use store::{Account, Invitation, Mail};

use super::BasePorts;
use super::identity::{mail_settings, realm_urls};
use crate::config::Config;

/// The configuration's URLs must be complete.
pub(super) fn account_links(config: &Config, base: &BasePorts) -> Arc<dyn AccountLinks> {
    let mails = AccountMails::new(&mail_settings(config), &realm_urls(config), base.random.clone());
    Arc::new(MailedLinks(mails))
}

struct MailedLinks(AccountMails);

impl AccountLinks for MailedLinks {
    fn invitation_url(&self, realm: Realm, token: &Secret) -> Secret {
        self.0.invitation_url(realm, token)
    }

    fn invitation_mail(&self, invitation: &Invitation, url: &Secret, now: Ticks) -> Option<Mail> {
        self.0.invitation(invitation, url, now)
    }

    fn second_factor_mail(&self, account: &Account, now: Ticks) -> Option<Mail> {
        self.0.second_factor_changed(account, now)
    }
}
