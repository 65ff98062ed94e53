//! The pages of the identity provider, as pure functions: a model in, markup out. What a page says is in
//! `words`, how it looks is in the room `ui`; the handlers fill the models.

mod code;
mod error;
mod form_post;
mod permissions;
mod scopes;
mod sign_in;
mod sign_out;
mod tenant_choice;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use code::{CodePage, code_page};
pub(crate) use error::{ErrorKind, ErrorPage, error_page};
pub(crate) use form_post::{FORM_POST_SCRIPT, FormPost, form_post};
pub(crate) use permissions::{Access, Permissions, permissions};
pub(crate) use sign_in::{SignIn, SignInProblem, sign_in};
pub(crate) use sign_out::{Back, SignOut, SignedOut, sign_out, signed_out};
pub(crate) use tenant_choice::{ChoiceProblem, Search, TenantChoice, TenantOption, tenant_choice};

/// `Debug` of a model shows the fields that are named here and no others: tickets and codes stay out of logs.
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
