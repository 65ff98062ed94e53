//! Second factors in memory, sealed as in the databases.

use async_trait::async_trait;
use domain::recovery_codes::RecoveryCode;
use domain::totp::TimeStep;
use domain::{AccountId, Guid, Random, Realm, Ticks};

use super::{MemoryStore, State};
use crate::audit::Act;
use crate::mails::SealedMail;
use crate::second_factors::{
    FactorRow, challenge_hash, credential_hash, decide_addition, decide_use, may_change_factors,
    methods_after, recovery_hash, recovery_hashes,
};
use crate::{
    AccountFactors, AuditContext, EndedSessions, FactorAddition, FactorEffects, FactorRemoval, PasskeyUse,
    PasskeyUseOutcome, Ports, RecoveryCodeNotice, Result, SecondFactor, SecondFactors, UsedChallenge,
};

impl State {
    /// The account's factors, the oldest first.
    fn factors_of(&self, account: &AccountId) -> Vec<FactorRow> {
        let own = self.second_factors.values().filter(|row| row.account == *account);
        let mut rows: Vec<FactorRow> = own.cloned().collect();
        rows.sort_by_key(|row| (row.created_at, *row.id.as_bytes()));
        rows
    }

    fn recovery_codes_left(&self, account: &AccountId) -> u64 {
        self.recovery_codes.values().filter(|owner| *owner == account).count() as u64
    }

    /// False if the challenge has been used before.
    fn use_challenge(&mut self, ports: &Ports, used: &UsedChallenge) -> bool {
        self.used_challenges.insert(challenge_hash(&ports.vault, used), used.expires_at).is_none()
    }

    fn replace_recovery_codes(&mut self, account: &AccountId, hashes: &[[u8; 32]]) {
        self.recovery_codes.retain(|_, owner| owner != account);
        self.recovery_codes.extend(hashes.iter().map(|hash| (*hash, account.clone())));
    }

    fn apply_factor_effects(
        &mut self,
        account: &AccountId,
        (effects, mail): (&FactorEffects, Option<SealedMail>),
        is_enrolled: bool,
        (random, act): (&dyn Random, &Act),
    ) -> Result<()> {
        let which = effects.kept_session.map_or(EndedSessions::All, EndedSessions::AllExcept);
        self.end_sessions(random, account, which, act);
        for session in self.sessions.values_mut().filter(|one| one.account == *account) {
            session.methods = methods_after(&session.methods, is_enrolled);
        }
        mail.map_or(Ok(()), |mail| self.queue_mail(mail))
    }

    /// Whether the session that asks may change the account's factors.
    fn may_change_factors(&self, account: &AccountId, effects: &FactorEffects, is_enrolled: bool) -> bool {
        let Some(kept) = effects.kept_session else { return true };
        let session = self.sessions.values().find(|one| one.account == *account && one.id == kept);
        may_change_factors(session.map(|one| one.methods.as_str()), is_enrolled)
    }

    fn remove_recovery_code(
        &mut self,
        random: &dyn Random,
        account: &AccountId,
        hash: &[u8; 32],
        act: &Act,
    ) -> Option<u64> {
        let realm = self.accounts.get(account.as_str())?.realm;
        self.recovery_codes.remove(hash)?;
        let left = self.recovery_codes_left(account);
        self.append_audit(random, act.recovery_code_used(realm, account, left));
        Some(left)
    }
}

impl MemoryStore {
    fn sealed_mail(&self, effects: &FactorEffects) -> Result<Option<SealedMail>> {
        let seal = |mail| SealedMail::of(mail, &self.ports.vault, &*self.ports.random);
        effects.mail.as_ref().map(seal).transpose()
    }
}

