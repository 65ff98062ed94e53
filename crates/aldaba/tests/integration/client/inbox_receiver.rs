//! A webhook receiver built with the client: the receiver layer and an inbox behind it.

use std::convert::Infallible;
use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use aldaba_client::Secret;
use aldaba_client::receiver::{
    Event, Inbox, InboxOutcome, MemoryInboxStore, ReceiverLayer, SignatureMismatch,
};
use axum::Router;

use super::ClientFixture;
use crate::harness::wait_for;

pub(super) const SECRET: &str = "un secreto ñ";

type HandledEvents = Vec<(Event, InboxOutcome<()>)>;

/// Handled events, each with the inbox's outcome, and the reasons of refused requests.
#[derive(Clone, Default)]
pub(super) struct EventRecorder {
    events: Arc<Mutex<HandledEvents>>,
    refused: Arc<Mutex<Vec<SignatureMismatch>>>,
}

pub(super) struct InboxReceiver {
    pub(super) recorder: EventRecorder,
    pub(super) address: SocketAddr,
}

impl EventRecorder {
    /// Listens until the fixture is dropped.
    pub(super) fn open(fixture: &ClientFixture) -> InboxReceiver {
        let recorder = Self::default();
        let (recorder_clone, refused) = (recorder.clone(), recorder.refused.clone());
        let inbox = Arc::new(Inbox::new(MemoryInboxStore::default()));
        let receiver = ReceiverLayer::new(Secret::new(SECRET))
            .on_mismatch(move |mismatch| {
                refused.lock().unwrap_or_else(PoisonError::into_inner).push(mismatch.clone());
            })
            .handle(move |event: Event| {
                let (inbox, recorder_clone) = (inbox.clone(), recorder_clone.clone());
                async move {
                    let outcome = inbox.process_once(&event, || async { Ok::<_, Infallible>(()) }).await;
                    let outcome = outcome.map_err(|error| error.to_string())?;
                    recorder_clone
                        .events
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((event, outcome));
                    Ok::<_, String>(())
                }
            });
        let app = Router::new()
            .route_service("/hooks", receiver.clone())
            .route_service("/api/webhooks/incoming/Invoicing", receiver);
        let listener = fixture.run(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        fixture.runtime.spawn(axum::serve(listener, app).into_future());
        InboxReceiver { recorder, address }
    }

    pub(super) fn events(&self) -> HandledEvents {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn refused(&self) -> Vec<SignatureMismatch> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for this many test events and events of the company: other tests change records of the same tenant.
    #[track_caller]
    pub(super) fn wait_for(&self, company: &str, count: usize) -> HandledEvents {
        let is_own = |event: &Event| match event {
            Event::Accounting(change) => event.is_test() || change.company == company,
            Event::Invoicing(_) => true,
        };
        wait_for("deliveries to arrive", || {
            let own: HandledEvents = self.events().into_iter().filter(|(event, _)| is_own(event)).collect();
            Some(own).filter(|events| events.len() >= count)
        })
    }
}

impl InboxReceiver {
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}
