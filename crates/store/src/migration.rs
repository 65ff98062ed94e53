//! The numbers of migrations.

/// The number that a migration's name starts with.
pub(crate) fn migration_number(name: &str) -> i64 {
    let digits = name.split('_').next().unwrap_or_default();
    digits.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_read_from_the_name() {
        assert_eq!(migration_number("0009_client_products"), 9);
        assert_eq!(migration_number("0123_a_1"), 123);
    }
}
