//! The texts in Spanish, as it is spoken in Spain: `tú`, short, without jargon.

use domain::Realm;
use maud::html;

use super::{
    AccountText, CodeText, ErrorText, FormPostText, Message, Messages, PermissionsText,
    RedirectAddressesText, ScopesText, SignInText, SignOutText, TenantChoiceText,
};

pub(super) const MESSAGES: Messages = Messages {
    sign_in: SIGN_IN,
    choice: CHOICE,
    scopes: SCOPES,
    code: CODE,
    form_post: FORM_POST,
    sign_out: SIGN_OUT,
    error: ERROR,
    permissions: PERMISSIONS,
    account: ACCOUNT,
    link: super::link::ES,
};

const SIGN_IN: SignInText = SignInText {
    title: "Iniciar sesión",
    title_with_error: "Aviso: iniciar sesión",
    lead: |name| html! { "para continuar en " b { (name) } },
    lead_home: |realm| match realm {
        Realm::Users => "para ver qué aplicaciones tienen acceso a tus datos",
        Realm::Developers => "en el portal de desarrolladores",
        Realm::Operators => "en la consola de operadores",
    },
    username: "Correo electrónico",
    password: "Contraseña",
    show_password: "Mostrar la contraseña",
    submit: "Iniciar sesión",
    forgotten: "¿Has olvidado la contraseña? Pide una nueva a quien administra tu cuenta.",
    assurance: |name| html! { "La contraseña se comprueba aquí: " (name) " no la verá." },
    wrong: Message {
        title: "No se ha podido iniciar la sesión",
        text: "El correo o la contraseña no son correctos. Revísalos e inténtalo de nuevo.",
    },
    empty: Message { title: "Faltan datos", text: "Escribe el correo electrónico y la contraseña." },
    expired: Message {
        title: "La página llevaba demasiado tiempo abierta",
        text: "Por seguridad, ha caducado. Basta con iniciar sesión de nuevo.",
    },
    no_cookies: Message {
        title: "Hacen falta cookies",
        text: "El navegador no acepta cookies de esta página. Permítelas e inténtalo de nuevo.",
    },
    busy: "Hay mucha actividad en este momento",
    busy_wait: |span| html! { "Inténtalo de nuevo dentro de " (span) "." },
    too_many: "Demasiados intentos fallidos",
    too_many_wait: |span| html! { "Espera " (span) " antes de volver a intentarlo." },
};

const CHOICE: TenantChoiceText = TenantChoiceText {
    title: "Elegir organización",
    title_with_error: "Aviso: elegir organización",
    lead: |name| html! { b { (name) } " trabajará con los datos de la organización que elijas." },
    consent_title: "Permitir acceso",
    consent_heading: |name| html! { (name) " solicita acceso a los datos de tu organización" },
    consent_heading_identity: |name| html! { (name) " solicita acceso a tus datos" },
    returns_to: |host| html! { "Después volverás a " b { (host) } },
    returns_to_device: "Después volverás a la aplicación, en este dispositivo",
    returns_with_code: "Después recibirás un código para copiarlo en la aplicación",
    signed_in_as: |email| html! { "Sesión de " (email) },
    other_account: "Usar otra cuenta",
    allows: "Si lo permites, podrá:",
    legend: "¿De qué organización?",
    legend_of_one: "Organización",
    short_code: "Código",
    tax_number: "NIF",
    search: "Buscar organización",
    search_submit: "Buscar",
    count: |shown_count, total_count| match (shown_count, total_count) {
        (1, 1) => "1 organización".to_owned(),
        (shown_count, total_count) if shown_count == total_count => format!("{total_count} organizaciones"),
        (shown_count, total_count) => format!("{shown_count} de {total_count}"),
    },
    count_cut: |shown_count, total_count| {
        format!("Se muestran {shown_count} de {total_count}. Busca para encontrar las demás.")
    },
    none_found: |query| html! { "Ninguna organización coincide con «" (query) "»." },
    none_found_advice: "Prueba con otra parte del nombre o con su código.",
    last_used: "Última usada",
    continue_label: "Continuar",
    allow: "Permitir",
    deny: "No permitir",
    revocable: |page| html! { "Podrás retirar este acceso cuando quieras, en «" (page) "»." },
    nothing_chosen: Message {
        title: "Falta elegir una organización",
        text: "Marca una de la lista para continuar.",
    },
    not_yours: Message {
        title: "Esa organización no está disponible",
        text: "Tu cuenta no tiene acceso a ella. Elige otra de la lista.",
    },
};

