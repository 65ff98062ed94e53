//! People's accounts: the realms that keep them apart, and the roles of operators.

const EMAIL_CHARS_MAX: usize = 254;

/// An email address as accounts store it: trimmed, in lower case. `None` if the text is none.
pub fn normalized_email(text: &str) -> Option<String> {
    // Measured in lower case: some characters are longer there.
    let email = text.trim().to_lowercase();
    let has_parts = email.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty());
    let is_long = email.chars().count() > EMAIL_CHARS_MAX;
    let is_valid = has_parts && !is_long && !email.chars().any(|c| c.is_whitespace() || c.is_control());
    is_valid.then_some(email)
}

/// Who an account is for. An account, a session or a link of one realm is nothing in another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Realm {
    /// Those who use the products and let applications read their data.
    #[default]
    Users,
    /// Those who build applications; they sign in to the portal.
    Developers,
    /// Those who run the service; they sign in to the console.
    Operators,
}

impl Realm {
    pub const ALL: [Self; 3] = [Self::Users, Self::Developers, Self::Operators];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Users => "users",
            Self::Developers => "developers",
            Self::Operators => "operators",
        }
    }

    /// One person of the realm.
    pub fn person(self) -> &'static str {
        match self {
            Self::Users => "user",
            Self::Developers => "developer",
            Self::Operators => "operator",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|realm| realm.as_str() == name)
    }

    pub fn code(self) -> i64 {
        match self {
            Self::Users => 0,
            Self::Developers => 1,
            Self::Operators => 2,
        }
    }

    pub fn from_code(code: i64) -> Self {
        match code {
            1 => Self::Developers,
            2 => Self::Operators,
            _ => Self::Users,
        }
    }
}

/// What an operator, or a named token of the operator's API, may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OperatorRole {
    /// Reads everything, changes nothing.
    Viewer,
    /// Everything but accounts, keys and configuration.
    Support,
    Admin,
}

impl OperatorRole {
    pub const ALL: [Self; 3] = [Self::Viewer, Self::Support, Self::Admin];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Viewer => "viewer",
            Self::Support => "support",
            Self::Admin => "admin",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.as_str() == name)
    }

    pub fn code(self) -> i64 {
        match self {
            Self::Viewer => 0,
            Self::Support => 1,
            Self::Admin => 2,
        }
    }

    /// An unknown code is the least role.
    pub fn from_code(code: i64) -> Self {
        match code {
            2 => Self::Admin,
            1 => Self::Support,
            _ => Self::Viewer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn email_is_trimmed_and_in_lower_case() {
        assert_eq!(normalized_email(" María@Example.com\n").as_deref(), Some("maría@example.com"));
        let long = format!("{}@x", "a".repeat(300));
        // `İ` is two characters in lower case.
        let longer = format!("{}@x", "İ".repeat(150));
        for wrong in ["", "maria", "@x", "maria@", "a b@c", "a@b\0", long.as_str(), longer.as_str()] {
            assert_eq!(normalized_email(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn realms_and_roles_are_read_back_from_names_and_codes() {
        for realm in Realm::ALL {
            assert_eq!(Realm::from_name(realm.as_str()), Some(realm));
            assert_eq!(Realm::from_code(realm.code()), realm);
        }
        for role in OperatorRole::ALL {
            assert_eq!(OperatorRole::from_name(role.as_str()), Some(role));
            assert_eq!(OperatorRole::from_code(role.code()), role);
        }
        assert_eq!((Realm::from_name("admins"), OperatorRole::from_name("root")), (None, None));
        assert_eq!(OperatorRole::from_code(9), OperatorRole::Viewer);
    }
}
