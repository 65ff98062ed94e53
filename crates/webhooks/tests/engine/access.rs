//! The core starts nothing while a change of access that was made through its process has not arrived.

use std::time::Duration;

use domain::retry::Schedule;
use domain::subscription::Products;
use store::{
    AuditContext, ChangeLog as _, ChangeSet, Deliveries as _, DisabledOwners, LeaseRenewal, SHARDS,
    SandboxClients, Webhooks as _,
};
use webhooks::engine::{Command, Core, Input, Moment, Settings};

use crate::simulation::fixture::{Fixture, START, block_on, random_webhook, resources};
use crate::simulation::random::SeededRandom;

const NOW: Moment = Moment { wall: START, steady: Duration::from_secs(1) };

/// Settles and answers reads and loads from the store; returns how many attempts were started.
fn run(core: &mut Core, fixture: &Fixture) -> usize {
    let mut sent = 0;
    loop {
        let commands = core.settle(NOW);
        if commands.is_empty() {
            return sent;
        }
        for command in commands {
            let input = match command {
                Command::LoadShard { shard, fence, after } => {
                    let webhooks = block_on(fixture.store.load_webhooks(shard, after, 100)).unwrap();
                    Input::ShardLoaded { shard, fence, webhooks, is_last: true }
                }
                Command::LoadWebhook { webhook, reload } => {
                    let loaded = block_on(fixture.store.load_webhook(webhook)).unwrap().map(Box::new);
                    Input::WebhookLoaded { webhook, reload, loaded }
                }
                Command::ReadHead { webhook, number, tenant } => {
                    let head = block_on(fixture.store.log_bounds(&tenant)).unwrap().head;
                    Input::HeadRead { webhook, number, head: Ok(head) }
                }
                Command::Send { .. } => {
                    sent += 1;
                    continue;
                }
                Command::Checkpoint(batch) => {
                    Input::CheckpointWritten(Ok(block_on(fixture.store.checkpoint(batch)).unwrap()))
                }
                other => panic!("{other:?}"),
            };
            core.handle(NOW, input);
        }
    }
}

fn owners_read(access_version: u64) -> Input {
    Input::DisabledOwnersRead { disabled: DisabledOwners::default(), access_version }
}

/// A core that holds every shard, and a webhook whose handshake is due.
fn core_with_webhook() -> (Core, Fixture) {
    core_with(true)
}

fn core_with(is_sandbox_open: bool) -> (Core, Fixture) {
    let fixture = Fixture::new(1);
    let mut new = random_webhook(&mut SeededRandom::new(1), "https://receiver.example/hook".into());
    new.resource = resources()[0];
    new.enabled = true;
    block_on(fixture.store.subscribe(new, 100, &AuditContext::default())).unwrap();
    let schedule = Schedule { pauses: vec![Duration::from_secs(60)], window: Duration::from_secs(600) };
    let settings = Settings { is_sandbox_open, ..Settings::new(schedule, Duration::from_secs(5)) };
    let mut core = Core::new(settings, 1, NOW);
    let renewal = LeaseRenewal::new(domain::Guid::from_bytes([1; 16]), Duration::from_secs(60));
    let shards = block_on(fixture.store.renew_shard_leases(&renewal)).unwrap().held;
    assert_eq!(shards.len(), usize::from(SHARDS));
    let (asked, given) = (Vec::new(), Vec::new());
    core.handle(NOW, Input::ShardsLeased { shards, until: Duration::from_secs(60), asked, given });
    (core, fixture)
}

#[test]
fn nothing_starts_before_a_change_of_access_is_applied() {
    let (mut core, fixture) = core_with_webhook();
    assert_eq!(run(&mut core, &fixture), 0, "the disabled owners are not known yet");
    core.observe_access(3);
    core.handle(NOW, owners_read(2));
    core.handle(NOW, Input::Committed(ChangeSet { access_version: 3, ..ChangeSet::default() }));
    assert_eq!(run(&mut core, &fixture), 0, "the owners were read before the last change");
    core.handle(NOW, owners_read(3));
    core.observe_access(4);
    core.handle(NOW, owners_read(4));
    assert_eq!(run(&mut core, &fixture), 0, "the webhooks that the last change concerns are not known yet");
    core.handle(NOW, Input::Committed(ChangeSet { access_version: 4, ..ChangeSet::default() }));
    assert_eq!(run(&mut core, &fixture), 1);
}

