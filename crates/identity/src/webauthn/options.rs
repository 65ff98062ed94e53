//! The options of `navigator.credentials.create` and `get`, in the JSON form that `parseCreationOptionsFromJSON` and
//! `parseRequestOptionsFromJSON` read.

use serde::Serialize;

use super::PUBLIC_KEY;
use super::challenge::{AssertionChallenge, RegistrationChallenge};
use super::cose::Algorithm;
use super::credential::{Credential, UserHandle};
use super::relying_party::RelyingParty;

/// How long the browser waits for the user: WebAuthn's recommendation for ceremonies with user verification.
const TIMEOUT_MS: u32 = 300_000;
const REQUIRED: &str = "required";

/// The account that a new passkey is for.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    pub handle: &'a UserHandle,
    /// What tells this account from the person's others: the address that they sign in with.
    pub name: &'a str,
    /// The person's name.
    pub display_name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CreationOptions<'a> {
    rp: RelyingPartyEntity<'a>,
    user: UserEntity<'a>,
    challenge: String,
    pub_key_cred_params: Vec<Parameters>,
    timeout: u32,
    exclude_credentials: Vec<Descriptor<'a>>,
    authenticator_selection: AuthenticatorSelection,
    attestation: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RequestOptions<'a> {
    challenge: String,
    timeout: u32,
    rp_id: &'a str,
    allow_credentials: Vec<Descriptor<'a>>,
    user_verification: &'static str,
}

#[derive(Serialize)]
struct RelyingPartyEntity<'a> {
    id: &'a str,
    name: &'a str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UserEntity<'a> {
    id: String,
    name: &'a str,
    display_name: &'a str,
}

#[derive(Serialize)]
struct Parameters {
    #[serde(rename = "type")]
    kind: &'static str,
    alg: i64,
}

#[derive(Serialize)]
struct Descriptor<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: String,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    transports: &'a [String],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct AuthenticatorSelection {
    resident_key: &'static str,
    /// The same, for clients of Level 1.
    require_resident_key: bool,
    user_verification: &'static str,
}

/// The options for a new passkey. An authenticator that has one of the account's `registered` credentials refuses.
pub fn creation_options<'a>(
    relying_party: &RelyingParty,
    challenge: &RegistrationChallenge,
    account: Account<'_>,
    registered: impl IntoIterator<Item = &'a Credential>,
) -> String {
    json(&CreationOptions {
        rp: RelyingPartyEntity { id: &relying_party.id, name: &relying_party.name },
        user: UserEntity {
            id: account.handle.to_text(),
            name: account.name,
            display_name: account.display_name,
        },
        challenge: challenge.to_text(),
        pub_key_cred_params: Algorithm::OFFERED
            .iter()
            .map(|algorithm| Parameters { kind: PUBLIC_KEY, alg: algorithm.number() })
            .collect(),
        timeout: TIMEOUT_MS,
        exclude_credentials: registered.into_iter().map(descriptor).collect(),
        authenticator_selection: AuthenticatorSelection {
            resident_key: REQUIRED,
            require_resident_key: true,
            user_verification: REQUIRED,
        },
        attestation: "none",
    })
}

/// The options for a sign-in. Without `allowed` credentials the person chooses a passkey, which says who they are; after a
/// password, the account's credentials are the allowed ones.
pub fn request_options<'a>(
    relying_party: &RelyingParty,
    challenge: &AssertionChallenge,
    allowed: impl IntoIterator<Item = &'a Credential>,
) -> String {
    json(&RequestOptions {
        challenge: challenge.to_text(),
        timeout: TIMEOUT_MS,
        rp_id: &relying_party.id,
        allow_credentials: allowed.into_iter().map(descriptor).collect(),
        user_verification: REQUIRED,
    })
}

fn descriptor(credential: &Credential) -> Descriptor<'_> {
    Descriptor { kind: PUBLIC_KEY, id: credential.id.to_text(), transports: &credential.transports }
}

/// Strings and numbers always serialize.
fn json(options: &impl Serialize) -> String {
    serde_json::to_string(options).unwrap_or_default()
}
