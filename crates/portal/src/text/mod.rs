//! The words of the pages, in Spanish and English side by side: one file per area.

/// Declares a struct of texts: `name: "Spanish", "English";`.
macro_rules! texts {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $es:expr, $en:expr;)* }) => {
        $(#[$meta])*
        #[derive(Debug)]
        #[allow(clippy::struct_field_names, reason = "fields are named after the words")]
        pub(crate) struct $name {
            $(pub(crate) $field: &'static str,)*
        }

        impl $name {
            const ES: Self = Self { $($field: $es,)* };
            const EN: Self = Self { $($field: $en,)* };

            pub(crate) const fn of(lang: ui::Lang) -> &'static Self {
                match lang {
                    ui::Lang::Es => &Self::ES,
                    ui::Lang::En => &Self::EN,
                }
            }
        }
    };
}

pub(crate) mod applications;
pub(crate) mod calls;
pub(crate) mod common;
pub(crate) mod deliveries;
pub(crate) mod diagnosis;
mod diagnosis_responses;
pub(crate) mod done;
pub(crate) mod events;
pub(crate) mod front;
pub(crate) mod home;
pub(crate) mod notices;
pub(crate) mod oauth;
mod oauth_claims;
pub(crate) mod reference;
pub(crate) mod sandbox;
pub(crate) mod sign_in;
pub(crate) mod signature;
pub(crate) mod subscriptions;
pub(crate) mod team;
pub(crate) mod webhooks;
