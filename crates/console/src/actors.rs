//! Who did something, for people: the address of an account, or what else acted.

use std::collections::{BTreeMap, BTreeSet};

use domain::AccountId;
use futures_util::future::try_join_all;
use pages::PageError;

use crate::audit::actor_text;
use crate::context::Context;

/// What to show for actors as the audit writes them, `operator:<id>`.
pub(crate) async fn labels<'a>(
    context: &Context,
    actors: impl Iterator<Item = &'a str>,
) -> Result<BTreeMap<&'a str, String>, PageError> {
    let distinct: BTreeSet<&str> = actors.collect();
    let store = &context.console.ports.store;
    let label = |actor: &'a str| async move {
        let (kind, id) = actor.split_once(':').unwrap_or((actor, ""));
        let account = match kind {
            "operator" | "developer" | "user" if !id.is_empty() => {
                store.find_account(&AccountId::new(id)).await?
            }
            _ => None,
        };
        let words = || format!("{} {id}", actor_text(context.lang(), kind)).trim().to_owned();
        Ok::<_, PageError>((actor, account.map_or_else(words, |account| account.email)))
    };
    Ok(try_join_all(distinct.into_iter().map(label)).await?.into_iter().collect())
}
