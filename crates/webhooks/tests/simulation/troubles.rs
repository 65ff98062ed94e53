//! What goes wrong, and what owners and operators do meanwhile.

use std::time::Duration;

use domain::TenantId;
use store::{
    ChangeLog as _, Clients as _, Directory as _, Status, Webhook, WebhookChange, WebhookChangeOutcome,
    Webhooks as _,
};
use webhooks::engine::Input;

use super::receiver::Mood;
use super::stage::{CLIENTS, TENANTS, client_named, now, some_webhook};
use super::world::{Happening, World};

const WEBHOOKS_MAX: usize = 8;

impl World {
    /// Something changes in the records; nodes are told of it, mostly.
    pub(crate) fn change(&mut self) {
        if self.is_peace && self.chance.percent(50) {
            return;
        }
        let pause =
            if self.chance.percent(70) { self.chance.span(1..60) } else { self.chance.span(100..2500) };
        self.after(pause, Happening::Change);
        let (tenant, resource) = self.stage.change(&mut self.chance);
        self.oracle.learn(&self.stage.store);
        for node in 0..self.nodes.len() {
            if self.chance.percent(85) {
                let mut changes = store::ChangeSet::default();
                let resources = store::ResourceSet::default().with(resource);
                changes.tenants.insert(TenantId::new(tenant), resources);
                let (flags, pause) = (self.nodes[node].flags, self.chance.span(0..20));
                self.after(pause, Happening::Input { node, flags, input: Box::new(Input::Rang(changes)) });
            }
        }
    }

    pub(crate) fn retry(&mut self) {
        if self.is_peace {
            return;
        }
        let pause = self.chance.span(10..1500);
        self.after(pause, Happening::RetryState);
        match self.chance.below(20) {
            0..=3 => self.subscribe(),
            4..=7 => self.manage(),
            8..=11 => self.change_mood(),
            12..=13 => self.crash(),
            14 => self.jump(),
            15 => self.cut_off(),
            16 => self.suspend(),
            17 => self.prune(),
            18 => self.back_up_or_restore(),
            _ => {}
        }
    }

    fn subscribe(&mut self) {
        if self.webhooks().len() >= WEBHOOKS_MAX {
            return;
        }
        let url = self.some_url();
        let new = some_webhook(&mut self.chance, url);
        let id = new.id;
        now(self.stage.store.subscribe(new, 100)).unwrap();
        self.oracle.changed(id, self.at, None);
        self.tell(id, None);
    }

    /// A webhook that wants everything, at a receiver that is well.
    pub(crate) fn subscribe_one(&mut self) -> domain::WebhookId {
        let url = "https://receiver.example/hook".to_owned();
        self.moods.insert(url.clone(), Mood::Well);
        let mut new = some_webhook(&mut self.chance, url);
        new.kinds = new.resource.event_kinds().iter().copied().collect();
        new.enabled = true;
        let id = new.id;
        now(self.stage.store.subscribe(new, 100)).unwrap();
        self.tell(id, None);
        id
    }

    fn some_url(&mut self) -> String {
        let url = format!("https://receiver-{}.example/hook", self.chance.number());
        let mood = Mood::any(&mut self.chance);
        self.moods.insert(url.clone(), mood);
        url
    }

    fn manage(&mut self) {
        let webhooks = self.webhooks();
        if webhooks.is_empty() {
            return;
        }
        let webhook = self.chance.pick(&webhooks).clone();
        let change = match self.chance.below(12) {
            0..=2 => WebhookChange::Disable,
            3..=6 => WebhookChange::Enable,
            7..=8 => WebhookChange::ChangeUrl(self.some_url()),
            9 => WebhookChange::RotateSecret {
                secret: domain::Secret::new("new"),
                previous_valid_until: super::stage::START,
            },
            10 => WebhookChange::Unsubscribe,
            _ => WebhookChange::Delete,
        };
        self.change_webhook(&webhook, change);
    }

    fn change_webhook(&mut self, webhook: &Webhook, change: WebhookChange) {
        let resumes = change == WebhookChange::Enable && !webhook.enabled;
        if !matches!(
            now(self.stage.store.change_webhook(webhook.id, None, change)).unwrap(),
            WebhookChangeOutcome::Changed(_)
        ) {
            return;
        }
        if resumes {
            let head = now(self.stage.store.log_bounds(&webhook.owner.tenant)).unwrap().head;
            self.oracle.excuse(webhook.id, head);
        }
        // Through some node, which is told before the answer is given; the others hear of it.
        let node = usize::try_from(self.chance.below(self.nodes.len() as u64)).unwrap();
        let told = self.nodes[node].core.is_some() && !self.nodes[node].is_cut_off(self.at);
        let told = told.then_some(node);
        if let Some(node) = told {
            let flags = self.nodes[node].flags;
            self.input(node, flags, Input::Touched(webhook.id));
        }
        self.oracle.changed(webhook.id, self.at, told);
        self.tell(webhook.id, told);
    }

