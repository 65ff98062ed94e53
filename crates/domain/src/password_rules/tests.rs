//! Good and bad passwords, rule by rule.

use proptest::prelude::*;

use super::PasswordRefusal::{
    Common, ContainsAddress, ContainsName, DigitsOnly, Repetitive, Sequence, TooLong, TooShort,
};
use super::*;

const NOBODY: PasswordOwner<'static> = PasswordOwner { name: "", email: "" };
const OWNER: PasswordOwner<'static> =
    PasswordOwner { name: "María José Núñez-Gil", email: "ana.gil+libros75@asesoria-lopez.example.com" };

fn verdict(password: &str, owner: &PasswordOwner<'_>) -> Result<(), PasswordRefusal> {
    check(&Secret::new(password), owner)
}

#[track_caller]
fn refused(refusal: PasswordRefusal, passwords: &[&str]) {
    for password in passwords {
        assert_eq!(verdict(password, &NOBODY), Err(refusal), "{password}");
    }
}

#[test]
fn good_passwords_are_accepted() {
    for password in [
        "correct horse battery staple",
        "caballo grapa bateria correcto",
        "kx7-pqz-81mw",
        "Tz4vLq9mWd",
        "Gd8#kPw2!xLq",
        "aguamarina tuerce 47 lapices",
        "El tren sale tarde hoy",
        "Quiero 3 tostadas, ¡ya!",
        "zumbido-otoñal-perenne",
        "vj3kd9wq0z",
        "el gato de mi vecina ronca",
        "password para mis cuadernos viejos",
        "una frase larga que solo yo conozco",
        "1234 ovejas cruzan despacio",
        "barcelona-bufanda-tornillo-mar",
        "Ωμέγα-τρένο-νύχτα",
        "пароль-зимний-трамвай",
        "密码很长也很难猜到吗",
        "🦊🌵🚲🎻🧭🪁🫖🧲🪐🎯",
        "rZ#9!q@7&kM",
        "8461 9375 2068 1427",
        "secreto-83957146",
        "ñandú piafa lejos",
        "h7Tq.madrid.v2Xk9",
        "nunca jamas otra vez atun",
        "perejil!mandolina",
        "VnWlxTqZkRbY",
        "trompo albahaca 9 yunque",
    ] {
        assert_eq!(verdict(password, &NOBODY), Ok(()), "{password}");
        assert_eq!(verdict(password, &OWNER), Ok(()), "{password}");
    }
}

#[test]
fn short_passwords_are_refused_by_their_characters() {
    refused(
        TooShort,
        &[
            "",
            "a",
            "Tz4vLq9mW",
            "contraseñ",
            "ñññññññññ",
            "🦊🌵🚲🎻",
            "n\u{303}n\u{303}n\u{303}n\u{303}n\u{303}",
        ],
    );
    // Nine characters with accents of their own, 18 code points.
    refused(TooShort, &["a\u{301}e\u{301}i\u{301}o\u{301}u\u{301}n\u{303}y\u{301}z\u{301}c\u{301}"]);
    assert_eq!(verdict("áéíóúñüçàk", &NOBODY), Ok(()), "ten characters, 19 bytes");
}

#[test]
fn long_passwords_are_refused_by_their_bytes() {
    let random_looking = |length: usize| -> String {
        let mut state = 7_u32;
        std::iter::repeat_with(|| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            char::from(b'!' + u8::try_from(state >> 24).unwrap() % 94)
        })
        .take(length)
        .collect()
    };
    assert_eq!(verdict(&random_looking(1024), &OWNER), Ok(()));
    assert_eq!(verdict(&random_looking(1025), &OWNER), Err(TooLong));
    assert_eq!(verdict(&"ñ".repeat(513), &OWNER), Err(TooLong));
}

#[test]
fn repetitions_are_refused() {
    refused(
        Repetitive,
        &[
            "aaaaaaaaaa",
            "AAAAAaaaaa",
            "ÁáÀàAaÄäÂâ",
            "          ",
            "0000000000",
            "abababababab",
            "abcabcabcabc",
            "secretsecret",
            "xk7xk7xk7xk7x",
            "Tz4vLqTz4vLqTz4vLq",
            "aaaaabbbbb",
            "1112223331",
            "!!!!!!!!!!!!",
        ],
    );
}

#[test]
fn sequences_and_keyboard_walks_are_refused() {
    refused(
        Sequence,
        &[
            "1234567890",
            "0987654321",
            "abcdefghij",
            "ZYXWVUTSRQ",
            "qwertyuiop",
            "QwErTyUiOp",
            "poiuytrewq",
            "asdfghjklñ",
            "azertyuiop",
            "qwerty12345",
            "Qwerty12345!",
            "abcd1234efgh",
            "1qaz2wsx3edc",
            "zaq1xsw2cde3",
            "qazwsxedcrfv",
            "1q2w3e4r5t",
            "q1w2e3r4t5y6",
            "a1b2c3d4e5",
            "123-456-789-0",
            "1.2.3.4.5.6.7",
            "111222333444",
            "!@#$%^&*()",
            "12345678ab",
            "asdfghjkl123",
            "qwerty-2024-x",
        ],
    );
}

