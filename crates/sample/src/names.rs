//! Tables of words for names and addresses. They skip rustfmt, which would put each word on its own line.

#[rustfmt::skip]
pub(crate) const FIRST_NAMES: &[&str] = &[
    "María", "Carmen", "Josefa", "Ana", "Isabel", "Laura", "Cristina", "Marta", "Lucía", "Pilar", "Elena",
    "Raquel", "Begoña", "Nuria", "Montserrat", "Rocío", "Inmaculada", "Ainhoa", "Itziar", "Nerea", "Amaia",
    "Leire", "Uxía", "Sabela", "Iria", "Mercè", "Núria", "Aránzazu", "Ángeles", "Concepción", "Consuelo",
    "Encarnación", "Esperanza", "Macarena", "Yolanda", "Verónica", "Belén", "Inés", "Sofía", "Estíbaliz",
    "Antonio", "Manuel", "José", "Francisco", "David", "Juan", "Javier", "Daniel", "Carlos", "Jesús",
    "Alejandro", "Miguel", "Rafael", "Pedro", "Ángel", "Pablo", "Fernando", "Sergio", "Luis", "Jorge",
    "Alberto", "Álvaro", "Óscar", "Adrián", "Rubén", "Íñigo", "Iñaki", "Mikel", "Aitor", "Gorka", "Jordi",
    "Xavier", "Òscar", "Oriol", "Xoán", "Brais", "Martiño", "Andrés", "Joaquín", "Ramón", "Vicente",
    "Tomás", "Julián", "Germán", "Agustín", "Fermín", "Román", "Saúl", "Nicolás", "Hipólito", "José Luis",
    "Juan Carlos", "José Antonio", "Miguel Ángel", "María José", "Ana Belén", "María del Carmen",
    "Rosa María",
];

#[rustfmt::skip]
pub(crate) const SURNAMES: &[&str] = &[
    "García", "Fernández", "González", "Rodríguez", "López", "Martínez", "Sánchez", "Pérez", "Gómez",
    "Martín", "Jiménez", "Ruiz", "Hernández", "Díaz", "Moreno", "Muñoz", "Álvarez", "Romero", "Alonso",
    "Gutiérrez", "Navarro", "Torres", "Domínguez", "Vázquez", "Ramos", "Gil", "Ramírez", "Serrano",
    "Blanco", "Molina", "Morales", "Suárez", "Ortega", "Delgado", "Castro", "Ortiz", "Rubio", "Marín",
    "Sanz", "Núñez", "Iglesias", "Medina", "Garrido", "Cortés", "Castillo", "Santos", "Lozano", "Guerrero",
    "Cano", "Prieto", "Méndez", "Cruz", "Calvo", "Gallego", "Vidal", "León", "Márquez", "Herrera", "Peña",
    "Flores", "Cabrera", "Campos", "Vega", "Fuentes", "Carrasco", "Díez", "Caballero", "Reyes", "Nieto",
    "Aguilar", "Pascual", "Santana", "Herrero", "Lorenzo", "Montero", "Hidalgo", "Giménez", "Ibáñez",
    "Ferrer", "Durán", "Santiago", "Benítez", "Mora", "Vicente", "Vargas", "Arias", "Carmona", "Crespo",
    "Román", "Pastor", "Soto", "Sáez", "Velasco", "Moya", "Soler", "Parra", "Esteban", "Bravo", "Gallardo",
    "Rojas", "Peñalver", "Güemes", "Ordóñez", "Etxeberria", "Agirre", "Goikoetxea", "Zubizarreta",
    "Iturralde", "Olaizola", "Puig", "Ferrández", "Pujol", "Bosch", "Roca", "Vila", "Casals", "Torrents",
    "Llopis", "Sempere", "Ripoll", "Mas", "Riera", "Fontanet", "Quintana", "Barreiro", "Feijóo", "Seoane",
    "Outeiro", "Piñeiro", "Rebolledo", "Noguera", "Yáñez", "Zárate", "Ugarte", "Villanueva", "Espejo",
    "Bermúdez", "Cifuentes", "Escribano", "Montoya", "Peralta", "Izquierdo", "Luengo", "Saavedra", "Valdés",
    "Cuesta", "Bustamante", "Cámara", "Toledano", "Zamorano", "Güell", "Argüelles", "Armiñán", "Avilés",
    "Briones", "Cuadrado", "Dávila", "Egea", "Fandiño", "Galindo", "Hurtado", "Illán", "Jurado", "Lobato",
    "Mínguez", "Oliver", "Pacheco", "Quiroga", "Redondo", "Salcedo", "Tejedor", "Urrutia", "Valverde",
    "Zapata",
];

