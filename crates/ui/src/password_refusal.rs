//! Why a new password was refused and what to do, in the languages of the pages.

use domain::password_rules::PasswordRefusal;

use crate::Lang;

/// The texts of a notice: its title says which rule, its text what to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordRefusalText {
    pub title: &'static str,
    pub text: &'static str,
}

pub const fn password_refusal_text(lang: Lang, refusal: PasswordRefusal) -> PasswordRefusalText {
    match lang {
        Lang::Es => spanish(refusal),
        Lang::En => english(refusal),
    }
}

/// What stands beside the field for a new password.
pub const fn password_hint(lang: Lang) -> &'static str {
    match lang {
        Lang::Es => "Al menos 10 caracteres. Varias palabras sin relación entre sí se recuerdan mejor.",
        Lang::En => "At least 10 characters. Several unrelated words are easier to remember.",
    }
}

const fn spanish(refusal: PasswordRefusal) -> PasswordRefusalText {
    let (title, text) = match refusal {
        PasswordRefusal::TooShort => (
            "La contraseña es demasiado corta",
            "Debe tener al menos 10 caracteres. Cuatro palabras sin relación entre sí son fáciles de recordar.",
        ),
        PasswordRefusal::TooLong => {
            ("La contraseña es demasiado larga", "Puede ocupar 1024 bytes como máximo. Elige una más corta.")
        }
        PasswordRefusal::Repetitive => (
            "La contraseña se repite",
            "Repite una parte corta o usa muy pocos caracteres distintos. Añade otras palabras o caracteres.",
        ),
        PasswordRefusal::Sequence => (
            "La contraseña es una secuencia",
            "Las letras o cifras seguidas y las filas del teclado se adivinan enseguida. Elige palabras sin \
             relación entre sí.",
        ),
        PasswordRefusal::DigitsOnly => (
            "La contraseña solo tiene cifras",
            "Los teléfonos y las fechas se adivinan fácilmente. Añade palabras.",
        ),
        PasswordRefusal::ContainsName => (
            "La contraseña contiene tu nombre",
            "Es lo primero que se prueba. Elige una sin tu nombre ni tus apellidos.",
        ),
        PasswordRefusal::ContainsAddress => (
            "La contraseña contiene parte de tu correo electrónico",
            "Es de lo primero que se prueba. Elige una sin palabras de tu dirección.",
        ),
        PasswordRefusal::Common => (
            "La contraseña es demasiado común",
            "Se compone de una o dos palabras muy usadas; las cifras y los signos que las acompañan no bastan. \
             Usa al menos tres palabras sin relación entre sí.",
        ),
    };
    PasswordRefusalText { title, text }
}

const fn english(refusal: PasswordRefusal) -> PasswordRefusalText {
    let (title, text) = match refusal {
        PasswordRefusal::TooShort => (
            "The password is too short",
            "It must have at least 10 characters. Four unrelated words are easy to remember.",
        ),
        PasswordRefusal::TooLong => {
            ("The password is too long", "It may have at most 1024 bytes. Choose a shorter one.")
        }
        PasswordRefusal::Repetitive => (
            "The password repeats itself",
            "It repeats a short part or has very few different characters. Add other words or characters.",
        ),
        PasswordRefusal::Sequence => (
            "The password is a sequence",
            "Letters or digits in order and rows of the keyboard are guessed at once. Choose unrelated words.",
        ),
        PasswordRefusal::DigitsOnly => {
            ("The password has digits only", "Phone numbers and dates are easy to guess. Add words.")
        }
        PasswordRefusal::ContainsName => (
            "The password contains your name",
            "It is the first thing that is tried. Choose one without your name.",
        ),
        PasswordRefusal::ContainsAddress => (
            "The password contains a part of your email address",
            "It is among the first things that are tried. Choose one without words of your address.",
        ),
        PasswordRefusal::Common => (
            "The password is too common",
            "It consists of one or two words that many people use; the digits and signs around them do not help \
             enough. Use at least three unrelated words.",
        ),
    };
    PasswordRefusalText { title, text }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use domain::password::PASSWORD_BYTES_MAX;
    use domain::password_rules::NEW_PASSWORD_CHARS_MIN;

    use super::*;

    #[test]
    fn every_refusal_has_texts_of_its_own_in_both_languages() {
        let all: Vec<_> = Lang::ALL
            .into_iter()
            .flat_map(|lang| PasswordRefusal::ALL.map(|refusal| password_refusal_text(lang, refusal)))
            .collect();
        let distinct: HashSet<_> = all.iter().flat_map(|one| [one.title, one.text]).collect();
        assert_eq!(distinct.len(), 2 * 2 * PasswordRefusal::ALL.len());
        for one in all {
            assert!(
                !one.title.ends_with('.') && one.text.ends_with('.') && !one.text.contains("  "),
                "{one:?}"
            );
        }
    }

    #[test]
    fn texts_name_the_limits_that_apply() {
        for lang in Lang::ALL {
            let text = |refusal| password_refusal_text(lang, refusal).text;
            assert!(password_hint(lang).contains(&NEW_PASSWORD_CHARS_MIN.to_string()));
            assert!(text(PasswordRefusal::TooShort).contains(&NEW_PASSWORD_CHARS_MIN.to_string()));
            assert!(text(PasswordRefusal::TooLong).contains(&PASSWORD_BYTES_MAX.to_string()));
        }
    }
}