#[async_trait]
impl SecondFactors for MemoryStore {
    async fn add_second_factor(
        &self,
        factor: &SecondFactor,
        recovery_codes: &[RecoveryCode],
        challenge: Option<&UsedChallenge>,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<FactorAddition> {
        let (ports, act, mail) = (&self.ports, self.act(context), self.sealed_mail(effects)?);
        let row = FactorRow::of(factor, &ports.vault, &*ports.random)?;
        let codes = recovery_hashes(&ports.vault, &factor.account, recovery_codes);
        let mut state = self.state_mut()?;
        let account = &factor.account;
        if state.accounts.get(account.as_str()).map(|owner| owner.realm) != Some(factor.realm) {
            return Ok(FactorAddition::NoAccount);
        }
        let is_enrolled = !state.factors_of(account).is_empty();
        if !state.may_change_factors(account, effects, is_enrolled) {
            return Ok(FactorAddition::SessionVoid);
        }
        let is_challenge_new = challenge.is_none_or(|used| state.use_challenge(ports, used));
        let is_known = state.second_factors.values().any(|other| other.hash == row.hash);
        let decision = decide_addition(state.factors_of(account).len(), is_known, is_challenge_new);
        let FactorAddition::Added { with_recovery_codes } = decision else { return Ok(decision) };
        state.append_audit(&*ports.random, act.second_factor_added(&row));
        state.second_factors.insert(*row.id.as_bytes(), row);
        if with_recovery_codes {
            state.replace_recovery_codes(account, &codes);
            let entry = act.recovery_codes_made(factor.realm, account, codes.len());
            state.append_audit(&*ports.random, entry);
        }
        state.apply_factor_effects(account, (effects, mail), true, (&*self.ports.random, &act))?;
        Ok(decision)
    }

    async fn second_factors(&self, account: &AccountId) -> Result<AccountFactors> {
        let state = self.state();
        let rows = state.factors_of(account).into_iter();
        let factors = rows.map(|row| row.open(&self.ports.vault)).collect::<Result<Vec<_>>>()?;
        Ok(AccountFactors { factors, recovery_codes_left: state.recovery_codes_left(account) })
    }

    async fn find_passkey(&self, realm: Realm, credential_id: &[u8]) -> Result<Option<SecondFactor>> {
        let hash = credential_hash(&self.ports.vault, realm, credential_id);
        let found = self.state().second_factors.values().find(|row| row.hash == hash).cloned();
        found.map(|row| row.open(&self.ports.vault)).transpose()
    }

    async fn rename_second_factor(
        &self,
        account: &AccountId,
        factor: Guid,
        name: &str,
        context: &AuditContext,
    ) -> Result<bool> {
        let (act, name) = (self.act(context), crate::audit::replace_nul(name.to_owned()));
        let mut state = self.state_mut()?;
        let row = state.second_factors.get_mut(factor.as_bytes()).filter(|row| row.account == *account);
        let Some(row) = row else { return Ok(false) };
        let entry = act.second_factor_renamed(row, &name);
        row.name = name;
        state.append_audit(&*self.ports.random, entry);
        Ok(true)
    }

    async fn remove_second_factor(
        &self,
        account: &AccountId,
        factor: Guid,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<FactorRemoval> {
        let (act, mail) = (self.act(context), self.sealed_mail(effects)?);
        let mut state = self.state_mut()?;
        let rows = state.factors_of(account);
        let Some(row) = rows.iter().find(|row| row.id == factor) else { return Ok(FactorRemoval::NotFound) };
        if !state.may_change_factors(account, effects, true) {
            return Ok(FactorRemoval::SessionVoid);
        }
        state.second_factors.remove(factor.as_bytes());
        let was_last = rows.len() == 1;
        if was_last {
            state.replace_recovery_codes(account, &[]);
        }
        state.append_audit(&*self.ports.random, act.second_factor_removed(row));
        state.apply_factor_effects(account, (effects, mail), !was_last, (&*self.ports.random, &act))?;
        Ok(FactorRemoval::Removed { was_last })
    }

    async fn reset_second_factors(
        &self,
        account: &AccountId,
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<u64> {
        let (act, mail) = (self.act(context), self.sealed_mail(effects)?);
        let mut state = self.state_mut()?;
        let rows = state.factors_of(account);
        let Some(first) = rows.first() else { return Ok(0) };
        state.second_factors.retain(|_, row| row.account != *account);
        state.replace_recovery_codes(account, &[]);
        let count = rows.len() as u64;
        let entry = act.second_factors_reset(first.realm, account, count);
        state.append_audit(&*self.ports.random, entry);
        state.apply_factor_effects(account, (effects, mail), false, (&*self.ports.random, &act))?;
        Ok(count)
    }

    async fn use_totp(&self, account: &AccountId, factor: Guid, step: TimeStep, now: Ticks) -> Result<bool> {
        let mut state = self.state_mut()?;
        let row = state.second_factors.get_mut(factor.as_bytes());
        let row = row.filter(|row| row.account == *account && row.accepts(step));
        Ok(row.is_some_and(|row| {
            (row.counter, row.last_used_at) = (step.0, Some(now));
            true
        }))
    }

    async fn use_passkey(
        &self,
        account: &AccountId,
        usage: &PasskeyUse,
        now: Ticks,
    ) -> Result<PasskeyUseOutcome> {
        let mut state = self.state_mut()?;
        let row = state.second_factors.get(usage.factor.as_bytes());
        let row = row.filter(|row| row.account == *account && row.method() == "passkey");
        let stored = row.map(|row| row.counter);
        let is_challenge_new = stored.is_some() && state.use_challenge(&self.ports, &usage.challenge);
        let outcome = decide_use(stored, usage.sign_count, is_challenge_new);
        if outcome == PasskeyUseOutcome::Used
            && let Some(row) = state.second_factors.get_mut(usage.factor.as_bytes())
        {
            (row.counter, row.last_used_at) = (i64::from(usage.sign_count), Some(now));
        }
        Ok(outcome)
    }

    async fn use_recovery_code(
        &self,
        account: &AccountId,
        code: &RecoveryCode,
        notice: Option<&RecoveryCodeNotice>,
        context: &AuditContext,
    ) -> Result<Option<u64>> {
        let act = self.act(context);
        let hash = recovery_hash(&self.ports.vault, account, code);
        let mut state = self.state_mut()?;
        let left = state.recovery_codes_left(account).saturating_sub(1);
        let mail = notice.map(|notice| notice.sealed(left, &self.ports)).transpose()?;
        let left = state.remove_recovery_code(&*self.ports.random, account, &hash, &act);
        if let Some(mail) = mail.filter(|_| left.is_some()) {
            state.queue_mail(mail)?;
        }
        Ok(left)
    }

    async fn set_recovery_codes(
        &self,
        account: &AccountId,
        codes: &[RecoveryCode],
        effects: &FactorEffects,
        context: &AuditContext,
    ) -> Result<bool> {
        let (act, mail) = (self.act(context), self.sealed_mail(effects)?);
        let hashes = recovery_hashes(&self.ports.vault, account, codes);
        let mut state = self.state_mut()?;
        let rows = state.factors_of(account);
        let Some(first) = rows.first() else { return Ok(false) };
        if !state.may_change_factors(account, effects, true) {
            return Ok(false);
        }
        state.replace_recovery_codes(account, &hashes);
        let entry = act.recovery_codes_made(first.realm, account, hashes.len());
        state.append_audit(&*self.ports.random, entry);
        state.apply_factor_effects(account, (effects, mail), true, (&*self.ports.random, &act))?;
        Ok(true)
    }
}
