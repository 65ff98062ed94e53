//! An authenticator with one passkey (Ed25519), and the browser's part of a WebAuthn ceremony.

use std::cell::{Cell, RefCell};

use aws_lc_rs::digest::{SHA256, digest};
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::{Form, Page};

const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
const ATTESTED_CREDENTIAL: u8 = 0x40;

/// A key, and what it remembers of the account that it was made for.
pub(crate) struct Authenticator {
    key: Ed25519KeyPair,
    credential_id: Vec<u8>,
    user_handle: RefCell<Option<String>>,
    sign_count: Cell<u32>,
}

impl Authenticator {
    /// Authenticators with different numbers have different keys.
    pub(crate) fn new(number: u8) -> Self {
        Self {
            key: Ed25519KeyPair::from_seed_unchecked(&[number; 32]).unwrap(),
            credential_id: vec![number; 16],
            user_handle: RefCell::default(),
            sign_count: Cell::default(),
        }
    }

    /// The response to the options of a page that makes a passkey, as a browser at `origin` gives it.
    #[track_caller]
    pub(crate) fn create(&self, options: &Value, origin: &str) -> String {
        *self.user_handle.borrow_mut() = Some(text(&options["user"]["id"]));
        let host = text(&options["rp"]["id"]);
        let data = self.data(&host, USER_PRESENT | USER_VERIFIED | ATTESTED_CREDENTIAL, &self.attested());
        let length = u8::try_from(data.len()).unwrap();
        // {"fmt": "none", "attStmt": {}, "authData": data} in CBOR.
        let object = [b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58".as_slice(), &[length], &data];
        let client_data = client_data("webauthn.create", options, origin);
        let response = json!({
            "clientDataJSON": base64url(client_data.as_bytes()),
            "attestationObject": base64url(&object.concat()),
            "transports": ["internal"],
        });
        self.answer(&response)
    }

    /// The response to the options of a page that asks for a passkey.
    #[track_caller]
    pub(crate) fn get(&self, options: &Value, origin: &str) -> String {
        let data = self.data(&text(&options["rpId"]), USER_PRESENT | USER_VERIFIED, &[]);
        let client_data = client_data("webauthn.get", options, origin);
        let signed = [&data[..], digest(&SHA256, client_data.as_bytes()).as_ref()].concat();
        let response = json!({
            "clientDataJSON": base64url(client_data.as_bytes()),
            "authenticatorData": base64url(&data),
            "signature": base64url(self.key.sign(&signed).as_ref()),
            "userHandle": *self.user_handle.borrow(),
        });
        self.answer(&response)
    }

    fn answer(&self, response: &Value) -> String {
        let id = base64url(&self.credential_id);
        json!({"id": id, "rawId": id, "type": "public-key", "response": response}).to_string()
    }

    fn data(&self, host: &str, flags: u8, attested: &[u8]) -> Vec<u8> {
        self.sign_count.set(self.sign_count.get() + 1);
        let count = self.sign_count.get().to_be_bytes();
        [digest(&SHA256, host.as_bytes()).as_ref(), &[flags], &count, attested].concat()
    }

    /// The AAGUID, the credential id and the key: {1: OKP, 3: EdDSA, -1: Ed25519, -2: x} in CBOR.
    fn attested(&self) -> Vec<u8> {
        let length = u16::try_from(self.credential_id.len()).unwrap().to_be_bytes();
        let key = [b"\xa4\x01\x01\x03\x27\x20\x06\x21\x58\x20", self.key.public_key().as_ref()].concat();
        [&[0; 16], &length[..], &self.credential_id, &key].concat()
    }
}

impl Page {
    /// The form for a passkey and the options of its ceremony, where the page has one.
    pub(crate) fn passkey_form(&self) -> Option<(Form, Value)> {
        let mut forms = self.forms().into_iter();
        forms.find_map(|form| {
            let options = serde_json::from_str(form.passkey_options.as_deref()?).unwrap();
            Some((form, options))
        })
    }
}

fn client_data(kind: &str, options: &Value, origin: &str) -> String {
    let challenge = &options["challenge"];
    json!({"type": kind, "challenge": challenge, "origin": origin, "crossOrigin": false}).to_string()
}

fn base64url(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[track_caller]
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
