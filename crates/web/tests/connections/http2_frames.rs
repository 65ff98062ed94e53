//! HTTP/2 by hand: frames, and a client that sends and reads them one by one.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::harness::WAIT_MAX;

pub(crate) const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(crate) const DATA: u8 = 0;
pub(crate) const HEADERS: u8 = 1;
pub(crate) const RST_STREAM: u8 = 3;
pub(crate) const SETTINGS: u8 = 4;
pub(crate) const PING: u8 = 6;
pub(crate) const GOAWAY: u8 = 7;
pub(crate) const CONTINUATION: u8 = 9;

pub(crate) const ACK: u8 = 1;
pub(crate) const END_STREAM: u8 = 1;
pub(crate) const END_HEADERS: u8 = 4;

pub(crate) const INITIAL_WINDOW_SIZE: u16 = 4;

/// HPACK: `:method: GET` or POST, `:scheme: http`, and a path and an authority as literals.
fn header_block(method: u8, path: &str) -> Vec<u8> {
    let length = u8::try_from(path.len()).unwrap();
    [&[method, 0x86, 0x04, length][..], path.as_bytes(), &[0x01, 1, b'x']].concat()
}

pub(crate) fn get(path: &str) -> Vec<u8> {
    header_block(0x82, path)
}

pub(crate) fn post(path: &str) -> Vec<u8> {
    header_block(0x83, path)
}

/// A header as an HPACK literal with a value of at most 126 bytes.
pub(crate) fn header(name: &str, value: &str) -> Vec<u8> {
    let length = |text: &str| u8::try_from(text.len()).unwrap();
    [&[0, length(name)], name.as_bytes(), &[length(value)], value.as_bytes()].concat()
}

pub(crate) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A GET without a body.
pub(crate) fn request(stream: u32, path: &str) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, stream, &get(path))
}

pub(crate) fn setting(name: u16, value: u32) -> Vec<u8> {
    [&name.to_be_bytes()[..], &value.to_be_bytes()].concat()
}

#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) flags: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

impl Frame {
    pub(crate) fn is_end_of(&self, stream: u32) -> bool {
        self.stream == stream && [DATA, HEADERS].contains(&self.kind) && self.flags & END_STREAM != 0
    }
}

pub(crate) struct Http2(TcpStream);

impl Http2 {
    /// Connects, sends preface and settings, and acknowledges the server's.
    pub(crate) async fn connect(address: SocketAddr, settings: &[u8]) -> Self {
        let mut client = Self(TcpStream::connect(address).await.unwrap());
        let acknowledgement = frame(SETTINGS, ACK, 0, b"");
        client.send(&[PREFACE, &frame(SETTINGS, 0, 0, settings), &acknowledgement].concat()).await;
        client
    }

    pub(crate) async fn send(&mut self, frames: &[u8]) {
        self.try_send(frames).await.unwrap();
    }

    pub(crate) async fn try_send(&mut self, frames: &[u8]) -> std::io::Result<()> {
        self.0.write_all(frames).await
    }

    /// The next frame; none when the connection has ended.
    pub(crate) async fn read(&mut self) -> Option<Frame> {
        tokio::time::timeout(WAIT_MAX, self.try_read())
            .await
            .expect("a frame or the end of the connection")
            .ok()
    }

    async fn try_read(&mut self) -> std::io::Result<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.0.read_exact(&mut payload).await?;
        Ok(Frame { kind, flags, stream: u32::from_be_bytes(stream), payload })
    }

    pub(crate) async fn read_until(&mut self, what: &str, is_wanted: impl Fn(&Frame) -> bool) -> Frame {
        loop {
            let frame = self.read().await.unwrap_or_else(|| panic!("the connection ended before {what}"));
            if is_wanted(&frame) {
                return frame;
            }
        }
    }

    /// Pings the server, and answers its pings; the next frame besides pings.
    pub(crate) async fn ping_and_read(&mut self) -> Option<Frame> {
        let _ = self.try_send(&frame(PING, 0, 0, b"are you?")).await;
        let received = self.read().await?;
        if received.kind == PING && received.flags & ACK == 0 {
            let _ = self.try_send(&frame(PING, ACK, 0, &received.payload)).await;
        }
        Some(received)
    }

    /// The frames until the connection ends.
    pub(crate) async fn rest(mut self) -> Vec<Frame> {
        let mut frames = Vec::new();
        while let Some(frame) = self.read().await {
            frames.push(frame);
        }
        frames
    }
}
