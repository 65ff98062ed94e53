//! What an OAuth client is: it decides how the client authenticates, where it may be redirected to, and what it may do.

/// The kind of a client, which never changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ClientKind {
    /// An application with a server, which keeps a secret.
    #[default]
    Web,
    /// An application that runs in a browser: no secret, PKCE required.
    Browser,
    /// An application for phones or desktops: no secret, PKCE required, loopback addresses and private-use schemes.
    Native,
    /// An API that checks the tokens it is sent. It signs nobody in.
    ResourceServer,
}

impl ClientKind {
    pub const ALL: [Self; 4] = [Self::Web, Self::Browser, Self::Native, Self::ResourceServer];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Web => "web",
            Self::Browser => "browser",
            Self::Native => "native",
            Self::ResourceServer => "resource_server",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The number under which stores keep the kind.
    pub fn code(self) -> i64 {
        match self {
            Self::Web => 0,
            Self::Browser => 1,
            Self::Native => 2,
            Self::ResourceServer => 3,
        }
    }

    pub fn from_code(code: i64) -> Self {
        Self::ALL.into_iter().find(|kind| kind.code() == code).unwrap_or_default()
    }

    /// Whether the client has no secret.
    pub fn is_public(self) -> bool {
        matches!(self, Self::Browser | Self::Native)
    }

    /// Whether users sign in to the client.
    pub fn signs_users_in(self) -> bool {
        self != Self::ResourceServer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_by_name_and_by_number() {
        for kind in ClientKind::ALL {
            assert_eq!(ClientKind::parse(kind.as_str()), Some(kind));
            assert_eq!(ClientKind::from_code(kind.code()), kind);
        }
        assert_eq!(ClientKind::parse("spa"), None);
    }
}
