//! Live pages: a stream of server-sent events that says which version of a page is the present one. A browser that has another
//! version reads the page again, by the same function that checks who may see it; a stream ends with the session, and
//! when the service stops.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use domain::AccountId;
use futures_util::StreamExt as _;
use futures_util::stream;
use http_body_util::BodyExt as _;
use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use web::Stopwatch;

use crate::error::PageError;
use crate::request::Format;
use crate::response::{self, Response};
use crate::routes::PageHandler;
use crate::shell::PageContext;

/// How often a page is looked at.
const INTERVAL: Duration = Duration::from_millis(200);
const INTERVAL_MAX: Duration = Duration::from_secs(2);
/// All streams together should take a core for one part in so many of the time: where there are many and their pages are slow,
/// each is looked at less often, up to `INTERVAL_MAX`.
const SHARE_OF_A_CORE: u32 = 2;
/// Every so many looks the session is read again, and a comment keeps the connection open.
const LOOKS_PER_CHECK: u32 = 25;
/// Open streams of a node, and of one account; further readers get pages that are not live.
const TAILS_MAX: usize = 64;
const TAILS_PER_ACCOUNT_MAX: usize = 12;

/// The open streams.
#[derive(Debug)]
pub(crate) struct Tails {
    places: Arc<Semaphore>,
    by_account: Arc<Mutex<HashMap<AccountId, usize>>>,
    stopped: watch::Receiver<bool>,
}

impl Tails {
    /// `stopped` becomes true when the service stops: a stream that went on would hold it up.
    pub(crate) fn new(stopped: watch::Receiver<bool>) -> Self {
        Self { places: Arc::new(Semaphore::new(TAILS_MAX)), by_account: Arc::default(), stopped }
    }
}

/// An open stream.
struct Tail<C> {
    context: C,
    page: PageHandler<C>,
    seen: Option<u64>,
    looks: u32,
    /// How long the last look took.
    cost: Duration,
    stopped: watch::Receiver<bool>,
    _place: Place,
}

/// A place among the open streams. It is free again when this is dropped.
struct Place {
    account: AccountId,
    by_account: Arc<Mutex<HashMap<AccountId, usize>>>,
    _permit: OwnedSemaphorePermit,
}

impl Tails {
    fn take_place(&self, account: &AccountId) -> Option<Place> {
        let permit = self.places.clone().try_acquire_owned().ok()?;
        let mut by_account = self.by_account.lock();
        let open = by_account.entry(account.clone()).or_default();
        if *open == TAILS_PER_ACCOUNT_MAX {
            return None;
        }
        *open += 1;
        Some(Place { account: account.clone(), by_account: self.by_account.clone(), _permit: permit })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut by_account = self.by_account.lock();
        if let Entry::Occupied(mut open) = by_account.entry(self.account.clone()) {
            *open.get_mut() -= 1;
            if *open.get() == 0 {
                open.remove();
            }
        }
    }
}

/// The stream of a page's changes.
pub(crate) fn events<C: PageContext>(context: C, page: PageHandler<C>) -> Result<Response, PageError> {
    let Some(place) = context.site.tails.take_place(&context.visitor.account.id) else {
        let why = "too many live pages are open; read the page again instead";
        return Err(PageError::Refused(why.into()));
    };
    let stopped = context.site.tails.stopped.clone();
    let tail = Tail { context, page, seen: None, looks: 0, cost: Duration::ZERO, stopped, _place: place };
    let first =
        stream::once(async { Ok::<Bytes, std::convert::Infallible>(Bytes::from_static(b"retry: 2000\n\n")) });
    let changes = stream::unfold(tail, |mut tail| async move {
        let event = tail.next().await?;
        Some((Ok(event), tail))
    });
    Ok(response::events(Body::from_stream(first.chain(changes))))
}

/// How long to wait between two looks.
fn pause(open: usize, cost: Duration) -> Duration {
    let streams = u32::try_from(open).unwrap_or(u32::MAX);
    cost.saturating_mul(streams.saturating_mul(SHARE_OF_A_CORE)).clamp(INTERVAL, INTERVAL_MAX)
}

impl<C: PageContext> Tail<C> {
    /// The next event, or the end of the stream.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.looks > 0 && self.is_stopped_within(pause(self.open(), self.cost)).await {
                return None;
            }
            self.looks = self.looks.wrapping_add(1);
            let is_check = self.looks.is_multiple_of(LOOKS_PER_CHECK);
            if is_check && !self.is_signed_in().await {
                return None;
            }
            let watch = Stopwatch::start();
            let version = self.version().await?;
            self.cost = watch.elapsed();
            // The first version, too: the page may have changed before the stream was open.
            match self.seen.replace(version) {
                seen if seen != Some(version) => {
                    return Some(Bytes::from(format!("event: version\ndata: {version:x}\n\n")));
                }
                _ if is_check => return Some(Bytes::from_static(b": still here\n\n")),
                _ => {}
            }
        }
    }

    /// How many streams are open, this one among them.
    fn open(&self) -> usize {
        TAILS_MAX.saturating_sub(self.context.site.tails.places.available_permits())
    }

    /// Waits for a time, or until the service stops.
    async fn is_stopped_within(&mut self, time: Duration) -> bool {
        tokio::select! {
            // A service that is gone without a word has stopped too.
            _ = self.stopped.wait_for(|stop| *stop) => true,
            () = tokio::time::sleep(time) => false,
        }
    }

    async fn is_signed_in(&self) -> bool {
        let mut parts = self.context.parts.clone();
        let visitor = self.context.site.realm.visitor(&mut parts).await;
        visitor.is_ok_and(|visitor| {
            visitor.is_some_and(|visitor| visitor.account.id == self.context.visitor.account.id)
        })
    }

    /// A hash of what the page shows; none if it cannot be shown any more.
    async fn version(&mut self) -> Option<u64> {
        self.context.now = self.context.site.clock.now();
        debug_assert_eq!(self.context.format, Format::Events);
        let response = (self.page)(&self.context).await.ok()?;
        let body = response.into_body().collect().await.ok()?.to_bytes();
        Some(version(&body))
    }
}

/// The version of a page, from its JSON.
pub(crate) fn version(json: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(json);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_streams_of_slow_pages_are_looked_at_less_often() {
        let millis = Duration::from_millis;
        assert_eq!(pause(1, millis(50)), INTERVAL, "one reader sees every change at once");
        assert_eq!(pause(TAILS_MAX, millis(1)), INTERVAL);
        assert_eq!(pause(TAILS_MAX, millis(5)), millis(640), "64 looks of 5 ms in 640 ms");
        assert_eq!(pause(TAILS_MAX, Duration::MAX), INTERVAL_MAX, "whatever happens");
    }

    #[test]
    fn one_account_does_not_take_every_place() {
        let tails = Tails::new(watch::channel(false).1);
        let (ana, luis) = (AccountId::new("ana"), AccountId::new("luis"));
        let mut places: Vec<Place> =
            (0..TAILS_PER_ACCOUNT_MAX).filter_map(|_| tails.take_place(&ana)).collect();
        assert_eq!(places.len(), TAILS_PER_ACCOUNT_MAX);
        assert!(tails.take_place(&ana).is_none());
        assert!(tails.take_place(&luis).is_some());
        places.pop();
        assert!(tails.take_place(&ana).is_some());
        places.clear();
        assert!(tails.by_account.lock().is_empty());
    }
}
