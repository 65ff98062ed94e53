//! Writes CBOR in its shortest form, for the tests' authenticator and for the fuzz target's check against the reader.

use super::Value;

pub(crate) fn encode(value: &Value<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

fn write(value: &Value<'_>, out: &mut Vec<u8>) {
    match value {
        Value::Unsigned(number) => head(0, *number, out),
        Value::Negative(number) => head(1, *number, out),
        Value::Bytes(bytes) => {
            head(2, bytes.len() as u64, out);
            out.extend_from_slice(bytes);
        }
        Value::Text(text) => {
            head(3, text.len() as u64, out);
            out.extend_from_slice(text.as_bytes());
        }
        Value::Array(items) => {
            head(4, items.len() as u64, out);
            for item in items {
                write(item, out);
            }
        }
        Value::Map(entries) => {
            head(5, entries.len() as u64, out);
            for (key, value) in entries {
                write(key, out);
                write(value, out);
            }
        }
        Value::Simple(number @ 0..=23) => out.push(0xe0 | number),
        Value::Simple(number) => out.extend_from_slice(&[0xf8, *number]),
        Value::Float(length, bits) => {
            let length = usize::from(*length);
            out.push(match length {
                2 => 0xf9,
                4 => 0xfa,
                _ => 0xfb,
            });
            out.extend_from_slice(&bits.to_be_bytes()[8 - length..]);
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "each arm has checked the range")]
fn head(major: u8, argument: u64, out: &mut Vec<u8>) {
    let major = major << 5;
    match argument {
        0..=23 => out.push(major | argument as u8),
        24..=0xff => out.extend_from_slice(&[major | 0x18, argument as u8]),
        0x100..=0xffff => {
            out.push(major | 0x19);
            out.extend_from_slice(&(argument as u16).to_be_bytes());
        }
        0x1_0000..=0xffff_ffff => {
            out.push(major | 0x1a);
            out.extend_from_slice(&(argument as u32).to_be_bytes());
        }
        _ => {
            out.push(major | 0x1b);
            out.extend_from_slice(&argument.to_be_bytes());
        }
    }
}
