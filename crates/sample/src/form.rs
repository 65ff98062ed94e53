//! Legal forms: the letter of their CIF, what they add to a name, and how common they are.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Limited,
    SoleOwner,
    WorkerOwned,
    Public,
    Cooperative,
    SharedGoods,
    Partnership,
    Owners,
    Association,
    TownHall,
    Person,
}

use Form::{
    Association, Cooperative, Limited, Owners, Partnership, Person, Public, SharedGoods, SoleOwner, TownHall,
    WorkerOwned,
};

/// The forms of each role, as often as they are met.
#[rustfmt::skip]
pub(crate) const COMPANY_FORMS: &[Form] = &[
    Limited, Limited, Limited, SoleOwner, Public, Public, Cooperative, WorkerOwned, Person, Person,
];
#[rustfmt::skip]
pub(crate) const CUSTOMER_FORMS: &[Form] = &[
    Limited, Limited, Limited, Limited, Limited, Limited, Limited, Limited, SoleOwner, SoleOwner, SoleOwner,
    Public, Public, Public, Cooperative, WorkerOwned, SharedGoods, Partnership, Owners, Association, Person,
    Person, Person, Person, Person,
];
#[rustfmt::skip]
pub(crate) const SUPPLIER_FORMS: &[Form] = &[
    Limited, Limited, Limited, Limited, Limited, SoleOwner, SoleOwner, Public, Public, Cooperative, Person,
    Person,
];

impl Form {
    /// First letter of the CIF; persons have none.
    pub(crate) fn kind(self) -> char {
        match self {
            Limited | SoleOwner | WorkerOwned | Person => 'B',
            Public => 'A',
            Cooperative => 'F',
            SharedGoods => 'E',
            Partnership => 'J',
            Owners => 'H',
            Association => 'G',
            TownHall => 'P',
        }
    }

    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Limited => ", S.L.",
            SoleOwner => ", S.L.U.",
            WorkerOwned => ", S.L.L.",
            Public => ", S.A.",
            Cooperative => ", S. Coop.",
            SharedGoods => ", C.B.",
            Partnership => ", S.C.",
            Owners | Association | TownHall | Person => "",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Limited => "Sociedad limitada",
            SoleOwner => "Sociedad limitada unipersonal",
            WorkerOwned => "Sociedad limitada laboral",
            Public => "Sociedad anónima",
            Cooperative => "Sociedad cooperativa",
            SharedGoods => "Comunidad de bienes",
            Partnership => "Sociedad civil",
            Owners => "Comunidad de propietarios",
            Association => "Asociación",
            TownHall => "Corporación local",
            Person => "Persona física",
        }
    }

    /// Its income is taxed at its members', not at itself.
    pub(crate) fn allocates_income(self) -> bool {
        matches!(self, SharedGoods | Partnership)
    }
}
