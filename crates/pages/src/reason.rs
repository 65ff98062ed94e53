//! The reasons of refusals in Spanish. The rules that refuse are shared with the operator's API, which says them in English.

/// The reasons that portal and console can both give, in English and Spanish; `{}` stands for what the reason names.
pub const SHARED_REASONS: &[(&str, &str)] = &[
    (
        "a name has 1 to 200 characters, none of them a control character",
        "El nombre tiene de 1 a 200 caracteres, ninguno de control.",
    ),
    ("{} is a member of team {} already", "{} ya pertenece al equipo."),
    (
        "{} is the last owner of team {}; make another member an owner first",
        "{} es la última persona titular del equipo. Antes haz titular a otra.",
    ),
    (
        "team {} has {} members, as many as it may have",
        "El equipo tiene {1} miembros, los que puede tener como máximo.",
    ),
    ("a client needs one product at least", "Elige al menos un producto."),
    ("a client has 1 to {} redirect addresses", "Una aplicación tiene de 1 a {} direcciones de retorno."),
    (
        "{} has {} characters at most, and no control characters",
        "El texto tiene {1} caracteres como máximo, y ninguno de control.",
    ),
    ("the redirect address {} must be an https address", "La dirección de retorno {} tiene que ser https."),
    (
        "the redirect address {} must be an https address, a loopback address, or have a private-use scheme with a dot in it, as in com.example.app:/callback",
        "La dirección de retorno {} tiene que ser https, local (127.0.0.1), o tener un esquema propio con un punto, como com.example.app:/callback.",
    ),
    (
        "the redirect address {} must use https; plain http is allowed only for 127.0.0.1, [::1] and localhost:<port>",
        "La dirección de retorno {} tiene que ser https. Solo 127.0.0.1, [::1] y localhost:<puerto> pueden ser http.",
    ),
    (
        "the redirect address {} is not for a resource server, which signs nobody in",
        "Un servidor de recursos no tiene direcciones de retorno: nadie inicia sesión en él.",
    ),
    (
        "a resource server has no redirect addresses: nobody signs in to it",
        "Un servidor de recursos no tiene direcciones de retorno: nadie inicia sesión en él.",
    ),
    (
        "a client of the kind {} has no secret and must use PKCE: give pkce as required, or leave it out",
        "Una aplicación pública no tiene secreto y tiene que usar PKCE.",
    ),
    (
        "client {} is of the kind {} and has no secret; it uses PKCE instead",
        "La aplicación es pública y no tiene secreto: usa PKCE en su lugar.",
    ),
    (
        "the redirect address {} must not contain a wildcard; register each address",
        "La dirección de retorno {} no puede llevar comodines: registra cada una.",
    ),
    (
        "the redirect address {} must not have a fragment",
        "La dirección de retorno {} no puede llevar fragmento (#).",
    ),
    (
        "the redirect address {} must not contain a user name or password",
        "La dirección de retorno {} no puede llevar usuario ni contraseña.",
    ),
    (
        "the redirect address {} must not contain {}; percent-encode it",
        "La dirección de retorno {} no puede contener {}: codifícalo con %.",
    ),
    ("the redirect address {} must name a host", "A la dirección de retorno {} le falta el servidor."),
    (
        "the redirect address {} must name a port, as in http://localhost:8765/callback",
        "A la dirección de retorno {} le falta el puerto, como en http://localhost:8765/callback.",
    ),
    (
        "the redirect address {} must use https; plain http is allowed only for http://localhost:<port>/ (not 127.0.0.1)",
        "La dirección de retorno {} tiene que ser https. Solo http://localhost:<puerto>/ puede ser http, y no 127.0.0.1.",
    ),
    (
        "the form names no action of this page",
        "El formulario no corresponde a ninguna acción de esta página. Recárgala y repite.",
    ),
];

/// The Spanish form of a reason, from pairs of English and Spanish patterns in which `{}` stands for what the reason names.
pub fn translate_reason<'a>(
    pairs: impl IntoIterator<Item = &'a (&'static str, &'static str)>,
    why: &str,
) -> Option<String> {
    pairs.into_iter().find_map(|(english, spanish)| Some(fill(spanish, &taken(english, why)?)))
}

/// What stands in the places of a pattern; none if the text is another.
fn taken<'a>(pattern: &str, text: &'a str) -> Option<Vec<&'a str>> {
    let mut parts = pattern.split("{}");
    let mut rest = text.strip_prefix(parts.next()?)?;
    let (mut found, mut parts) = (Vec::new(), parts.peekable());
    while let Some(part) = parts.next() {
        // The last part ends the text; others end at their first occurrence.
        let end = if parts.peek().is_none() { rest.strip_suffix(part)?.len() } else { rest.find(part)? };
        found.push(rest.get(..end)?);
        rest = rest.get(end + part.len()..)?;
    }
    rest.is_empty().then_some(found)
}

/// `{}` takes the values in their order, `{1}` the second one.
fn fill(pattern: &str, values: &[&str]) -> String {
    let second = pattern.replace("{1}", values.get(1).unwrap_or(&""));
    let mut parts = second.split("{}");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for (part, value) in parts.zip(values.iter().chain(std::iter::repeat(&""))) {
        text.push_str(value);
        text.push_str(part);
    }
    text
}
