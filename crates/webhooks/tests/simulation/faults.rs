//! Faults that the simulation injects, and what owners and operators do meanwhile.

use std::time::Duration;

use domain::subscription::{Product, Products};
use domain::{AccountId, ClientId, TenantId};
use store::{
    Accounts as _, AuditContext, ChangeLog as _, Clients as _, Deliveries as _, Directory as _, Status,
    Webhook, WebhookChange, WebhookChangeOutcome, Webhooks as _,
};
use webhooks::engine::Input;

use crate::authorization::{ALL_SCOPES, USER};

use super::fixture::{CLIENTS, SUBSCRIPTIONS, TEAM, TENANTS, block_on, random_webhook};
use super::oracle::Served;
use super::receiver::Behaviour;
use super::world::{FAULTS, SimEvent, World};

const WEBHOOKS_MAX: usize = 8;

impl World {
    /// Changes a record; most nodes get a commit signal.
    pub(crate) fn change(&mut self) {
        if self.is_recovering && self.random.percent(50) {
            return;
        }
        let pause =
            if self.random.percent(70) { self.random.span(1..60) } else { self.random.span(100..2500) };
        self.after(pause, SimEvent::Change);
        let (tenant, resource) = self.fixture.change(&mut self.random);
        self.oracle.read_log(&self.fixture.store, self.at);
        for node in 0..self.nodes.len() {
            if self.random.percent(85) {
                let mut changes = store::ChangeSet::default();
                let resources = store::ResourceSet::default().with(resource);
                changes.tenants.insert(TenantId::new(tenant), resources);
                let (incarnation, pause) = (self.nodes[node].incarnation, self.random.span(0..20));
                self.after(
                    pause,
                    SimEvent::Input { node, incarnation, input: Box::new(Input::Committed(changes)) },
                );
            }
        }
    }

    pub(crate) fn inject_fault(&mut self) {
        if self.is_recovering {
            return;
        }
        let pause = self.random.span(10..1500);
        self.after(pause, SimEvent::Fault);
        match self.random.below(28) {
            0..=3 => self.subscribe(),
            4..=7 => self.change_random_webhook(),
            8..=11 => self.change_behaviour(),
            12 => self.crash(),
            13 => self.restart(),
            14 => self.jump_clock(),
            15 => self.cut_off(),
            16 => self.change_owner_status(),
            19 | 20 => self.change_access(),
            17 => self.prune(),
            18 => self.back_up_or_restore(),
            22 | 23 => self.stall(),
            24 => self.hang_polls(),
            25..=27 => self.disable_and_enable(),
            _ => {}
        }
    }

    fn subscribe(&mut self) {
        if self.webhooks().len() >= WEBHOOKS_MAX {
            return;
        }
        let url = self.new_receiver();
        let new = random_webhook(&mut self.random, url);
        let id = new.id;
        block_on(self.fixture.store.subscribe(new, 100, &AuditContext::default())).unwrap();
        self.oracle.note_access(&self.fixture.store, self.at);
        self.notify_others(id, None);
    }

    /// A webhook that subscribes to every kind of event, at a healthy receiver.
    pub(crate) fn subscribe_one(&mut self) -> domain::WebhookId {
        self.subscribe_at("https://receiver.example/hook")
    }

    pub(crate) fn subscribe_at(&mut self, url: &str) -> domain::WebhookId {
        self.behaviours.insert(url.to_owned(), Behaviour::Healthy);
        let mut new = random_webhook(&mut self.random, url.to_owned());
        new.kinds = new.resource.event_kinds().iter().copied().collect();
        new.enabled = true;
        let id = new.id;
        block_on(self.fixture.store.subscribe(new, 100, &AuditContext::default())).unwrap();
        self.notify_others(id, None);
        id
    }

    fn new_receiver(&mut self) -> String {
        let url = format!("https://receiver-{}.example/hook", self.random.number());
        let behaviour = Behaviour::any(&mut self.random);
        self.behaviours.insert(url.clone(), behaviour);
        url
    }

