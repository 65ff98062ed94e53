//! Two nodes over one PostgreSQL database: alike, without a state of their own.

use bytes::Bytes;
use serde_json::Value;

use crate::harness::{Answer, Database, Door, Serve, Site, bank, ndjson, until};

struct Nodes {
    nodes: [Serve; 2],
    _database: Database,
}

impl Nodes {
    fn start() -> Self {
        let database = Database::create();
        let first = Site::over(&database.url());
        let second = Site::over(&database.url());
        second.share_master_key(&first);
        let nodes = [first, second].map(|site| Serve::start(site, &[]));
        Self { nodes, _database: database }
    }

    /// One tenant's door at each node.
    fn doors(&self) -> [Door; 2] {
        let door = self.nodes[0].new_tenant();
        [self.nodes[0].door(&door.tenant), self.nodes[1].door(&door.tenant)]
    }
}

#[test]
fn what_one_node_took_the_other_knows() {
    let nodes = Nodes::start();
    let [one, other] = nodes.doors();
    let lines = ndjson(&[bank("1", "a"), bank("2", "b")]);
    let answer = one.send_under("load", lines.clone());
    assert_eq!((answer.counts(), answer.head()), ((2, 0), 2));
    assert_eq!(other.send_under("load", lines.clone()), answer, "a retry may come to another node");
    assert_eq!(other.send(lines).head(), 2, "and there it changes nothing either");
    assert_eq!(other.send_lines(&[bank("1", "c")]).head(), 3);
    assert_eq!(one.head(), 3);
}

#[test]
fn writers_at_both_nodes_share_one_log() {
    let nodes = Nodes::start();
    let doors = nodes.doors();
    let bodies: Vec<Bytes> = (0..6)
        .map(|writer| {
            let lines: Vec<Value> =
                (0..500).map(|number| bank(&format!("w{writer}-{number}"), "a")).collect();
            ndjson(&lines).into()
        })
        .collect();
    std::thread::scope(|scope| {
        for (body, door) in bodies.iter().zip(doors.iter().cycle()) {
            scope.spawn(|| assert_eq!(door.send(body.clone()).counts(), (500, 0)));
        }
    });
    assert_eq!(doors.each_ref().map(Door::head), [3000, 3000], "a number for each change, none twice");
    let again = Answer::of(&doors[0].call().body(bodies.concat()).send());
    assert_eq!((again.counts(), again.head()), ((3000, 0), 3000), "and each record is there");
}

#[test]
fn a_body_that_broke_at_one_node_is_taken_up_at_the_other() {
    let nodes = Nodes::start();
    let [one, other] = nodes.doors();
    let lines: Vec<Value> = (0..40).map(|number| bank(&number.to_string(), "a")).collect();
    let mut raw = one.raw("idempotency-key: load\r\ntransfer-encoding: chunked\r\n");
    raw.send_chunk(ndjson(&lines[..15]).as_bytes());
    until("the first part to be committed", || (other.head() == 15).then_some(()));
    drop(raw);
    let answer = other.send_under("load", ndjson(&lines));
    assert_eq!((answer.counts(), answer.head()), ((40, 0), 40));
    assert_eq!(one.send_under("load", ndjson(&lines)), answer);
}
