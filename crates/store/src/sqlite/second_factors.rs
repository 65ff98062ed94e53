//! Second factors in SQLite.

use async_trait::async_trait;
use domain::recovery_codes::RecoveryCode;
use domain::totp::TimeStep;
use domain::{AccountId, Guid, Realm, Ticks};
use rusqlite::{Connection, OptionalExtension, params};

use super::audit::append_audit;
use super::directory::change;
use super::logouts::end_sessions;
use super::mails::queue_mail;
use super::rows::parse;
use super::sessions::session_methods;
use super::{SqliteStore, exists, store_error};
use crate::audit::Act;
use crate::mails::SealedMail;
use crate::second_factors::{
    FactorRow, PASSKEY_CONDITION, TOTP_CONDITION, challenge_hash, credential_hash, decide_addition,
    decide_use, may_change_factors, methods_after, recovery_hash, recovery_hashes,
};
use crate::{
    AccountFactors, AuditContext, EndedSessions, FactorAddition, FactorEffects, FactorRemoval, PasskeyUse,
    PasskeyUseOutcome, Ports, RecoveryCodeNotice, Result, SecondFactor, SecondFactors, UsedChallenge,
};

const FACTOR: &str =
    "SELECT id, account_id, realm, kind, name, hash, sealed, counter, created_at, last_used_at
     FROM second_factors";

fn insert(writer: &Connection, row: &FactorRow) -> Result<()> {
    writer
        .prepare_cached(
            "INSERT INTO second_factors (id, account_id, realm, kind, name, hash, sealed, counter, created_at,
                 last_used_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
        )
        .and_then(|mut add| {
            add.execute(params![
                row.id.as_bytes(),
                row.account.as_str(),
                row.realm.code(),
                row.kind,
                row.name,
                row.hash,
                row.sealed,
                row.counter,
                row.created_at.0,
                row.last_used_at.map(|at| at.0)
            ])
        })
        .map(drop)
        .map_err(exists("such a second factor".into()))
}

/// The account's factors, the oldest first.
fn all(connection: &Connection, account: &AccountId) -> Result<Vec<FactorRow>> {
    connection
        .prepare_cached(&format!("{FACTOR} WHERE account_id = ?1 ORDER BY created_at, id"))
        .and_then(|mut all| all.query_map([account.as_str()], parse)?.collect())
        .map_err(store_error)
}

pub(super) fn is_enrolled(connection: &Connection, account: &AccountId) -> Result<bool> {
    connection
        .prepare_cached("SELECT 1 FROM second_factors WHERE account_id = ?1")
        .and_then(|mut find| find.exists([account.as_str()]))
        .map_err(store_error)
}

fn codes_left(connection: &Connection, account: &AccountId) -> Result<u64> {
    connection
        .prepare_cached("SELECT count(*) FROM recovery_codes WHERE account_id = ?1")
        .and_then(|mut count| count.query_row([account.as_str()], |row| row.get::<_, i64>(0)))
        .map(i64::unsigned_abs)
        .map_err(store_error)
}

fn realm_of(connection: &Connection, account: &AccountId) -> Result<Option<Realm>> {
    connection
        .prepare_cached("SELECT realm FROM accounts WHERE id = ?1")
        .and_then(|mut find| find.query_row([account.as_str()], |row| row.get(0)).optional())
        .map(|code| code.map(Realm::from_code))
        .map_err(store_error)
}

/// False if the challenge has been used before.
fn use_challenge(writer: &Connection, ports: &Ports, used: &UsedChallenge) -> Result<bool> {
    let sql = "INSERT INTO used_challenges (hash, expires_at) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    change(writer, sql, params![challenge_hash(&ports.vault, used), used.expires_at.0])
}