    fn change_random_webhook(&mut self) {
        let webhooks = self.webhooks();
        if webhooks.is_empty() {
            return;
        }
        let webhook = self.random.pick(&webhooks).clone();
        let change = match self.random.below(15) {
            0..=2 => WebhookChange::Disable,
            3..=6 => WebhookChange::Enable,
            7..=8 => WebhookChange::ChangeUrl(self.new_receiver()),
            9 => WebhookChange::RotateSecret {
                secret: domain::Secret::new("new"),
                previous_valid_until: super::fixture::START,
            },
            10 => WebhookChange::Unsubscribe,
            11..=13 => WebhookChange::SubscribeAgain {
                enabled: webhook.resource.is_accounting_family() || self.random.percent(60),
                description: String::new(),
            },
            _ => WebhookChange::Delete,
        };
        self.change_webhook(&webhook, change);
    }

    fn change_webhook(&mut self, webhook: &Webhook, change: WebhookChange) {
        let enables =
            matches!(change, WebhookChange::Enable | WebhookChange::SubscribeAgain { enabled: true, .. });
        let resumes = enables && !webhook.enabled;
        if !matches!(
            block_on(self.fixture.store.change_webhook(webhook.id, None, change, &AuditContext::default()))
                .unwrap(),
            WebhookChangeOutcome::Changed(_)
        ) {
            return;
        }
        if resumes {
            let head = block_on(self.fixture.store.log_bounds(&webhook.owner.tenant)).unwrap().head;
            self.oracle.expect_nothing_upto(webhook.id, head);
        }
        // The node that serves the change notifies its engine before it answers; the others get a signal.
        let notified = self.serving_node();
        if let Some(node) = notified {
            let incarnation = self.nodes[node].incarnation;
            self.input(node, incarnation, Input::WebhookChanged(webhook.id));
        }
        self.oracle.changed(webhook.clone(), Served { at: self.at, node: notified });
        self.notify_others(webhook.id, notified);
    }

    /// Most of the other nodes get a signal too.
    fn notify_others(&mut self, webhook: domain::WebhookId, notified: Option<usize>) {
        for node in (0..self.nodes.len()).filter(|node| Some(*node) != notified) {
            if self.random.percent(80) {
                let (incarnation, pause) = (self.nodes[node].incarnation, self.random.span(0..20));
                self.after(
                    pause,
                    SimEvent::Input { node, incarnation, input: Box::new(Input::WebhookChanged(webhook)) },
                );
            }
        }
    }

    fn change_behaviour(&mut self) {
        let webhooks = self.webhooks();
        if !webhooks.is_empty() {
            let url = self.random.pick(&webhooks).url.clone();
            let behaviour = Behaviour::any(&mut self.random);
            self.behaviours.insert(url, behaviour);
        }
    }

    fn crash(&mut self) {
        let node = usize::try_from(self.random.below(self.nodes.len() as u64)).unwrap();
        self.nodes[node].crash();
        let pause = self.random.span(10..8000);
        self.after(pause, SimEvent::Start { node });
    }

    /// An orderly stop, and a start afterwards.
    fn restart(&mut self) {
        let node = usize::try_from(self.random.below(self.nodes.len() as u64)).unwrap();
        self.stop(node);
        let pause = self.random.span(800..8000);
        self.after(pause, SimEvent::Start { node });
    }

    /// A node's wall clock jumps forwards or backwards by up to an hour.
    fn jump_clock(&mut self) {
        let node = usize::try_from(self.random.below(self.nodes.len() as u64)).unwrap();
        let ticks = i64::try_from(self.random.below(3600 * 10_000_000)).unwrap();
        self.nodes[node].skew = if self.random.percent(50) { ticks } else { -ticks };
    }

    /// A node stands still, as after SIGSTOP: for a moment, or for longer than its leases last.
    fn stall(&mut self) {
        let node = usize::try_from(self.random.below(self.nodes.len() as u64)).unwrap();
        let pause =
            if self.random.percent(50) { self.random.span(5..500) } else { self.random.span(500..15_000) };
        self.nodes[node].stalled_until = (self.at + pause).min(FAULTS);
    }

    /// The store does not answer a node's polls; its other queries, and the renewals of its leases, go on.
    fn hang_polls(&mut self) {
        let node = usize::try_from(self.random.below(self.nodes.len() as u64)).unwrap();
        let pause = self.random.span(500..10_000);
        self.nodes[node].polls_hang_until = self.at + pause;
    }

