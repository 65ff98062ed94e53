//! The parts of the overview about webhooks that fail, what ends soon, the nodes and the store.

use maud::{Markup, html};
use operator::admin::{Ending, EndingKind, NodeReport, Overview, ReplicaReport, StoreReport};
use ui::app::{Column, State, Table, facts, number, short_id, state, table};
use ui::{DisplayName, safe_href, timestamp};

use super::format::{bytes, decimal};
use super::text::PartText;
use crate::context::Context;

/// The webhooks that have failed for longest.
pub(super) fn failing(context: &Context, overview: &Overview) -> Markup {
    let lang = context.lang();
    let text = PartText::of(lang);
    let columns = [Column::main(text.webhook), Column::text(text.tenant), Column::text(text.failing_since)];
    let rows = overview.failing_webhooks.iter().map(|one| {
        let href = context.console_path(&format!("webhooks/{}", one.id));
        let tenant = context.console_path(&format!("tenants/{}", one.tenant));
        let name = if one.name.trim().is_empty() { &one.url } else { &one.name };
        let cells = vec![
            html! {
                a href=(safe_href(&href)) { (DisplayName(name)) }
                span.sub.line title=(one.url) { code { (one.url) } }
            },
            html! { a href=(safe_href(&tenant)) { (DisplayName(&one.tenant_name)) } },
            timestamp(lang, one.since),
        ];
        (one.id.clone(), cells)
    });
    html! {
        section.card #failing data-live-part {
            h2 { (text.failing) }
            @if overview.failing_webhooks.is_empty() { p.muted { (text.nothing_fails) } }
            @else {
                (table(lang, &Table { caption: text.failing, columns: &columns, rows: rows.collect(), ..Table::default() }))
                p.small { a href=(safe_href(&context.console_path("webhooks?state=failing"))) { (text.all_failing) } }
            }
        }
    }
}

pub(super) fn endings(context: &Context, endings: &[Ending]) -> Markup {
    let lang = context.lang();
    let text = PartText::of(lang);
    let columns = [Column::main(text.what), Column::text(text.kind), Column::text(text.ends)];
    let rows = endings.iter().map(|one| {
        let (kind, page) = match one.kind {
            EndingKind::Certificate => (text.certificate, "doctor".to_owned()),
            EndingKind::OperatorCertificate => (text.operator_certificate, "doctor".to_owned()),
            EndingKind::OperatorToken => (text.operator_token, "tokens".to_owned()),
            EndingKind::ClientSecret => (text.client_secret, format!("clients/{}", one.id)),
            EndingKind::SubscriptionKey => (text.subscription_key, format!("subscriptions/{}", one.id)),
            EndingKind::SigningKey => (text.signing_key, "signing-keys".to_owned()),
        };
        let href = context.console_path(&page);
        let cells = vec![
            html! {
                a href=(safe_href(&href)) {
                    @if one.kind == EndingKind::SigningKey { (short_id(&one.name)) } @else { (DisplayName(&one.name)) }
                }
            },
            html! { (kind) },
            timestamp(lang, one.at),
        ];
        (format!("{}-{}", kind, one.id), cells)
    });
    html! {
        section.card #endings data-live-part {
            h2 { (text.endings) }
            @if endings.is_empty() { p.muted { (text.nothing_ends) } }
            @else { (table(lang, &Table { caption: text.endings, columns: &columns, rows: rows.collect(), ..Table::default() })) }
        }
    }
}

pub(super) fn nodes(context: &Context, nodes: &[NodeReport]) -> Markup {
    let lang = context.lang();
    let text = PartText::of(lang);
    let columns = [
        Column::main(text.node),
        Column::text(text.version),
        Column::text(text.running_since),
        Column::text(text.last_seen),
        Column::number(text.shards),
        Column::number(text.webhooks),
        Column::number(text.behind),
    ];
    let rows = nodes.iter().map(|node| {
        let cells = vec![
            html! { @if node.host.is_empty() { (short_id(&node.id)) } @else { (DisplayName(&node.host)) span.sub { (short_id(&node.id)) } } },
            version(&node.version),
            html! { @if node.version.is_empty() { "–" } @else { (timestamp(lang, node.started_at)) } },
            timestamp(lang, node.last_seen_at),
            html! { (node.shards) },
            html! { (number(lang, node.webhooks)) },
            html! { (number(lang, node.events_behind)) },
        ];
        (node.id.clone(), cells)
    });
    html! {
        section.card #nodes data-live-part {
            h2 { (text.nodes) }
            (table(lang, &Table { caption: text.nodes, columns: &columns, rows: rows.collect(), ..Table::default() }))
        }
    }
}

/// The commit that it was built from is below the number.
fn version(version: &str) -> Markup {
    let (number, commit) = version.split_once(' ').unwrap_or((version, ""));
    html! {
        @if number.is_empty() { "–" } @else { code { (number) } }
        @if !commit.is_empty() { span.sub { code.whole { (commit.trim_matches(['(', ')'])) } } }
    }
}

pub(super) fn store(context: &Context, report: &StoreReport) -> Markup {
    let lang = context.lang();
    let text = PartText::of(lang);
    let unknown = || html! { (text.unknown) };
    let size = |value: Option<u64>| value.map_or_else(unknown, |value| html! { (bytes(lang, value)) });
    let kind = match report.kind {
        "sqlite" => "SQLite",
        "postgresql" => "PostgreSQL",
        other => other,
    };
    let mut rows = vec![
        (text.database, html! { (kind) " " (report.version.as_deref().unwrap_or_default()) }),
        (text.size, size(report.size_bytes)),
        (
            text.commits,
            report.commits_per_second.map_or_else(unknown, |rate| html! { (decimal(lang, rate)) }),
        ),
        (text.queued, html! { (number(lang, report.queued)) }),
    ];
    if let Some(wal) = report.wal_bytes {
        rows.push((text.wal, html! { (bytes(lang, wal)) }));
    }
    if report.kind == "postgresql" {
        rows.push((text.replicas, replicas(context, report.replicas.as_deref())));
    }
    html! { section.card #store data-live-part { h2 { (text.store) } (facts(&rows)) } }
}

fn replicas(context: &Context, replicas: Option<&[ReplicaReport]>) -> Markup {
    let lang = context.lang();
    let text = PartText::of(lang);
    let one = |replica: &ReplicaReport| {
        let kind = if replica.state == "streaming" { State::Ok } else { State::Waiting };
        html! {
            li {
                (DisplayName(&replica.name)) " · " (state(kind, &replica.state))
                @if let Some(lag) = replica.lag_bytes { " · " (text.lag) " " (bytes(lang, lag)) }
                @if let Some(millis) = replica.lag_millis { ", " (number(lang, millis)) " ms" }
            }
        }
    };
    match replicas {
        None => html! { (text.replicas_unknown) },
        Some([]) => html! { (text.no_replicas) },
        Some(all) => html! { ul.links { @for replica in all { (one(replica)) } } },
    }
}
