//! Password hashing with argon2id. It is slow on purpose: callers must not run it on the threads that serve requests.

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};

use crate::ports::Random;
use crate::secret::Secret;

/// Longer passwords are refused before hashing.
pub const PASSWORD_BYTES_MAX: usize = 1024;
pub const PASSWORD_CHARS_MIN: usize = 8;

/// The hash to verify against when the user is unknown, so that the response time does not reveal it. It has the cost
/// of every other hash and consists of random bytes, so no password matches it.
pub const DUMMY_HASH: &str = "$argon2id$v=19$m=19456,t=2,p=1$tZ2v6hH9mJxqQ0d3B1uK8w$\
                          H2c0b5mZ4k8s1Xq7vT9yWg3nJ6rLdPaEoUiFhSxKzQc";

/// Hashes a password into PHC string format; the error says what is wrong with the password.
pub fn hash(password: &Secret, random: &dyn Random) -> Result<String, &'static str> {
    let text = password.reveal();
    if text.len() > PASSWORD_BYTES_MAX {
        return Err("a password must have at most 1024 bytes");
    }
    if text.chars().count() < PASSWORD_CHARS_MIN {
        return Err("a password must have at least 8 characters");
    }
    let mut salt = [0; 16];
    random.fill(&mut salt);
    Argon2::default()
        .hash_password_with_salt(text.as_bytes(), &salt)
        .map(|hash| hash.to_string())
        .map_err(|_| "the password could not be hashed")
}

pub fn matches(password: &Secret, hash: &str) -> bool {
    password.reveal().len() <= PASSWORD_BYTES_MAX
        && Argon2::default().verify_password(password.reveal().as_bytes(), hash).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FixedRandom;

    impl Random for FixedRandom {
        fn fill(&self, bytes: &mut [u8]) {
            bytes.fill(7);
        }
    }

    #[test]
    fn password_matches_its_own_hash_only() {
        let hashed = hash(&Secret::new("contraseña larga"), &FixedRandom).unwrap();
        assert!(hashed.starts_with("$argon2id$v=19$"), "{hashed}");
        assert!(matches(&Secret::new("contraseña larga"), &hashed));
        assert!(!matches(&Secret::new("contraseña corta"), &hashed));
        assert!(!matches(&Secret::new("contraseña larga"), "not a hash"));
    }

    #[test]
    fn dummy_hash_has_the_cost_of_a_real_hash() {
        let dummy = argon2::password_hash::phc::PasswordHash::new(DUMMY_HASH).unwrap();
        let hashed = hash(&Secret::new("contraseña larga"), &FixedRandom).unwrap();
        let hashed = argon2::password_hash::phc::PasswordHash::new(&hashed).unwrap();
        assert_eq!((dummy.algorithm, dummy.version), (hashed.algorithm, hashed.version));
        assert_eq!(dummy.params.to_string(), hashed.params.to_string());
        assert_eq!(dummy.salt.unwrap().len(), hashed.salt.unwrap().len());
        assert_eq!(dummy.hash.unwrap().len(), hashed.hash.unwrap().len());
    }

    #[test]
    fn too_short_and_too_long_passwords_are_refused() {
        assert!(hash(&Secret::new("1234567"), &FixedRandom).is_err());
        assert!(hash(&Secret::new("x".repeat(1025)), &FixedRandom).is_err());
        assert!(!matches(&Secret::new("x".repeat(1 << 20)), "$argon2id$"));
    }
}
