//! The values of columns: both databases have integers, text and bytes alone.

use domain::ids::{InvitationId, MembershipId, OperatorTokenId, RequestId, SubscriptionId};
use domain::{AccountId, ClientId, GrantId, Guid, TeamId, TenantId, Ticks};

/// A value as a database returns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ColumnValue<'a> {
    Null,
    Integer(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
}

/// A type that columns are read as.
pub(crate) trait FromColumn: Sized {
    /// None if the value is not of this type.
    fn from_column(value: ColumnValue<'_>) -> Option<Self>;
}

impl<T: FromColumn> FromColumn for Option<T> {
    fn from_column(value: ColumnValue<'_>) -> Option<Self> {
        if value == ColumnValue::Null { Some(None) } else { T::from_column(value).map(Some) }
    }
}

impl FromColumn for i64 {
    fn from_column(value: ColumnValue<'_>) -> Option<Self> {
        if let ColumnValue::Integer(number) = value { Some(number) } else { None }
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl FromColumn for $type {
            fn from_column(value: ColumnValue<'_>) -> Option<Self> {
                i64::from_column(value)?.try_into().ok()
            }
        }
    )*};
}

integers!(i16, u8, u16, u32, u64, usize);

impl FromColumn for bool {
    fn from_column(value: ColumnValue<'_>) -> Option<Self> {
        i64::from_column(value).map(|number| number != 0)
    }
}

impl FromColumn for Ticks {
    fn from_column(value: ColumnValue<'_>) -> Option<Self> {
        i64::from_column(value).map(Self)
    }
}

impl FromColumn for Box<str> {
    fn from_column(value: ColumnValue<'_>) -> Option<Self> {
        if let ColumnValue::Text(text) = value { Some(text.into()) } else { None }
    }
}

impl FromColumn for String {
    fn from_column(value: ColumnValue<'_>) -> Option<Self> {
        if let ColumnValue::Text(text) = value { Some(text.into()) } else { None }
    }
}

macro_rules! text_ids {
    ($($type:ty),*) => {$(
        impl FromColumn for $type {
            fn from_column(value: ColumnValue<'_>) -> Option<Self> {
                Box::<str>::from_column(value).map(Self::new)
            }
        }
    )*};
}

text_ids!(
    AccountId,
    ClientId,
    GrantId,
    InvitationId,
    MembershipId,
    OperatorTokenId,
    RequestId,
    SubscriptionId,
    TeamId,
    TenantId
);

impl FromColumn for Vec<u8> {
    fn from_column(value: ColumnValue<'_>) -> Option<Self> {
        if let ColumnValue::Bytes(bytes) = value { Some(bytes.into()) } else { None }
    }
}

impl<const N: usize> FromColumn for [u8; N] {
    fn from_column(value: ColumnValue<'_>) -> Option<Self> {
        if let ColumnValue::Bytes(bytes) = value { bytes.try_into().ok() } else { None }
    }
}

impl FromColumn for Guid {
    fn from_column(value: ColumnValue<'_>) -> Option<Self> {
        FromColumn::from_column(value).map(Self::from_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_their_types_alone() {
        use ColumnValue::{Bytes, Integer, Null, Text};
        assert_eq!(u32::from_column(Integer(7)), Some(7));
        assert_eq!(u32::from_column(Integer(-1)), None);
        assert_eq!(u16::from_column(Integer(65_536)), None);
        assert_eq!(bool::from_column(Integer(1)), Some(true));
        assert_eq!(Ticks::from_column(Integer(3)), Some(Ticks(3)));
        assert_eq!(String::from_column(Text("a")).as_deref(), Some("a"));
        assert_eq!(String::from_column(Bytes(b"a")), None);
        assert_eq!(<[u8; 2]>::from_column(Bytes(b"ab")), Some(*b"ab"));
        assert_eq!(<[u8; 2]>::from_column(Bytes(b"abc")), None);
        assert_eq!(Option::<i64>::from_column(Null), Some(None));
        assert_eq!(i64::from_column(Null), None);
        assert_eq!(Option::<i64>::from_column(Text("1")), None);
    }
}
