//! The words of the pages, in Spanish and English side by side: one file per area.

/// Declares a struct of texts: `name: "Spanish", "English";`.
macro_rules! texts {
    ($(#[$meta:meta])* $name:ident { $($field:ident: $es:expr, $en:expr;)* }) => {
        $(#[$meta])*
        #[derive(Debug)]
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
pub(crate) mod done;
pub(crate) mod front;
pub(crate) mod signature;
pub(crate) mod subscriptions;
pub(crate) mod suspension;
pub(crate) mod team;
