//! Encrypted backups, in the age format (age-encryption.org/v1) for X25519 recipients: whoever holds the identity can
//! also decrypt them with the program `age`. The format is ours because the crate `age` brings 85 crates and a second
//! cryptography library; the primitives are those of aws-lc-rs.

mod keys;
#[cfg(test)]
mod tests;

use std::io::{BufRead, Error, ErrorKind, Read, Result, Write};

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::{hkdf, hmac};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use domain::Random;

pub use keys::{Identity, Recipient};

const INTRO: &str = "age-encryption.org/v1\n";
const X25519_STANZA: &str = "X25519";
const MAC_START: &str = "---";
const FILE_KEY_BYTES: usize = 16;
const NONCE_BYTES: usize = 16;
const TAG_BYTES: usize = 16;
const CHUNK_BYTES: usize = 64 * 1024;
/// Columns of a line of a stanza's body; a shorter line ends it.
const BODY_COLUMNS: usize = 64;
const HEADER_BYTES_MAX: usize = 64 * 1024;

type FileKey = [u8; FILE_KEY_BYTES];

fn invalid(why: &str) -> Error {
    Error::new(ErrorKind::InvalidData, why.to_owned())
}

fn crypto_failed<E>(_: E) -> Error {
    Error::other("the cryptography library failed")
}

fn derive(salt: &[u8], secret: &[u8], info: &str) -> Result<[u8; 32]> {
    let mut key = [0; 32];
    let extracted = hkdf::Salt::new(hkdf::HKDF_SHA256, salt).extract(secret);
    let info = [info.as_bytes()];
    let expanded = extracted.expand(&info, hkdf::HKDF_SHA256).map_err(crypto_failed)?;
    expanded.fill(&mut key).map_err(crypto_failed)?;
    Ok(key)
}

fn cipher(key: &[u8; 32]) -> Result<LessSafeKey> {
    UnboundKey::new(&CHACHA20_POLY1305, key).map(LessSafeKey::new).map_err(crypto_failed)
}

/// The authentication key of the header.
fn mac_key(file_key: &FileKey) -> Result<hmac::Key> {
    Ok(hmac::Key::new(hmac::HMAC_SHA256, &derive(&[], file_key, "header")?))
}

/// The nonce of a chunk: its number, and whether it is the last one.
fn chunk_nonce(number: u64, is_last: bool) -> Nonce {
    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&number.to_be_bytes());
    nonce[11] = u8::from(is_last);
    Nonce::assume_unique_for_key(nonce)
}

/// Whether a file begins like an encrypted backup.
pub fn is_encrypted(start: &[u8]) -> bool {
    start.starts_with(INTRO.as_bytes())
}

/// Encrypts what is written to it. `flush` writes the last chunk and ends the file.
pub struct Encrypting<W> {
    out: W,
    cipher: LessSafeKey,
    chunk: Vec<u8>,
    number: u64,
    is_ended: bool,
}

impl<W> std::fmt::Debug for Encrypting<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Encrypting")
    }
}

impl<W: Write> Encrypting<W> {
    /// Writes the header, from which each recipient can decrypt the rest.
    pub fn new(mut out: W, recipients: &[Recipient], random: &dyn Random) -> Result<Self> {
        let (mut file_key, mut nonce) = ([0; FILE_KEY_BYTES], [0; NONCE_BYTES]);
        random.fill(&mut file_key);
        random.fill(&mut nonce);
        let mut header = INTRO.to_owned();
        for recipient in recipients {
            let (share, wrapped) = recipient.wrap(&file_key, random)?;
            let [share, wrapped] = [share.as_slice(), &wrapped].map(|bytes| STANDARD_NO_PAD.encode(bytes));
            let stanza = format!("-> {X25519_STANZA} {share}\n{wrapped}\n");
            header.push_str(&stanza);
        }
        header.push_str(MAC_START);
        let mac = hmac::sign(&mac_key(&file_key)?, header.as_bytes());
        let mac = STANDARD_NO_PAD.encode(mac.as_ref());
        out.write_all(format!("{header} {mac}\n").as_bytes())?;
        out.write_all(&nonce)?;
        let cipher = cipher(&derive(&nonce, &file_key, "payload")?)?;
        Ok(Self {
            out,
            cipher,
            chunk: Vec::with_capacity(CHUNK_BYTES + TAG_BYTES),
            number: 0,
            is_ended: false,
        })
    }

    fn write_chunk(&mut self, is_last: bool) -> Result<()> {
        let nonce = chunk_nonce(self.number, is_last);
        self.cipher.seal_in_place_append_tag(nonce, Aad::empty(), &mut self.chunk).map_err(crypto_failed)?;
        self.out.write_all(&self.chunk)?;
        self.chunk.clear();
        self.number += 1;
        Ok(())
    }
}

impl<W: Write> Write for Encrypting<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        if self.is_ended {
            return Err(Error::other("the encrypted file has been ended"));
        }
        // A full chunk is written when more follows: the last chunk is not empty unless the file is.
        if self.chunk.len() == CHUNK_BYTES && !bytes.is_empty() {
            self.write_chunk(false)?;
        }
        let taken = bytes.len().min(CHUNK_BYTES - self.chunk.len());
        self.chunk.extend_from_slice(bytes.get(..taken).unwrap_or_default());
        Ok(taken)
    }

    fn flush(&mut self) -> Result<()> {
        if !self.is_ended {
            self.write_chunk(true)?;
            self.is_ended = true;
        }
        self.out.flush()
    }
}

