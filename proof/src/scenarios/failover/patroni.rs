//! Three PostgreSQL servers that Patroni manages, with synchronous replication, one etcd, and HAProxy that leads to the leader.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::balancer::Haproxy;
use crate::cleanup::Cleanup;
use crate::database::execute;
use crate::http::{Answer, Http};
use crate::namespaces::Namespaces;
use crate::postgres::Account;
use crate::process::{PAUSE, children_of, free_port, signal, signal_all};
use crate::{Fallible, Options};

pub(super) const MEMBERS: usize = 3;
/// How long the members may take to have a leader, a synchronous standby and no other timeline.
const SETTLED_TIMEOUT: Duration = Duration::from_secs(120);

/// Where the members run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Loopback,
    /// Each on a network of its own, which can be cut.
    Namespaces,
}

pub(super) struct Patroni {
    members: Vec<Member>,
    namespaces: Option<Namespaces>,
    account: Account,
    proxy_port: u16,
    http: Http,
    _haproxy: Haproxy,
    _etcd: Process,
    // Ends all of them before their folder is gone.
    _cleanup: Cleanup,
    folder: TempDir,
}

struct Member {
    name: String,
    address: String,
    postgres_port: u16,
    rest_port: u16,
    /// None while it is killed.
    process: Option<Process>,
}

