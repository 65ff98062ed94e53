//! A tenant that floods beside one that does not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Bed, CALL_TIMEOUT, IN_FLIGHT_MAX, Maximum, ms, ratio, tell_failures, tell_kinds};
use crate::background::Background;
use crate::http::Http;
use crate::load::{Target, change_line};
use crate::process::PAUSE;
use crate::service::Service;
use crate::{Fallible, Options, Part};

impl Bed {
    /// Another tenant sends changes without a pause while this one goes on as usual.
    pub(super) async fn flood(&self, options: &Options, max: &Maximum) -> Fallible<Part> {
        let span = options.span(Duration::from_secs(30), Duration::from_secs(3));
        let mut part = Part::new(
            "a tenant that floods",
            format!(
                "Another tenant sends changes over 16 connections without a pause, 100 lines a request over half of them and 2,000 over the others, for {} s, beside 5 % of the maximum of this tenant.",
                span.as_secs()
            ),
        );
        let quiet = self.traffic.offered(max.rate * 0.05, span, IN_FLIGHT_MAX).await?;
        self.service.command(&["tenant", "add", "Flood", "--id", "flood"], "")?;
        let company = change_company();
        let http = Http::new(CALL_TIMEOUT)?;
        self.service
            .send_lines_to(&http, "flood", &self.target.operator_url, &company, "flood")
            .await?
            .expect(200)?;
        let background = Background::start()?;
        let began = Instant::now();
        let until = began + span;
        let floods: Vec<_> = (0..16)
            .map(|lane| {
                background.handle().spawn(flood(self.service.clone(), self.target.clone(), lane, until))
            })
            .collect();
        let seen = self.traffic.offered(max.rate * 0.05, span, IN_FLIGHT_MAX).await?;
        let mut lanes = Vec::new();
        for flood in floods {
            lanes.push(flood.await??);
        }
        // With the time of the last requests, which count as well.
        let flooded = lanes.iter().sum::<u64>() as f64 / began.elapsed().as_secs_f64();
        tell_failures(&seen);
        part.tell("changes of the flood", format!("{flooded:.0} a second"));
        let own = seen.rate() / 8.0;
        part.at_least("the flood beside the changes of the other tenant", flooded / own, 10.0, "×");
        part.none(
            "connections of the flood without an accepted request",
            lanes.iter().filter(|sent| **sent == 0).count(),
        );
        part.none("calls of the other tenant that failed, were refused or not begun", seen.not_done());
        part.tell(
            "p99 without and with the flood",
            format!("{:.1} ms and {:.1} ms", ms(quiet.p99()), ms(seen.p99())),
        );
        tell_kinds(&mut part, &seen);
        part.at_most(
            "p99 of the other tenant beside its p99 without the flood",
            ratio(&seen, &quiet),
            1.5,
            "×",
        );
        Ok(part)
    }
}

fn change_company() -> String {
    json!({
        "area": "accounting", "resource": "companies", "action": "upsert", "correlationId": crate::service::COMPANY,
        "data": {"vatName": "Flood S.L.", "vatNumber": "B12345674", "chartOfAccountId": 1, "accountLength": 12},
    })
    .to_string()
}

async fn flood(service: Arc<Service>, target: Target, lane: u64, until: Instant) -> Fallible<u64> {
    let (http, run, mut sent) = (Http::new(CALL_TIMEOUT)?, crate::load::new_run(), 0);
    let lines_each = if lane.is_multiple_of(2) { 100 } else { 2000 };
    while Instant::now() < until {
        let first = (lane << 40) + sent;
        let lines: Vec<String> = (first..first + lines_each)
            .map(|number| change_line(&format!("f{lane}-{}", number % 500), number))
            .collect();
        let key = format!("{run}-{first}");
        let answer =
            service.send_lines_to(&http, "flood", &target.operator_url, &lines.join("\n"), &key).await?;
        match answer.status.as_u16() {
            200 => sent += lines_each,
            429 | 503 => tokio::time::sleep(PAUSE).await,
            _ => return Err(answer.text().into()),
        }
    }
    Ok(sent)
}