fn replace_codes(writer: &Connection, account: &AccountId, hashes: &[[u8; 32]]) -> Result<()> {
    change(writer, "DELETE FROM recovery_codes WHERE account_id = ?1", [account.as_str()])?;
    let sql = "INSERT INTO recovery_codes (hash, account_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
    hashes.iter().try_for_each(|hash| change(writer, sql, params![hash, account.as_str()]).map(drop))
}

/// Whether the session that asks may change the account's factors.
fn may_change(
    connection: &Connection,
    account: &AccountId,
    effects: &FactorEffects,
    is_enrolled: bool,
) -> Result<bool> {
    let Some(session) = effects.kept_session else { return Ok(true) };
    let methods = session_methods(connection, account, session)?;
    Ok(may_change_factors(methods.as_deref(), is_enrolled))
}

/// Ends the account's other sessions, says in the kept one whether it has a second factor now, and queues the mail.
fn apply_effects(
    writer: &Connection,
    ports: &Ports,
    account: &AccountId,
    (effects, is_enrolled): (&FactorEffects, bool),
    act: &Act,
) -> Result<()> {
    if let Some(session) = effects.kept_session {
        let (owner, id) = (account.as_str(), session.as_bytes());
        end_sessions(writer, &*ports.random, account, EndedSessions::AllExcept(session), act)?;
        let methods = session_methods(writer, account, session)?.unwrap_or_default();
        let sql = "UPDATE sessions SET methods = ?3 WHERE user_id = ?1 AND id = ?2";
        change(writer, sql, params![owner, id, methods_after(&methods, is_enrolled)])?;
    } else {
        end_sessions(writer, &*ports.random, account, EndedSessions::All, act)?;
    }
    let Some(mail) = &effects.mail else { return Ok(()) };
    queue_mail(writer, &SealedMail::of(mail, &ports.vault, &*ports.random)?)
}

fn add(
    writer: &Connection,
    ports: &Ports,
    (row, codes): (&FactorRow, &[[u8; 32]]),
    challenge: Option<&UsedChallenge>,
    effects: &FactorEffects,
    act: &Act,
) -> Result<FactorAddition> {
    let account = &row.account;
    if realm_of(writer, account)? != Some(row.realm) {
        return Ok(FactorAddition::NoAccount);
    }
    if !may_change(writer, account, effects, is_enrolled(writer, account)?)? {
        return Ok(FactorAddition::SessionVoid);
    }
    let is_challenge_new = challenge.map_or(Ok(true), |used| use_challenge(writer, ports, used))?;
    let is_known = writer
        .prepare_cached("SELECT 1 FROM second_factors WHERE hash = ?1")
        .and_then(|mut find| find.exists([row.hash]))
        .map_err(store_error)?;
    let decision = decide_addition(all(writer, account)?.len(), is_known, is_challenge_new);
    let FactorAddition::Added { with_recovery_codes } = decision else { return Ok(decision) };
    insert(writer, row)?;
    append_audit(writer, &*ports.random, act.second_factor_added(row))?;
    if with_recovery_codes {
        replace_codes(writer, account, codes)?;
        append_audit(writer, &*ports.random, act.recovery_codes_made(row.realm, account, codes.len()))?;
    }
    apply_effects(writer, ports, account, (effects, true), act)?;
    Ok(decision)
}

fn remove(
    writer: &Connection,
    ports: &Ports,
    (account, id): (&AccountId, Guid),
    effects: &FactorEffects,
    act: &Act,
) -> Result<FactorRemoval> {
    let rows = all(writer, account)?;
    let Some(row) = rows.iter().find(|row| row.id == id) else { return Ok(FactorRemoval::NotFound) };
    if !may_change(writer, account, effects, true)? {
        return Ok(FactorRemoval::SessionVoid);
    }
    change(writer, "DELETE FROM second_factors WHERE id = ?1", [id.as_bytes()])?;
    let was_last = rows.len() == 1;
    if was_last {
        replace_codes(writer, account, &[])?;
    }
    append_audit(writer, &*ports.random, act.second_factor_removed(row))?;
    apply_effects(writer, ports, account, (effects, !was_last), act)?;
    Ok(FactorRemoval::Removed { was_last })
}

