//! Words of the pages, in Spanish and English side by side.

/// Declares a struct of texts: `name: "Spanish", "English";`. One that other crates use begins with `pub`.
#[macro_export]
macro_rules! texts {
    (@declare $(#[$meta:meta])* $vis:vis $name:ident { $($field:ident: $es:expr, $en:expr;)* }) => {
        $(#[$meta])*
        #[derive(Debug)]
        #[allow(clippy::struct_field_names, reason = "fields are named after the words")]
        $vis struct $name {
            $($vis $field: &'static str,)*
        }

        impl $name {
            const ES: Self = Self { $($field: $es,)* };
            const EN: Self = Self { $($field: $en,)* };

            $vis const fn of(lang: $crate::Lang) -> &'static Self {
                match lang {
                    $crate::Lang::Es => &Self::ES,
                    $crate::Lang::En => &Self::EN,
                }
            }
        }
    };
    ($(#[$meta:meta])* pub $name:ident { $($words:tt)* }) => {
        $crate::texts! { @declare $(#[$meta])* pub $name { $($words)* } }
    };
    ($(#[$meta:meta])* $name:ident { $($words:tt)* }) => {
        $crate::texts! { @declare $(#[$meta])* pub(crate) $name { $($words)* } }
    };
}

texts! {
    /// Error pages.
    ErrorText {
        not_found: "Esta página no existe", "This page does not exist";
        not_found_text: "Puede que el enlace esté incompleto, o que sea de algo que no puedes ver. Vuelve al inicio y búscalo desde allí.", "The link may be incomplete, or lead to something that you may not see. Go back to the start and look for it from there.";
        refused: "No se ha podido hacer", "This could not be done";
        forbidden: "No tienes permiso para hacer esto", "You are not allowed to do this";
        expired: "El formulario ha caducado", "The form has expired";
        expired_text: "Vuelve a la página, recárgala y repite la acción.", "Go back to the page, reload it and repeat the action.";
        unavailable: "El servicio está ocupado", "The service is busy";
        unavailable_text: "No se ha perdido nada. Inténtalo de nuevo dentro de unos segundos.", "Nothing has been lost. Try again in a few seconds.";
        internal: "Algo ha fallado por nuestra parte", "Something went wrong on our side";
        internal_text: "El error ha quedado registrado. Si se repite, escribe a la persona de contacto con el número de petición.", "The error has been logged. If it happens again, write to the contact with the request id.";
        request_id: "Número de petición", "Request id";
        back: "Volver al inicio", "Back to the start";
    }
}