/// Decrypts a file. Every chunk is authenticated before it is handed out, and the end of the file, too.
pub struct Decrypting<R> {
    input: R,
    cipher: LessSafeKey,
    chunk: Vec<u8>,
    position: usize,
    number: u64,
    is_ended: bool,
}

impl<R> std::fmt::Debug for Decrypting<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Decrypting")
    }
}

impl<R: BufRead> Decrypting<R> {
    /// Reads the header with the first identity that it was encrypted for.
    pub fn new(mut input: R, identities: &[Identity]) -> Result<Self> {
        let file_key = read_header(&mut input, identities)?;
        let mut nonce = [0; NONCE_BYTES];
        input.read_exact(&mut nonce).map_err(|_| invalid("the encrypted file was cut off"))?;
        let cipher = cipher(&derive(&nonce, &file_key, "payload")?)?;
        Ok(Self { input, cipher, chunk: Vec::new(), position: 0, number: 0, is_ended: false })
    }

    fn next_chunk(&mut self) -> Result<()> {
        self.chunk.clear();
        self.position = 0;
        let whole = (CHUNK_BYTES + TAG_BYTES) as u64;
        Read::take(&mut self.input, whole).read_to_end(&mut self.chunk)?;
        let is_last = self.input.fill_buf()?.is_empty();
        let opened =
            self.cipher.open_in_place(chunk_nonce(self.number, is_last), Aad::empty(), &mut self.chunk);
        let bytes = opened.map_err(|_| invalid("the encrypted file was cut off or changed"))?.len();
        self.chunk.truncate(bytes);
        if bytes == 0 && self.number > 0 {
            return Err(invalid("the encrypted file has an empty last chunk"));
        }
        self.number += 1;
        self.is_ended = is_last;
        Ok(())
    }
}

impl<R: BufRead> Read for Decrypting<R> {
    fn read(&mut self, out: &mut [u8]) -> Result<usize> {
        if self.position == self.chunk.len() && !self.is_ended {
            self.next_chunk()?;
        }
        let rest = self.chunk.get(self.position..).unwrap_or_default();
        let (taken, target) = (rest.len().min(out.len()), out);
        if let (Some(target), Some(rest)) = (target.get_mut(..taken), rest.get(..taken)) {
            target.copy_from_slice(rest);
        }
        self.position += taken;
        Ok(taken)
    }
}

/// The lines of a header, with all bytes so far.
struct HeaderLines<'a, R> {
    input: &'a mut R,
    bytes: Vec<u8>,
}

impl<R: BufRead> HeaderLines<'_, R> {
    /// The next line without its end.
    fn next(&mut self) -> Result<String> {
        let start = self.bytes.len();
        let rest = HEADER_BYTES_MAX.saturating_sub(start) as u64;
        Read::take(&mut *self.input, rest).read_until(b'\n', &mut self.bytes)?;
        let line = self.bytes.get(start..).and_then(|line| line.strip_suffix(b"\n"));
        let line = line.and_then(|line| std::str::from_utf8(line).ok());
        line.map(str::to_owned).ok_or_else(|| invalid("the header of the encrypted file is damaged"))
    }
}

/// Finds the file key in the header and checks that the header is authentic.
fn read_header(input: &mut impl BufRead, identities: &[Identity]) -> Result<FileKey> {
    let damaged = || invalid("the header of the encrypted file is damaged");
    let mut lines = HeaderLines { input, bytes: Vec::new() };
    if lines.next()? != INTRO.trim_end() {
        return Err(invalid("the file is not encrypted with age"));
    }
    let mut found = None;
    loop {
        let before = lines.bytes.len();
        let line = lines.next()?;
        if let Some(mac) = line.strip_prefix(MAC_START) {
            let mac = mac.strip_prefix(' ').and_then(|mac| STANDARD_NO_PAD.decode(mac).ok());
            let mac = mac.ok_or_else(damaged)?;
            let file_key: FileKey = found
                .ok_or_else(|| invalid("the backup is encrypted for another recipient than this identity"))?;
            let signed = lines.bytes.get(..before + MAC_START.len()).unwrap_or_default();
            hmac::verify(&mac_key(&file_key)?, signed, &mac).map_err(|_| damaged())?;
            return Ok(file_key);
        }
        let stanza = line.strip_prefix("-> ").ok_or_else(damaged)?;
        let body = read_body(&mut lines)?;
        let arguments: Vec<&str> = stanza.split(' ').collect();
        if arguments
            .iter()
            .any(|argument| argument.is_empty() || !argument.bytes().all(|byte| byte.is_ascii_graphic()))
        {
            return Err(damaged());
        }
        if let (X25519_STANZA, None) = (arguments.first().copied().unwrap_or_default(), found) {
            let [_, share] = arguments[..] else { return Err(damaged()) };
            let share = STANDARD_NO_PAD.decode(share).map_err(|_| damaged())?;
            for identity in identities {
                found = found.or(identity.unwrap(&share, &body)?);
            }
        }
    }
}

/// The body of a stanza: base64 in lines of 64 columns, the last one shorter.
fn read_body(lines: &mut HeaderLines<'_, impl BufRead>) -> Result<Vec<u8>> {
    let mut text = String::new();
    loop {
        let line = lines.next()?;
        if line.len() > BODY_COLUMNS {
            return Err(invalid("the header of the encrypted file is damaged"));
        }
        text.push_str(&line);
        if line.len() < BODY_COLUMNS {
            let decoded = STANDARD_NO_PAD.decode(text);
            return decoded.map_err(|_| invalid("the header of the encrypted file is damaged"));
        }
    }
}
