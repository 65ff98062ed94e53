//! The account of a customer or supplier: `accountCodeCorrelationId` is never empty. Where the writer leaves it out, the
//! store fills it in from the company's account with the code.

use std::ops::Range;

use super::{Upsert, opaque, push_member};
use crate::json::{self, Object};

pub(super) const MEMBER: &str = "accountCodeCorrelationId";

/// An account that is named by its code alone, and where its id belongs in the members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlinkedAccount {
    /// Empty if the record does not say.
    pub code: Box<str>,
    value: Range<usize>,
}

impl UnlinkedAccount {
    /// The last member is the one to fill in, and empty.
    pub(super) fn at_end_of(members: &str, code: &str) -> Self {
        Self { code: code.into(), value: members.len() - "\"\"".len()..members.len() }
    }
}

impl Upsert {
    /// The same with the id of its account.
    #[must_use]
    pub fn linked(&self, account: &str) -> Self {
        let mut members = self.members.clone();
        if let Some(unlinked) = &self.unlinked_account {
            let mut id = String::with_capacity(account.len() + 2);
            json::write_string(account, &mut id);
            members.replace_range(unlinked.value.clone(), &id);
        }
        Self { members, typed_fields: self.typed_fields.clone(), unlinked_account: None }
    }
}

/// A supplier's members are the writer's own; its account is filled in only where it carries the empty member.
pub(super) fn supplier(data: &Object) -> Upsert {
    let upsert = opaque(data);
    if !matches!(data.get(MEMBER), Some("\"\"" | "null")) {
        return upsert;
    }
    let mut members = String::with_capacity(upsert.members.len());
    let mut value = 0..0;
    for (name, text) in data.members().filter(|(name, _)| *name != "correlationId") {
        push_member(&mut members, name, text);
        if name == MEMBER {
            value = members.len() - text.len()..members.len();
        }
    }
    let code = data.get("accountCode").map(|code| code.trim_matches('"')).unwrap_or_default();
    let is_code = code.bytes().all(|byte| byte.is_ascii_digit());
    let code = if is_code { code.into() } else { Box::default() };
    Upsert { members, unlinked_account: Some(UnlinkedAccount { code, value }), ..upsert }
}