const SCOPES: ScopesText = ScopesText {
    identity: |name, email| match (name, email) {
        (false, false) => "Saber quién eres: el identificador de tu cuenta.",
        (true, false) => "Saber quién eres: tu nombre y tu idioma.",
        (false, true) => "Saber quién eres: tu correo electrónico.",
        (true, true) => "Saber quién eres: tu nombre, tu idioma y tu correo electrónico.",
    },
    offline_access: Message {
        title: "Mantener el acceso cuando no estés",
        text: "También mientras no usas la aplicación, hasta que lo retires.",
    },
    master_data: Message {
        title: "Ver datos de personas y empresas",
        text: "Los básicos: personas, entidades jurídicas y actividades.",
    },
    accounting: Message {
        title: "Ver la contabilidad",
        text: "Empresas, clientes, proveedores, cuentas, facturas y asientos.",
    },
    management: Message {
        title: "Ver los datos de gestión",
        text: "La información de gestión de la organización.",
    },
    payroll: Message {
        title: "Ver las empresas de nóminas",
        text: "Las empresas cuyas nóminas se gestionan.",
    },
    webhooks: Message {
        title: "Recibir avisos de cambios", text: "Saber al momento cuándo cambia un dato."
    },
};

const CODE: CodeText = CodeText {
    title: "Copiar el código",
    heading: |name| html! { "Copia este código en " (name) },
    lead: "Vuelve a la aplicación y pégalo donde te lo pida.",
    label: "Código",
    state: "Estado, si la aplicación lo pide",
    valid: |span| html! { "Es válido durante " (span) " y para un solo uso. No lo compartas con nadie." },
    under_a_minute: "menos de un minuto",
};

const FORM_POST: FormPostText = FormPostText {
    title: "Un momento…",
    lead: "Volviendo a la aplicación. Si la página no avanza por sí sola, pulsa Continuar.",
    submit: "Continuar",
};

const SIGN_OUT: SignOutText = SignOutText {
    again: "Iniciar sesión de nuevo",
    title: "Cerrar sesión",
    heading: "¿Cerrar la sesión?",
    requested_by: |name| html! { b { (name) } " ha pedido cerrarla." },
    signed_in_as: |email| html! { "Sesión de " b { (email) } },
    submit: "Cerrar sesión",
    cancel: "Cancelar y mantenerla abierta",
    done_title: "Sesión cerrada",
    done_text: "Ya puedes cerrar esta página. En un ordenador compartido, cierra también el navegador.",
    access_stays: |link| {
        html! { "Las aplicaciones a las que diste acceso lo conservan; puedes retirarlo en " (link) "." }
    },
    back: |name| html! { "Volver a " (name) },
};

const ERROR: ErrorText = ErrorText {
    reference: "Referencia para soporte",
    details: "Detalles técnicos",
    retry: "Reintentar",
    home: |realm| match realm {
        Realm::Users => "Ver tus aplicaciones con acceso",
        Realm::Developers => "Ir al portal de desarrolladores",
        Realm::Operators => "Ir a la consola de operadores",
    },
    addresses: RedirectAddressesText {
        title: "Para desarrolladores (solo en aldaba dev)",
        sent: "Dirección que ha enviado la aplicación",
        registered: "Direcciones registradas",
        none: "Ninguna",
        register: "Para registrarla:",
    },
    unknown_client: Message {
        title: "Aplicación no disponible",
        text: "No está registrada o se ha desactivado. Avisa a quien la mantiene.",
    },
    not_for_sign_in: Message {
        title: "En esta aplicación no se inicia sesión",
        text: "Está registrada como una API que comprueba tokens, no como una aplicación con usuarios. Avisa a quien mantiene la aplicación que te ha enviado aquí.",
    },
    redirect_missing: Message {
        title: "Falta la dirección de vuelta",
        text: "La aplicación no ha indicado adónde volver después de iniciar sesión. Avisa a quien la mantiene.",
    },
    redirect_unregistered: Message {
        title: "Dirección de vuelta no registrada",
        text: "Por seguridad no podemos continuar: la aplicación quiere volver a una dirección que no está \
               registrada. Avisa a quien la mantiene.",
    },
    bad_request: Message {
        title: "La solicitud no es correcta",
        text: "Le falta algo o contiene algo que no es válido. Vuelve a la aplicación y empieza de nuevo.",
    },
    expired: Message {
        title: "Página no disponible",
        text: "Esta página no se puede abrir directamente, o ha caducado. Vuelve a la aplicación y \
               empieza de nuevo.",
    },
    not_found: Message {
        title: "Esta página no existe",
        text: "Comprueba la dirección o vuelve a la aplicación de la que venías.",
    },
    busy: Message {
        title: "Hay mucha actividad",
        text: "El servicio está muy ocupado. Espera unos segundos y vuelve a cargar la página.",
    },
    broken: Message {
        title: "Algo ha fallado",
        text: "El problema es nuestro. Inténtalo de nuevo en unos minutos y, si continúa, envía la \
               referencia a soporte.",
    },
};

