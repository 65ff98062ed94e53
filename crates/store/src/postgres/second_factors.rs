//! Second factors in PostgreSQL. A change locks the account's row first, so that changes of one account follow each other.

use async_trait::async_trait;
use deadpool_postgres::Transaction;
use domain::recovery_codes::RecoveryCode;
use domain::totp::TimeStep;
use domain::{AccountId, Guid, Realm, Ticks};
use tokio_postgres::Row;

use super::audit::append_audit;
use super::logouts::end_sessions;
use super::mails::queue_mail;
use super::rows::{execute, parse, row, rows};
use super::{PostgresStore, exists, store_error};
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
const FACTORS_OF_ACCOUNT: &str =
    "SELECT id, account_id, realm, kind, name, hash, sealed, counter, created_at, last_used_at
     FROM second_factors WHERE account_id = $1 ORDER BY created_at, id";
const CODES_LEFT: &str = "SELECT count(*) FROM recovery_codes WHERE account_id = $1";

async fn insert(on: &Transaction<'_>, one: &FactorRow) -> Result<()> {
    execute(
        on,
        "INSERT INTO second_factors (id, account_id, realm, kind, name, hash, sealed, counter, created_at,
             last_used_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
        &[
            &one.id.as_bytes().as_slice(),
            &one.account.as_str(),
            &one.realm.code(),
            &one.kind,
            &one.name,
            &one.hash.as_slice(),
            &one.sealed,
            &one.counter,
            &one.created_at.0,
            &one.last_used_at.map(|at| at.0),
        ],
    )
    .await
    .map(drop)
    .map_err(exists("such a second factor".into()))
}

/// Locks the account and returns its realm.
pub(super) async fn lock_account(on: &Transaction<'_>, account: &AccountId) -> Result<Option<Realm>> {
    let sql = "SELECT realm FROM accounts WHERE id = $1 FOR UPDATE";
    Ok(row(on, sql, &[&account.as_str()]).await?.map(|row| Realm::from_code(row.get(0))))
}

/// The account's factors, the oldest first.
async fn all(on: &Transaction<'_>, account: &AccountId) -> Result<Vec<FactorRow>> {
    rows(on, FACTORS_OF_ACCOUNT, &[&account.as_str()]).await?.iter().map(parse).collect()
}

pub(super) async fn is_enrolled(on: &Transaction<'_>, account: &AccountId) -> Result<bool> {
    let sql = "SELECT 1 FROM second_factors WHERE account_id = $1 LIMIT 1";
    Ok(row(on, sql, &[&account.as_str()]).await?.is_some())
}

/// False if the challenge has been used before.
async fn use_challenge(on: &Transaction<'_>, ports: &Ports, used: &UsedChallenge) -> Result<bool> {
    let hash = challenge_hash(&ports.vault, used);
    let sql = "INSERT INTO used_challenges (hash, expires_at) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    let added = execute(on, sql, &[&hash.as_slice(), &used.expires_at.0]).await.map_err(store_error)?;
    Ok(added > 0)
}

async fn replace_codes(on: &Transaction<'_>, account: &AccountId, hashes: &[[u8; 32]]) -> Result<()> {
    let delete = "DELETE FROM recovery_codes WHERE account_id = $1";
    execute(on, delete, &[&account.as_str()]).await.map_err(store_error)?;
    let hashes: Vec<&[u8]> = hashes.iter().map(<[u8; 32]>::as_slice).collect();
    let insert = "INSERT INTO recovery_codes (hash, account_id)
         SELECT hash, $2 FROM unnest($1::bytea[]) AS hash ON CONFLICT DO NOTHING";
    execute(on, insert, &[&hashes, &account.as_str()]).await.map(drop).map_err(store_error)
}

/// The methods of a session of the account; None if it has ended.
async fn session_methods(on: &Transaction<'_>, account: &AccountId, session: Guid) -> Result<Option<String>> {
    let sql = "SELECT methods FROM sessions WHERE user_id = $1 AND id = $2";
    let found = row(on, sql, &[&account.as_str(), &session.as_bytes().as_slice()]).await?;
    Ok(found.map(|row| row.get(0)))
}

/// Whether the session that asks may change the account's factors. The caller holds the account's lock.
async fn may_change(
    on: &Transaction<'_>,
    account: &AccountId,
    effects: &FactorEffects,
    is_enrolled: bool,
) -> Result<bool> {
    let Some(session) = effects.kept_session else { return Ok(true) };
    let methods = session_methods(on, account, session).await?;
    Ok(may_change_factors(methods.as_deref(), is_enrolled))
}

