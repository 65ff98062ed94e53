//! Legal forms of Spanish companies: the letter of their CIF, their name's suffix, and how frequent they are.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LegalForm {
    Limited,
    SingleMember,
    WorkerOwned,
    PublicLimited,
    Cooperative,
    JointOwnership,
    Partnership,
    Homeowners,
    Association,
    TownHall,
    Person,
}

use LegalForm::{
    Association, Cooperative, Homeowners, JointOwnership, Limited, Partnership, Person, PublicLimited,
    SingleMember, TownHall, WorkerOwned,
};

// Each list repeats a form in proportion to its frequency.
#[rustfmt::skip]
pub(crate) const COMPANY_LEGAL_FORMS: &[LegalForm] = &[
    Limited, Limited, Limited, SingleMember, PublicLimited, PublicLimited, Cooperative, WorkerOwned, Person,
    Person,
];
#[rustfmt::skip]
pub(crate) const CUSTOMER_LEGAL_FORMS: &[LegalForm] = &[
    Limited, Limited, Limited, Limited, Limited, Limited, Limited, Limited, SingleMember, SingleMember,
    SingleMember, PublicLimited, PublicLimited, PublicLimited, Cooperative, WorkerOwned, JointOwnership,
    Partnership, Homeowners, Association, Person, Person, Person, Person, Person,
];
#[rustfmt::skip]
pub(crate) const SUPPLIER_LEGAL_FORMS: &[LegalForm] = &[
    Limited, Limited, Limited, Limited, Limited, SingleMember, SingleMember, PublicLimited, PublicLimited,
    Cooperative, Person, Person,
];

impl LegalForm {
    /// The first letter of the CIF. Persons have a NIF instead and never use it.
    pub(crate) fn cif_letter(self) -> char {
        match self {
            Limited | SingleMember | WorkerOwned | Person => 'B',
            PublicLimited => 'A',
            Cooperative => 'F',
            JointOwnership => 'E',
            Partnership => 'J',
            Homeowners => 'H',
            Association => 'G',
            TownHall => 'P',
        }
    }

    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Limited => ", S.L.",
            SingleMember => ", S.L.U.",
            WorkerOwned => ", S.L.L.",
            PublicLimited => ", S.A.",
            Cooperative => ", S. Coop.",
            JointOwnership => ", C.B.",
            Partnership => ", S.C.",
            Homeowners | Association | TownHall | Person => "",
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Limited => "Sociedad limitada",
            SingleMember => "Sociedad limitada unipersonal",
            WorkerOwned => "Sociedad limitada laboral",
            PublicLimited => "Sociedad anónima",
            Cooperative => "Sociedad cooperativa",
            JointOwnership => "Comunidad de bienes",
            Partnership => "Sociedad civil",
            Homeowners => "Comunidad de propietarios",
            Association => "Asociación",
            TownHall => "Corporación local",
            Person => "Persona física",
        }
    }

    /// Whether the members pay the tax on its income (atribución de rentas).
    pub(crate) fn allocates_income(self) -> bool {
        matches!(self, JointOwnership | Partnership)
    }
}
