//! `aldaba changes`: loads records into a tenant, or generates sample records.

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

use super::{ingest_client, open_store};
use crate::cli::Changes;
use crate::config::Sources;
use crate::exit::{CommandResult, Failure};
use crate::output::{Output, on_terminal};
use crate::wiring::SystemRandom;

const CHUNK_BYTES: usize = 64 * 1024;

pub(crate) async fn run(command: Changes, sources: &Sources, output: Output) -> CommandResult {
    let Changes::Apply { file, tenant, url, token, idempotency_key } = command else {
        return Ok(());
    };
    let (input, size) = open(&file).await?;
    let bar = progress_bar(size, output);
    let counted = bar.clone();
    let body = chunks(input, move |bytes| counted.inc(bytes as u64));
    let answer = if let (Some(url), Some(token)) = (url, token) {
        ingest_client::send(&url, &token, &tenant, idempotency_key.as_deref(), body).await?
    } else {
        let (_, opened) = open_store(sources).await?;
        let ingest = Ingest::new(opened.store.clone(), Arc::new(SystemRandom));
        let mut request = IngestRequest::new(&super::authority(), TenantId::new(tenant))?;
        request.idempotency_key = idempotency_key;
        let message = bar.clone();
        let progress = move |tally: &BatchCounts| message.set_message(counts(tally.accepted, tally.rejected));
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
                crate::output::print_message(&format!("{accepted} changes were already applied and remain"));
            }
            error.into()
        }
        IngestError::OtherBody(_) => Failure::Refused(error.to_string()),
        other => Failure::Failed(format!("{other}; {accepted} changes were already applied and remain")),
    }
}

fn report(answer: &Value, output: Output) -> CommandResult {
    let number = |name: &str| answer[name].as_u64().unwrap_or(0);
    let (accepted, rejected) = (number("accepted"), number("rejected"));
    for error in answer["errors"].as_array().into_iter().flatten().take(20) {
        let (line, message) = (&error["line"], error["message"].as_str().unwrap_or_default());
        output.print_message(&format!("line {line}: {message}"));
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

/// The input in chunks. `on_read` receives the size of each.
fn chunks(input: Input, on_read: impl Fn(usize) + Send) -> impl Stream<Item = std::io::Result<Bytes>> + Send {
    futures_util::stream::try_unfold((input, on_read), async |(mut input, on_read)| {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        let count = (&mut input).take(CHUNK_BYTES as u64).read_to_end(&mut chunk).await?;
        on_read(count);
        Ok((count > 0).then(|| (Bytes::from(chunk), (input, on_read))))
    })
}

fn progress_bar(size: Option<u64>, output: Output) -> ProgressBar {
    if output.json || !on_terminal() {
        return ProgressBar::hidden();
    }
    let bar = size.map_or_else(ProgressBar::no_length, ProgressBar::new);
    bar.set_draw_target(ProgressDrawTarget::stderr());
    let template = "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {msg}";
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

pub(crate) fn generate(seed: u64, companies: u32, customers: u32) -> CommandResult {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for line in sample::changes(sample::Plan { seed, companies, customers_per_company: customers }) {
        if let Err(error) = writeln!(out, "{line}") {
            // The reader, for example `head`, closed the pipe.
            return if error.kind() == std::io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error.into()) };
        }
    }
    Ok(out.flush()?)
}
