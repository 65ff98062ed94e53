//! The local receiver: answers handshakes and deliveries, so that webhooks have somewhere to go at once.

use std::collections::HashMap;
use std::net::SocketAddr;

use axum::Router;
use axum::extract::Query;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use tokio::net::TcpListener;

use crate::exit::Failure;

/// Starts the receiver and returns its address; it ends with the program.
pub(super) async fn start(address: SocketAddr) -> Result<SocketAddr, Failure> {
    let cannot = |error: std::io::Error| Failure::Busy {
        why: format!("the receiver cannot listen on {address}: {error}"),
        remedy: "choose another address".into(),
    };
    let listener = TcpListener::bind(address).await.map_err(cannot)?;
    let bound = listener.local_addr().map_err(cannot)?;
    let router = Router::new().fallback(any(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(bound)
}

/// An echo is given back; anything else is taken.
async fn answer(Query(query): Query<HashMap<String, String>>) -> Response {
    match query.get("echo") {
        Some(echo) => echo.clone().into_response(),
        None => StatusCode::OK.into_response(),
    }
}
