//! Which connections are open, and who gets a place when there is none left: a new connection replaces the oldest
//! silent, idle or stalled one, so that those cannot keep others out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;

use ipnet::IpNet;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::activity::{Activity, Expendable};

/// Why a new connection is closed at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// All connections of its address are at work.
    Address,
    /// All connections are at work.
    Total,
    /// The file descriptors that are left are in reserve.
    Descriptors,
}

impl Refusal {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Total => "total",
            Self::Descriptors => "descriptors",
        }
    }
}

/// How a new connection got its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// There was a free one.
    Free,
    /// Another connection closes for it.
    Replaced,
}

/// The open connections of one listener.
pub(crate) struct Slots {
    connections_max: usize,
    /// 0: no limit.
    per_address_max: usize,
    exempt: Vec<IpNet>,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    next_number: u64,
    /// By the order in which they came.
    connections: BTreeMap<u64, Entry>,
    by_address: HashMap<IpAddr, BTreeSet<u64>>,
}

struct Entry {
    /// None if the address is exempt from the limit.
    address: Option<IpAddr>,
    activity: Arc<Activity>,
}

/// The place of one connection. Dropping it frees the place.
pub(crate) struct Slot {
    slots: Arc<Slots>,
    number: u64,
}

impl Slots {
    pub(crate) fn new(connections_max: usize, per_address_max: usize, exempt: Vec<IpNet>) -> Self {
        Self { connections_max, per_address_max, exempt, open: Mutex::default() }
    }

    /// A place for a new connection.
    pub(crate) fn take(
        self: &Arc<Self>,
        peer: IpAddr,
        activity: Arc<Activity>,
    ) -> Result<(Slot, Admission), Refusal> {
        let address = self.limited_address(peer);
        let mut open = self.open.lock();
        let mut admission = Admission::Free;
        if let Some(address) = address
            && let Some(own) = open.by_address.get(&address)
            && own.len() >= self.per_address_max
        {
            let chosen =
                most_expendable(own.iter().filter_map(|number| open.connections.get_key_value(number)));
            admission = open.replace(chosen).then_some(Admission::Replaced).ok_or(Refusal::Address)?;
        }
        if open.connections.len() >= self.connections_max {
            admission = open.replace_oldest().then_some(Admission::Replaced).ok_or(Refusal::Total)?;
        }
        let number = open.next_number;
        open.next_number += 1;
        open.connections.insert(number, Entry { address, activity });
        if let Some(address) = address {
            open.by_address.entry(address).or_default().insert(number);
        }
        Ok((Slot { slots: self.clone(), number }, admission))
    }

    /// Closes the oldest connection that is not at work, to get its file descriptor back.
    pub(crate) fn free_one(&self) -> bool {
        self.open.lock().replace_oldest()
    }

    /// The address that the limit counts: an IPv6 client has a whole /64.
    fn limited_address(&self, peer: IpAddr) -> Option<IpAddr> {
        let peer = peer.to_canonical();
        if self.per_address_max == 0 || self.exempt.iter().any(|range| range.contains(&peer)) {
            return None;
        }
        Some(match peer {
            IpAddr::V4(_) => peer,
            IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64)),
        })
    }
}

impl Open {
    fn replace_oldest(&mut self) -> bool {
        let chosen = most_expendable(self.connections.iter());
        self.replace(chosen)
    }

    fn replace(&mut self, chosen: Option<u64>) -> bool {
        let entry = chosen.and_then(|number| self.connections.get_key_value(&number));
        let Some((&number, _)) = entry.filter(|(_, entry)| entry.activity.replace(Instant::now())) else {
            return false;
        };
        self.remove(number);
        true
    }

    fn remove(&mut self, number: u64) {
        let Some(Entry { address: Some(address), .. }) = self.connections.remove(&number) else { return };
        if let Some(own) = self.by_address.get_mut(&address) {
            own.remove(&number);
            if own.is_empty() {
                self.by_address.remove(&address);
            }
        }
    }
}

/// The oldest connection of the most expendable kind.
fn most_expendable<'a>(oldest_first: impl Iterator<Item = (&'a u64, &'a Entry)>) -> Option<u64> {
    let now = Instant::now();
    let mut chosen: Option<(Expendable, u64)> = None;
    for (&number, entry) in oldest_first {
        let Some(kind) = entry.activity.expendable(now) else { continue };
        if chosen.is_none_or(|(best, _)| kind < best) {
            chosen = Some((kind, number));
        }
        if kind == Expendable::Silent {
            break;
        }
    }
    chosen.map(|(_, number)| number)
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.open.lock().remove(self.number);
    }
}

