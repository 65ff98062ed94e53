//! What opens the service further than an operator usually means to. `serve` and `check` refuse it, unless a setting
//! accepts it.

use domain::egress::{ALLOW_PREFIX_V4_MIN, ALLOW_PREFIX_V6_MIN, is_wide};

use super::{Config, ConfigFault, MailTls};

pub(crate) fn exposures(config: &Config) -> Vec<ConfigFault> {
    let mut faults = Vec::new();
    let mut refuse = |key: &str, message: String| {
        faults.push(ConfigFault { origin: key.to_owned(), message });
    };
    let operator = &config.operator;
    if !operator.listen.ip().to_canonical().is_loopback()
        && operator.tls.is_none()
        && !operator.accept_plain_http
    {
        let listen = operator.listen;
        refuse(
            "operator.listen",
            format!(
                "{listen} is beyond loopback and has no TLS, so the operator's token and all data would be readable \
                 in the network; set operator.tls_certificates and operator.tls_key, or listen on 127.0.0.1, or set \
                 operator.accept_plain_http = true if a proxy or the network encrypts"
            ),
        );
    }
    let egress = &config.egress;
    if egress.loopback && !egress.accept_loopback {
        refuse(
            "egress.loopback",
            "is for development: everyone who may subscribe a webhook could send requests to the services of this \
             machine; remove it, or set egress.accept_loopback = true"
                .to_owned(),
        );
    }
    if !egress.accept_wide_ranges {
        for range in egress.allow.iter().filter(|range| is_wide(range)) {
            refuse(
                "egress.allow",
                format!(
                    "{range} opens a large part of the internet (the limits are /{ALLOW_PREFIX_V4_MIN} for IPv4 and \
                     /{ALLOW_PREFIX_V6_MIN} for IPv6); list only the networks of your receivers (public addresses \
                     need no entry), or set egress.accept_wide_ranges = true"
                ),
            );
        }
    }
    let mail = &config.mail;
    if let Some(server) = mail.server.as_ref().filter(|server| !server.is_local())
        && mail.tls == MailTls::None
        && !mail.accept_plain
    {
        refuse(
            "mail.tls",
            format!(
                "none sends mails with one-time links, and the password of the mail account, readable through the \
                 network to {}; set it to starttls or tls, or set mail.accept_plain = true if the network encrypts",
                server.host
            ),
        );
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Sources, load};

    fn refused(settings: &[(&str, &str)]) -> Vec<String> {
        let flags = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let config = load(&Sources { flags, ..Sources::default() }).unwrap();
        exposures(&config).iter().map(ToString::to_string).collect()
    }

    /// Refused with these words, and accepted with the setting that the message names.
    fn assert_refused(settings: &[(&str, &str)], words: &str, accepts: &str) {
        let messages = refused(settings);
        let [message] = &messages[..] else { panic!("{settings:?}: {messages:?}") };
        assert!(message.starts_with(words), "{message}");
        assert!(message.contains(&format!("set {accepts} = true")), "{message}");
        assert_eq!(refused(&[settings, &[(accepts, "true")]].concat()), [""; 0]);
    }

    #[test]
    fn operator_listener_beyond_loopback_needs_tls() {
        for address in ["0.0.0.0:8081", "[::]:8081", "10.1.2.3:8081", "[::ffff:10.1.2.3]:8081"] {
            let listen = [("operator.listen", address)];
            assert_refused(&listen, "operator.listen: ", "operator.accept_plain_http");
            let tls = [listen[0], ("operator.tls_certificates", "a.pem"), ("operator.tls_key", "b.pem")];
            assert_eq!(refused(&tls), [""; 0], "{address}");
        }
        for address in ["127.0.0.1:8081", "127.9.9.9:1", "[::1]:8081", "[::ffff:127.0.0.1]:8081"] {
            assert_eq!(refused(&[("operator.listen", address)]), [""; 0], "{address}");
        }
    }

    #[test]
    fn receivers_on_loopback_must_be_accepted() {
        assert_refused(&[("egress.loopback", "true")], "egress.loopback: ", "egress.accept_loopback");
    }

    #[test]
    fn wide_ranges_must_be_accepted() {
        for range in ["0.0.0.0/0", "8.0.0.0/7", "::/0", "fc00::/7", "::ffff:0.0.0.0/96"] {
            let allow = [("egress.allow", range)];
            assert_refused(&allow, &format!("egress.allow: {range} "), "egress.accept_wide_ranges");
        }
        assert_eq!(
            refused(&[("egress.allow", "10.0.0.0/8,127.0.0.0/8,fd00:1::/32,169.254.169.254")]),
            [""; 0]
        );
        assert_eq!(refused(&[("egress.allow", "0.0.0.0/1,128.0.0.0/1")]).len(), 2, "each is named");
    }
}
