//! The stored form of a passkey. The id and the sign count are the store's; the rest is JSON of this module.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use domain::secret::base64url;
use serde::{Deserialize, Serialize};
use store::Passkey;

use crate::webauthn::{Credential, CredentialId};

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Stored {
    public_key: String,
    aaguid: String,
    is_backup_eligible: bool,
    transports: Vec<String>,
}

pub(crate) fn passkey_of(credential: &Credential) -> Passkey {
    let stored = Stored {
        public_key: base64url(&credential.public_key),
        aaguid: base64url(&credential.aaguid),
        is_backup_eligible: credential.is_backup_eligible,
        transports: credential.transports.clone(),
    };
    Passkey {
        credential_id: credential.id.as_bytes().to_vec(),
        // Strings and flags always serialize.
        credential: serde_json::to_string(&stored).unwrap_or_default(),
        sign_count: credential.sign_count,
    }
}

/// `None` if the row is damaged.
pub(crate) fn credential_of(passkey: &Passkey) -> Option<Credential> {
    let stored: Stored = serde_json::from_str(&passkey.credential).ok()?;
    Some(Credential {
        id: CredentialId::new(&passkey.credential_id)?,
        public_key: URL_SAFE_NO_PAD.decode(&stored.public_key).ok()?,
        sign_count: passkey.sign_count,
        aaguid: URL_SAFE_NO_PAD.decode(&stored.aaguid).ok()?.try_into().ok()?,
        is_backup_eligible: stored.is_backup_eligible,
        is_backed_up: false,
        transports: stored.transports,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credential_is_read_back() {
        let credential = Credential {
            id: CredentialId::new(&[1, 2, 255]).unwrap(),
            public_key: vec![0, 200, 7],
            sign_count: 9,
            aaguid: [3; 16],
            is_backup_eligible: true,
            is_backed_up: false,
            transports: vec!["internal".into(), "hybrid".into()],
        };
        let passkey = passkey_of(&credential);
        assert_eq!(credential_of(&passkey), Some(credential));
        assert_eq!(credential_of(&Passkey { credential: "{}".into(), ..passkey }), None);
    }
}