    /// An owner disables a webhook and soon enables it again, perhaps while attempts are in flight.
    fn disable_and_enable(&mut self) {
        let enabled: Vec<Webhook> = self.webhooks().into_iter().filter(|webhook| webhook.enabled).collect();
        if enabled.is_empty() {
            return;
        }
        let webhook = self.random.pick(&enabled).clone();
        self.change_webhook(&webhook, WebhookChange::Disable);
        let pause = self.random.span(0..60);
        self.after(pause, SimEvent::Enable(webhook.id));
    }

    pub(crate) fn enable(&mut self, webhook: domain::WebhookId) {
        let found = block_on(self.fixture.store.find_webhook(webhook)).unwrap();
        if let Some(webhook) = found {
            self.change_webhook(&webhook, WebhookChange::Enable);
        }
    }

    /// The node that serves the next change, if it can.
    fn serving_node(&mut self) -> Option<usize> {
        let node = usize::try_from(self.random.below(self.nodes.len() as u64)).unwrap();
        Some(node).filter(|node| self.nodes[*node].serves(self.at))
    }

    fn cut_off(&mut self) {
        let node = usize::try_from(self.random.below(self.nodes.len() as u64)).unwrap();
        let pause = self.random.span(100..20_000);
        self.nodes[node].cut_off_until = self.at + pause;
    }

    /// The team loses or gets back a subscription, is disabled or enabled, or a client joins or leaves it.
    fn change_team(&mut self, status: Status) {
        match self.random.below(4) {
            0 | 1 => {
                let subscription = *self.random.pick::<&str>(&SUBSCRIPTIONS);
                self.fixture.set_subscription_status(subscription, status);
            }
            2 => self.fixture.set_team_status(status),
            _ => {
                let client = *self.random.pick::<&str>(&CLIENTS);
                self.fixture.set_client_team(client, (status == Status::Active).then_some(TEAM));
            }
        }
    }

    fn change_owner_status(&mut self) {
        let status = if self.random.percent(40) { Status::Disabled } else { Status::Active };
        if self.random.percent(30) {
            self.change_team(status);
        } else if self.random.percent(20) {
            let client = *self.random.pick::<&str>(&CLIENTS);
            let products = Product::ALL.into_iter().filter(|_| self.random.percent(60)).collect();
            self.fixture.set_products(client, products);
        } else if self.random.percent(50) {
            let tenant = TenantId::new(*self.random.pick(&TENANTS));
            block_on(self.fixture.store.set_tenant_status(&tenant, status, &AuditContext::default()))
                .unwrap();
        } else {
            let client = ClientId::new(*self.random.pick::<&str>(&CLIENTS));
            block_on(self.fixture.store.set_client_status(&client, status, &AuditContext::default()))
                .unwrap();
        }
        let served = Served { at: self.at, node: self.serving_node() };
        self.oracle.status_changed(&self.fixture.store, served);
        self.signal_access(served.node, store::ChangeSet::default());
    }

    /// The process that serves a change of access moves its version before it answers, and signals its engine.
    fn signal_access(&mut self, node: Option<usize>, changes: store::ChangeSet) {
        let Some(node) = node else { return };
        let own = &mut self.nodes[node];
        own.access_version += 1;
        let (incarnation, access_version) = (own.incarnation, own.access_version);
        let input = Box::new(Input::Committed(store::ChangeSet { access_version, ..changes }));
        let pause = self.random.span(0..20);
        self.after(pause, SimEvent::Input { node, incarnation, input });
        self.after(pause, SimEvent::ReadOwners { node, incarnation });
    }

    /// A user withdraws or gives an authorization, perhaps a narrower one, or is disabled or enabled.
    fn change_access(&mut self) {
        let before = block_on(self.fixture.store.changed_webhooks(0)).unwrap().last_change;
        let (tenant, client) = (*self.random.pick(&TENANTS), *self.random.pick(&CLIENTS));
        match self.random.below(10) {
            0..=3 => self.fixture.withdraw(tenant, client),
            4..=6 => self.fixture.authorize(tenant, client, ALL_SCOPES),
            7 => {
                self.fixture.withdraw(tenant, client);
                self.fixture.authorize(tenant, client, "SVC.ES.Webhooks");
            }
            8 => self.set_account_status(Status::Disabled),
            _ => self.set_account_status(Status::Active),
        }
        self.access_changed(before);
    }

