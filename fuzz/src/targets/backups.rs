//! Backup files, encrypted and plain.

use std::io::{Read as _, Write as _};
use std::sync::LazyLock;

use domain::Random;
use store::archive::encryption::{Decrypting, Encrypting, Identity, is_encrypted};

use super::refused;

/// The identity of the vector `x25519` of the age test suite (C2SP CCTV).
const IDENTITY: &str = "AGE-SECRET-KEY-1EGTZVFFV20835NWYV6270LXYVK2VKNX2MMDKWYKLMGR48UAWX40Q2P2LM0";
const PLAIN: &[u8] = b"a backup";

struct Sevens;

impl Random for Sevens {
    fn fill(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

struct Sealed {
    identities: Vec<Identity>,
    file: Vec<u8>,
}

static SEALED: LazyLock<Sealed> = LazyLock::new(|| {
    let Ok(identities) = Identity::parse_file(IDENTITY) else { panic!("no identity") };
    let recipients: Vec<_> = identities.iter().map(Identity::recipient).collect();
    let mut file = Vec::new();
    let written = Encrypting::new(&mut file, &recipients, &Sevens).and_then(|mut encrypting| {
        encrypting.write_all(PLAIN)?;
        encrypting.flush()
    });
    assert!(written.is_ok(), "{written:?}");
    Sealed { identities, file }
});

/// The first byte says where the rest of the input replaces the valid file; with `=` in front it is the whole file. Nothing is decrypted but
/// the file as it was encrypted, or a file that somebody encrypted for this recipient; a header is read within its limit.
pub(crate) fn encrypted_backup(data: &[u8]) -> u64 {
    let Sealed { identities, file } = &*SEALED;
    let input = match data {
        [b'=', rest @ ..] => rest.to_vec(),
        [at, length, rest @ ..] => {
            let mut input = file.clone();
            let start = usize::from(*at).min(input.len());
            let end = (start + usize::from(*length) % 8).min(input.len());
            input.splice(start..end, rest.iter().copied());
            input
        }
        short => [file.as_slice(), short].concat(),
    };
    let mut plain = Vec::new();
    let read =
        Decrypting::new(input.as_slice(), identities).and_then(|mut file| file.read_to_end(&mut plain));
    match read {
        Ok(_) => {
            assert!(is_encrypted(&input));
            // The file key of the valid file is a secret: a changed file cannot be authentic.
            assert!(input == *file, "decrypted although it was changed: {}", input.escape_ascii());
            assert_eq!(plain, PLAIN);
            1
        }
        Err(error) => refused(error.to_string()),
    }
}

/// The lines of a backup: refused, or the count of rows is that of its tables and its digest is one of SHA-256. Cut off anywhere, it is refused.
pub(crate) fn backup_lines(data: &[u8]) -> u64 {
    match store::archive::verify(data) {
        Ok(summary) => {
            assert_eq!(summary.rows, summary.tables.values().sum::<u64>());
            assert_eq!(summary.sha256.len(), 64);
            let cut = data.get(..data.len() - 1).unwrap_or_default();
            assert!(store::archive::verify(cut).is_err());
            summary.tables.len() as u64
        }
        Err(error) => refused(error.to_string()),
    }
}
