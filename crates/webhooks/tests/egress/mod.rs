//! The egress against real sockets: responses, connections, TLS, and addresses that it must refuse.

mod addresses;
mod connections;
mod fixture;
mod rebinding;
mod responses;
mod server;
mod tls;