    fn set_account_status(&self, status: Status) {
        block_on(self.fixture.store.set_account_status(
            &AccountId::new(USER),
            status,
            &AuditContext::default(),
        ))
        .unwrap();
    }

    /// The node that serves the change sends nothing more from its response on; most others get a signal, and all of them poll.
    pub(crate) fn access_changed(&mut self, changes_before: u64) {
        let webhooks = block_on(self.fixture.store.changed_webhooks(changes_before)).unwrap().webhooks;
        let notified = self.serving_node();
        self.oracle.note_access(&self.fixture.store, self.at);
        let changes = store::ChangeSet { webhooks: webhooks.into_iter().collect(), ..Default::default() };
        for webhook in &changes.webhooks {
            self.oracle.access_changed(*webhook, Served { at: self.at, node: notified });
        }
        self.signal_access(notified, changes.clone());
        for node in (0..self.nodes.len()).filter(|node| Some(*node) != notified) {
            if self.random.percent(80) {
                let (incarnation, pause) = (self.nodes[node].incarnation, self.random.span(0..20));
                let input = Box::new(Input::Committed(changes.clone()));
                self.after(pause, SimEvent::Input { node, incarnation, input });
            }
        }
    }

    /// A restore loses what happened since the backup. Events that were sent since may be sent again, but none of their
    /// numbers or ids may be used for another event.
    fn back_up_or_restore(&mut self) {
        if self.random.percent(60) {
            self.fixture.back_up();
            return;
        }
        if !self.fixture.restore() {
            return;
        }
        // A restore needs every node stopped, with nothing in flight.
        self.stop_all();
        self.oracle.restored(&self.fixture.store);
        for node in 0..self.nodes.len() {
            let pause = self.random.span(10..3000);
            self.after(pause, SimEvent::Start { node });
        }
    }

    fn prune(&mut self) {
        let tenant = TenantId::new(*self.random.pick(&TENANTS));
        let age = self.random.span(20_000..60_000);
        let before = domain::Clock::now(&*self.fixture.clock).minus(age);
        block_on(self.fixture.store.prune_log(&tenant, before, 1000)).unwrap();
    }

    /// Every receiver is healthy, every node runs, no owner is disabled, and every client is authorized.
    pub(crate) fn end_faults(&mut self) {
        self.is_recovering = true;
        for behaviour in self.behaviours.values_mut() {
            *behaviour = Behaviour::Healthy;
        }
        for tenant in TENANTS {
            block_on(self.fixture.store.set_tenant_status(
                &TenantId::new(tenant),
                Status::Active,
                &AuditContext::default(),
            ))
            .unwrap();
        }
        self.fixture.set_team_status(Status::Active);
        for subscription in SUBSCRIPTIONS {
            self.fixture.set_subscription_status(subscription, Status::Active);
        }
        for client in CLIENTS {
            self.fixture.set_products(client, Products::all());
            self.fixture.set_client_team(client, Some(TEAM));
            block_on(self.fixture.store.set_client_status(
                &ClientId::new(client),
                Status::Active,
                &AuditContext::default(),
            ))
            .unwrap();
        }
        let served = Served { at: self.at, node: None };
        self.oracle.status_changed(&self.fixture.store, served);
        let before = block_on(self.fixture.store.changed_webhooks(0)).unwrap().last_change;
        self.set_account_status(Status::Active);
        for tenant in TENANTS {
            for client in CLIENTS {
                self.fixture.authorize(tenant, client, ALL_SCOPES);
            }
        }
        self.access_changed(before);
        for node in 0..self.nodes.len() {
            self.nodes[node].cut_off_until = self.nodes[node].cut_off_until.min(self.at);
            self.nodes[node].polls_hang_until = self.nodes[node].polls_hang_until.min(self.at);
            self.nodes[node].skew = 0;
            self.after(Duration::ZERO, SimEvent::Start { node });
        }
    }

    pub(crate) fn enable_disabled_webhooks(&mut self) {
        for webhook in self.webhooks() {
            if webhook.disabled.is_some() {
                self.change_webhook(&webhook, WebhookChange::Enable);
            }
        }
    }
}
