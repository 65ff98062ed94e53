//! Encrypted backups: a known answer of the age format, round trips, and damage.

use aws_lc_rs::digest::{SHA256, digest};
use domain::secret::hex;
use testkit::SeededRandom;

use super::*;

/// The vector `x25519` of the age test suite (C2SP CCTV).
const IDENTITY: &str = "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0";
const HEADER: &str = "age-encryption.org/v1\n\
    -> X25519 TEiF0ypqr+bpvcqXNyCVJpL7OuwPdVwPL7KQEbFDOCc\n\
    hjabGXwSLQ9c3S6Lw2i+S2Tu2fiwQHHslbBN6B41FLE\n\
    --- WyJp9F/9FOZh7gJdheq2WIJcwHgYc8NIVh3ddwhrcNg\n";
const PAYLOAD: &str = "eecf62c7ce91b433274e68d4f2f9134cb74c5bfef7beaa52c8f0bc0e992c1e8331fb66";
const PLAIN_SHA256: &str = "013f54400c82da08037759ada907a8b864e97de81c088a182062c4b5622fd2ab";

fn identities(text: &str) -> Vec<Identity> {
    Identity::parse_file(text).unwrap()
}

fn decrypt(bytes: &[u8], identities: &[Identity]) -> Result<Vec<u8>> {
    let mut plain = Vec::new();
    Decrypting::new(bytes, identities)?.read_to_end(&mut plain)?;
    Ok(plain)
}

fn encrypt(plain: &[u8], recipients: &[Recipient]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut encrypting = Encrypting::new(&mut out, recipients, &SeededRandom::new(7)).unwrap();
    // In pieces that do not fit into chunks.
    plain.chunks(10_007).for_each(|piece| encrypting.write_all(piece).unwrap());
    encrypting.flush().unwrap();
    out
}

/// Another identity than that of the vector.
fn other_identity() -> String {
    let hrp = bech32::Hrp::parse("age-secret-key-").unwrap();
    bech32::encode::<bech32::Bech32>(hrp, &[7; 32]).unwrap().to_uppercase()
}

#[test]
fn known_answer_is_decrypted() {
    let payload =
        (0..PAYLOAD.len()).step_by(2).map(|at| u8::from_str_radix(&PAYLOAD[at..at + 2], 16).unwrap());
    let file: Vec<u8> = HEADER.bytes().chain(payload).collect();
    let plain = decrypt(&file, &identities(IDENTITY)).unwrap();
    assert_eq!(hex(digest(&SHA256, &plain).as_ref()), PLAIN_SHA256);
    assert!(is_encrypted(&file));
}

#[test]
fn files_of_every_size_are_decrypted_by_each_recipient_only() {
    let (one, other) = (identities(IDENTITY), identities(&other_identity()));
    let stranger = {
        let hrp = bech32::Hrp::parse("age-secret-key-").unwrap();
        identities(&bech32::encode::<bech32::Bech32>(hrp, &[9; 32]).unwrap().to_uppercase())
    };
    let recipients = [one[0].recipient(), other[0].recipient()];
    for bytes in [0, 1, CHUNK_BYTES - 1, CHUNK_BYTES, CHUNK_BYTES + 1, 3 * CHUNK_BYTES, 300_000] {
        let plain: Vec<u8> = (0..bytes).map(|at| u8::try_from(at % 251).unwrap()).collect();
        let file = encrypt(&plain, &recipients);
        assert_eq!(decrypt(&file, &one).unwrap(), plain, "{bytes}");
        assert_eq!(decrypt(&file, &other).unwrap(), plain, "{bytes}");
        let refused = decrypt(&file, &stranger).unwrap_err().to_string();
        assert_eq!(refused, "the backup is encrypted for another recipient than this identity");
    }
}

#[test]
fn every_change_and_every_cut_is_noticed() {
    let keys = identities(IDENTITY);
    let plain = vec![b'x'; CHUNK_BYTES + 100];
    let file = encrypt(&plain, &[keys[0].recipient()]);
    let steps = (0..400).chain((400..file.len()).step_by(997)).chain(file.len() - 120..file.len());
    for at in steps {
        let mut changed = file.clone();
        changed[at] ^= 1;
        assert!(decrypt(&changed, &keys).is_err(), "{at}");
        assert!(decrypt(&file[..at], &keys).is_err(), "cut at {at}");
    }
    // Cut exactly after the first chunk, and extended.
    let header = file.len() - (plain.len() + 2 * TAG_BYTES);
    assert!(decrypt(&file[..header + CHUNK_BYTES + TAG_BYTES], &keys).is_err());
    assert!(decrypt(&[file.as_slice(), b"x"].concat(), &keys).is_err());
}

#[test]
fn keys_are_parsed_as_age_keygen_writes_them() {
    let text = format!("# created: 2026-11-15\n# public key: age1…\n{IDENTITY}\n\n{}\n", other_identity());
    let parsed = identities(&text);
    assert_eq!(parsed.len(), 2);
    let recipient = parsed[0].recipient().to_string();
    assert!(recipient.starts_with("age1") && recipient.len() == 62, "{recipient}");
    assert_eq!(Recipient::parse(&recipient).unwrap(), parsed[0].recipient());
    for wrong in ["", "age1", &recipient[..61], &recipient.to_uppercase(), IDENTITY, "ssh-ed25519 AAAA"] {
        assert!(Recipient::parse(wrong).is_err(), "{wrong}");
    }
    for wrong in ["", "# nothing\n", &recipient, &IDENTITY[..70]] {
        assert!(Identity::parse_file(wrong).is_err(), "{wrong}");
    }
    assert_eq!(format!("{:?}", parsed[0]), "Identity(***)");
}
