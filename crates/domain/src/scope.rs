//! OAuth scopes: the scopes of the contract, and sets of them.

use std::fmt;

use crate::subscription::{Product, Products};

/// One scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Scope {
    OpenId,
    Profile,
    Email,
    OfflineAccess,
    IdInfo,
    Core,
    Accounting,
    Management,
    Payroll,
    Webhooks,
}

impl Scope {
    pub const ALL: [Self; 10] = [
        Self::OpenId,
        Self::Profile,
        Self::Email,
        Self::OfflineAccess,
        Self::IdInfo,
        Self::Core,
        Self::Accounting,
        Self::Management,
        Self::Payroll,
        Self::Webhooks,
    ];

    /// The case-sensitive name in requests and tokens.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenId => "openid",
            Self::Profile => "profile",
            Self::Email => "email",
            Self::OfflineAccess => "offline_access",
            Self::IdInfo => "IDInfo",
            Self::Core => "SVC.ES.NEWPOL.COR.API",
            Self::Accounting => "SVC.ES.NEWPOL.ACC.API",
            Self::Management => "SVC.ES.NEWPOL.MNG.API",
            Self::Payroll => "SVC.ES.EquipoContex",
            Self::Webhooks => "SVC.ES.Webhooks",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }

    /// The products that open this scope to a client, any of them; none where every client may have it.
    pub fn products(self) -> Option<Products> {
        let products: &[Product] = match self {
            Self::OpenId | Self::Profile | Self::Email | Self::OfflineAccess | Self::IdInfo => return None,
            Self::Core | Self::Accounting | Self::Management => &[Product::Accounting],
            Self::Payroll => &[Product::Payroll],
            Self::Webhooks => &[Product::Accounting, Product::Invoicing],
        };
        Some(products.iter().copied().collect())
    }

    fn bit(self) -> u16 {
        1 << self as u8
    }
}

/// A set of scopes.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Scopes(u16);

/// The result of parsing a `scope` parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestedScopes {
    pub scopes: Scopes,
    /// Whether the list contains unknown names.
    pub has_unknown: bool,
}

impl Scopes {
    /// Parses a list of names separated by spaces or plus signs.
    pub fn parse(list: &str) -> RequestedScopes {
        let names = list.split([' ', '+']).filter(|name| !name.is_empty());
        names.fold(RequestedScopes { scopes: Self::default(), has_unknown: false }, |requested, name| {
            match Scope::from_name(name) {
                Some(scope) => RequestedScopes { scopes: requested.scopes.with(scope), ..requested },
                None => RequestedScopes { has_unknown: true, ..requested },
            }
        })
    }

    pub fn with(self, scope: Scope) -> Self {
        Self(self.0 | scope.bit())
    }

    /// All scopes of both sets.
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub fn has(self, scope: Scope) -> bool {
        self.0 & scope.bit() != 0
    }

    pub fn has_all(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Those of these scopes that a client with these products may have.
    pub fn allowed_for(self, products: Products) -> Self {
        self.iter()
            .filter(|scope| scope.products().is_none_or(|any| any.intersects(products)))
            .fold(Self::default(), Self::with)
    }

    /// Those of these scopes that `other` does not have.
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// In the order of `Scope::ALL`.
    pub fn iter(self) -> impl Iterator<Item = Scope> {
        Scope::ALL.into_iter().filter(move |scope| self.has(*scope))
    }

    pub fn names(self) -> Vec<&'static str> {
        self.iter().map(Scope::name).collect()
    }

    /// Whether tokens carry the accounting claims.
    pub fn is_accounting(self) -> bool {
        [Scope::Core, Scope::Accounting, Scope::Management].into_iter().any(|scope| self.has(scope))
    }

    /// Whether tokens carry the payroll claims.
    pub fn is_payroll(self) -> bool {
        self.has(Scope::Payroll)
    }

    /// The same with the scopes that open the user's name and email address to an accounting token, which carries
    /// both.
    pub fn with_profile_of_accounting(self) -> Self {
        if self.is_accounting() { self.with(Scope::IdInfo) } else { self }
    }

    /// Whether the client may read the user's name.
    pub fn has_name_access(self) -> bool {
        self.has(Scope::Profile) || self.has(Scope::IdInfo)
    }

    /// Whether the client may read the user's email address.
    pub fn has_email_access(self) -> bool {
        self.has(Scope::Email) || self.has(Scope::IdInfo)
    }
}

/// Space-separated names.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(" "))
    }
}

impl fmt::Debug for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Scopes({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_separated_by_spaces_and_plus_signs() {
        let expected = Scopes::default().with(Scope::OpenId).with(Scope::Accounting);
        for list in [
            "openid SVC.ES.NEWPOL.ACC.API",
            "openid+SVC.ES.NEWPOL.ACC.API",
            " openid ++ openid SVC.ES.NEWPOL.ACC.API",
        ] {
            assert_eq!(
                Scopes::parse(list),
                RequestedScopes { scopes: expected, has_unknown: false },
                "{list}"
            );
        }
    }

    #[test]
    fn names_are_case_sensitive_and_unknown_names_are_flagged() {
        let requested = Scopes::parse("OpenID email");
        assert_eq!(
            requested,
            RequestedScopes { scopes: Scopes::default().with(Scope::Email), has_unknown: true }
        );
    }

    #[test]
    fn names_resolve_to_their_scope() {
        for scope in Scope::ALL {
            assert_eq!(Scope::from_name(scope.name()), Some(scope));
        }
    }

    #[test]
    fn products_of_a_client_decide_its_scopes() {
        let all: Scopes = Scope::ALL.into_iter().fold(Scopes::default(), Scopes::with);
        let open = "openid profile email offline_access IDInfo";
        let accounting = "SVC.ES.NEWPOL.COR.API SVC.ES.NEWPOL.ACC.API SVC.ES.NEWPOL.MNG.API";
        for (products, more) in [
            (&[][..], String::new()),
            (&[Product::Accounting], format!("{accounting} SVC.ES.Webhooks")),
            (&[Product::Payroll], "SVC.ES.EquipoContex".into()),
            (&[Product::Invoicing], "SVC.ES.Webhooks".into()),
            (&[Product::Payroll, Product::Invoicing], "SVC.ES.EquipoContex SVC.ES.Webhooks".into()),
        ] {
            let allowed = all.allowed_for(products.iter().copied().collect());
            assert_eq!(allowed, Scopes::parse(&format!("{open} {more}")).scopes, "{products:?}");
            assert!(allowed.without(all).is_empty());
        }
        assert_eq!(all.allowed_for(Products::all()), all);
        let wanted = Scopes::parse("openid SVC.ES.EquipoContex").scopes;
        let missing = wanted.without(wanted.allowed_for([Product::Accounting].into_iter().collect()));
        assert_eq!(missing.names(), ["SVC.ES.EquipoContex"]);
    }

    #[test]
    fn claims_follow_from_scopes() {
        assert!(Scopes::parse("SVC.ES.NEWPOL.MNG.API").scopes.is_accounting());
        assert!(!Scopes::parse("SVC.ES.Webhooks openid").scopes.is_accounting());
        assert!(Scopes::parse("SVC.ES.EquipoContex").scopes.is_payroll());
    }
}
