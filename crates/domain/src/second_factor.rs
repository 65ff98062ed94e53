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
}
