//! Checks of a sign-in with a passkey: no response is accepted but what the authenticator signed.

use std::sync::LazyLock;

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use domain::fuzzing::signature;
use domain::secret::base64url;
use serde_json::{Value as Json, json};

use super::FixedPorts;
use crate::webauthn::cbor::Value;
use crate::webauthn::cbor::encoder::encode;
use crate::webauthn::{
    AssertionChallenge, AssertionResponse, Credential, CredentialId, ExpectedUser, RelyingParty, UserHandle,
};

const HOST: &str = "id.example";
const ORIGIN: &str = "https://id.example";
const CREDENTIAL: &[u8] = b"a credential";
const USER: &[u8] = b"a user";
/// User present and verified.
const FLAGS: u8 = 0x05;

struct Registered {
    credential: Credential,
    user: UserHandle,
    /// A valid response.
    response: Json,
}

static REGISTERED: LazyLock<Registered> = LazyLock::new(|| {
    let Ok(pair) = Ed25519KeyPair::from_seed_unchecked(&[7; 32]) else { panic!("no key") };
    let number = Value::integer;
    let public = Value::Bytes(pair.public_key().as_ref());
    let labels = [(1, number(1)), (3, number(-8)), (-1, number(6)), (-2, public)];
    let public_key = encode(&Value::Map(labels.map(|(label, value)| (number(label), value)).to_vec()));
    let data = [digest(&SHA256, HOST.as_bytes()).as_ref(), &[FLAGS, 0, 0, 0, 9]].concat();
    let challenge = AssertionChallenge::new(&FixedPorts).to_text();
    let client = json!({"type": "webauthn.get", "challenge": challenge, "origin": ORIGIN}).to_string();
    let signed = [data.as_slice(), digest(&SHA256, client.as_bytes()).as_ref()].concat();
    let response = json!({
        "clientDataJSON": base64url(client.as_bytes()),
        "authenticatorData": base64url(&data),
        "signature": base64url(pair.sign(&signed).as_ref()),
        "userHandle": base64url(USER),
    });
    let id = base64url(CREDENTIAL);
    let (Some(credential_id), Some(user)) = (CredentialId::new(CREDENTIAL), UserHandle::new(USER)) else {
        panic!("no ids")
    };
    Registered {
        credential: Credential {
            id: credential_id,
            public_key,
            sign_count: 3,
            aaguid: [0; 16],
            is_backup_eligible: false,
            is_backed_up: false,
            transports: Vec::new(),
        },
        user,
        response: json!({"id": id, "rawId": id, "type": "public-key", "response": response}),
    }
});

/// Members of the response that a line of the input can replace.
const MEMBERS: [&str; 4] = ["clientDataJSON", "authenticatorData", "signature", "userHandle"];

/// Any text that begins with a brace as a browser's response; else each line replaces a member of a valid one: its first character is the
/// member's number, and the rest its value, before base64url if it begins with `~`. What is accepted has the bytes that the authenticator
/// signed, for the account that the credential belongs to.
pub fn passkey_assertion(data: &[u8]) -> u64 {
    let Registered { credential, user, response } = &*REGISTERED;
    let text = String::from_utf8_lossy(data);
    let presented =
        if text.starts_with('{') { text.into_owned() } else { changed(response, &text).to_string() };
    let parsed = match AssertionResponse::parse(&presented) {
        Ok(parsed) => parsed,
        Err(error) => return signature(&format!("{error:?}")),
    };
    let Ok(relying_party) = RelyingParty::at(ORIGIN, "Aldaba") else { panic!("{ORIGIN}") };
    let challenge = AssertionChallenge::new(&FixedPorts);
    let verified = parsed.verify(&relying_party, &challenge, credential, ExpectedUser::Discovered(user));
    let assertion = match verified {
        Ok(assertion) => assertion,
        Err(error) => return signature(&format!("{error:?}")) ^ 1,
    };
    let accepted: Json = serde_json::from_str(&presented).unwrap_or_default();
    for member in MEMBERS {
        // Padding is allowed.
        let text =
            |json: &Json| json["response"][member].as_str().map(|text| text.trim_end_matches('=').to_owned());
        assert_eq!(text(&accepted), text(response), "{member} of {presented}");
    }
    assert_eq!((assertion.sign_count, assertion.is_count_stale), (9, false));
    1
}

fn changed(response: &Json, text: &str) -> Json {
    let mut response = response.clone();
    for line in text.lines() {
        let mut rest = line.chars();
        let number = rest.next().and_then(|digit| digit.to_digit(10));
        let Some(member) = number.and_then(|number| MEMBERS.get(number as usize)) else { continue };
        let value = match rest.as_str().strip_prefix('~') {
            Some(plain) => base64url(plain.as_bytes()),
            None => rest.as_str().to_owned(),
        };
        response["response"][*member] = Json::String(value);
    }
    response
}
