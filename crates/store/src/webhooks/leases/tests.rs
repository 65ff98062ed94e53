//! The rules by which nodes take, ask for and give shards, over a table of leases in memory.

use super::*;

const LEASE: Duration = Duration::from_millis(7500);
const STEP: Duration = Duration::from_millis(500);

struct Table {
    leases: Vec<Lease>,
    now: Ticks,
}

fn node(number: u8) -> Guid {
    Guid::from_bytes([number; 16])
}

fn established(number: u8) -> LeaseRenewal {
    LeaseRenewal::new(node(number), LEASE)
}

fn young(number: u8) -> LeaseRenewal {
    LeaseRenewal { is_established: false, ..established(number) }
}

impl Table {
    fn new() -> Self {
        Self { leases: (0..=u8::MAX).map(Lease::free).collect(), now: Ticks(638_000_000_000_000_000) }
    }

    fn renew(&mut self, renewal: &LeaseRenewal) -> RenewedLeases {
        let (leases, renewed) = rebalance(&self.leases, renewal, self.now);
        self.leases = leases;
        renewed
    }

    fn held(&self, number: u8) -> usize {
        self.leases.iter().filter(|lease| lease.holder == Some(node(number))).count()
    }

    /// Every node renews every half second and gives at once what is asked for.
    fn run(&mut self, renewals: &[LeaseRenewal], steps: usize) {
        for _ in 0..steps {
            for renewal in renewals {
                let asked = self.renew(renewal).asked;
                self.renew(&LeaseRenewal { gives: asked, ..renewal.clone() });
            }
            self.now = self.now + STEP;
        }
    }
}

#[test]
fn a_node_takes_at_once_what_nobody_holds() {
    let mut table = Table::new();
    assert_eq!(table.renew(&young(1)).held.len(), 256);
    assert_eq!(table.renew(&young(2)).held.len(), 0);
}

#[test]
fn a_young_node_asks_for_nothing_and_nobody_gives() {
    let mut table = Table::new();
    table.run(&[established(1), young(2), young(3)], 40);
    assert_eq!((table.held(1), table.held(2), table.held(3)), (256, 0, 0));
    let fences: BTreeSet<i64> = table.leases.iter().map(|lease| lease.fence).collect();
    assert_eq!(fences, BTreeSet::from([1]), "no shard moved");
}

#[test]
fn established_nodes_get_equal_shares_and_then_nothing_moves() {
    let mut table = Table::new();
    let nodes: Vec<LeaseRenewal> = (1..=5).map(established).collect();
    for count in 1..=5_usize {
        table.run(&nodes[..count], 6);
        for number in 1..=count {
            let held = table.held(u8::try_from(number).unwrap());
            assert!(
                (256 / count..=256_usize.div_ceil(count)).contains(&held),
                "{held} of 256 for 1 of {count}"
            );
        }
        let fences: Vec<i64> = table.leases.iter().map(|lease| lease.fence).collect();
        table.run(&nodes[..count], 10);
        assert!(table.leases.iter().map(|lease| lease.fence).eq(fences), "shards move without need");
    }
}

#[test]
fn a_holder_keeps_what_is_asked_for_until_it_gives() {
    let mut table = Table::new();
    table.renew(&established(1));
    assert!(table.renew(&established(2)).held.is_empty());
    let renewed = table.renew(&established(1));
    assert_eq!((renewed.held.len(), renewed.asked.len()), (256, 128));
    assert!(table.renew(&established(2)).held.is_empty(), "not given yet");
    let gives = renewed.asked[..3].to_vec();
    let renewed = table.renew(&LeaseRenewal { gives: gives.clone(), ..established(1) });
    assert_eq!((renewed.held.len(), renewed.given), (253, 3));
    assert_eq!(table.renew(&established(3)).held.len(), 0, "given to the node that asked, not to another");
    let taken: Vec<u8> = table.renew(&established(2)).held.iter().map(|lease| lease.shard).collect();
    assert_eq!(taken, gives);
}

#[test]
fn a_node_that_asked_and_died_gets_nothing() {
    let mut table = Table::new();
    table.renew(&established(1));
    table.renew(&established(2));
    let asked = table.renew(&established(1)).asked;
    table.now = table.now + ASK_SPAN;
    let renewed = table.renew(&LeaseRenewal { gives: asked.clone(), ..established(1) });
    assert_eq!((renewed.held.len(), renewed.given), (256, 0), "nobody living asks");
    // It gave some before the other died: they come back when the ask has ended.
    table.renew(&established(2));
    table.renew(&LeaseRenewal { gives: asked, ..established(1) });
    table.now = table.now + ASK_SPAN;
    assert_eq!(table.renew(&established(1)).held.len(), 256);
}

#[test]
fn shards_of_a_crashed_node_go_to_the_established_ones_when_its_leases_end() {
    let mut table = Table::new();
    let nodes = [established(1), established(2), established(3)];
    table.run(&nodes, 10);
    let crashed_at = table.now;
    let last = table.renew(&nodes[0]).next_expiry.unwrap();
    assert_eq!(last + STEP, LEASE, "the next lease of another node to end");
    // Its last renewal was one step before.
    while table.now + STEP < crashed_at + LEASE {
        for renewal in [&nodes[0], &nodes[1], &young(4)] {
            assert_eq!(table.renew(renewal).taken_over, 0);
        }
        table.now = table.now + STEP;
    }
    assert_eq!(table.renew(&young(4)).taken_over, 0, "established nodes first");
    let taken = table.renew(&nodes[0]).taken_over + table.renew(&nodes[1]).taken_over;
    assert!((85..=86).contains(&taken), "{taken}");
    assert_eq!(table.held(1) + table.held(2), 256);
    assert!(table.held(1).abs_diff(table.held(2)) <= 1);
}

#[test]
fn what_the_established_nodes_leave_a_young_node_takes() {
    let mut table = Table::new();
    table.renew(&established(1));
    let now = table.now;
    for lease in &mut table.leases[..10] {
        *lease = lease.released(now);
    }
    assert_eq!(table.renew(&young(2)).held.len(), 0);
    table.now = table.now + ESTABLISHED_FIRST;
    assert_eq!(table.renew(&young(2)).held.len(), 10);
}
