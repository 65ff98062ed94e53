//! Charts and tables of the traffic.

use maud::{Markup, html};
use operator::admin::{AreaTraffic, OutcomeCounts, SeriesTraffic, Span, TrafficReport};
use ui::app::{Chart, ChartPoint, Column, Table, chart, in_groups, number, table, tabs};
use ui::{Lang, safe_href, tick_time, timestamp};

use super::format::latency;
use super::text::TrafficText;
use crate::context::Context;

/// A week has four bars a day.
const HOURS_PER_BAR: usize = 6;

pub(super) fn spans(context: &Context, current: Span) -> Markup {
    let text = TrafficText::of(context.lang());
    let tab = |span: Span| {
        let label = match span {
            Span::Hour => text.hour,
            Span::Day => text.day,
            Span::Week => text.week,
        };
        (label, context.here(&["span"], [("span", span.as_str())]), span == current)
    };
    tabs(text.span, &Span::ALL.map(tab))
}

/// The calls of all areas or of one, sign-ins and deliveries.
pub(super) fn traffic(context: &Context, report: &TrafficReport) -> Markup {
    let lang = context.lang();
    let text = TrafficText::of(lang);
    let is_known = |area: &&str| report.areas.iter().any(|one| one.area == *area);
    let wanted = context.query.get("area").filter(is_known);
    let areas = || report.areas.iter().filter(|one| wanted.is_none_or(|area| area == one.area));
    let answered = |counts: &OutcomeCounts| (counts.total() - counts.failed, counts.failed);
    let calls = points(lang, report.span, &areas().map(|one| &one.calls).collect::<Vec<_>>(), answered);
    let sign_ins = |counts: &OutcomeCounts| (counts.succeeded, counts.total() - counts.succeeded);
    let sign_ins = points(lang, report.span, &[&report.sign_ins], sign_ins);
    let delivered = |counts: &OutcomeCounts| (counts.succeeded, counts.failed);
    let deliveries = points(lang, report.span, &[&report.deliveries], delivered);
    html! {
        @if report.span == Span::Week { p.small.muted { (text.six_hours) } }
        section.card #calls data-live-part {
            h2 { (text.calls) @if let Some(area) = wanted { " · " (area) } }
            @if areas().all(|one| one.calls.total.total() == 0) { p.muted { (text.no_calls) } }
            @else { (chart(lang, &Chart { id: "calls-chart", title: text.calls, time: text.time, ok: text.answered, bad: text.failed, points: &calls })) }
            (by_area(context, report))
            @if wanted.is_some() { p.small { a href=(safe_href(&context.here(&["area"], []))) { (text.all_areas) } } }
        }
        section.card #sign-ins data-live-part {
            h2 { (text.sign_ins) }
            @if report.sign_ins.total.total() == 0 { p.muted { (text.no_sign_ins) } }
            @else {
                (chart(lang, &Chart { id: "sign-ins-chart", title: text.sign_ins, time: text.time, ok: text.signed_in, bad: text.refused, points: &sign_ins }))
            }
        }
        section.card #deliveries data-live-part {
            h2 { (text.deliveries) }
            @if report.deliveries.total.total() == 0 { p.muted { (text.no_deliveries) } }
            @else {
                (latencies(lang, &report.deliveries))
                (chart(lang, &Chart { id: "deliveries-chart", title: text.deliveries, time: text.time, ok: text.delivered, bad: text.failed_attempts, points: &deliveries }))
            }
        }
        p.small { a href=(safe_href(&context.here(&[], [("format", "csv")]))) download { (text.csv) } }
    }
}

/// The points of series added up; `split` returns the successes and the failures of one.
fn points(
    lang: Lang,
    span: Span,
    series: &[&SeriesTraffic],
    split: impl Fn(&OutcomeCounts) -> (u64, u64),
) -> Vec<ChartPoint> {
    let Some(first) = series.first() else { return Vec::new() };
    let point = |(index, at): (usize, domain::Ticks)| {
        let all = series.iter().filter_map(|one| one.points.get(index));
        let (ok, bad) =
            all.map(|point| split(&point.counts)).fold((0, 0), |(ok, bad), more| (ok + more.0, bad + more.1));
        ChartPoint { label: timestamp(lang, at), tick: tick_time(lang, at, span == Span::Week), ok, bad }
    };
    let points: Vec<ChartPoint> =
        first.points.iter().map(|point| point.start).enumerate().map(point).collect();
    if span == Span::Week { in_groups(&points, HOURS_PER_BAR) } else { points }
}

fn latencies(lang: Lang, series: &SeriesTraffic) -> Markup {
    html! {
        dl.figures {
            div { dt { "p50" } dd { (latency(lang, series.p50_micros)) } }
            div { dt { "p95" } dd { (latency(lang, series.p95_micros)) } }
            div { dt { "p99" } dd { (latency(lang, series.p99_micros)) } }
        }
    }
}

fn by_area(context: &Context, report: &TrafficReport) -> Markup {
    let lang = context.lang();
    let text = TrafficText::of(lang);
    let columns = [
        Column::main(text.area),
        Column::number(text.calls),
        Column::number(text.failed),
        Column::number(text.refused),
        Column::number(text.limited),
        Column::number("p50"),
        Column::number("p95"),
        Column::number("p99"),
    ];
    let cells = |one: &AreaTraffic| {
        let (href, total) = (context.here(&["area"], [("area", one.area)]), &one.calls.total);
        let count = |value| html! { (number(lang, value)) };
        let time = |micros| html! { (latency(lang, micros)) };
        vec![
            html! { a href=(safe_href(&href)) { (one.area) } },
            count(total.total()),
            count(total.failed),
            count(total.refused),
            count(total.limited),
            time(one.calls.p50_micros),
            time(one.calls.p95_micros),
            time(one.calls.p99_micros),
        ]
    };
    let rows = report.areas.iter().map(|one| (one.area.to_owned(), cells(one))).collect();
    table(lang, &Table { caption: text.by_area, columns: &columns, rows, ..Table::default() })
}

/// All points of all series, for CSV.
pub(super) fn csv_rows(report: &TrafficReport) -> Vec<Vec<String>> {
    let areas = report.areas.iter().map(|one| (one.area, &one.calls));
    let others = [("sign_ins", &report.sign_ins), ("deliveries", &report.deliveries)];
    let rows = |(name, series): (&str, &SeriesTraffic)| {
        let name = name.to_owned();
        series
            .points
            .iter()
            .map(move |point| {
                let OutcomeCounts { succeeded, refused, limited, failed } = point.counts;
                let counts = [succeeded, refused, limited, failed].map(|count| count.to_string());
                [vec![name.clone(), point.start.iso()], counts.to_vec()].concat()
            })
            .collect::<Vec<_>>()
    };
    areas.chain(others).flat_map(rows).collect()
}
