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
            ("server.base_url", &mut self.server.base_url, &public),
            ("server.auth_url", &mut self.server.auth_url, &public),
            ("operator.url", &mut self.operator.url, &operator),
        ];
        for (key, url, listening) in urls {
            if url.is_empty() {
                url.clone_from(listening);
                // The value in use; it still comes from the defaults.
                let shown = self.keys.iter_mut().filter(|one| one.key == key);
                shown.for_each(|one| one.value = Some(listening.as_str().into()));
            }
        }
    }
}
