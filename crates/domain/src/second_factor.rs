//! Whether the accounts of a realm have a second factor.

use crate::Realm;

/// A realm's rule. Who has enrolled must use the second factor, whatever the rule says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SecondFactorPolicy {
    /// Nobody can enrol.
    Off,
    #[default]
    Optional,
    /// An account without a second factor can only enrol.
    Required,
}

impl SecondFactorPolicy {
    pub const ALL: [Self; 3] = [Self::Off, Self::Optional, Self::Required];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Optional => "optional",
            Self::Required => "required",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.as_str() == name)
    }
}

/// The rules of all realms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecondFactorPolicies {
    pub users: SecondFactorPolicy,
    pub developers: SecondFactorPolicy,
    pub operators: SecondFactorPolicy,
}

impl SecondFactorPolicies {
    pub fn of(&self, realm: Realm) -> SecondFactorPolicy {
        match realm {
            Realm::Users => self.users,
            Realm::Developers => self.developers,
            Realm::Operators => self.operators,
        }
    }
}

/// The authentication method (`amr`) and context (`acr`) of a sign-in with a second factor.
pub const SECOND_FACTOR_METHOD: &str = "2fa";

/// Whether space-separated authentication methods contain a second factor.
pub fn has_second_factor(methods: &str) -> bool {
    methods.split(' ').any(|method| method == SECOND_FACTOR_METHOD)
}

/// The methods of a session in which the second factor has been given too.
pub fn with_second_factor(methods: &str) -> String {
    if has_second_factor(methods) { methods.to_owned() } else { format!("{methods} {SECOND_FACTOR_METHOD}") }
}

/// The methods of a session whose account has no second factor any more.
pub fn without_second_factor(methods: &str) -> String {
    let left: Vec<&str> = methods.split(' ').filter(|method| *method != SECOND_FACTOR_METHOD).collect();
    left.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_read_back_from_their_names() {
        for policy in SecondFactorPolicy::ALL {
            assert_eq!(SecondFactorPolicy::from_name(policy.as_str()), Some(policy));
        }
        assert_eq!(SecondFactorPolicy::from_name("always"), None);
        let policies = SecondFactorPolicies {
            operators: SecondFactorPolicy::Required,
            ..SecondFactorPolicies::default()
        };
        assert_eq!(policies.of(Realm::Operators), SecondFactorPolicy::Required);
        assert_eq!(policies.of(Realm::Users), SecondFactorPolicy::Optional);
    }

    #[test]
    fn second_factor_is_a_whole_method() {
        for (methods, has) in
            [("password 2fa", true), ("2fa", true), ("password", false), ("x2fa 2fax", false)]
        {
            assert_eq!(has_second_factor(methods), has, "{methods}");
        }
    }

    #[test]
    fn second_factor_is_added_once_and_removed() {
        assert_eq!(with_second_factor("password"), "password 2fa");
        assert_eq!(with_second_factor("passkey 2fa"), "passkey 2fa");
        assert_eq!(without_second_factor("passkey 2fa"), "passkey");
    }
}