    /// The other nodes are told too, mostly.
    fn tell(&mut self, webhook: domain::WebhookId, told: Option<usize>) {
        for node in (0..self.nodes.len()).filter(|node| Some(*node) != told) {
            if self.chance.percent(80) {
                let (flags, pause) = (self.nodes[node].flags, self.chance.span(0..20));
                self.after(pause, Happening::Input { node, flags, input: Box::new(Input::Touched(webhook)) });
            }
        }
    }

    fn change_mood(&mut self) {
        let webhooks = self.webhooks();
        if !webhooks.is_empty() {
            let url = self.chance.pick(&webhooks).url.clone();
            let mood = Mood::any(&mut self.chance);
            self.moods.insert(url, mood);
        }
    }

    fn crash(&mut self) {
        let node = usize::try_from(self.chance.below(self.nodes.len() as u64)).unwrap();
        self.nodes[node].crash();
        let pause = self.chance.span(10..8000);
        self.after(pause, Happening::Start { node });
    }

    /// A clock jumps, forwards or backwards, by up to an hour.
    fn jump(&mut self) {
        let node = usize::try_from(self.chance.below(self.nodes.len() as u64)).unwrap();
        let ticks = i64::try_from(self.chance.below(3600 * 10_000_000)).unwrap();
        self.nodes[node].skew = if self.chance.percent(50) { ticks } else { -ticks };
    }

    fn cut_off(&mut self) {
        let node = usize::try_from(self.chance.below(self.nodes.len() as u64)).unwrap();
        let pause = self.chance.span(100..20_000);
        self.nodes[node].cut_off_until = self.at + pause;
    }

    fn suspend(&mut self) {
        let status = if self.chance.percent(40) { Status::Disabled } else { Status::Active };
        if self.chance.percent(50) {
            let tenant = TenantId::new(*self.chance.pick(&TENANTS));
            now(self.stage.store.set_tenant_status(&tenant, status)).unwrap();
        } else {
            let client = client_named(self.chance.pick::<&str>(&CLIENTS), status);
            now(self.stage.store.update_client(&client)).unwrap();
        }
        self.oracle.standing_changed(self.at);
    }

    /// What happened between the backup and the restore is gone; what was sent meanwhile may be sent again, and no number
    /// or id of it stands for anything else.
    fn back_up_or_restore(&mut self) {
        if self.chance.percent(60) {
            self.stage.back_up();
            return;
        }
        if !self.stage.restore() {
            return;
        }
        // Every node was stopped for that, and nothing of theirs is under way.
        self.stop_all();
        self.oracle.restored(&self.stage.store, self.at);
        for node in 0..self.nodes.len() {
            let pause = self.chance.span(10..3000);
            self.after(pause, Happening::Start { node });
        }
    }

    fn prune(&mut self) {
        let tenant = TenantId::new(*self.chance.pick(&TENANTS));
        let age = self.chance.span(20_000..60_000);
        let before = domain::Clock::now(&*self.stage.clock).minus(age);
        now(self.stage.store.prune_log(&tenant, before, 1000)).unwrap();
    }

    /// Everybody is well, every node lives, nobody is disabled.
    pub(crate) fn make_peace(&mut self) {
        self.is_peace = true;
        for mood in self.moods.values_mut() {
            *mood = Mood::Well;
        }
        for tenant in TENANTS {
            now(self.stage.store.set_tenant_status(&TenantId::new(tenant), Status::Active)).unwrap();
        }
        for client in CLIENTS {
            now(self.stage.store.update_client(&client_named(client, Status::Active))).unwrap();
        }
        self.oracle.standing_changed(self.at);
        for node in 0..self.nodes.len() {
            self.nodes[node].cut_off_until = self.nodes[node].cut_off_until.min(self.at);
            self.nodes[node].skew = 0;
            self.after(Duration::ZERO, Happening::Start { node });
        }
    }

    pub(crate) fn enable_the_disabled(&mut self) {
        for webhook in self.webhooks() {
            if webhook.disabled.is_some() {
                self.change_webhook(&webhook, WebhookChange::Enable);
            }
        }
    }
}
