//! The section `identity.second_factor`: a rule for each realm.

use domain::{SecondFactorPolicies, SecondFactorPolicy};
use serde::{Serialize, Serializer};

use super::reader::SettingsReader;

#[derive(Clone, Copy, Debug)]
pub(crate) struct SecondFactor(pub(crate) SecondFactorPolicies);

impl Serialize for SecondFactor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SecondFactorPolicies { users, developers, operators } = self.0;
        let names = [("users", users), ("developers", developers), ("operators", operators)];
        serializer.collect_map(names.map(|(realm, policy)| (realm, policy.as_str())))
    }
}

pub(super) fn second_factor(reader: &mut SettingsReader<'_>) -> SecondFactor {
    let mut policy = |key: &str| {
        let default = SecondFactorPolicy::default();
        reader.parsed(key, default, SecondFactorPolicy::from_name, "must be off, optional or required")
    };
    SecondFactor(SecondFactorPolicies {
        users: policy("identity.second_factor.users"),
        developers: policy("identity.second_factor.developers"),
        operators: policy("identity.second_factor.operators"),
    })
}
