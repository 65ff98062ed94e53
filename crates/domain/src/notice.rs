//! What a team is told about without asking: the kinds of notices, and which of them a member wants as mail.

use serde::{Serialize, Serializer};

/// What a notice says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoticeKind {
    /// No delivery of some record has succeeded for an hour.
    WebhookFailing,
    /// The service disabled the webhook.
    WebhookDisabled,
    /// The access of the webhook's owner has ended.
    WebhookSuspended,
    RequestApproved,
    RequestRefused,
    /// A replaced key of a subscription is about to end.
    KeyEnds,
    /// The replaced secret of a client is about to end.
    ClientSecretEnds,
}

impl NoticeKind {
    pub const ALL: [Self; 7] = [
        Self::WebhookFailing,
        Self::WebhookDisabled,
        Self::WebhookSuspended,
        Self::RequestApproved,
        Self::RequestRefused,
        Self::KeyEnds,
        Self::ClientSecretEnds,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::WebhookFailing => "webhook_failing",
            Self::WebhookDisabled => "webhook_disabled",
            Self::WebhookSuspended => "webhook_suspended",
            Self::RequestApproved => "request_approved",
            Self::RequestRefused => "request_refused",
            Self::KeyEnds => "key_ends",
            Self::ClientSecretEnds => "client_secret_ends",
        }
    }

    /// As stores keep it; never changes.
    pub fn code(self) -> i64 {
        match self {
            Self::WebhookFailing => 0,
            Self::WebhookDisabled => 1,
            Self::WebhookSuspended => 2,
            Self::RequestApproved => 3,
            Self::RequestRefused => 4,
            Self::KeyEnds => 5,
            Self::ClientSecretEnds => 6,
        }
    }

    pub fn from_code(code: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl Serialize for NoticeKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A set of kinds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoticeKinds(i64);

impl NoticeKinds {
    pub fn all() -> Self {
        NoticeKind::ALL.into_iter().collect()
    }

    pub fn contains(self, kind: NoticeKind) -> bool {
        self.0 & (1 << kind.code()) != 0
    }

    /// The kinds that are not in this set.
    #[must_use]
    pub fn others(self) -> Self {
        NoticeKind::ALL.into_iter().filter(|kind| !self.contains(*kind)).collect()
    }

    pub fn iter(self) -> impl Iterator<Item = NoticeKind> {
        NoticeKind::ALL.into_iter().filter(move |kind| self.contains(*kind))
    }

    /// One bit for each kind.
    pub fn bits(self) -> i64 {
        self.0
    }

    pub fn from_bits(bits: i64) -> Self {
        Self(bits)
    }
}

impl FromIterator<NoticeKind> for NoticeKinds {
    fn from_iter<T: IntoIterator<Item = NoticeKind>>(kinds: T) -> Self {
        Self(kinds.into_iter().fold(0, |bits, kind| bits | 1 << kind.code()))
    }
}

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeObject {
    Webhook,
    Client,
    RedirectUri,
    Subscription,
}

impl NoticeObject {
    pub const ALL: [Self; 4] = [Self::Webhook, Self::Client, Self::RedirectUri, Self::Subscription];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Client => "client",
            Self::RedirectUri => "redirect_uri",
            Self::Subscription => "subscription",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|object| object.as_str() == text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_names_and_codes_of_their_own() {
        for kind in NoticeKind::ALL {
            assert_eq!(NoticeKind::parse(kind.as_str()), Some(kind));
            assert_eq!(NoticeKind::from_code(kind.code()), Some(kind));
        }
        assert_eq!((NoticeKind::parse(""), NoticeKind::from_code(7)), (None, None));
        for object in NoticeObject::ALL {
            assert_eq!(NoticeObject::parse(object.as_str()), Some(object));
        }
    }

    #[test]
    fn sets_hold_kinds_and_know_the_others() {
        let some: NoticeKinds = [NoticeKind::KeyEnds, NoticeKind::WebhookFailing].into_iter().collect();
        assert!(some.contains(NoticeKind::KeyEnds) && !some.contains(NoticeKind::WebhookDisabled));
        assert_eq!(some.others().others(), some);
        assert_eq!(NoticeKinds::from_bits(some.bits()), some);
        assert_eq!(NoticeKinds::default().others(), NoticeKinds::all());
        assert_eq!(some.iter().collect::<Vec<_>>(), [NoticeKind::WebhookFailing, NoticeKind::KeyEnds]);
    }
}
