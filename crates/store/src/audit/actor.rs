//! Who acts: the first question of an audit.

use domain::{AccountId, ClientId, Realm};

/// Who performed an audited action.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Actor {
    /// The service itself: maintenance, key rotation, the delivery engine.
    #[default]
    Service,
    /// Nobody had signed in, and no client had authenticated.
    Anonymous,
    /// A bearer of the operator's token.
    Operator,
    /// The command line, with the name of the operating system's user if it is known.
    Cli(Option<String>),
    User(AccountId),
    Developer(AccountId),
    /// An operator who has signed in to the console.
    OperatorAccount(AccountId),
    /// A named token of the operator's API.
    Token(String),
    Client(ClientId),
    /// The entry was written by a version that did not record the actor.
    Unknown,
}

impl Actor {
    /// The kinds that can be asked for.
    pub const KINDS: [&str; 8] =
        ["service", "anonymous", "operator", "token", "cli", "user", "developer", "client"];

    /// Somebody who has signed in to an account.
    pub fn account(realm: Realm, id: AccountId) -> Self {
        match realm {
            Realm::Users => Self::User(id),
            Realm::Developers => Self::Developer(id),
            Realm::Operators => Self::OperatorAccount(id),
        }
    }

    pub fn kind(&self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::Anonymous => "anonymous",
            Self::Operator | Self::OperatorAccount(_) => "operator",
            Self::Token(_) => "token",
            Self::Cli(_) => "cli",
            Self::User(_) => "user",
            Self::Developer(_) => "developer",
            Self::Client(_) => "client",
            Self::Unknown => "unknown",
        }
    }

    /// The id of the account or the client, or the name of the token or of the operating system's user.
    pub fn id(&self) -> Option<&str> {
        match self {
            Self::Cli(name) => name.as_deref(),
            Self::User(id) | Self::Developer(id) | Self::OperatorAccount(id) => Some(id.as_str()),
            Self::Token(name) => Some(name),
            Self::Client(id) => Some(id.as_str()),
            Self::Service | Self::Anonymous | Self::Operator | Self::Unknown => None,
        }
    }

    pub(crate) fn from_parts(kind: &str, id: Option<String>) -> Self {
        match (kind, id) {
            ("service", _) => Self::Service,
            ("anonymous", _) => Self::Anonymous,
            ("operator", None) => Self::Operator,
            ("operator", Some(id)) => Self::OperatorAccount(AccountId::new(id)),
            ("token", Some(name)) => Self::Token(name),
            ("cli", name) => Self::Cli(name),
            ("user", Some(id)) => Self::User(AccountId::new(id)),
            ("developer", Some(id)) => Self::Developer(AccountId::new(id)),
            ("client", Some(id)) => Self::Client(ClientId::new(id)),
            _ => Self::Unknown,
        }
    }

    pub(crate) fn map_id(self, change: impl Fn(String) -> String) -> Self {
        let (kind, id) = (self.kind(), self.id().map(str::to_owned));
        Self::from_parts(kind, id.map(change))
    }

    pub(crate) fn user(&self) -> Option<&AccountId> {
        if let Self::User(id) = self { Some(id) } else { None }
    }

    pub(crate) fn client(&self) -> Option<&ClientId> {
        if let Self::Client(id) = self { Some(id) } else { None }
    }
}

/// `operator`, `cli:maria`, `user:<id>`
impl std::fmt::Display for Actor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.kind())?;
        self.id().map_or(Ok(()), |id| write!(f, ":{id}"))
    }
}

/// A kind of actors, or one of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ActorFilter {
    pub kind: &'static str,
    pub id: Option<String>,
}

impl ActorFilter {
    /// Parses `cli`, or `cli:maria`.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, id) = text.split_once(':').map_or((text, None), |(kind, id)| (kind, Some(id.to_owned())));
        let kind = Actor::KINDS.into_iter().find(|known| *known == kind)?;
        Some(Self { kind, id })
    }

    #[cfg(any(test, feature = "memory"))]
    pub(crate) fn matches(&self, actor: &Actor) -> bool {
        self.kind == actor.kind() && self.id.as_deref().is_none_or(|id| actor.id() == Some(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actor_is_read_back_from_its_parts() {
        let all = [
            Actor::Service,
            Actor::Anonymous,
            Actor::Operator,
            Actor::Cli(None),
            Actor::Cli(Some("maria:x".into())),
            Actor::User(AccountId::new("u")),
            Actor::Developer(AccountId::new("d")),
            Actor::OperatorAccount(AccountId::new("o")),
            Actor::Token("nightly".into()),
            Actor::Client(ClientId::new("c")),
        ];
        for actor in all {
            let id = actor.id().map(str::to_owned);
            assert!(Actor::KINDS.contains(&actor.kind()));
            assert!(ActorFilter::parse(&actor.to_string()).unwrap().matches(&actor));
            assert!(ActorFilter::parse(actor.kind()).unwrap().matches(&actor));
            assert_eq!(Actor::from_parts(actor.kind(), id), actor);
        }
        assert_eq!(ActorFilter::parse("nobody"), None);
        assert_eq!(Actor::from_parts("", None), Actor::Unknown);
        assert!(!ActorFilter::parse("cli:ana").unwrap().matches(&Actor::Cli(Some("maria".into()))));
    }
}
