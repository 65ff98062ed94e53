//! Keys that the operator writes into files: the master key, and the recipients and identities of encrypted backups.

use domain::{Random, Secret};
use store::archive::encryption::{Identity, Recipient};
use store::{MasterKey, Vault};

use super::{refused, text};

const PURPOSE: &str = "fuzzing";

/// Fills with the bytes of a key.
struct Bytes([u8; 32]);

impl Random for Bytes {
    fn fill(&self, bytes: &mut [u8]) {
        for (byte, own) in bytes.iter_mut().zip(self.0) {
            *byte = own;
        }
    }
}

/// Any text as a master key, as a recipient and as a file of identities. A key is the one that its digits say and is never printed; a
/// recipient is the same when written again; and a refusal repeats nothing of the text.
pub(crate) fn stored_keys(data: &[u8]) -> u64 {
    let text = text(data);
    let master = match MasterKey::parse(&text) {
        Ok(key) => {
            check_master_key(&key, text.trim());
            1
        }
        Err(why) => {
            assert!(!is_hex(text.trim()), "{text:?} is refused");
            refused(why)
        }
    };
    let recipient = match Recipient::parse(&text) {
        Ok(recipient) => {
            assert_eq!(recipient.to_string(), text);
            assert_eq!(Recipient::parse(&recipient.to_string()).as_ref(), Ok(&recipient));
            1
        }
        Err(why) => refused(why),
    };
    let identities = match Identity::parse_file(&text) {
        Ok(identities) => check_identities(&identities, &text),
        Err(why) => refused(why),
    };
    master ^ recipient.rotate_left(16) ^ identities.rotate_left(32)
}

fn is_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The key of 64 digits, which are all that it is made of.
fn check_master_key(key: &MasterKey, digits: &str) {
    assert!(is_hex(digits), "{digits:?} is accepted");
    assert_eq!(format!("{key:?}"), "MasterKey(***)");
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let digit = |at: usize| pair.get(at).and_then(|digit| char::from(*digit).to_digit(16)).unwrap_or(0);
        *byte = u8::try_from(digit(0) << 4 | digit(1)).unwrap_or(0);
    }
    let fingerprint = |key: &MasterKey| {
        let Ok(vault) = Vault::new(key) else { panic!("no vault") };
        vault.fingerprint(PURPOSE, &Secret::new("one"))
    };
    assert_eq!(fingerprint(key), fingerprint(&MasterKey::from_bytes(bytes)), "{digits}");
    let written = MasterKey::generate(&Bytes(bytes));
    assert_eq!(written.reveal(), digits.to_ascii_lowercase());
}

/// There is one identity for every line that is no comment; each has a recipient that can be written.
fn check_identities(identities: &[Identity], text: &str) -> u64 {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    assert_eq!(identities.len(), lines.count(), "{text:?}");
    for identity in identities {
        assert_eq!(format!("{identity:?}"), "Identity(***)");
        let recipient = identity.recipient();
        assert_eq!(Recipient::parse(&recipient.to_string()), Ok(recipient));
    }
    identities.len().min(3) as u64
}
