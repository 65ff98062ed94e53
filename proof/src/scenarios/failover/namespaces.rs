//! A network of its own: a namespace for each member of a cluster, joined by a bridge whose links can be cut. Needs root.

use std::fmt::Write as _;
use std::process::Command;

use crate::Fallible;
use crate::postgres::finish;

#[derive(Debug)]
pub(super) struct Namespaces {
    /// Different for each run, so that two can run at once.
    run: u32,
    members: usize,
}

impl Namespaces {
    /// How to remove them; what is not there is no matter. To be known before they are created.
    pub(super) fn planned(members: usize) -> (Self, String) {
        let namespaces = Self { run: std::process::id() % 250 + 1, members };
        let mut commands = String::new();
        for number in 0..members {
            let _ = write!(commands, "ip netns delete {}; ", namespaces.name(number));
        }
        let _ = write!(commands, "ip link delete {}", namespaces.bridge());
        (namespaces, commands)
    }

    pub(super) fn create(&self) -> Fallible<()> {
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
    pub(super) fn outside(&self) -> String {
        format!("10.213.{}.254", self.run)
    }

    pub(super) fn address(&self, number: usize) -> String {
        format!("10.213.{}.{}", self.run, number + 1)
    }

    pub(super) fn name(&self, number: usize) -> String {
        format!("aldaba-{}-{number}", self.run)
    }

    /// From now on every packet to and from the member is dropped, and nobody is told.
    pub(super) fn cut(&self, number: usize) -> Fallible<()> {
        ip(&format!("link set {} down", self.link(number)))
    }

    pub(super) fn mend(&self, number: usize) -> Fallible<()> {
        ip(&format!("link set {} up", self.link(number)))
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
