//! Charts as inline SVG, each with its numbers in a table behind it.

use maud::{Markup, html};

use super::number;
use crate::Lang;

/// In the units of the picture, which is stretched to the page.
const WIDTH: u64 = 720;
/// In hundredths: few bars are no slabs.
const BAR_WIDTH_MAX: u64 = 2400;
const HEIGHT: u64 = 160;
/// Words below the bars.
const TICKS_MAX: usize = 8;

/// One column of a chart.
#[derive(Clone, Debug)]
pub struct ChartPoint {
    /// As the table shows it.
    pub label: Markup,
    /// As the axis shows it: short.
    pub tick: Markup,
    pub ok: u64,
    pub bad: u64,
}

/// Counts over time, what succeeded below what failed.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// Names the chart on its page.
    pub id: &'a str,
    pub title: &'a str,
    pub time: &'a str,
    pub ok: &'a str,
    pub bad: &'a str,
    pub points: &'a [ChartPoint],
}

/// Fewer points, each the sum of `size`: a week of hours is more bars than a phone shows. The first one of each names it.
pub fn in_groups(points: &[ChartPoint], size: usize) -> Vec<ChartPoint> {
    let sum = |group: &[ChartPoint]| {
        let first = group.first()?;
        let (ok, bad) = group
            .iter()
            .fold((0u64, 0u64), |(ok, bad), one| (ok.saturating_add(one.ok), bad.saturating_add(one.bad)));
        Some(ChartPoint { ok, bad, ..first.clone() })
    };
    points.chunks(size.max(1)).filter_map(sum).collect()
}

pub fn chart(lang: Lang, chart: &Chart<'_>) -> Markup {
    let show = match lang {
        Lang::Es => "Ver como tabla",
        Lang::En => "Show as table",
    };
    let highest = chart.points.iter().map(|point| point.ok.saturating_add(point.bad)).max().unwrap_or(0);
    html! {
        div {
            p.legend aria-hidden="true" {
                span { (chart.ok) }
                span.bad { (chart.bad) }
            }
            (bars(lang, chart, nice_ceiling(highest)))
            details.more id={ (chart.id) "-table" } {
                summary { (show) }
                // Three short columns fit a phone: its rows are no cards. Many of them scroll.
                div.numbers tabindex="0" role="region" aria-label=(chart.title) {
                    table {
                        caption.visually-hidden { (chart.title) }
                        thead { tr { th scope="col" { (chart.time) } th.number scope="col" { (chart.ok) } th.number scope="col" { (chart.bad) } } }
                        tbody {
                            @for point in chart.points {
                                tr {
                                    td { (point.label) }
                                    td.number { (number(lang, point.ok)) }
                                    td.number { (number(lang, point.bad)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Bars that are as wide as the page allows: the words around them are no part of the picture, so that they stay readable.
fn bars(lang: Lang, chart: &Chart<'_>, ceiling: u64) -> Markup {
    let count = u64::try_from(chart.points.len()).unwrap_or(u64::MAX).max(1);
    let slot = WIDTH * 100 / count;
    let bar_width = (slot * 7 / 10).clamp(1, BAR_WIDTH_MAX);
    // Whole units are too coarse for small shares: hundredths.
    let scaled = |value: u64| {
        u64::try_from(u128::from(value) * u128::from(HEIGHT * 100) / u128::from(ceiling.max(1))).unwrap_or(0)
    };
    let at = |hundredths: u64| format!("{}.{:02}", hundredths / 100, hundredths % 100);
    html! {
        div.plot {
            div.scale aria-hidden="true" {
                @for value in [ceiling, ceiling / 2, 0] { span { (number(lang, value)) } }
            }
            svg.chart viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } preserveAspectRatio="none" role="img" aria-label=(chart.title) {
                @for y in [0, HEIGHT / 2, HEIGHT] { line.axis x1="0" x2=(WIDTH) y1=(y) y2=(y) {} }
                @for (index, point) in (0u64..).zip(chart.points) {
                    @let x = index * slot + (slot - bar_width) / 2;
                    @let (ok, bad) = (scaled(point.ok), scaled(point.bad));
                    @let floor = HEIGHT * 100;
                    @if point.ok > 0 {
                        rect.bar-ok x=(at(x)) y=(at(floor.saturating_sub(ok.max(100)))) width=(at(bar_width)) height=(at(ok.max(100))) {}
                    }
                    @if point.bad > 0 {
                        rect.bar-bad x=(at(x)) y=(at(floor.saturating_sub(ok + bad.max(100)))) width=(at(bar_width)) height=(at(bad.max(100))) {}
                    }
                }
            }
            (ticks(chart))
        }
    }
}

/// One place per point, so that words stand below their bars at any width. On a phone every second word is left out.
fn ticks(chart: &Chart<'_>) -> Markup {
    let every = chart.points.len().div_ceil(TICKS_MAX).max(1);
    html! {
        div.ticks aria-hidden="true" {
            @for (index, point) in chart.points.iter().enumerate() {
                @if index % every == 0 { i .minor[index / every % 2 == 1] { span { (point.tick) } } } @else { i {} }
            }
        }
    }
}

/// A round number at or above `value`, so that the axis reads well; at least 4, so that its half is whole.
fn nice_ceiling(value: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        for step in [4, 6, 8, 10, 20] {
            let ceiling = power.saturating_mul(step);
            if ceiling >= value {
                return ceiling;
            }
        }
        power = power.saturating_mul(10);
    }
}

/// How much of a limit is used.
pub fn meter(label: &str, used: u64, limit: u64) -> Markup {
    let percent = (u128::from(used) * 100 / u128::from(limit.max(1))).min(100);
    html! {
        div.meter .full[percent >= 100] {
            svg viewBox="0 0 100 4" preserveAspectRatio="none" role="img" aria-label=(label) {
                rect x="0" y="0" width=(percent) height="4" {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_round_numbers() {
        for (value, ceiling) in
            [(0, 4), (4, 4), (5, 6), (9, 10), (11, 20), (21, 40), (99, 100), (101, 200), (12_345, 20_000)]
        {
            assert_eq!(nice_ceiling(value), ceiling, "{value}");
        }
        assert_eq!(nice_ceiling(u64::MAX), u64::MAX);
    }

    #[test]
    fn groups_add_up() {
        let point = |ok: u64| ChartPoint { label: html! { (ok) }, tick: html! { "a" }, ok, bad: 1 };
        let points: Vec<ChartPoint> = (1..=7).map(point).collect();
        let sums: Vec<_> =
            in_groups(&points, 3).into_iter().map(|one| (one.label.into_string(), one.ok, one.bad)).collect();
        assert_eq!(sums, [("1".into(), 6, 3), ("4".into(), 15, 3), ("7".into(), 7, 1)]);
        assert_eq!(in_groups(&points, 0).len(), 7);
    }

    #[test]
    fn chart_shows_its_numbers_in_a_table() {
        let point = |ok, bad| ChartPoint { label: html! { "a" }, tick: html! { "a" }, ok, bad };
        let points = [point(12_345, 1), point(0, 0)];
        let markup = chart(
            Lang::En,
            &Chart {
                id: "c",
                title: "Deliveries",
                time: "Time",
                ok: "Delivered",
                bad: "Failed",
                points: &points,
            },
        )
        .into_string();
        assert!(markup.contains("12,345"), "{markup}");
        assert_eq!(markup.matches("class=\"bar-ok\"").count(), 1);
        assert_eq!(markup.matches("class=\"bar-bad\"").count(), 1);
        assert!(!markup.contains("style="), "{markup}");
    }
}