const PERMISSIONS: PermissionsText = PermissionsText {
    title: "Aplicaciones con acceso",
    greeting: |name| html! { "Hola, " (name) },
    lead: "Tienen acceso en tu nombre a datos de tus organizaciones. Puedes retirarlo cuando quieras.",
    none: Message {
        title: "Ninguna aplicación tiene acceso",
        text: "Cuando permitas el acceso a una aplicación, aparecerá aquí.",
    },
    revoked: |name, tenant| html! { (name) " ya no tiene acceso a los datos de " (tenant) "." },
    revoked_webhooks_go_on: |name, tenant| {
        html! {
            (name) " ya no tiene acceso en tu nombre a los datos de " (tenant) ". Sigue recibiendo avisos de cambios, porque otra persona de tu \
            organización también se lo ha permitido."
        }
    },
    can_do: "Qué puede hacer",
    since: "Con acceso desde",
    last_used: "Último uso",
    never_used: "Todavía ninguno",
    revoke: "Retirar acceso",
    revoke_explanation: |application, tenant| {
        html! {
            b { (application) } " dejará de tener acceso a los datos de " b { (tenant) }
            " hasta que se lo vuelvas a permitir."
        }
    },
    webhooks_stop: "También dejará de recibir avisos de cambios.",
    webhooks_go_on: "Seguirá recibiendo avisos de cambios, porque otra persona de tu organización también se lo ha \
                     permitido. Solo un administrador puede retirar el acceso de todos.",
    revoke_submit: "Sí, retirar acceso",
    webhooks: "Recibe avisos de cambios",
    last_delivery: "último aviso:",
    no_delivery: "todavía ninguno",
    more_webhooks: |count| html! { "y " (count) " más" },
    colleagues: |count| {
        html! {
            @if count == 1 { "Otra persona de la organización le ha dado acceso." }
            @else { "Otras " (count) " personas de la organización le han dado acceso." }
        }
    },
    revoke_for_tenant: "Retirar el acceso de todos",
    revoke_for_tenant_explanation: |application, tenant| {
        html! {
            b { (application) } " dejará de tener acceso a los datos de " b { (tenant) }
            " y de recibir avisos de cambios, se lo haya permitido quien se lo haya permitido."
        }
    },
    sign_out: "Cerrar sesión",
};

const ACCOUNT: AccountText = AccountText {
    title: "Tu cuenta",
    to_portal: "Volver al portal",
    lead: |realm| match realm {
        Realm::Users => "Tus datos, y dónde tienes la sesión iniciada.",
        Realm::Developers => "Tus datos como desarrollador, y dónde tienes iniciada la sesión del portal.",
        Realm::Operators => "Tus datos como operador, y dónde tienes iniciada la sesión de la consola.",
    },
    profile: "Nombre e idioma",
    name: "Nombre",
    language: "Idioma",
    save: "Guardar",
    password: "Contraseña",
    password_note: "Al cambiarla se cierra la sesión en los demás sitios.",
    current_password: "Contraseña actual",
    new_password: "Contraseña nueva",
    repeated_password: "Contraseña nueva, otra vez",
    change_password: "Cambiar la contraseña",
    sessions: "Dónde tienes la sesión iniciada",
    sessions_note: "Cierra lo que no reconozcas y cambia la contraseña.",
    this_browser: "Este navegador",
    unknown_browser: "Navegador desconocido",
    since: "desde el",
    end_session: "Cerrar la sesión",
    end_others: "Cerrar las demás sesiones",
    applications: "Ver qué aplicaciones leen tus datos y retirarles el acceso",
    profile_saved: "Tus datos se han guardado.",
    password_changed: "La contraseña se ha cambiado. Se ha cerrado la sesión en los demás sitios.",
    sessions_ended: "Esas sesiones se han cerrado.",
    family_name: "Apellidos (opcional)",
    name_refused: "El nombre tiene de 1 a 200 caracteres.",
    current_password_wrong: "La contraseña actual no es correcta.",
    repetition_differs: "Las dos contraseñas nuevas son distintas.",
    expired: "No se ha cambiado nada. Inténtalo de nuevo.",
};