#[cfg(test)]
mod tests {
    use axum::http::Version;

    use super::*;
    use crate::connection::activity::Deadlines;

    fn slots(connections_max: usize, per_address_max: usize) -> Arc<Slots> {
        Arc::new(Slots::new(connections_max, per_address_max, vec!["10.0.0.0/8".parse().unwrap()]))
    }

    fn take(slots: &Arc<Slots>, peer: &str) -> Result<(Slot, Arc<Activity>), Refusal> {
        let activity = Activity::new(Deadlines::default(), false);
        slots.take(peer.parse().unwrap(), activity.clone()).map(|(slot, _)| (slot, activity))
    }

    #[tokio::test]
    async fn silent_connection_goes_before_an_idle_one_and_a_busy_one_stays() {
        let slots = slots(3, 0);
        let (_busy, busy) = take(&slots, "192.0.2.1").unwrap();
        let (_idle, idle) = take(&slots, "192.0.2.2").unwrap();
        let (_silent, silent) = take(&slots, "192.0.2.3").unwrap();
        let request = busy.begin_request(Version::HTTP_11);
        drop(idle.begin_request(Version::HTTP_11));
        let replaced = |activity: &Activity| activity.must_close_now();

        let (_fourth, fourth) = take(&slots, "192.0.2.4").unwrap();
        assert_eq!([&busy, &idle, &silent].map(|some| replaced(some)), [false, false, true]);
        let _request = fourth.begin_request(Version::HTTP_11);
        let (_fifth, fifth) = take(&slots, "192.0.2.5").unwrap();
        assert_eq!([&busy, &idle].map(|some| replaced(some)), [false, true]);
        let _request = (fifth.begin_request(Version::HTTP_11), request);
        assert_eq!(take(&slots, "192.0.2.6").err(), Some(Refusal::Total), "all are at work");
    }

    #[tokio::test]
    async fn replacement_of_a_connection_is_reported() {
        let (slots, address) = (slots(1, 0), "192.0.2.1".parse().unwrap());
        let take = || slots.take(address, Activity::new(Deadlines::default(), false)).unwrap();
        let (_first, first) = take();
        let (_second, second) = take();
        assert_eq!([first, second], [Admission::Free, Admission::Replaced]);
    }

    #[tokio::test]
    async fn address_at_its_limit_replaces_only_its_own() {
        let slots = slots(100, 1);
        let (_other, other) = take(&slots, "192.0.2.1").unwrap();
        let (_first, first) = take(&slots, "192.0.2.2").unwrap();
        let (_second, second) = take(&slots, "192.0.2.2").unwrap();
        assert!(first.must_close_now() && !other.must_close_now());
        let _request = second.begin_request(Version::HTTP_11);
        assert_eq!(take(&slots, "192.0.2.2").err(), Some(Refusal::Address));
        assert_eq!(take(&slots, "::ffff:192.0.2.2").err(), Some(Refusal::Address));
    }

    #[tokio::test]
    async fn ipv6_network_counts_as_one_address_and_a_trusted_proxy_does_not_count() {
        let slots = slots(100, 1);
        let (_first, first) = take(&slots, "2001:db8::1").unwrap();
        let _request = first.begin_request(Version::HTTP_2);
        assert_eq!(take(&slots, "2001:db8::2").err(), Some(Refusal::Address));
        assert!(take(&slots, "2001:db8:0:1::2").is_ok());
        let proxied: Vec<_> = (0..5).map(|_| take(&slots, "10.0.0.1").unwrap()).collect();
        assert!(proxied.iter().all(|(_, activity)| !activity.must_close_now()));
    }

    #[tokio::test]
    async fn closed_connection_frees_its_place() {
        let slots = slots(1, 1);
        for _ in 0..3 {
            let (_slot, activity) = take(&slots, "192.0.2.1").unwrap();
            let _request = activity.begin_request(Version::HTTP_11);
        }
        assert!(slots.open.lock().connections.is_empty() && slots.open.lock().by_address.is_empty());
    }
}
