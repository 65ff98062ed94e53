//! The URLs of the listeners where the configuration has none.

use std::net::SocketAddr;

use super::Config;
use super::typed::Tls;

impl Config {
    /// Addresses that were not configured are where the listener is.
    pub(crate) fn fill_urls(&mut self, public: SocketAddr, operator: SocketAddr) {
        let scheme = |tls: &Option<Tls>| if tls.is_some() { "https" } else { "http" };
        let public = format!("{}://{public}", scheme(&self.server.tls));
        let operator = format!("{}://{operator}", scheme(&self.operator.tls));
        let urls = [
            (&mut self.server.base_url, &public),
            (&mut self.server.auth_url, &public),
            (&mut self.operator.url, &operator),
        ];
        for (url, listening) in urls {
            if url.is_empty() {
                url.clone_from(listening);
            }
        }
    }
}
