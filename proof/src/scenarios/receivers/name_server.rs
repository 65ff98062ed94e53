//! A name server over UDP and TCP whose answers can be anything.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

use crate::Fallible;

/// Where the system's resolver asks, if its file names no other port.
const ADDRESS: &str = "127.0.0.1:53";
/// A longer message goes over TCP.
const UDP_BYTES_MAX: usize = 512;
const HEADER_BYTES: usize = 12;
const A: u16 = 1;
const CNAME: u16 = 5;
const AAAA: u16 = 28;
pub(super) const FORMAT_ERROR: u8 = 1;
pub(super) const SERVER_FAILURE: u8 = 2;
pub(super) const NO_SUCH_NAME: u8 = 3;
pub(super) const REFUSED: u8 = 5;

/// What is answered to questions for a name. Nothing may be cached.
#[derive(Clone, Debug)]
pub(super) enum NameAnswer {
    Addresses(Vec<IpAddr>),
    /// The next of these at every question.
    InTurn(Vec<Vec<IpAddr>>),
    /// An error.
    Code(u8),
    /// No answer.
    Silence,
    /// An answer after a while.
    Late(Duration, Vec<IpAddr>),
    /// Every second question is lost.
    Lossy(Vec<IpAddr>),
    /// So many aliases in one message, and the addresses of the last.
    Chain(usize, Vec<IpAddr>),
    /// The name of another name, and nothing more.
    Alias(String),
    /// What is no message.
    Garbage,
    /// The answer to another question, as a forger would send it over UDP. The server itself does not answer.
    WrongQuestion(Vec<IpAddr>),
}

#[derive(Clone, Default)]
pub(super) struct NameServer(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    names: HashMap<String, NameAnswer>,
    /// How often a name was asked for, by type.
    questions: HashMap<(String, u16), usize>,
    is_silent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Transport {
    Udp,
    Tcp,
}

struct Question<'a> {
    message: &'a [u8],
    /// Where the question ends.
    end: usize,
    name: String,
    kind: u16,
}

impl NameServer {
    pub(super) async fn open() -> Fallible<Self> {
        let server = Self::default();
        let (udp, tcp) = (Arc::new(UdpSocket::bind(ADDRESS).await?), TcpListener::bind(ADDRESS).await?);
        let over_udp = server.clone();
        tokio::spawn(async move {
            let mut buffer = [0; 4096];
            // A receive fails where an earlier answer could not be delivered.
            loop {
                if let Ok((length, from)) = udp.recv_from(&mut buffer).await {
                    tokio::spawn(over_udp.clone().answer_udp(udp.clone(), buffer[..length].to_vec(), from));
                }
            }
        });
        let over_tcp = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = tcp.accept().await {
                tokio::spawn(over_tcp.clone().answer_tcp(stream));
            }
        });
        Ok(server)
    }

    pub(super) fn set(&self, name: &str, answer: NameAnswer) {
        self.0.lock().names.insert(name.to_owned(), answer);
    }

    /// Answers nothing at all.
    pub(super) fn set_silent(&self, is_silent: bool) {
        self.0.lock().is_silent = is_silent;
    }

    async fn answer_udp(self, socket: Arc<UdpSocket>, message: Vec<u8>, from: SocketAddr) {
        if let Some(mut answer) = self.answer(&message, Transport::Udp).await {
            if answer.len() > UDP_BYTES_MAX {
                let end = question(&message).map_or(HEADER_BYTES, |question| question.end);
                answer.truncate(end);
                // Truncated, and without records.
                answer[2] |= 0b10;
                answer[6..HEADER_BYTES].fill(0);
            }
            let _ = socket.send_to(&answer, from).await;
        }
    }

    /// Questions over one connection do not wait for each other.
    async fn answer_tcp(self, stream: TcpStream) {
        let (mut reader, writer) = stream.into_split();
        let writer = Arc::new(tokio::sync::Mutex::new(writer));
        while let Ok(length) = reader.read_u16().await {
            let mut message = vec![0; usize::from(length)];
            if reader.read_exact(&mut message).await.is_err() {
                return;
            }
            let (server, writer) = (self.clone(), writer.clone());
            tokio::spawn(async move {
                if let Some(answer) = server.answer(&message, Transport::Tcp).await {
                    let length = u16::try_from(answer.len()).unwrap_or(u16::MAX);
                    let framed = [&length.to_be_bytes()[..], &answer[..usize::from(length)]].concat();
                    // A resolver that has gone needs no answer.
                    let _ = writer.lock().await.write_all(&framed).await;
                }
            });
        }
    }

    async fn answer(&self, message: &[u8], transport: Transport) -> Option<Vec<u8>> {
        let question = question(message)?;
        let (answer, number) = {
            let mut state = self.0.lock();
            if state.is_silent {
                return None;
            }
            let number = state.questions.entry((question.name.clone(), question.kind)).or_default();
            *number += 1;
            let number = *number;
            (state.names.get(&question.name).cloned().unwrap_or(NameAnswer::Code(NO_SUCH_NAME)), number)
        };
        Some(match answer {
            NameAnswer::Lossy(_) if number % 2 == 1 => return None,
            NameAnswer::Addresses(addresses) | NameAnswer::Lossy(addresses) => question.addresses(&addresses),
            NameAnswer::InTurn(sets) => question.addresses(sets.get(number % sets.len())?),
            NameAnswer::Code(code) => question.reply(code, 0, &[]),
            NameAnswer::Silence => return None,
            NameAnswer::WrongQuestion(_) if transport == Transport::Tcp => return None,
            NameAnswer::Late(pause, addresses) => {
                tokio::time::sleep(pause).await;
                question.addresses(&addresses)
            }
            NameAnswer::Chain(aliases, addresses) => question.chain(aliases, &addresses),
            NameAnswer::Alias(other) => {
                question.reply(0, 1, &record(&question.name, CNAME, &encoded(&other)))
            }
            NameAnswer::Garbage => [&message[..2], &[0xff; 40]].concat(),
            NameAnswer::WrongQuestion(addresses) => {
                let mut answer = question.addresses(&addresses);
                // Another first letter of the name.
                answer[HEADER_BYTES + 1] ^= 1;
                answer
            }
        })
    }
}

