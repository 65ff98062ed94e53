//! A network of its own: a namespace for each member of a cluster, joined by a bridge whose links can be cut or lose packets. Needs
//! root.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::Fallible;
use crate::postgres::finish;

#[derive(Debug)]
pub(crate) struct Namespaces {
    /// Different for each run, so that two can run at once.
    run: u32,
    members: usize,
}

impl Namespaces {
    /// How to remove them; what is not there is no matter. To be known before they are created.
    pub(crate) fn planned(members: usize) -> (Self, String) {
        let namespaces = Self { run: std::process::id() % 250 + 1, members };
        let mut commands = String::new();
        for number in 0..members {
            let _ = write!(commands, "ip netns delete {}; ", namespaces.name(number));
        }
        for number in 0..members {
            let _ = write!(commands, "nft delete table netdev {}; ", namespaces.link(number));
        }
        let _ = write!(commands, "ip link delete {}", namespaces.bridge());
        (namespaces, commands)
    }

    pub(crate) fn create(&self) -> Fallible<()> {
        let bridge = self.bridge();
        ip(&format!("link add {bridge} type bridge"))?;
        ip(&format!("address add {}/24 dev {bridge}", self.outside()))?;
        ip(&format!("link set {bridge} up"))?;
        for number in 0..self.members {
            let (name, link, address) = (self.name(number), self.link(number), self.address(number));
            ip(&format!("netns add {name}"))?;
            ip(&format!("link add {link} type veth peer name eth0 netns {name}"))?;
            ip(&format!("link set {link} master {bridge} up"))?;
            ip(&format!("-n {name} address add {address}/24 dev eth0"))?;
            ip(&format!("-n {name} link set eth0 up"))?;
            ip(&format!("-n {name} link set lo up"))?;
        }
        Ok(())
    }

    /// The address of everything outside, as a member sees it.
    pub(crate) fn outside(&self) -> String {
        format!("10.213.{}.254", self.run)
    }

    pub(crate) fn address(&self, number: usize) -> String {
        format!("10.213.{}.{}", self.run, number + 1)
    }

    pub(crate) fn name(&self, number: usize) -> String {
        format!("aldaba-{}-{number}", self.run)
    }

    /// From now on every packet to and from the member is dropped, and nobody is told.
    pub(crate) fn cut(&self, number: usize) -> Fallible<()> {
        ip(&format!("link set {} down", self.link(number)))
    }

    pub(crate) fn mend(&self, number: usize) -> Fallible<()> {
        ip(&format!("link set {} up", self.link(number)))
    }

    /// From now on so many of a hundred packets to and from every member are lost.
    pub(crate) fn lose(&self, percent: u8) -> Fallible<()> {
        for number in 0..self.members {
            let link = self.link(number);
            nft(None, &lossy(&link, &link, percent))?;
            nft(Some(&self.name(number)), &lossy(&link, "eth0", percent))?;
        }
        Ok(())
    }

    /// From now on no packets are lost; returns how many were.
    pub(crate) fn lose_nothing(&self) -> Fallible<u64> {
        let mut lost = 0;
        for number in 0..self.members {
            let (name, link) = (self.name(number), self.link(number));
            for namespace in [None, Some(name.as_str())] {
                let table = nft(namespace, &format!("list table netdev {link}"))?;
                lost += counted(&table).ok_or_else(|| format!("no counter in {table}"))?;
                nft(namespace, &format!("delete table netdev {link}"))?;
            }
        }
        Ok(lost)
    }

    /// Leads what a member sends to its loopback address outside, to the same port. The service sends plain HTTP to loopback alone.
    pub(crate) fn lead_loopback_outside(&self, number: usize) -> Fallible<()> {
        let (name, outside) = (self.name(number), self.outside());
        let mut sysctl = Command::new("ip");
        sysctl.args(["netns", "exec", &name, "sysctl", "-q", "-w", "net.ipv4.conf.all.route_localnet=1"]);
        finish(&mut sysctl)?;
        nft(
            Some(&name),
            &format!(
                "table ip outside {{
                    chain to {{ type nat hook output priority -100; ip daddr 127.0.0.1 meta l4proto tcp dnat to {outside}; }}
                    chain from {{ type nat hook postrouting priority 100; oifname \"eth0\" ip saddr 127.0.0.1 masquerade; }}
                }}"
            ),
        )?;
        Ok(())
    }

    fn bridge(&self) -> String {
        format!("ald{}", self.run)
    }

    fn link(&self, number: usize) -> String {
        format!("ald{}v{number}", self.run)
    }
}

fn ip(arguments: &str) -> Fallible<()> {
    finish(Command::new("ip").args(arguments.split(' ')))
        .map_err(|error| format!("a network of its own cannot be made here: {error}").into())
}

/// A table that drops packets where they come in: their sender does not notice.
fn lossy(table: &str, device: &str, percent: u8) -> String {
    format!(
        "table netdev {table} {{
            chain lost {{ type filter hook ingress device \"{device}\" priority 0; numgen random mod 100 < {percent} counter drop; }}
        }}"
    )
}

/// The packets of the first counter of a listed table.
fn counted(table: &str) -> Option<u64> {
    let (_, after) = table.split_once("counter packets ")?;
    after.split(' ').next()?.parse().ok()
}

/// Runs commands of `nft`, in a namespace or outside, and returns what they print.
fn nft(namespace: Option<&str>, commands: &str) -> Fallible<String> {
    let mut command = match namespace {
        None => Command::new("nft"),
        Some(name) => {
            let mut command = Command::new("ip");
            command.args(["netns", "exec", name, "nft"]);
            command
        }
    };
    command.args(["-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("nft: {error}"))?;
    child.stdin.take().ok_or("no input")?.write_all(commands.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        return Err(format!("nft: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_packets_are_counted() {
        let listed = "table netdev a {\n\tchain lost {\n\t\tnumgen random mod 100 < 5 counter packets 207 bytes 9130 drop\n\t}\n}";
        assert_eq!(counted(listed), Some(207));
        assert_eq!(counted("table netdev a { }"), None);
    }
}
