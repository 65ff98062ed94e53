//! The initial chart of accounts of a company: the commonly used part of the Plan General Contable.

use crate::company::Account;
use crate::names::BANKS;

/// Which companies have an account in their chart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AppliesTo {
    All,
    Incorporated,
    SelfEmployed,
}

use AppliesTo::{All, Incorporated, SelfEmployed};

#[rustfmt::skip] // One row per account.
const CHART: &[(u16, AppliesTo, &str)] = &[
    (100, Incorporated, "Capital social"),
    (102, SelfEmployed, "Capital"),
    (112, Incorporated, "Reserva legal"),
    (113, Incorporated, "Reservas voluntarias"),
    (121, Incorporated, "Resultados negativos de ejercicios anteriores"),
    (129, All, "Resultado del ejercicio"),
    (170, All, "Deudas a largo plazo con entidades de crédito"),
    (173, All, "Proveedores de inmovilizado a largo plazo"),
    (174, All, "Acreedores por arrendamiento financiero a largo plazo"),
    (206, All, "Aplicaciones informáticas"),
    (211, All, "Construcciones"),
    (213, All, "Maquinaria"),
    (216, All, "Mobiliario"),
    (217, All, "Equipos para procesos de información"),
    (218, All, "Elementos de transporte"),
    (260, All, "Fianzas constituidas a largo plazo"),
    (280, All, "Amortización acumulada del inmovilizado intangible"),
    (281, All, "Amortización acumulada del inmovilizado material"),
    (300, All, "Mercaderías A"),
    (310, All, "Materias primas A"),
    (400, All, "Proveedores"),
    (410, All, "Acreedores por prestaciones de servicios"),
    (430, All, "Clientes"),
    (431, All, "Clientes, efectos comerciales a cobrar"),
    (436, All, "Clientes de dudoso cobro"),
    (438, All, "Anticipos de clientes"),
    (440, All, "Deudores"),
    (460, All, "Anticipos de remuneraciones"),
    (465, All, "Remuneraciones pendientes de pago"),
    (4700, All, "Hacienda Pública, deudora por IVA"),
    (4709, All, "Hacienda Pública, deudora por devolución de impuestos"),
    (472, All, "Hacienda Pública, IVA soportado"),
    (473, All, "Hacienda Pública, retenciones y pagos a cuenta"),
    (4750, All, "Hacienda Pública, acreedora por IVA"),
    (4751, All, "Hacienda Pública, acreedora por retenciones practicadas"),
    (4752, Incorporated, "Hacienda Pública, acreedora por impuesto sobre sociedades"),
    (476, All, "Organismos de la Seguridad Social, acreedores"),
    (477, All, "Hacienda Pública, IVA repercutido"),
    (480, All, "Gastos anticipados"),
    (485, All, "Ingresos anticipados"),
    (490, All, "Deterioro de valor de créditos por operaciones comerciales"),
    (520, All, "Deudas a corto plazo con entidades de crédito"),
    (523, All, "Proveedores de inmovilizado a corto plazo"),
    (550, SelfEmployed, "Titular de la explotación"),
    (551, Incorporated, "Cuenta corriente con socios y administradores"),
    (555, All, "Partidas pendientes de aplicación"),
    (570, All, "Caja, euros"),
    (572, All, "Bancos e instituciones de crédito c/c vista, euros"),
    (600, All, "Compras de mercaderías"),
    (601, All, "Compras de materias primas"),
    (602, All, "Compras de otros aprovisionamientos"),
    (607, All, "Trabajos realizados por otras empresas"),
    (608, All, "Devoluciones de compras y operaciones similares"),
    (610, All, "Variación de existencias de mercaderías"),
    (621, All, "Arrendamientos y cánones"),
    (622, All, "Reparaciones y conservación"),
    (623, All, "Servicios de profesionales independientes"),
    (624, All, "Transportes"),
    (625, All, "Primas de seguros"),
    (626, All, "Servicios bancarios y similares"),
    (627, All, "Publicidad, propaganda y relaciones públicas"),
    (628, All, "Suministros"),
    (629, All, "Otros servicios"),
    (6300, Incorporated, "Impuesto corriente"),
    (631, All, "Otros tributos"),
    (640, All, "Sueldos y salarios"),
    (642, All, "Seguridad Social a cargo de la empresa"),
    (649, All, "Otros gastos sociales"),
    (650, All, "Pérdidas de créditos comerciales incobrables"),
    (662, All, "Intereses de deudas"),
    (669, All, "Otros gastos financieros"),
    (678, All, "Gastos excepcionales"),
    (681, All, "Amortización del inmovilizado material"),
    (694, All, "Pérdidas por deterioro de créditos por operaciones comerciales"),
    (700, All, "Ventas de mercaderías"),
    (701, All, "Ventas de productos terminados"),
    (705, All, "Prestaciones de servicios"),
    (706, All, "Descuentos sobre ventas por pronto pago"),
    (708, All, "Devoluciones de ventas y operaciones similares"),
    (709, All, "Rappels sobre ventas"),
    (752, All, "Ingresos por arrendamientos"),
    (759, All, "Ingresos por servicios diversos"),
    (769, All, "Otros ingresos financieros"),
    (778, All, "Ingresos excepcionales"),
];

pub(crate) const VAT_RATES: [u32; 3] = [21, 10, 4];

/// VAT has one sub-account per rate, and the rate is its number.
const VAT_ACCOUNTS: [(u16, u32, &str); 6] = [
    (472, 21, "Hacienda Pública, IVA soportado 21 %"),
    (472, 10, "Hacienda Pública, IVA soportado 10 %"),
    (472, 4, "Hacienda Pública, IVA soportado 4 %"),
    (477, 21, "Hacienda Pública, IVA repercutido 21 %"),
    (477, 10, "Hacienda Pública, IVA repercutido 10 %"),
    (477, 4, "Hacienda Pública, IVA repercutido 4 %"),
];

/// The accounts of a company's chart with their names, without those of its customers and suppliers.
pub(crate) fn accounts(self_employed: bool, banks: [usize; 2]) -> impl Iterator<Item = (Account, String)> {
    let other = if self_employed { Incorporated } else { SelfEmployed };
    let groups = CHART.iter().filter(move |(_, applies_to, _)| *applies_to != other);
    let groups = groups.map(|(group, _, name)| (Account::new(*group, 0), (*name).to_owned()));
    let vat =
        VAT_ACCOUNTS.iter().map(|(group, rate, name)| (Account::new(*group, *rate), (*name).to_owned()));
    let banks = (1..).zip(banks).map(|(number, bank)| {
        let name = BANKS[bank % BANKS.len()].0;
        (Account::new(572, number), format!("{name}, c/c"))
    });
    groups.chain(vat).chain(banks)
}