/// Ends when it is dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Patroni {
    /// Starts the members and waits until they follow a leader; makes a role and a database for the service. `ttl_seconds` is
    /// how long a leader that is gone stays the leader.
    pub(super) async fn start(options: &Options, place: Place, ttl_seconds: u32) -> Fallible<Self> {
        let programs = options.postgres_programs.clone().ok_or("--postgres-programs is missing")?;
        let account = Account::for_server()?;
        let folder = account.folder()?;
        let (namespaces, remove) = match place {
            Place::Loopback => (None, String::new()),
            Place::Namespaces => {
                let (namespaces, remove) = Namespaces::planned(MEMBERS);
                (Some(namespaces), remove)
            }
        };
        let cleanup = Cleanup::of(folder.path(), &remove)?;
        if let Some(namespaces) = &namespaces {
            namespaces.create()?;
        }
        let outside = namespaces.as_ref().map_or("127.0.0.1".to_owned(), Namespaces::outside);
        let etcd_address = format!("{outside}:{}", free_port()?);
        let etcd = start_etcd(&folder, account, &etcd_address)?;
        let mut members = Vec::new();
        for number in 0..MEMBERS {
            let address = namespaces.as_ref().map(|namespaces| namespaces.address(number));
            let member = Member {
                name: format!("m{number}"),
                address: address.unwrap_or_else(|| "127.0.0.1".to_owned()),
                postgres_port: free_port()?,
                rest_port: free_port()?,
                process: None,
            };
            let text = member.configuration(&folder, &programs, &etcd_address, ttl_seconds);
            fs::write(folder.path().join(format!("{}.yml", member.name)), text)?;
            members.push(member);
        }
        let proxy_port = free_port()?;
        let haproxy = Haproxy::start(folder.path(), &haproxy_configuration(proxy_port, &members))?;
        let http = Http::new(Duration::from_secs(10))?;
        let mut patroni = Self {
            members,
            namespaces,
            account,
            proxy_port,
            http,
            _haproxy: haproxy,
            _etcd: etcd,
            _cleanup: cleanup,
            folder,
        };
        for number in 0..MEMBERS {
            patroni.start_member(number)?;
        }
        let leader = patroni.wait_settled().await?;
        let leader = &patroni.members[leader];
        let admin = format!("postgres://postgres@{}:{}/postgres", leader.address, leader.postgres_port);
        execute(&admin, "CREATE ROLE aldaba LOGIN").await?;
        execute(&admin, "CREATE DATABASE aldaba OWNER aldaba").await?;
        Ok(patroni)
    }

    /// The url through HAProxy.
    pub(super) fn url_of_proxy(&self) -> String {
        format!("postgres://aldaba@127.0.0.1:{}/aldaba", self.proxy_port)
    }

    /// The url with all members.
    pub(super) fn url_of_members(&self) -> String {
        let hosts: Vec<String> =
            self.members.iter().map(|one| format!("{}:{}", one.address, one.postgres_port)).collect();
        // The service wants TLS to a server that is not on its own machine.
        let tls = if self.namespaces.is_some() { "&sslmode=disable" } else { "" };
        format!("postgres://aldaba@{}/aldaba?target_session_attrs=read-write{tls}", hosts.join(","))
    }

    /// Starts the Patroni of a member, and it its PostgreSQL.
    pub(super) fn start_member(&mut self, number: usize) -> Fallible<()> {
        let member = &self.members[number];
        let configuration = self.folder.path().join(format!("{}.yml", member.name));
        let mut command = match &self.namespaces {
            None => {
                let mut command = Command::new("/usr/bin/patroni");
                self.account.apply_to(&mut command);
                command
            }
            Some(namespaces) => {
                let (user, group) = self.account.other.ok_or("only root can use namespaces")?;
                let mut command = Command::new("ip");
                command.args(["netns", "exec", &namespaces.name(number), "setpriv", "--clear-groups"]);
                command.args([&format!("--reuid={user}"), &format!("--regid={group}"), "/usr/bin/patroni"]);
                command
            }
        };
        command.arg(configuration);
        self.members[number].process = Some(start(&self.folder, command, &self.members[number].name)?);
        Ok(())
    }

    /// `kill -9` of a member's Patroni and of all processes of its PostgreSQL at once, as a loss of power ends them.
    pub(super) fn kill_member(&mut self, number: usize) -> Fallible<()> {
        let data = self.folder.path().join(format!("data-{}", self.members[number].name));
        let file = fs::read_to_string(data.join("postmaster.pid"))?;
        let postmaster: u32 = file.lines().next().unwrap_or_default().trim().parse()?;
        let patroni = self.members[number].process.take().ok_or("the member does not run")?;
        let mut all = children_of(postmaster)?;
        all.extend([postmaster, patroni.0.id()]);
        signal_all(&all, "KILL").map(|_| ())
    }

    /// Sends a signal to a member's Patroni alone.
    pub(super) fn signal_patroni(&self, number: usize, name: &str) -> Fallible<()> {
        let patroni = self.members[number].process.as_ref().ok_or("the member does not run")?;
        signal(patroni.0.id(), name)
    }

    /// Drops every packet to and from a member.
    pub(super) fn cut(&self, number: usize) -> Fallible<()> {
        self.namespaces.as_ref().ok_or("the members have no network of their own")?.cut(number)
    }

    pub(super) fn mend(&self, number: usize) -> Fallible<()> {
        self.namespaces.as_ref().ok_or("the members have no network of their own")?.mend(number)
    }

    /// Asks the leader to give its place to another member; returns when that one is the leader.
    pub(super) async fn switch_over(&self, leader: usize) -> Fallible<()> {
        let leader = &self.members[leader];
        let url = format!("{}/switchover", leader.rest_url());
        let body = json!({ "leader": leader.name }).to_string();
        self.http.post(&url, &[("content-type", "application/json")], body).await?.expect(200).map(|_| ())
    }

    /// Waits until every member runs, one of them is the leader and one the synchronous standby; returns the leader.
    pub(super) async fn wait_settled(&self) -> Fallible<usize> {
        self.wait_for("a leader with two standbys", None, |members| {
            let count = |name: &str, values: &[&str]| {
                let is_one = |one: &&Value| one[name].as_str().is_some_and(|text| values.contains(&text));
                members.iter().filter(is_one).count()
            };
            let same = members.iter().all(|one| one["timeline"] == members[0]["timeline"]);
            same && count("state", &["running", "streaming"]) == MEMBERS
                && count("role", &["sync_standby"]) == 1
        })
        .await
    }

    /// Waits until another member than this one is the leader.
    pub(super) async fn wait_other_leader(&self, before: usize) -> Fallible<usize> {
        self.wait_for("another leader", Some(before), |_| true).await
    }

    /// Waits until the members, as another than `not` sees them, have a leader that is not `not` and pass the check.
    async fn wait_for(
        &self,
        what: &str,
        not: Option<usize>,
        check: impl Fn(&[Value]) -> bool,
    ) -> Fallible<usize> {
        let (from, mut seen) = (Instant::now(), String::new());
        while from.elapsed() < SETTLED_TIMEOUT {
            for (number, member) in self.members.iter().enumerate() {
                if Some(number) == not || member.process.is_none() {
                    continue;
                }
                let Ok(answer) = self.http.get(&format!("{}/cluster", member.rest_url()), &[]).await else {
                    continue;
                };
                let leader = self.leader_of(&answer).filter(|leader| Some(*leader) != not);
                let members = answer.json()["members"].as_array().cloned().unwrap_or_default();
                match leader.filter(|_| members.len() == MEMBERS || not.is_some()).filter(|_| check(&members))
                {
                    Some(leader) => return Ok(leader),
                    None => seen = answer.text(),
                }
            }
            tokio::time::sleep(PAUSE * 5).await;
        }
        Err(format!("the members have not got {what}: {seen}\n{}", self.log_tails()).into())
    }

    fn leader_of(&self, answer: &Answer) -> Option<usize> {
        let cluster = answer.json();
        let leader = cluster["members"].as_array()?.iter().find(|one| one["role"] == "leader")?;
        self.members.iter().position(|member| leader["name"] == member.name.as_str())
    }

    fn log_tails(&self) -> String {
        let mut tails = String::new();
        for name in self.members.iter().map(|member| member.name.as_str()).chain(["etcd"]) {
            let log = fs::read_to_string(self.folder.path().join(format!("{name}.log"))).unwrap_or_default();
            let lines: Vec<&str> = log.lines().collect();
            let _ = writeln!(tails, "{name}: {}", lines[lines.len().saturating_sub(5)..].join("\n"));
        }
        tails
    }
}

