//! Who did something and what it was done to, for people: the address of an account, the name of a tenant or an application.

use std::collections::{BTreeMap, BTreeSet};

use domain::{AccountId, ClientId, TeamId, TenantId};
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

/// The names of what the audit writes as `tenant:<id>`, `client:<id>` or `team:<id>`, and the addresses of accounts; what has none is left out.
pub(crate) async fn names(
    context: &Context,
    objects: BTreeSet<String>,
) -> Result<BTreeMap<String, String>, PageError> {
    let store = &context.console.ports.store;
    let name = |object: String| async move {
        let (kind, id) = object.split_once(':').unwrap_or((&object, ""));
        let name = match kind {
            "tenant" => store.find_tenant(&TenantId::new(id)).await?.map(|found| found.name),
            "client" => store.find_client(&ClientId::new(id)).await?.map(|found| found.name),
            "team" => store.find_team(&TeamId::new(id)).await?.map(|found| found.name),
            "user" | "developer" | "operator" => {
                store.find_account(&AccountId::new(id)).await?.map(|account| account.email)
            }
            _ => None,
        };
        Ok::<_, PageError>(name.map(|name| (object, name)))
    };
    Ok(try_join_all(objects.into_iter().map(name)).await?.into_iter().flatten().collect())
}
