//! Words of the pages of tenants, accounts and invitations.

mod account;
mod invitations;
mod people;
mod refusals;
mod tenants;

use domain::{OperatorRole, Realm};
use ui::Lang;

pub(crate) use account::AccountText;
pub(crate) use invitations::InvitationText;
pub(crate) use people::PeopleText;
pub(crate) use refusals::{DONE, REFUSALS};
pub(crate) use tenants::TenantText;

pub(crate) fn role_word(lang: Lang, role: OperatorRole) -> &'static str {
    let text = PeopleText::of(lang);
    match role {
        OperatorRole::Admin => text.admin,
        OperatorRole::Support => text.support,
        OperatorRole::Viewer => text.viewer,
    }
}

pub(crate) fn role_meaning(lang: Lang, role: OperatorRole) -> &'static str {
    let text = PeopleText::of(lang);
    match role {
        OperatorRole::Admin => text.admin_text,
        OperatorRole::Support => text.support_text,
        OperatorRole::Viewer => text.viewer_text,
    }
}

pub(crate) fn realm_word(lang: Lang, realm: Realm) -> &'static str {
    let text = InvitationText::of(lang);
    match realm {
        Realm::Users => text.user,
        Realm::Developers => text.developer,
        Realm::Operators => text.operator,
    }
}