#[rustfmt::skip]
pub(crate) const COMPOUND_SURNAMES: &[&str] = &[
    "de la Fuente", "San Martín", "Ruiz de Azúa", "de la Cruz", "López de Haro", "García-Escudero",
    "del Río", "Sáenz de Miera", "de Miguel", "Ortiz de Zárate", "de las Heras", "Martínez-Pardo",
    "Díaz-Caneja", "de Diego",
];

/// Names of businesses that are not named after their owner.
#[rustfmt::skip]
pub(crate) const BUSINESS_NAMES: &[&str] = &[
    "La Encina", "El Roble", "San Roque", "Virgen del Carmen", "Santa Eulalia", "La Espiga", "El Molino",
    "La Dehesa", "El Olivar", "San Isidro", "La Alameda", "Puerta Nueva", "El Faro", "La Muralla",
    "Monte Alto", "Las Eras", "La Fuentona", "El Puente", "Los Arcos", "San Millán", "Santa Bárbara",
    "La Veleta", "El Mirador", "La Noria", "Río Seco", "La Peña", "El Carmen", "La Ermita", "Las Viñas",
    "El Castañar", "San Antón", "La Ribera", "El Pinar", "Nuestra Señora del Pilar", "La Almunia",
    "El Parador", "La Torre", "Los Álamos", "La Marisma", "Sant Jordi", "O Camiño", "Etxe Berri",
    "Gure Etxea", "La Plana", "El Serrallo", "La Cigüeña", "Piedra Blanca", "El Rincón", "La Atalaya",
    "Cuatro Caminos", "El Pósito", "La Solana", "Dos Hermanas", "El Cañaveral", "La Campiña", "Miraflores",
];

#[rustfmt::skip]
pub(crate) const REGIONS: &[&str] = &[
    "del Bierzo", "de la Alcarria", "Costa Brava", "del Maresme", "de La Rioja", "Ribera del Duero",
    "de Levante", "Campo de Cartagena", "del Cantábrico", "de la Vega", "Sierra Norte", "del Jerte",
    "Tierra de Campos", "de l'Urgell", "del Penedès", "del Baix Llobregat", "Rías Baixas", "del Aljarafe",
    "de la Axarquía", "de La Mancha", "del Goierri", "de la Safor", "del Somontano", "de la Marina",
    "Costa de la Luz", "del Moncayo", "de la Sagra", "de la Ribagorza", "Terra Chá", "de Sierra Nevada",
    "del Valle de Arán", "de la Ría", "del Mar Menor",
];

#[rustfmt::skip]
pub(crate) const ASSOCIATIONS: &[&str] = &[
    "Asociación Cultural", "Asociación de Vecinos", "Asociación de Comerciantes", "Club Deportivo",
    "Fundación", "Peña Recreativa", "AMPA Colegio", "Federación Provincial", "Club de Montaña",
    "Banda de Música", "Casa Regional",
];

#[rustfmt::skip]
pub(crate) const STREETS: &[&str] = &[
    "Calle Mayor", "Avenida de la Constitución", "Calle Real", "Plaza de España", "Calle del Carmen",
    "Calle Nueva", "Paseo de la Estación", "Avenida de América", "Calle San Juan", "Calle de la Iglesia",
    "Calle Alcalá", "Calle Cervantes", "Avenida de Andalucía", "Ronda Norte", "Calle Goya",
    "Calle Ramón y Cajal", "Calle Velázquez", "Paseo Marítimo", "Calle Doctor Fleming", "Calle Colón",
    "Gran Vía", "Calle Cantarranas", "Calle Padre Isla", "Calle Miguel de Unamuno", "Plaza del Mercado",
    "Calle de los Reyes Católicos", "Avenida del Mediterráneo", "Calle Ferrocarril",
    "Calle Rosalía de Castro", "Camino Viejo", "Calle Tetuán", "Calle Ancha", "Calle Peñuelas",
    "Polígono Industrial Las Cañas", "Polígono Industrial El Salobral", "Travesía del Olmo",
    "Cuesta de San Blas",
];

