//! The data of the benchmarks: new customers of one company, as lines for the ingest API and as the rows that the program
//! writes for them.

use domain::Ticks;
use domain::record::{RecordTail, State};
use domain::{Guid, Resource};

pub(crate) const COMPANY: &str = "5b0e2f0e-2f8a-4c4e-9d53-6f2b8c1a7e10";

pub(crate) fn company_line() -> String {
    format!(
        r#"{{"area":"accounting","resource":"companies","action":"upsert","correlationId":"{COMPANY}","data":{{"vatName":"Bodegas Peñalver S.L.","vatNumber":"B12345674","chartOfAccountId":1,"accountLength":12}},"user":"maria","sourceInterface":"ERP","sourceAction":"Alta"}}"#
    )
}

/// A GUID that looks random and depends only on salt and number.
fn id(salt: u64, number: u64) -> Guid {
    let mut bytes = [0; 16];
    for (half, chunk) in (1_u64..).zip(bytes.chunks_mut(8)) {
        let mut mixed =
            number.wrapping_add(salt << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(half);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        chunk.copy_from_slice(&(mixed ^ (mixed >> 31)).to_be_bytes());
    }
    Guid::random_from(bytes)
}

fn members(number: u64) -> String {
    let account = id(9, number);
    format!(
        r#""tradeName":"Ferretería Íñiguez {number}","vatNumber":"B12345674","vatName":"Ferretería Íñiguez e Hijos S.L.","accountCode":"430{:09}","vatNumberCorrelationId":"","accountCodeCorrelationId":"{account}""#,
        number % 1_000_000_000
    )
}

pub(crate) fn customer_line(salt: u64, number: u64) -> String {
    format!(
        r#"{{"area":"accounting","resource":"customers","company":"{COMPANY}","action":"upsert","correlationId":"{}","data":{{{}}},"user":"maria","sourceInterface":"ERP","sourceAction":"Alta"}}"#,
        id(salt, number),
        members(number)
    )
}

/// The id of the customer of `customer_line`.
pub(crate) fn customer_id(salt: u64, number: u64) -> Guid {
    id(salt, number)
}

pub(crate) fn account_id(number: u64) -> Guid {
    id(11, number)
}

pub(crate) fn account_line(number: u64) -> String {
    format!(
        r#"{{"area":"accounting","resource":"accounts","company":"{COMPANY}","action":"upsert","correlationId":"{}","data":{{"code":"430{number:09}","description":"Clientes, grupo {number}"}},"user":"maria","sourceInterface":"ERP","sourceAction":"Alta"}}"#,
        account_id(number)
    )
}

/// One in a hundred, evenly spread, was last updated after 1 June 2026.
pub(crate) fn payroll_line(number: u64) -> String {
    let month = if number % 100 == 37 { "06" } else { "03" };
    let (day, minute) = (number % 28 + 1, number % 60);
    format!(
        r#"{{"area":"payroll","resource":"companies","action":"upsert","data":{{"companyCode":{},"companyName":"Talleres Íñiguez {number}","identifierNumber":"B12345674","lastUpdate":"2026-{month}-{day:02}T10:{minute:02}:00.000Z"}},"user":"maria"}}"#,
        number + 1
    )
}

/// The values of the record row and the log row of a new customer, as the program writes them.
pub(crate) struct CustomerRow {
    pub(crate) ordinal: i64,
    pub(crate) sequence: i64,
    pub(crate) id: String,
    pub(crate) version: i64,
    pub(crate) body: String,
    pub(crate) record_key: i64,
    pub(crate) conversation: [u8; 16],
    pub(crate) process: [u8; 16],
}

pub(crate) fn customer_row(number: u64) -> CustomerRow {
    let version = Ticks(638_900_000_000_000_000 + i64::try_from(number).unwrap_or(0));
    let record = id(3, number).to_string();
    let sequence = number + 1;
    let tail = RecordTail {
        resource: Resource::customers(),
        correlation_id: &record,
        state: State::Enabled,
        version,
        sequence,
    };
    let body = tail.body_of(&members(number));
    let key = id(4, number);
    let mut first = [0; 8];
    first.copy_from_slice(&key.as_bytes()[..8]);
    CustomerRow {
        ordinal: i64::try_from(sequence).unwrap_or(0),
        sequence: i64::try_from(sequence).unwrap_or(0),
        version: version.0,
        body,
        record_key: i64::from_be_bytes(first),
        conversation: *id(5, number).as_bytes(),
        process: *id(6, number / 1000).as_bytes(),
        id: record,
    }
}
