//! The pages of the identity provider as pure functions from a model to markup. Texts are in `i18n`, components in
//! the crate `ui`; the HTTP handlers fill the models.

mod account;
mod code;
mod continue_to;
mod device;
mod error;
mod form_post;
mod i18n;
mod link;
mod own_factors;
mod permissions;
mod scopes;
mod second_factor;
mod sign_in;
mod sign_out;
mod tenant_choice;
#[cfg(test)]
mod tests;

pub(crate) use account::{AccountNews, AccountPage, SessionRow, account};
pub(crate) use code::{CodePage, code_page};
pub(crate) use continue_to::{ContinuePage, continue_page};
pub use device::device_name;
pub(crate) use error::{ErrorKind, ErrorPage, RedirectAddresses, error_page};
pub(crate) use form_post::{FORM_POST_SCRIPT, FormPostPage, form_post};
pub(crate) use link::{
    AddressPage, InvitationPage, LinkError, LinkKind, MailPurpose, MailSentPage, PasswordSetPage, ResetPage,
    VoidLinkPage, address, invitation, mail_sent, password_set, reset, void_link,
};
pub(crate) use own_factors::{
    AddPasskeyPage, AddTotpPage, FactorFrame, FactorNews, FactorRow, OwnFactorsPage, RecoveryCodesPage,
    add_passkey, add_totp, default_passkey_name, default_totp_name, own_factors, recovery_codes,
    totp_qr_label,
};
pub(crate) use permissions::{PermissionEntry, PermissionsPage, WebhookRow, WithdrawnNotice, permissions};
pub(crate) use second_factor::{SecondFactorError, SecondFactorPage, second_factor};
pub(crate) use sign_in::{ForgottenHelp, PasskeyOffer, SignInError, SignInPage, sign_in};
pub(crate) use sign_out::{ReturnLink, SignOutPage, SignedOutPage, sign_out, signed_out};
pub(crate) use tenant_choice::{
    ConsentRequest, ReturnsTo, Search, TenantChoiceError, TenantChoicePage, TenantOption, tenant_choice,
};

/// Implements `Debug` for a model with the named fields only, so that tickets and codes are not logged.
macro_rules! debug_only {
    ($model:ident { $($field:ident),+ }) => {
        impl std::fmt::Debug for $model<'_> {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.debug_struct(stringify!($model))$(.field(stringify!($field), &self.$field))+.finish_non_exhaustive()
            }
        }
    };
}
use debug_only;
