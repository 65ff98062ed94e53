//! COSE keys: what each algorithm requires.

use super::super::cbor::{CborError, Value};
use super::super::cose::{Algorithm, PublicKey};
use super::super::{Field, WebauthnError};
use super::authenticator::{EDDSA, ES256, Key, RS256, cose, int, raw};

fn refusal(entries: &[(i64, Value<'_>)]) -> WebauthnError {
    PublicKey::parse(&cose(entries)).unwrap_err()
}

/// The coordinates of a point on P-256.
fn point() -> (Vec<u8>, Vec<u8>) {
    let Key::Es256(pair) = &*ES256 else { unreachable!() };
    let point = aws_lc_rs::signature::KeyPair::public_key(pair).as_ref();
    (point[1..33].to_vec(), point[33..].to_vec())
}

#[test]
fn each_algorithm_is_read_and_verifies() {
    let keys = [(&ES256, Algorithm::Es256), (&EDDSA, Algorithm::EdDsa), (&RS256, Algorithm::Rs256)];
    for (pair, algorithm) in keys {
        let key = PublicKey::parse(&pair.cose()).unwrap();
        assert_eq!(key.algorithm(), algorithm);
        let signature = pair.sign(b"message");
        assert!(key.verifies(b"message", &signature));
        assert!(!key.verifies(b"another", &signature));
        assert!(!key.verifies(b"message", &signature[1..]));
        assert!(!key.verifies(b"message", &[]));
        assert_eq!(format!("{key:?}"), format!("PublicKey({algorithm:?})"));
    }
}

#[test]
fn members_are_required_and_of_their_type() {
    let (x, y) = point();
    let good = [(1, int(2)), (3, int(-7)), (-1, int(1)), (-2, raw(&x)), (-3, raw(&y))];
    PublicKey::parse(&cose(&good)).unwrap();
    for missing in 0..good.len() {
        let mut entries = good.to_vec();
        entries.remove(missing);
        assert_eq!(refusal(&entries), WebauthnError::Structure(Field::PublicKey), "{missing}");
    }
    // A compressed point has the sign of y instead of y.
    let mut compressed = good.clone();
    compressed[4].1 = Value::Simple(21);
    assert_eq!(refusal(&compressed), WebauthnError::Structure(Field::PublicKey));
    // More members do not matter, nor does their order.
    let mut more = good.to_vec();
    more.insert(0, (2, raw(b"a key id")));
    PublicKey::parse(&cose(&more)).unwrap();
}

#[test]
fn key_type_and_curve_are_those_of_the_algorithm() {
    let (x, y) = point();
    let p256 = |kind, curve| {
        refusal(&[(1, int(kind)), (3, int(-7)), (-1, int(curve)), (-2, raw(&x)), (-3, raw(&y))])
    };
    assert_eq!(p256(1, 1), WebauthnError::PublicKey);
    assert_eq!(p256(2, 2), WebauthnError::PublicKey);
    assert_eq!(p256(2, 8), WebauthnError::PublicKey);
    let ed25519 = |kind, curve| refusal(&[(1, int(kind)), (3, int(-8)), (-1, int(curve)), (-2, raw(&x))]);
    assert_eq!(ed25519(2, 6), WebauthnError::PublicKey);
    assert_eq!(ed25519(1, 7), WebauthnError::PublicKey);
}

#[test]
fn algorithms_that_are_not_offered_are_refused() {
    let (x, y) = point();
    for algorithm in [-35, -36, -37, -47, -257 - 1, -65_535, 0, 7] {
        let entries = [(1, int(2)), (3, int(algorithm)), (-1, int(1)), (-2, raw(&x)), (-3, raw(&y))];
        assert_eq!(refusal(&entries), WebauthnError::Algorithm, "{algorithm}");
    }
}

#[test]
fn points_are_on_the_curve_and_of_their_length() {
    let (x, mut y) = point();
    let p256 =
        |x: &[u8], y: &[u8]| refusal(&[(1, int(2)), (3, int(-7)), (-1, int(1)), (-2, raw(x)), (-3, raw(y))]);
    assert_eq!(p256(&x, &y[1..]), WebauthnError::PublicKey);
    assert_eq!(p256(&[&[0], &x[..]].concat(), &y), WebauthnError::PublicKey);
    assert_eq!(p256(&[0; 32], &[0; 32]), WebauthnError::PublicKey);
    assert_eq!(p256(&[0xff; 32], &[0xff; 32]), WebauthnError::PublicKey);
    y[31] ^= 1;
    assert_eq!(p256(&x, &y), WebauthnError::PublicKey);
    let ed25519 = |x: &[u8]| refusal(&[(1, int(1)), (3, int(-8)), (-1, int(6)), (-2, raw(x))]);
    assert_eq!(ed25519(&[1; 31]), WebauthnError::PublicKey);
    assert_eq!(ed25519(&[1; 33]), WebauthnError::PublicKey);
    assert_eq!(ed25519(&[]), WebauthnError::PublicKey);
}

#[test]
fn rsa_keys_have_2048_to_4096_bits_and_a_short_exponent() {
    let rsa = |n: &[u8], e: &[u8]| {
        PublicKey::parse(&cose(&[(1, int(3)), (3, int(-257)), (-1, raw(n)), (-2, raw(e))]))
    };
    let modulus = |length: usize| [vec![0xc1; length - 1], vec![0x01]].concat();
    for length in [256, 384, 512] {
        rsa(&modulus(length), &[1, 0, 1]).unwrap();
    }
    for length in [1, 128, 255, 513] {
        assert_eq!(rsa(&modulus(length), &[1, 0, 1]).unwrap_err(), WebauthnError::PublicKey, "{length}");
    }
    for exponent in [&[][..], &[0], &[0, 1, 0, 1], &[1, 0, 0, 0, 1]] {
        assert_eq!(rsa(&modulus(256), exponent).unwrap_err(), WebauthnError::PublicKey, "{exponent:?}");
    }
    assert_eq!(rsa(&[&[0], &modulus(256)[..]].concat(), &[1, 0, 1]).unwrap_err(), WebauthnError::PublicKey);
}

#[test]
fn a_key_is_one_bounded_map() {
    let trailing = [ES256.cose(), vec![0]].concat();
    let error = PublicKey::parse(&trailing).unwrap_err();
    assert_eq!(error, WebauthnError::Cbor(Field::PublicKey, CborError::TrailingBytes));
    assert_eq!(PublicKey::parse(&[0x80]).unwrap_err(), WebauthnError::Structure(Field::PublicKey));
    assert_eq!(PublicKey::parse(&[0; 1025]).unwrap_err(), WebauthnError::Length(Field::PublicKey));
}