fn question(message: &[u8]) -> Option<Question<'_>> {
    let (mut at, mut labels) = (HEADER_BYTES, Vec::new());
    loop {
        let length = usize::from(*message.get(at)?);
        at += 1;
        if length == 0 {
            break;
        }
        labels.push(String::from_utf8_lossy(message.get(at..at + length)?).to_ascii_lowercase());
        at += length;
    }
    let kind = u16::from_be_bytes([*message.get(at)?, *message.get(at + 1)?]);
    Some(Question { message, end: at + 4, name: labels.join("."), kind })
}

impl Question<'_> {
    fn addresses(&self, addresses: &[IpAddr]) -> Vec<u8> {
        let (count, records) = self.records(&self.name, addresses);
        self.reply(0, count, &records)
    }

    fn chain(&self, aliases: usize, addresses: &[IpAddr]) -> Vec<u8> {
        let (mut name, mut records) = (self.name.clone(), Vec::new());
        for number in 0..aliases {
            let next = format!("alias-{number}.{}", self.name);
            records.extend(record(&name, CNAME, &encoded(&next)));
            name = next;
        }
        let (count, last) = self.records(&name, addresses);
        records.extend(last);
        self.reply(0, aliases + count, &records)
    }

    /// The addresses of the type that was asked for, as records of a name.
    fn records(&self, name: &str, addresses: &[IpAddr]) -> (usize, Vec<u8>) {
        let (mut count, mut records) = (0, Vec::new());
        for address in addresses {
            match address {
                IpAddr::V4(address) if self.kind == A => records.extend(record(name, A, &address.octets())),
                IpAddr::V6(address) if self.kind == AAAA => {
                    records.extend(record(name, AAAA, &address.octets()));
                }
                _ => continue,
            }
            count += 1;
        }
        (count, records)
    }

    /// A response to this question: recursion is available, and so many records answer it.
    fn reply(&self, code: u8, count: usize, records: &[u8]) -> Vec<u8> {
        let count = u16::try_from(count).unwrap_or(u16::MAX).to_be_bytes();
        let header =
            [self.message[0], self.message[1], 0x81, 0x80 | code, 0, 1, count[0], count[1], 0, 0, 0, 0];
        [&header[..], &self.message[HEADER_BYTES..self.end], records].concat()
    }
}

/// A record that may not be cached.
fn record(name: &str, kind: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap_or(u16::MAX);
    let internet_and_lifetime = [0, 1, 0, 0, 0, 0];
    [&encoded(name)[..], &kind.to_be_bytes(), &internet_and_lifetime, &length.to_be_bytes(), data].concat()
}

fn encoded(name: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(name.len() + 2);
    for label in name.split('.') {
        bytes.push(u8::try_from(label.len()).unwrap_or(63));
        bytes.extend(label.as_bytes());
    }
    bytes.push(0);
    bytes
}