/// Ends the account's other sessions, says in the kept one whether it has a second factor now, and queues the mail.
async fn apply_effects(
    on: &Transaction<'_>,
    ports: &Ports,
    account: &AccountId,
    (effects, is_enrolled): (&FactorEffects, bool),
    act: &Act,
) -> Result<()> {
    if let Some(session) = effects.kept_session {
        let (owner, id) = (account.as_str(), session.as_bytes().as_slice());
        end_sessions(on, &*ports.random, account, EndedSessions::AllExcept(session), act).await?;
        let methods = session_methods(on, account, session).await?.unwrap_or_default();
        let keep = "UPDATE sessions SET methods = $3 WHERE user_id = $1 AND id = $2";
        let methods = methods_after(&methods, is_enrolled);
        execute(on, keep, &[&owner, &id, &methods]).await.map_err(store_error)?;
    } else {
        end_sessions(on, &*ports.random, account, EndedSessions::All, act).await?;
    }
    let Some(mail) = &effects.mail else { return Ok(()) };
    queue_mail(on, &SealedMail::of(mail, &ports.vault, &*ports.random)?).await
}

#[async_trait]
impl SecondFactors for PostgresStore {
    async fn add_second_factor(
        &self,
        factor: &SecondFactor,
        recovery_codes: &[RecoveryCode],
        challenge: Option<&UsedChallenge>,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<FactorAddition> {
        let (ports, act, account) = (self.ports(), self.act(context), &factor.account);
        let new = FactorRow::of(factor, &ports.vault, &*ports.random)?;
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        if lock_account(&transaction, account).await? != Some(factor.realm) {
            return Ok(FactorAddition::NoAccount);
        }
        let count = all(&transaction, account).await?.len();
        if !may_change(&transaction, account, effects, count > 0).await? {
            return Ok(FactorAddition::SessionVoid);
        }
        let is_challenge_new = match challenge {
            Some(used) => use_challenge(&transaction, ports, used).await?,
            None => true,
        };
        let find = "SELECT 1 FROM second_factors WHERE hash = $1";
        let is_known = row(&transaction, find, &[&new.hash.as_slice()]).await?.is_some();
        let decision = decide_addition(count, is_known, is_challenge_new);
        if let FactorAddition::Added { with_recovery_codes } = decision {
            match insert(&transaction, &new).await {
                // Another account has registered the same credential meanwhile.
                Err(crate::StoreError::Exists(_)) => return Ok(FactorAddition::Exists),
                inserted => inserted?,
            }
            append_audit(&transaction, &*ports.random, act.second_factor_added(&new)).await?;
            if with_recovery_codes {
                let codes = recovery_hashes(&ports.vault, account, recovery_codes);
                replace_codes(&transaction, account, &codes).await?;
                let entry = act.recovery_codes_made(factor.realm, account, codes.len());
                append_audit(&transaction, &*ports.random, entry).await?;
            }
            apply_effects(&transaction, ports, account, (effects, true), &act).await?;
        }
        transaction.commit().await.map_err(store_error)?;
        Ok(decision)
    }

    async fn second_factors(&self, account: &AccountId) -> Result<AccountFactors> {
        let found = self.rows(FACTORS_OF_ACCOUNT, &[&account.as_str()]).await?;
        if found.is_empty() {
            return Ok(AccountFactors::default());
        }
        let open = |row: &Row| parse::<FactorRow>(row)?.open(&self.ports().vault);
        let factors = found.iter().map(open).collect::<Result<_>>()?;
        let left = self.row(CODES_LEFT, &[&account.as_str()]).await?;
        let recovery_codes_left = left.map_or(0, |row| row.get::<_, i64>(0).unsigned_abs());
        Ok(AccountFactors { factors, recovery_codes_left })
    }

    async fn find_passkey(&self, realm: Realm, credential_id: &[u8]) -> Result<Option<SecondFactor>> {
        let hash = credential_hash(&self.ports().vault, realm, credential_id);
        let found = self.row(&format!("{FACTOR} WHERE hash = $1"), &[&hash.as_slice()]).await?;
        found.map(|row| parse::<FactorRow>(&row)?.open(&self.ports().vault)).transpose()
    }

    async fn rename_second_factor(
        &self,
        account: &AccountId,
        factor: Guid,
        name: &str,
        context: &AuditContext,
    ) -> Result<bool> {
        let name = crate::audit::replace_nul(name.to_owned());
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        lock_account(&transaction, account).await?;
        let found = all(&transaction, account).await?;
        let Some(before) = found.iter().find(|one| one.id == factor) else { return Ok(false) };
        let sql = "UPDATE second_factors SET name = $2 WHERE id = $1";
        execute(&transaction, sql, &[&factor.as_bytes().as_slice(), &name]).await.map_err(store_error)?;
        let entry = self.act(context).second_factor_renamed(before, &name);
        append_audit(&transaction, &*self.ports().random, entry).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }

    async fn remove_second_factor(
        &self,
        account: &AccountId,
        factor: Guid,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<FactorRemoval> {
        let ports = self.ports();
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        lock_account(&transaction, account).await?;
        let found = all(&transaction, account).await?;
        let Some(removed) = found.iter().find(|one| one.id == factor) else {
            return Ok(FactorRemoval::NotFound);
        };
        if !may_change(&transaction, account, effects, true).await? {
            return Ok(FactorRemoval::SessionVoid);
        }
        let sql = "DELETE FROM second_factors WHERE id = $1";
        execute(&transaction, sql, &[&factor.as_bytes().as_slice()]).await.map_err(store_error)?;
        let was_last = found.len() == 1;
        if was_last {
            replace_codes(&transaction, account, &[]).await?;
        }
        let act = self.act(context);
        let entry = act.second_factor_removed(removed);
        append_audit(&transaction, &*ports.random, entry).await?;
        apply_effects(&transaction, ports, account, (effects, !was_last), &act).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(FactorRemoval::Removed { was_last })
    }

    async fn reset_second_factors(
        &self,
        account: &AccountId,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<u64> {
        let ports = self.ports();
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        lock_account(&transaction, account).await?;
        let found = all(&transaction, account).await?;
        let Some(first) = found.first() else { return Ok(0) };
        let sql = "DELETE FROM second_factors WHERE account_id = $1";
        execute(&transaction, sql, &[&account.as_str()]).await.map_err(store_error)?;
        replace_codes(&transaction, account, &[]).await?;
        let count = found.len() as u64;
        let act = self.act(context);
        let entry = act.second_factors_reset(first.realm, account, count);
        append_audit(&transaction, &*ports.random, entry).await?;
        apply_effects(&transaction, ports, account, (effects, false), &act).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(count)
    }

    async fn use_totp(&self, account: &AccountId, factor: Guid, step: TimeStep, now: Ticks) -> Result<bool> {
        let sql = format!(
            "UPDATE second_factors SET counter = $3, last_used_at = $4
             WHERE id = $1 AND account_id || '' = $2 AND counter < $3 AND {TOTP_CONDITION}"
        );
        self.change(&sql, &[&factor.as_bytes().as_slice(), &account.as_str(), &step.0, &now.0]).await
    }

    async fn use_passkey(
        &self,
        account: &AccountId,
        usage: &PasskeyUse,
        now: Ticks,
    ) -> Result<PasskeyUseOutcome> {
        let id = usage.factor.as_bytes().as_slice();
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let find = format!(
            "SELECT counter FROM second_factors
             WHERE id = $1 AND account_id || '' = $2 AND {PASSKEY_CONDITION} FOR UPDATE"
        );
        let stored: Option<i64> =
            row(&transaction, &find, &[&id, &account.as_str()]).await?.map(|row| row.get(0));
        let is_challenge_new =
            stored.is_some() && use_challenge(&transaction, self.ports(), &usage.challenge).await?;
        let outcome = decide_use(stored, usage.sign_count, is_challenge_new);
        if outcome == PasskeyUseOutcome::Used {
            let sql = "UPDATE second_factors SET counter = $2, last_used_at = $3 WHERE id = $1";
            execute(&transaction, sql, &[&id, &i64::from(usage.sign_count), &now.0])
                .await
                .map_err(store_error)?;
        }
        transaction.commit().await.map_err(store_error)?;
        Ok(outcome)
    }

    async fn use_recovery_code(
        &self,
        account: &AccountId,
        code: &RecoveryCode,
        notice: Option<&RecoveryCodeNotice>,
        context: &AuditContext,
    ) -> Result<Option<u64>> {
        let hash = recovery_hash(&self.ports().vault, account, code);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let Some(realm) = lock_account(&transaction, account).await? else { return Ok(None) };
        let sql = "DELETE FROM recovery_codes WHERE hash = $1";
        if execute(&transaction, sql, &[&hash.as_slice()]).await.map_err(store_error)? == 0 {
            return Ok(None);
        }
        let left = row(&transaction, CODES_LEFT, &[&account.as_str()]).await?;
        let left = left.map_or(0, |row| row.get::<_, i64>(0).unsigned_abs());
        let entry = self.act(context).recovery_code_used(realm, account, left);
        append_audit(&transaction, &*self.ports().random, entry).await?;
        if let Some(notice) = notice {
            queue_mail(&transaction, &notice.sealed(left, self.ports())?).await?;
        }
        transaction.commit().await.map_err(store_error)?;
        Ok(Some(left))
    }

    async fn set_recovery_codes(
        &self,
        account: &AccountId,
        codes: &[RecoveryCode],
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<bool> {
        let hashes = recovery_hashes(&self.ports().vault, account, codes);
        let mut client = self.client().await?;
        let transaction = client.transaction().await.map_err(store_error)?;
        let Some(realm) = lock_account(&transaction, account).await? else { return Ok(false) };
        let is_enrolled = !all(&transaction, account).await?.is_empty();
        if !is_enrolled || !may_change(&transaction, account, effects, true).await? {
            return Ok(false);
        }
        replace_codes(&transaction, account, &hashes).await?;
        let act = self.act(context);
        let entry = act.recovery_codes_made(realm, account, hashes.len());
        append_audit(&transaction, &*self.ports().random, entry).await?;
        apply_effects(&transaction, self.ports(), account, (effects, true), &act).await?;
        transaction.commit().await.map_err(store_error)?;
        Ok(true)
    }
}