impl Member {
    fn rest_url(&self) -> String {
        format!("http://{}:{}", self.address, self.rest_port)
    }

    fn configuration(&self, folder: &TempDir, programs: &str, etcd: &str, ttl_seconds: u32) -> String {
        let Self { name, address, postgres_port, rest_port, .. } = self;
        let folder = folder.path().display();
        let (loop_seconds, retry_seconds) = (ttl_seconds / 8, ttl_seconds / 4);
        json!({
            "scope": "proof",
            "name": name,
            "restapi": { "listen": format!("{address}:{rest_port}"), "connect_address": format!("{address}:{rest_port}") },
            "etcd3": { "hosts": etcd },
            "bootstrap": {
                "dcs": {
                    "ttl": ttl_seconds, "loop_wait": loop_seconds, "retry_timeout": retry_seconds,
                    "synchronous_mode": true,
                    "postgresql": {
                        "use_pg_rewind": true,
                        "parameters": {
                            "max_connections": 100, "shared_buffers": "32MB", "wal_log_hints": "on",
                            "wal_keep_size": "256MB",
                        },
                    },
                },
                "initdb": [{ "encoding": "UTF8" }, { "locale": "C.UTF-8" }, { "auth": "trust" }, "no-sync"],
            },
            "postgresql": {
                "listen": format!("{address}:{postgres_port}"),
                "connect_address": format!("{address}:{postgres_port}"),
                "data_dir": format!("{folder}/data-{name}"),
                "bin_dir": programs,
                "pgpass": format!("{folder}/pgpass-{name}"),
                "authentication": {
                    "superuser": { "username": "postgres" },
                    "replication": { "username": "postgres" },
                    "rewind": { "username": "postgres" },
                },
                "pg_hba": ["local all all trust", "host all all all trust", "host replication all all trust"],
                "parameters": { "unix_socket_directories": folder.to_string() },
            },
        })
        // JSON is YAML.
        .to_string()
    }
}

fn start_etcd(folder: &TempDir, account: Account, address: &str) -> Fallible<Process> {
    let (client, peer) = (format!("http://{address}"), format!("http://127.0.0.1:{}", free_port()?));
    let mut command = Command::new("/usr/bin/etcd");
    account.apply_to(&mut command);
    command.args(["--name", "etcd", "--listen-client-urls", &client, "--advertise-client-urls", &client]);
    command.args(["--listen-peer-urls", &peer, "--initial-advertise-peer-urls", &peer]);
    command.args(["--initial-cluster", &format!("etcd={peer}"), "--data-dir"]);
    command.arg(folder.path().join("data-etcd"));
    start(folder, command, "etcd")
}

/// Starts a program with a log, and notes its number for the cleanup.
fn start(folder: &TempDir, mut command: Command, name: &str) -> Fallible<Process> {
    let log = File::options().create(true).append(true).open(folder.path().join(format!("{name}.log")))?;
    command.current_dir(folder.path()).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    let child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
    fs::write(folder.path().join(format!("{name}.pid")), child.id().to_string())?;
    Ok(Process(child))
}

/// As Patroni's documentation has it, with checks every second instead of every three.
fn haproxy_configuration(port: u16, members: &[Member]) -> String {
    let mut text = format!(
        "global\n  maxconn 1000\ndefaults\n  mode tcp\n  retries 2\n  timeout client 30m\n  timeout connect 4s\n  \
         timeout server 30m\n  timeout check 2s\nlisten postgres\n  bind 127.0.0.1:{port}\n  option httpchk OPTIONS /primary\n  \
         http-check expect status 200\n  default-server inter 1s fall 3 rise 1 on-marked-down shutdown-sessions\n"
    );
    for member in members {
        let Member { name, address, postgres_port, rest_port, .. } = member;
        let _ = writeln!(text, "  server {name} {address}:{postgres_port} check port {rest_port}");
    }
    text
}