fn reset(
    writer: &Connection,
    ports: &Ports,
    account: &AccountId,
    effects: &FactorEffects,
    act: &Act,
) -> Result<u64> {
    let rows = all(writer, account)?;
    let Some(first) = rows.first() else { return Ok(0) };
    change(writer, "DELETE FROM second_factors WHERE account_id = ?1", [account.as_str()])?;
    replace_codes(writer, account, &[])?;
    let count = rows.len() as u64;
    append_audit(writer, &*ports.random, act.second_factors_reset(first.realm, account, count))?;
    apply_effects(writer, ports, account, (effects, false), act)?;
    Ok(count)
}

fn take_passkey(
    writer: &Connection,
    ports: &Ports,
    account: &AccountId,
    usage: &PasskeyUse,
    now: Ticks,
) -> Result<PasskeyUseOutcome> {
    let find = format!(
        "SELECT counter FROM second_factors WHERE id = ?1 AND account_id = ?2 AND {PASSKEY_CONDITION}"
    );
    let stored: Option<i64> = writer
        .prepare_cached(&find)
        .and_then(|mut find| {
            find.query_row(params![usage.factor.as_bytes(), account.as_str()], |row| row.get(0)).optional()
        })
        .map_err(store_error)?;
    let is_challenge_new = stored.is_some() && use_challenge(writer, ports, &usage.challenge)?;
    let outcome = decide_use(stored, usage.sign_count, is_challenge_new);
    if outcome == PasskeyUseOutcome::Used {
        let sql = "UPDATE second_factors SET counter = ?2, last_used_at = ?3 WHERE id = ?1";
        change(writer, sql, params![usage.factor.as_bytes(), usage.sign_count, now.0])?;
    }
    Ok(outcome)
}

