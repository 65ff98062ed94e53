//! `aldaba changes`: loads records through the changes door, or makes sample ones.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use domain::TenantId;
use futures_util::Stream;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use operator::ingest::{Ingest, IngestError, IngestRequest};
use serde_json::Value;
use store::BatchCounts;
use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::{opened, remote};
use crate::cli::Changes;
use crate::config::Sources;
use crate::exit::{Failure, Outcome};
use crate::output::{Output, on_terminal};
use crate::wiring::SystemRandom;

const PIECE_BYTES: usize = 64 * 1024;

pub(crate) async fn run(command: Changes, sources: &Sources, output: Output) -> Outcome {
    let Changes::Apply { file, tenant, url, token, idempotency_key } = command else {
        return Ok(());
    };
    let (input, size) = open(&file).await?;
    let bar = bar(size, output);
    let counted = bar.clone();
    let body = pieces(input, move |bytes| counted.inc(bytes as u64));
    let answer = if let (Some(url), Some(token)) = (url, token) {
        remote::send(&url, &token, &tenant, idempotency_key.as_deref(), body).await?
    } else {
        let (_, opened) = opened(sources).await?;
        let ingest = Ingest::new(opened.store.clone(), Arc::new(SystemRandom));
        let request = IngestRequest { tenant: TenantId::new(tenant), idempotency_key, is_json: false };
        let said = bar.clone();
        let progress = move |tally: &BatchCounts| said.set_message(counts(tally.accepted, tally.rejected));
        let taken = ingest.run(&request, Box::pin(body), progress).await.map_err(failure)?;
        opened.store.close().await;
        serde_json::from_str(&taken.json()).map_err(|error| Failure::Failed(error.to_string()))?
    };
    bar.finish_and_clear();
    report(&answer, output)
}

fn failure(error: IngestError) -> Failure {
    let accepted = error.counts().accepted;
    match error {
        IngestError::Store(error, _) => {
            if accepted > 0 {
                crate::output::say(&format!("{accepted} changes were accepted before and stay"));
            }
            error.into()
        }
        IngestError::OtherBody(_) => Failure::Refused(error.to_string()),
        other => Failure::Failed(format!("{other}; {accepted} changes were accepted before and stay")),
    }
}

fn report(answer: &Value, output: Output) -> Outcome {
    let number = |name: &str| answer[name].as_u64().unwrap_or(0);
    let (accepted, rejected) = (number("accepted"), number("rejected"));
    for error in answer["errors"].as_array().into_iter().flatten().take(20) {
        let (line, message) = (&error["line"], error["message"].as_str().unwrap_or_default());
        output.say(&format!("line {line}: {message}"));
    }
    output.result(answer, || {
        let last = answer["lastSequenceVersion"].as_str().unwrap_or_default();
        format!("{}; lastSequenceVersion {last}", counts(accepted, rejected))
    });
    if rejected > 0 { Err(Failure::SomeRejected) } else { Ok(()) }
}

fn counts(accepted: u64, rejected: u64) -> String {
    format!("{accepted} accepted, {rejected} rejected")
}

type Input = Box<dyn AsyncRead + Send + Unpin>;

async fn open(file: &Path) -> Result<(Input, Option<u64>), Failure> {
    if file == Path::new("-") {
        return Ok((Box::new(tokio::io::stdin()), None));
    }
    let cannot = |error: std::io::Error| Failure::Failed(format!("{}: {error}", file.display()));
    let opened = tokio::fs::File::open(file).await.map_err(cannot)?;
    let size = opened.metadata().await.map_err(cannot)?.len();
    Ok((Box::new(opened), Some(size)))
}

/// The input in pieces; `read` hears the size of each.
fn pieces(input: Input, read: impl Fn(usize) + Send) -> impl Stream<Item = std::io::Result<Bytes>> + Send {
    futures_util::stream::try_unfold((input, read), async |(mut input, read)| {
        let mut piece = Vec::with_capacity(PIECE_BYTES);
        let count = (&mut input).take(PIECE_BYTES as u64).read_to_end(&mut piece).await?;
        read(count);
        Ok((count > 0).then(|| (Bytes::from(piece), (input, read))))
    })
}

fn bar(size: Option<u64>, output: Output) -> ProgressBar {
    if output.json || !on_terminal() {
        return ProgressBar::hidden();
    }
    let bar = size.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.set_draw_target(ProgressDrawTarget::stderr());
    let look = "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {msg}";
    if let Ok(style) = ProgressStyle::with_template(look) {
        bar.set_style(style);
    }
    bar
}

pub(crate) fn generate(seed: u64, companies: u32, customers: u32) -> Outcome {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in sample::changes(sample::Plan { seed, companies, customers_per_company: customers }) {
        if let Err(error) = writeln!(out, "{line}") {
            // Whoever read this has had enough.
            return if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error.into()) };
        }
    }
    Ok(out.flush()?)
}
