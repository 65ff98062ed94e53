//! Two stateless nodes on one PostgreSQL database.

use bytes::Bytes;
use serde_json::Value;

use crate::harness::{
    Database, IngestClient, IngestResponse, Installation, ServeProcess, bank, ndjson, wait_for,
};

struct Nodes {
    nodes: [ServeProcess; 2],
    _database: Database,
}

impl Nodes {
    fn start() -> Self {
        let database = Database::create();
        let first = Installation::with_store(&database.url());
        let second = Installation::with_store(&database.url());
        second.copy_master_key_from(&first);
        let nodes = [first, second].map(|installation| ServeProcess::start(installation, &[]));
        Self { nodes, _database: database }
    }

    /// An ingest client for one tenant at each node.
    fn ingest_clients(&self) -> [IngestClient; 2] {
        let ingest = self.nodes[0].ingest_for_new_tenant();
        [self.nodes[0].ingest_client(&ingest.tenant), self.nodes[1].ingest_client(&ingest.tenant)]
    }
}

#[test]
fn changes_and_retries_work_across_nodes() {
    let nodes = Nodes::start();
    let [one, other] = nodes.ingest_clients();
    let lines = ndjson(&[bank("1", "a"), bank("2", "b")]);
    let answer = one.send_with_idempotency_key("load", lines.clone());
    assert_eq!((answer.counts(), answer.head()), ((2, 0), 2));
    assert_eq!(
        other.send_with_idempotency_key("load", lines.clone()),
        answer,
        "a retry may go to another node"
    );
    assert_eq!(other.send(lines).head(), 2, "and it changes nothing there");
    assert_eq!(other.send_lines(&[bank("1", "c")]).head(), 3);
    assert_eq!(one.head(), 3);
}

#[test]
fn clients_of_both_nodes_share_one_log() {
    let nodes = Nodes::start();
    let ingest_clients = nodes.ingest_clients();
    let bodies: Vec<Bytes> = (0..6)
        .map(|writer| {
            let lines: Vec<Value> =
                (0..500).map(|number| bank(&format!("w{writer}-{number}"), "a")).collect();
            ndjson(&lines).into()
        })
        .collect();
    std::thread::scope(|scope| {
        for (body, ingest) in bodies.iter().zip(ingest_clients.iter().cycle()) {
            scope.spawn(|| assert_eq!(ingest.send(body.clone()).counts(), (500, 0)));
        }
    });
    assert_eq!(
        ingest_clients.each_ref().map(IngestClient::head),
        [3000, 3000],
        "every change has its own sequence number"
    );
    let again = IngestResponse::from_response(&ingest_clients[0].request().body(bodies.concat()).send());
    assert_eq!((again.counts(), again.head()), ((3000, 0), 3000), "every record is stored");
}

#[test]
fn body_interrupted_at_one_node_resumes_at_the_other() {
    let nodes = Nodes::start();
    let [one, other] = nodes.ingest_clients();
    let lines: Vec<Value> = (0..40).map(|number| bank(&number.to_string(), "a")).collect();
    let mut raw = one.raw("idempotency-key: load\r\ntransfer-encoding: chunked\r\n");
    raw.send_chunk(ndjson(&lines[..15]).as_bytes());
    wait_for("the first part to be committed", || (other.head() == 15).then_some(()));
    drop(raw);
    let answer = other.send_with_idempotency_key("load", ndjson(&lines));
    assert_eq!((answer.counts(), answer.head()), ((40, 0), 40));
    assert_eq!(one.send_with_idempotency_key("load", ndjson(&lines)), answer);
}