#[async_trait]
impl SecondFactors for SqliteStore {
    async fn add_second_factor(
        &self,
        factor: &SecondFactor,
        recovery_codes: &[RecoveryCode],
        challenge: Option<&UsedChallenge>,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<FactorAddition> {
        let (ports, act) = (self.ports().clone(), self.act(context));
        let row = FactorRow::of(factor, &ports.vault, &*ports.random)?;
        let codes = recovery_hashes(&ports.vault, &factor.account, recovery_codes);
        let (challenge, effects) = (challenge.cloned(), effects.clone());
        self.write(move |writer| add(writer, &ports, (&row, &codes), challenge.as_ref(), &effects, &act))
            .await
    }

    async fn second_factors(&self, account: &AccountId) -> Result<AccountFactors> {
        let vault = &self.ports().vault;
        self.read(|reader| {
            let rows = all(reader, account)?;
            if rows.is_empty() {
                return Ok(AccountFactors::default());
            }
            let factors = rows.into_iter().map(|row| row.open(vault)).collect::<Result<_>>()?;
            Ok(AccountFactors { factors, recovery_codes_left: codes_left(reader, account)? })
        })
    }

    async fn find_passkey(&self, realm: Realm, credential_id: &[u8]) -> Result<Option<SecondFactor>> {
        let vault = &self.ports().vault;
        let hash = credential_hash(vault, realm, credential_id);
        let row = self.read(|reader| {
            reader
                .prepare_cached(&format!("{FACTOR} WHERE hash = ?1"))
                .and_then(|mut find| find.query_row([hash], parse::<FactorRow>).optional())
                .map_err(store_error)
        })?;
        row.map(|row| row.open(vault)).transpose()
    }

    async fn rename_second_factor(
        &self,
        account: &AccountId,
        factor: Guid,
        name: &str,
        context: &AuditContext,
    ) -> Result<bool> {
        let (account, name) = (account.clone(), crate::audit::replace_nul(name.to_owned()));
        let (act, random) = (self.act(context), self.ports().random.clone());
        self.write(move |writer| {
            let rows = all(writer, &account)?;
            let Some(row) = rows.iter().find(|row| row.id == factor) else { return Ok(false) };
            let sql = "UPDATE second_factors SET name = ?2 WHERE id = ?1";
            change(writer, sql, params![factor.as_bytes(), name])?;
            append_audit(writer, &*random, act.second_factor_renamed(row, &name))?;
            Ok(true)
        })
        .await
    }

    async fn remove_second_factor(
        &self,
        account: &AccountId,
        factor: Guid,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<FactorRemoval> {
        let (ports, act) = (self.ports().clone(), self.act(context));
        let (account, effects) = (account.clone(), effects.clone());
        self.write(move |writer| remove(writer, &ports, (&account, factor), &effects, &act)).await
    }

    async fn reset_second_factors(
        &self,
        account: &AccountId,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<u64> {
        let (ports, act) = (self.ports().clone(), self.act(context));
        let (account, effects) = (account.clone(), effects.clone());
        self.write(move |writer| reset(writer, &ports, &account, &effects, &act)).await
    }

    async fn use_totp(&self, account: &AccountId, factor: Guid, step: TimeStep, now: Ticks) -> Result<bool> {
        let account = account.clone();
        let sql = format!(
            "UPDATE second_factors SET counter = ?3, last_used_at = ?4
             WHERE id = ?1 AND account_id = ?2 AND counter < ?3 AND {TOTP_CONDITION}"
        );
        self.write(move |writer| {
            change(writer, &sql, params![factor.as_bytes(), account.as_str(), step.0, now.0])
        })
        .await
    }

    async fn use_passkey(
        &self,
        account: &AccountId,
        usage: &PasskeyUse,
        now: Ticks,
    ) -> Result<PasskeyUseOutcome> {
        let (ports, account, usage) = (self.ports().clone(), account.clone(), usage.clone());
        self.write(move |writer| take_passkey(writer, &ports, &account, &usage, now)).await
    }

    async fn use_recovery_code(
        &self,
        account: &AccountId,
        code: &RecoveryCode,
        notice: Option<&RecoveryCodeNotice>,
        context: &AuditContext,
    ) -> Result<Option<u64>> {
        let (ports, act, account) = (self.ports().clone(), self.act(context), account.clone());
        let (hash, notice) = (recovery_hash(&ports.vault, &account, code), notice.cloned());
        self.write(move |writer| {
            let Some(realm) = realm_of(writer, &account)? else { return Ok(None) };
            let sql = "DELETE FROM recovery_codes WHERE hash = ?1 AND account_id = ?2";
            if !change(writer, sql, params![hash, account.as_str()])? {
                return Ok(None);
            }
            let left = codes_left(writer, &account)?;
            append_audit(writer, &*ports.random, act.recovery_code_used(realm, &account, left))?;
            if let Some(notice) = &notice {
                queue_mail(writer, &notice.sealed(left, &ports)?)?;
            }
            Ok(Some(left))
        })
        .await
    }

    async fn set_recovery_codes(
        &self,
        account: &AccountId,
        codes: &[RecoveryCode],
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<bool> {
        let (ports, act, account) = (self.ports().clone(), self.act(context), account.clone());
        let (hashes, effects) = (recovery_hashes(&ports.vault, &account, codes), effects.clone());
        self.write(move |writer| {
            let rows = all(writer, &account)?;
            let Some(first) = rows.first() else { return Ok(false) };
            if !may_change(writer, &account, &effects, true)? {
                return Ok(false);
            }
            replace_codes(writer, &account, &hashes)?;
            let entry = act.recovery_codes_made(first.realm, &account, hashes.len());
            append_audit(writer, &*ports.random, entry)?;
            apply_effects(writer, &ports, &account, (&effects, true), &act)?;
            Ok(true)
        })
        .await
    }
}
