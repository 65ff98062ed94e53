//! The addresses of the built-in receivers of sandboxes. No request is ever sent to one: the program recognises them and
//! answers in process, for the webhooks of that sandbox alone.

use domain::Guid;
use domain::receiver_url::ReceiverUrl;

/// Below the public base URL.
const PATH: &str = "/portal/receiver/";
/// In the place of a base URL that no receiver can have, because of its port or without TLS. It never resolves.
const FALLBACK: &str = "https://sandbox.invalid";

/// Recognises the addresses of built-in receivers.
#[derive(Clone, Debug)]
pub struct ReceiverAddresses {
    base_url: String,
    origin: String,
    path: String,
}

/// The receiver that an address names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressedReceiver {
    /// A server of somebody else.
    Outside,
    /// The built-in receiver with this id; None: it is no id.
    BuiltIn(Option<Guid>),
}

impl ReceiverAddresses {
    pub fn new(base_url: &str) -> Self {
        let base_url = base_url.trim_end_matches('/');
        let below = |base: &str| ReceiverUrl::parse(&format!("{base}{PATH}"), true);
        let (base_url, parsed) = match below(base_url) {
            Ok(parsed) => (base_url, Ok(parsed)),
            Err(_) => (FALLBACK, below(FALLBACK)),
        };
        let (origin, path) = parsed.map_or_else(
            |_| (base_url.to_owned(), PATH.to_owned()),
            |url| (url.origin().to_owned(), url.path_and_query().to_owned()),
        );
        Self { base_url: base_url.to_owned(), origin, path }
    }

    /// The address of a receiver.
    pub fn url(&self, receiver: Guid) -> String {
        format!("{}{PATH}{receiver}", self.base_url)
    }

    pub fn receiver_of(&self, url: &ReceiverUrl) -> AddressedReceiver {
        let rest = url.path_and_query().strip_prefix(self.path.as_str());
        let Some(rest) = rest.filter(|_| url.origin() == self.origin) else {
            return AddressedReceiver::Outside;
        };
        AddressedReceiver::BuiltIn(rest.split('?').next().and_then(Guid::parse))
    }

    /// The same for an address as it was sent. Its form is not that of other receivers: it may be plain http.
    pub(crate) fn parse(&self, text: &str) -> Option<ReceiverUrl> {
        let url = ReceiverUrl::parse(text, true).ok()?;
        (self.receiver_of(&url) != AddressedReceiver::Outside).then_some(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn built_in_receivers_are_recognised_in_every_spelling() {
        let id = Guid::parse("0190a5b2-7c11-4d52-9d3a-1f0f6f0b2c3d").unwrap();
        for base in ["https://api.example.com", "https://api.example.com/", "http://127.0.0.1:8080"] {
            let addresses = ReceiverAddresses::new(base);
            let receiver = |text: &str| addresses.receiver_of(&ReceiverUrl::parse(text, true).unwrap());
            let own = addresses.url(id);
            assert_eq!(receiver(&own), AddressedReceiver::BuiltIn(Some(id)));
            assert_eq!(receiver(&format!("{own}?a=b")), AddressedReceiver::BuiltIn(Some(id)));
            assert_eq!(receiver(&format!("{own}x")), AddressedReceiver::BuiltIn(None));
            assert_eq!(addresses.parse(&own).map(|url| url.as_str().to_owned()), Some(own));
            for other in
                ["https://other.example.com/portal/receiver/x", "https://localhost:8443/portal/receiver/x"]
            {
                assert_eq!(receiver(other), AddressedReceiver::Outside, "{other}");
                assert_eq!(addresses.parse(other), None, "{other}");
            }
        }
        let addresses = ReceiverAddresses::new("https://api.example.com");
        let odd = ReceiverAddresses::new("http://10.0.0.5:8080");
        let own = odd.url(id);
        assert_eq!(own, format!("https://sandbox.invalid/portal/receiver/{id}"));
        let own = ReceiverUrl::parse(&own, false).unwrap();
        assert_eq!(odd.receiver_of(&own), AddressedReceiver::BuiltIn(Some(id)));
        let shouted = ReceiverUrl::parse(&format!("HTTPS://API.example.com:443/portal/receiver/{id}"), true);
        assert_eq!(addresses.receiver_of(&shouted.unwrap()), AddressedReceiver::BuiltIn(Some(id)));
    }
}
