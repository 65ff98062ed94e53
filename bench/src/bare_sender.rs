//! The limit for deliveries: the same HTTP client, bodies and signatures, without store, order and cursors. Each of `in_flight`
//! tasks sends the next body as soon as it has the last response.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use domain::egress::EgressPolicy;
use domain::envelope::EnvelopeContext;
use domain::event::EventKind;
use domain::log_entry::LogEntry;
use domain::outgoing_id::IdKey;
use domain::receiver_url::ReceiverUrl;
use domain::signature::{ACCOUNTING_HEADER, STANDARD_ID, STANDARD_SIGNATURE, STANDARD_TIMESTAMP, Signer};
use domain::{AccountId, Guid, Resource, Secret, TenantId, Ticks};
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use webhooks::egress::{Egress, EgressSettings, OutboundRequest};

use crate::Fallible;

const AT: Ticks = Ticks(638_900_000_000_000_000);

/// Sends to these comma-separated urls in turn; prints how many per second were accepted.
pub(crate) fn send(urls: &str, in_flight: usize, milliseconds: u64) -> Fallible<()> {
    let urls: Vec<Arc<ReceiverUrl>> =
        urls.split(',').map(|url| ReceiverUrl::parse(url, true).map(Arc::new)).collect::<Result<_, _>>()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let rate = runtime.block_on(rate(urls, in_flight, Duration::from_millis(milliseconds)))?;
    println!("{rate}");
    Ok(())
}

async fn rate(urls: Vec<Arc<ReceiverUrl>>, in_flight: usize, span: Duration) -> Fallible<f64> {
    let policy = EgressPolicy { loopback: true, ..EgressPolicy::default() };
    let egress = Egress::new(EgressSettings { policy, ..EgressSettings::default() })?;
    let (next, accepted) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let envelope_context = EnvelopeContext {
        webhook: Guid::from_bytes([1; 16]),
        tenant: TenantId::new(Guid::from_bytes([2; 16]).to_string()),
        user: AccountId::new(Guid::from_bytes([3; 16]).to_string()),
        resource: Resource::customers(),
    };
    let signing = Arc::new((
        envelope_context,
        IdKey::new(&[4; 32]),
        Signer::new(&Secret::new("a secret of the bench"), None),
    ));
    let urls = Arc::new(urls);
    let from = Instant::now();
    let tasks: Vec<_> = (0..in_flight)
        .map(|_| {
            let (egress, next, accepted) = (egress.clone(), next.clone(), accepted.clone());
            let (signing, urls) = (signing.clone(), urls.clone());
            tokio::spawn(async move {
                while from.elapsed() < span {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let index = usize::try_from(number).unwrap_or(0) % urls.len();
                    let call = call(&signing, urls[index].clone(), number);
                    let is_accepted =
                        egress.send(call).await.result.is_ok_and(|response| response.status == 200);
                    accepted.fetch_add(u64::from(is_accepted), Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await?;
    }
    Ok(accepted.load(Ordering::Relaxed) as f64 / from.elapsed().as_secs_f64())
}

fn call(signing: &(EnvelopeContext, IdKey, Signer), url: Arc<ReceiverUrl>, number: u64) -> OutboundRequest {
    let (envelope_context, ids, signer) = signing;
    let conversation = Guid::from_bytes((u128::from(number) << 64 | 7).to_be_bytes());
    let id = ids.event_id(number, conversation);
    let entry = LogEntry {
        sequence: number,
        resource: Resource::customers(),
        kind: EventKind::Created,
        company: "0a2b8c1e-4f5d-4c6b-9a7e-1d2c3b4a5f60".into(),
        correlation_id: conversation.to_string().into(),
        version: AT,
        conversation,
        process: Guid::from_bytes([5; 16]),
        user: "maria".into(),
        source_interface: "ERP".into(),
        source_action: "Alta".into(),
        changes: None,
        envelope: 1,
    };
    let body = envelope_context.notification(id, &entry);
    let (id, timestamp) = (id.to_string(), AT.unix_seconds().to_string());
    let mut headers = HeaderMap::with_capacity(12);
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"));
    for (name, value) in [
        (ACCOUNTING_HEADER, signer.contract_signature(body.as_bytes())),
        (STANDARD_SIGNATURE, signer.standard_signature(&id, &timestamp, body.as_bytes())),
        (STANDARD_ID, id),
        (STANDARD_TIMESTAMP, timestamp),
    ] {
        if let Ok(value) = HeaderValue::from_str(&value) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    let timeout = Duration::from_secs(5);
    OutboundRequest {
        webhook: Some(Guid::from_bytes([0; 16])),
        url,
        method: Method::POST,
        query: None,
        headers,
        body: Bytes::from(body),
        timeout,
        now: AT,
    }
}