/// Provincial capitals with their municipal codes, which determine postcodes and the CIF of town halls.
#[rustfmt::skip]
pub(crate) const TOWNS: &[(&str, u32)] = &[
    ("Vitoria-Gasteiz", 1_059), ("Albacete", 2_003), ("Alicante", 3_014), ("Almería", 4_013),
    ("Ávila", 5_019), ("Badajoz", 6_015), ("Palma", 7_040), ("Barcelona", 8_019), ("Burgos", 9_059),
    ("Cáceres", 10_037), ("Cádiz", 11_012), ("Castelló de la Plana", 12_040), ("Ciudad Real", 13_034),
    ("Córdoba", 14_021), ("A Coruña", 15_030), ("Cuenca", 16_078), ("Girona", 17_079), ("Granada", 18_087),
    ("Guadalajara", 19_130), ("Donostia-San Sebastián", 20_069), ("Huelva", 21_041), ("Huesca", 22_125),
    ("Jaén", 23_050), ("León", 24_089), ("Lleida", 25_120), ("Logroño", 26_089), ("Lugo", 27_028),
    ("Madrid", 28_079), ("Málaga", 29_067), ("Murcia", 30_030), ("Pamplona", 31_201), ("Ourense", 32_054),
    ("Oviedo", 33_044), ("Palencia", 34_120), ("Las Palmas de Gran Canaria", 35_016),
    ("Pontevedra", 36_038), ("Salamanca", 37_274), ("Santa Cruz de Tenerife", 38_038),
    ("Santander", 39_075), ("Segovia", 40_194), ("Sevilla", 41_091), ("Soria", 42_173),
    ("Tarragona", 43_148), ("Teruel", 44_216), ("Toledo", 45_168), ("València", 46_250),
    ("Valladolid", 47_186), ("Bilbao", 48_020), ("Zamora", 49_275), ("Zaragoza", 50_297),
];

/// Banks with their codes, the first four digits of an account number.
#[rustfmt::skip]
pub(crate) const BANKS: &[(&str, u32)] = &[
    ("CaixaBank", 2_100), ("Banco Santander", 49), ("BBVA", 182), ("Banco Sabadell", 81),
    ("Kutxabank", 2_095), ("Ibercaja", 2_085), ("Unicaja Banco", 2_103), ("Abanca", 2_080),
    ("Bankinter", 128), ("Cajamar", 3_058), ("Caja Rural de Navarra", 3_008), ("Laboral Kutxa", 3_035),
];

/// The conjunction before a name: `y`, or `e` if the name begins with the same sound.
pub(crate) fn conjunction(next: &str) -> &'static str {
    if ["I", "Í", "Hi"].iter().any(|sound| next.starts_with(sound)) { "e" } else { "y" }
}

/// The ASCII form of a letter for host names and e-mail addresses; `None` for a character to drop.
fn to_ascii(letter: char) -> Option<char> {
    match letter {
        'á' | 'à' => Some('a'),
        'é' | 'è' => Some('e'),
        'í' | 'ï' => Some('i'),
        'ó' | 'ò' => Some('o'),
        'ú' | 'ü' => Some('u'),
        'ñ' => Some('n'),
        'ç' => Some('c'),
        other => other.is_ascii_alphanumeric().then_some(other),
    }
}

/// `Íñigo Peñalver` as `inigo-penalver`.
pub(crate) fn slug(name: &str) -> String {
    let mut slug = String::with_capacity(name.len());
    for letter in name.chars().flat_map(char::to_lowercase) {
        match to_ascii(letter) {
            Some(letter) => slug.push(letter),
            None if !slug.ends_with('-') => slug.push('-'),
            None => {}
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// The first letters of two surnames as one word: `Zapata`, `López` → `Zaplop`.
pub(crate) fn blend(first: &str, second: &str) -> String {
    let tail = second.chars().flat_map(char::to_lowercase);
    let letters = first.chars().take(3).chain(tail.take(3));
    letters.map(|letter| if letter == 'ñ' { letter } else { to_ascii(letter).unwrap_or(letter) }).collect()
}