#[test]
fn earlier_read_of_the_disabled_owners_does_not_replace_a_later_one() {
    let (mut core, fixture) = core_with_webhook();
    let owner = block_on(
        fixture.store.webhooks(&store::WebhookQuery { rows_max: 1, ..store::WebhookQuery::default() }),
    )
    .unwrap()
    .remove(0)
    .owner;
    core.observe_access(3);
    core.handle(NOW, Input::Committed(ChangeSet { access_version: 3, ..ChangeSet::default() }));
    let disabled = DisabledOwners { clients: vec![owner.client], ..DisabledOwners::default() };
    core.handle(NOW, Input::DisabledOwnersRead { disabled, access_version: 3 });
    core.handle(NOW, owners_read(2));
    assert_eq!(run(&mut core, &fixture), 0, "the client is disabled");
    core.handle(NOW, owners_read(3));
    assert_eq!(run(&mut core, &fixture), 1);
}

#[test]
fn webhook_of_a_sandbox_needs_a_client_of_its_team_with_the_product() {
    let (mut core, fixture) = core_with_webhook();
    let query = store::WebhookQuery { rows_max: 1, ..store::WebhookQuery::default() };
    let owner = block_on(fixture.store.webhooks(&query)).unwrap().remove(0).owner;
    let other = domain::ClientId::new("other");
    let read = |clients: Vec<(domain::ClientId, Products)>, access_version| {
        let sandboxes = vec![SandboxClients { tenant: owner.tenant.clone(), clients }];
        // Its own list of clients counts, and not that of real tenants.
        let team_clients = vec![(owner.client.clone(), Products::default())];
        let disabled = DisabledOwners { sandboxes, team_clients, ..DisabledOwners::default() };
        Input::DisabledOwnersRead { disabled, access_version }
    };
    for clients in [vec![], vec![(other, Products::all())], vec![(owner.client.clone(), Products::default())]]
    {
        core.handle(NOW, read(clients, 0));
        assert_eq!(run(&mut core, &fixture), 0);
    }
    core.handle(NOW, read(vec![(owner.client.clone(), Products::all())], 0));
    assert_eq!(run(&mut core, &fixture), 1);
}

#[test]
fn nothing_is_sent_from_a_sandbox_that_is_closed() {
    for (is_open, sent) in [(true, 1), (false, 0)] {
        let (mut core, fixture) = core_with(is_open);
        let query = store::WebhookQuery { rows_max: 1, ..store::WebhookQuery::default() };
        let owner = block_on(fixture.store.webhooks(&query)).unwrap().remove(0).owner;
        let clients = vec![(owner.client, Products::all())];
        let sandboxes = vec![SandboxClients { tenant: owner.tenant, clients }];
        let disabled = DisabledOwners { sandboxes, ..DisabledOwners::default() };
        core.handle(NOW, Input::DisabledOwnersRead { disabled, access_version: 0 });
        assert_eq!(run(&mut core, &fixture), sent);
    }
}

#[test]
fn webhook_without_an_authorization_gets_no_handshake() {
    let (mut core, fixture) = core_with_webhook();
    let webhook = block_on(
        fixture.store.webhooks(&store::WebhookQuery { rows_max: 1, ..store::WebhookQuery::default() }),
    )
    .unwrap()
    .remove(0);
    fixture.withdraw(webhook.owner.tenant.as_str(), webhook.owner.client.as_str());
    core.handle(NOW, owners_read(0));
    assert_eq!(run(&mut core, &fixture), 0);
    fixture.authorize(
        webhook.owner.tenant.as_str(),
        webhook.owner.client.as_str(),
        crate::authorization::ALL_SCOPES,
    );
    core.handle(NOW, Input::WebhookChanged(webhook.id));
    assert_eq!(run(&mut core, &fixture), 1);
}
