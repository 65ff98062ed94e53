//! Spanish tax identifiers (NIF, NIE, CIF): checks their control characters and generates valid ones.

/// The control letters of persons, indexed by the number modulo 23.
const PERSON_CONTROLS: [u8; 23] = *b"TRWAGMYFPDXBNJZSQVHLCKE";
/// The control letters of organisations, indexed by their control digit.
const ORGANISATION_CONTROLS: [u8; 10] = *b"JABCDEFGHI";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    Valid,
    /// The format is right, the control character is not.
    WrongControl,
    /// Not in the format of a NIF, NIE or CIF: foreign, empty or misspelled.
    NotSpanish,
}

/// Checks an identifier in its stored form: upper case, without separators.
pub fn check(id: &str) -> Check {
    let Ok([first, digits @ .., control]) = <[u8; 9]>::try_from(id.as_bytes()) else {
        return Check::NotSpanish;
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return Check::NotSpanish;
    }
    let number = digits.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
    let valid = match (first, control) {
        (b'0'..=b'9', b'A'..=b'Z') => {
            control == person_control(u32::from(first - b'0') * 10_000_000 + number)
        }
        // K, L and M are the NIFs of persons who have no identity card: minors, residents abroad, foreigners.
        (b'X' | b'K' | b'L' | b'M', b'A'..=b'Z') => control == person_control(number),
        (b'Y', b'A'..=b'Z') => control == person_control(10_000_000 + number),
        (b'Z', b'A'..=b'Z') => control == person_control(20_000_000 + number),
        (b'A' | b'B' | b'E' | b'H', b'0'..=b'9' | b'A'..=b'Z') => control == digit_control(number),
        (b'N' | b'P' | b'Q' | b'R' | b'S' | b'W', b'0'..=b'9' | b'A'..=b'Z') => {
            control == letter_control(number)
        }
        (b'C' | b'D' | b'F' | b'G' | b'J' | b'U' | b'V', b'0'..=b'9' | b'A'..=b'Z') => {
            control == digit_control(number) || control == letter_control(number)
        }
        _ => return Check::NotSpanish,
    };
    if valid { Check::Valid } else { Check::WrongControl }
}

/// The NIF of a Spanish person; digits past the eighth are dropped.
pub fn nif(number: u32) -> String {
    let number = number % 100_000_000;
    format!("{number:08}{}", char::from(person_control(number)))
}

/// The NIE of a foreign person; digits past the seventh are dropped, an unknown prefix becomes `X`.
pub fn nie(prefix: char, number: u32) -> String {
    let number = number % 10_000_000;
    let (prefix, lead) = match prefix {
        'Y' => ('Y', 10_000_000),
        'Z' => ('Z', 20_000_000),
        _ => ('X', 0),
    };
    format!("{prefix}{number:07}{}", char::from(person_control(lead + number)))
}

/// The CIF of an organisation; digits past the seventh are dropped, an unknown kind becomes `B`.
pub fn cif(kind: char, number: u32) -> String {
    let number = number % 10_000_000;
    let (kind, control) = match kind {
        'N' | 'P' | 'Q' | 'R' | 'S' | 'W' => (kind, letter_control(number)),
        'A' | 'C' | 'D' | 'E' | 'F' | 'G' | 'H' | 'J' | 'U' | 'V' => (kind, digit_control(number)),
        _ => ('B', digit_control(number)),
    };
    format!("{kind}{number:07}{}", char::from(control))
}

fn person_control(number: u32) -> u8 {
    PERSON_CONTROLS[(number % 23) as usize]
}

fn digit_control(number: u32) -> u8 {
    b"0123456789"[organisation_control(number)]
}

fn letter_control(number: u32) -> u8 {
    ORGANISATION_CONTROLS[organisation_control(number)]
}

/// The Luhn check digit: every second digit, starting with the last one, is doubled.
fn organisation_control(mut number: u32) -> usize {
    let mut sum = 0;
    let mut doubled = true;
    while number > 0 {
        let digit = number % 10;
        sum += match (doubled, digit * 2) {
            (false, _) => digit,
            (true, twice) => twice / 10 + twice % 10,
        };
        doubled = !doubled;
        number /= 10;
    }
    ((10 - sum % 10) % 10) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn expect(ids: &[&str], expected: Check) {
        for id in ids {
            assert_eq!(check(id), expected, "{id}");
        }
    }

    #[test]
    fn real_identifiers_are_valid() {
        expect(&["12345678Z", "00000000T", "54362315K", "99999999R"], Check::Valid);
        expect(&["X1234567L", "X5253868R", "Y1234567X", "Z1234567R"], Check::Valid);
        expect(&["M1234567L", "K1234567L", "L1234567L"], Check::Valid);
        // Telefónica, Mercadona, Inditex, BBVA, Santander, and others of the textbooks.
        expect(&["A28015865", "A46103834", "A15075062", "A48265169", "A39000013"], Check::Valid);
        expect(&["A58818501", "A13585625", "J99216582", "G28034718", "G08266298"], Check::Valid);
        // Agencia Tributaria, city of Madrid, city of Barcelona, Universidad Complutense.
        expect(&["Q2826000H", "P2807900B", "P0801900B", "Q2818014I"], Check::Valid);
    }

    #[test]
    fn other_control_characters_are_wrong() {
        expect(&["12345678A", "12345678I", "X1234567T", "A58818502", "P2807900C"], Check::WrongControl);
        // The right control, but as a letter instead of a digit and the other way round.
        expect(&["A5881850A", "P28079002"], Check::WrongControl);
    }

    #[test]
    fn some_kinds_accept_both_a_digit_and_a_letter() {
        for kind in ['C', 'D', 'F', 'G', 'J', 'U', 'V'] {
            let digit = cif(kind, 5_881_850);
            assert_eq!(digit, format!("{kind}58818501"));
            expect(&[&digit, &format!("{kind}5881850A")], Check::Valid);
        }
    }

    #[test]
    fn other_formats_are_not_spanish() {
        expect(
            &["", "Z", "1234567Z", "123456789", "012345678Z", "ES12345678Z", "DE136695976"],
            Check::NotSpanish,
        );
        expect(
            &["12345678z", "x1234567L", "a58818501", "A-5881850", "I12345674", "T12345678"],
            Check::NotSpanish,
        );
        expect(&["A5881850é", "ñ2345678Z", "A5881 501", "A58818501\n"], Check::NotSpanish);
    }

    #[test]
    fn generated_identifiers_are_valid() {
        for step in 0..5_000_u32 {
            let number = step.wrapping_mul(2_654_435_769);
            expect(&[&nif(number), &nif(step)], Check::Valid);
            for prefix in ['X', 'Y', 'Z', '?'] {
                expect(&[&nie(prefix, number)], Check::Valid);
            }
            for kind in "ABCDEFGHJNPQRSUVW?".chars() {
                expect(&[&cif(kind, number)], Check::Valid);
            }
        }
    }

    #[test]
    fn exactly_one_control_is_valid() {
        let controls = |stem: &str| {
            ('A'..='Z')
                .chain('0'..='9')
                .filter(|control| check(&format!("{stem}{control}")) == Check::Valid)
                .count()
        };
        assert_eq!(controls("12345678"), 1);
        assert_eq!(controls("Y1234567"), 1);
        assert_eq!(controls("B1234567"), 1);
        assert_eq!(controls("Q1234567"), 1);
        assert_eq!(controls("G1234567"), 2);
    }
}
