//! A receiver that is made with the client: the layer, and an inbox behind it.

use std::convert::Infallible;
use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use aldaba_client::Secret;
use aldaba_client::receiver::{
    Event, Inbox, InboxOutcome, MemoryInboxStore, ReceiverLayer, SignatureMismatch,
};
use axum::Router;

use super::Stage;
use crate::harness::until;

pub(super) const SECRET: &str = "un secreto ñ";

type Came = Vec<(Event, InboxOutcome<()>)>;

/// Events as they came, each with what the inbox made of it; and why others were refused.
#[derive(Clone, Default)]
pub(super) struct Desk {
    came: Arc<Mutex<Came>>,
    refused: Arc<Mutex<Vec<SignatureMismatch>>>,
}

pub(super) struct Open {
    pub(super) desk: Desk,
    pub(super) address: SocketAddr,
}

impl Desk {
    /// Listens until the stage is gone.
    pub(super) fn open(stage: &Stage) -> Open {
        let desk = Self::default();
        let (own, refused) = (desk.clone(), desk.refused.clone());
        let inbox = Arc::new(Inbox::new(MemoryInboxStore::default()));
        let receiver = ReceiverLayer::new(Secret::new(SECRET))
            .on_mismatch(move |why| refused.lock().unwrap_or_else(PoisonError::into_inner).push(why.clone()))
            .handle(move |event: Event| {
                let (inbox, own) = (inbox.clone(), own.clone());
                async move {
                    let outcome = inbox.process_once(&event, || async { Ok::<_, Infallible>(()) }).await;
                    let outcome = outcome.map_err(|error| error.to_string())?;
                    own.came.lock().unwrap_or_else(PoisonError::into_inner).push((event, outcome));
                    Ok::<_, String>(())
                }
            });
        let app = Router::new()
            .route_service("/hooks", receiver.clone())
            .route_service("/api/webhooks/incoming/Invoicing", receiver);
        let listener = stage.run(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        stage.runtime.spawn(axum::serve(listener, app).into_future());
        Open { desk, address }
    }

    pub(super) fn came(&self) -> Came {
        self.came.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn refused(&self) -> Vec<SignatureMismatch> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    #[track_caller]
    pub(super) fn wait_for(&self, count: usize) -> Came {
        until("deliveries to arrive", || Some(self.came()).filter(|came| came.len() >= count))
    }
}

impl Open {
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }
}
