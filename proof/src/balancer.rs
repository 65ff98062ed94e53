//! HAProxy, before the nodes or before the database.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::Fallible;
use crate::http::Http;
use crate::load::Target;
use crate::process::{Node, PAUSE, free_port};

/// A running HAProxy.
#[derive(Debug)]
pub(crate) struct Haproxy {
    child: Child,
}

impl Haproxy {
    /// Starts it with this configuration.
    pub(crate) fn start(folder: &Path, configuration: &str) -> Fallible<Self> {
        let file = folder.join("haproxy.cfg");
        std::fs::write(&file, configuration)?;
        let child = Command::new("/usr/sbin/haproxy")
            .args(["-db", "-f"])
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| format!("haproxy: {error}"))?;
        Ok(Self { child })
    }
}

impl Drop for Haproxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// HAProxy before the public and the operator's listeners of all nodes.
#[derive(Debug)]
pub(crate) struct Balancer {
    _haproxy: Haproxy,
    pub(crate) target: Target,
}

impl Balancer {
    pub(crate) async fn start(folder: &Path, nodes: &[Node]) -> Fallible<Self> {
        let (public, operator) = (free_port()?, free_port()?);
        let mut text = String::from(
            "global\n  maxconn 4000\ndefaults\n  mode http\n  timeout connect 2s\n  timeout client 60s\n  timeout server 60s\n  \
             retries 3\n  option redispatch\n  retry-on conn-failure empty-response\n  option httpchk GET /readyz\n",
        );
        for (name, port, is_public) in [("public", public, true), ("operator", operator, false)] {
            let _ = writeln!(text, "listen {name}\n  bind 127.0.0.1:{port}");
            for (number, node) in nodes.iter().enumerate() {
                let check = node.operator_url.rsplit(':').next().unwrap_or_default();
                let url = if is_public { &node.public_url } else { &node.operator_url };
                let address = url.trim_start_matches("http://");
                let _ = writeln!(
                    text,
                    "  server n{number} {address} check port {check} inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions"
                );
            }
        }
        let url = |port| format!("http://127.0.0.1:{port}");
        let target = Target { public_url: url(public), operator_url: url(operator) };
        let balancer = Self { _haproxy: Haproxy::start(folder, &text)?, target };
        let (http, from) = (Http::new(Duration::from_secs(2))?, Instant::now());
        while !http
            .get(&format!("{}/livez", balancer.target.public_url), &[])
            .await
            .is_ok_and(|ok| ok.status == 200)
        {
            if from.elapsed() > Duration::from_secs(20) {
                return Err("HAProxy does not answer".into());
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(balancer)
    }
}
