//! The audit entries of second factors. They never show a secret, a credential or a code.

use domain::{AccountId, Realm};

use super::entries::Act;
use super::members::new_value;
use super::{AuditEntry, AuditKind, MemberChange};
use crate::second_factors::FactorRow;

impl Act {
    pub(crate) fn second_factor_added(&self, row: &FactorRow) -> AuditEntry {
        let changes = vec![new_value("factor", row.method()), new_value("name", row.name.as_str())];
        self.of_account(AuditKind::SecondFactorAdded, row.realm, &row.account).changes(changes)
    }

    pub(crate) fn second_factor_renamed(&self, before: &FactorRow, name: &str) -> AuditEntry {
        let renamed =
            MemberChange { member: "name".into(), from: before.name.as_str().into(), to: name.into() };
        let changes = vec![new_value("factor", before.method()), renamed];
        self.of_account(AuditKind::SecondFactorRenamed, before.realm, &before.account).changes(changes)
    }

    pub(crate) fn second_factor_removed(&self, row: &FactorRow) -> AuditEntry {
        let old = |member: &str, from: &str| MemberChange {
            member: member.into(),
            from: from.into(),
            to: serde_json::Value::Null,
        };
        let changes = vec![old("factor", row.method()), old("name", &row.name)];
        self.of_account(AuditKind::SecondFactorRemoved, row.realm, &row.account).changes(changes)
    }

    pub(crate) fn second_factors_reset(&self, realm: Realm, account: &AccountId, count: u64) -> AuditEntry {
        let changes = vec![new_value("factors", count)];
        self.of_account(AuditKind::SecondFactorReset, realm, account).changes(changes)
    }

    pub(crate) fn recovery_codes_made(&self, realm: Realm, account: &AccountId, count: usize) -> AuditEntry {
        let changes = vec![new_value("codes", count as u64)];
        self.of_account(AuditKind::RecoveryCodesMade, realm, account).changes(changes)
    }

    pub(crate) fn recovery_code_used(&self, realm: Realm, account: &AccountId, left: u64) -> AuditEntry {
        let changes = vec![new_value("left", left)];
        self.of_account(AuditKind::RecoveryCodeUsed, realm, account).changes(changes)
    }

    fn of_account(&self, kind: AuditKind, realm: Realm, account: &AccountId) -> AuditEntry {
        AuditEntry::new(kind, self.at, &self.context).account(realm, account)
    }
}