#[test]
fn phone_numbers_and_dates_are_refused() {
    refused(
        DigitsOnly,
        &["6391740528", "+34 639 17 40 52", "14/07/1985 21", "1985-07-14 06:52", "639.174.052.8"],
    );
}

#[test]
fn common_words_are_refused_in_their_usual_variations() {
    refused(
        Common,
        &[
            "password2024",
            "Password123!",
            "P@ssw0rd2024",
            "p4$$w0rd!!!",
            "Contraseña1",
            "CONTRASEÑA2025",
            "c0ntr4s3n4",
            "micontraseña1",
            "2024contraseña",
            "contrasena",
            "¡Contraseña!",
            "Bienvenido1",
            "bienvenidos2026",
            "administrador",
            "Administrator1!",
            "$uperman2020",
            "1loveyou2023",
            "iloveyou1234",
            "teamomucho",
            "Barcelona1899",
            "Real Madrid 1902",
            "HalaMadrid15",
            "forçabarça10",
            "Atletico_1903",
            "septiembre2026",
            "Noviembre.2026",
            "Verano2025!!",
            "summertime!1",
            "alejandro1990",
            "MariaJose2024",
            "maria y pedro",
            "juan.garcia.1",
            "asesoria2026",
            "contabilidad",
            "Factura-2026",
            "letmein12345",
            "dragonball99",
            "chocolate777",
            "mercedes1975",
            "lapizverde12",
            "password14071985",
            "holaMundo2024",
            "mipassword99",
            "ｐａｓｓｗｏｒｄ１２",
            "Barcelona2024Barcelona2024",
            "password1password2",
        ],
    );
}

#[test]
fn own_name_is_refused() {
    for password in [
        "maria-kx7pqz81",
        "xk7MARÍA93wq",
        "M4r14.kx7pqz",
        "Núñez kx7pqz81",
        "nunez!kx7pqz81",
        "kx7pqzj0s3w81",
        "MariaJoseNunezGil",
    ] {
        assert_eq!(verdict(password, &OWNER), Err(ContainsName), "{password}");
        assert_ne!(verdict(password, &NOBODY), Err(ContainsName), "{password}");
    }
    assert_eq!(verdict("gilkx7pqz81w", &OWNER), Ok(()), "parts of three characters are no rule");
}

#[test]
fn own_address_is_refused() {
    for password in [
        "AnaGil-kx7pqz",
        "ana.gil.kx7pqz",
        "Libros kx7pqz81",
        "libros75kx7pqz",
        "L1br0s!kx7pqz",
        "kx7pqz asesoría",
        "López kx7pqz81",
        "kx7Example#pqz",
    ] {
        assert_eq!(verdict(password, &OWNER), Err(ContainsAddress), "{password}");
        assert_eq!(verdict(password, &NOBODY), Ok(()), "{password}");
    }
    let plain = PasswordOwner { name: "", email: "martillo@com" };
    assert_eq!(verdict("xmartillox kx7", &plain), Err(ContainsAddress));
    assert_eq!(
        verdict("kx7pqz81.info", &PasswordOwner { email: "a@b.info", name: "" }),
        Ok(()),
        "top-level domain"
    );
}

#[test]
fn strange_owners_change_nothing() {
    for text in ["", "@", "@@@@@", "....", "\u{301}\u{301}\u{301}\u{301}", "🦊🦊🦊🦊"] {
        let owner = PasswordOwner { name: text, email: text };
        assert_eq!(verdict("Tz4vLq9mWd", &owner), Ok(()), "{text}");
    }
    let long = "x".repeat(1 << 20);
    assert_eq!(verdict("Tz4vLq9mWd", &PasswordOwner { name: &long, email: &long }), Ok(()));
}

#[test]
fn every_refusal_occurs_once_in_the_list() {
    let distinct: std::collections::HashSet<_> = PasswordRefusal::ALL.into_iter().collect();
    assert_eq!(distinct.len(), PasswordRefusal::ALL.len());
}

/// What password managers generate passes; one in thousands happens to consist of common words.
#[test]
fn random_passwords_are_accepted() {
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(LETTERS[usize::try_from(state % 62).unwrap()])
    };
    let passwords: Vec<String> = (0..4_000).map(|_| (0..12).map(|_| letter()).collect()).collect();
    let refused: Vec<&String> = passwords.iter().filter(|one| verdict(one, &NOBODY).is_err()).collect();
    assert!(refused.len() <= 4, "{refused:?}");
}

proptest! {
    #[test]
    fn any_text_is_checked_without_a_panic(password: String, name: String, email: String) {
        let _ = verdict(&password, &PasswordOwner { name: &name, email: &email });
    }

    #[test]
    fn case_and_accents_do_not_matter(password in "[a-zñáéí0-9]{10,14}") {
        prop_assert_eq!(verdict(&password, &OWNER), verdict(&password.to_uppercase(), &OWNER));
    }
}
