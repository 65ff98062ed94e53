//! Why a webhook is suspended, and what to do.

use domain::Suspension;
use ui::Lang;

use crate::webhooks::Reader;

/// In Spanish and English.
type Words = (&'static str, &'static str);

pub fn suspension(lang: Lang, reader: Reader, suspension: Suspension) -> &'static str {
    let (es, en) = match reader {
        Reader::Developer => for_developers(suspension),
        Reader::Operator => for_operators(suspension),
    };
    match lang {
        Lang::Es => es,
        Lang::En => en,
    }
}

fn for_developers(suspension: Suspension) -> Words {
    match suspension {
        Suspension::TenantDisabled => (
            "La organización está desactivada. Solo el operador puede activarla.",
            "The tenant is disabled. Only the operator can enable it.",
        ),
        Suspension::ClientDisabled => (
            "La aplicación está desactivada. Escribe a la persona de contacto.",
            "The application is disabled. Write to the contact.",
        ),
        Suspension::ProductMissing => (
            "La aplicación no está registrada para este producto. Pídelo al operador.",
            "The application is not registered for this product. Ask the operator.",
        ),
        Suspension::TeamSubscriptionMissing => (
            "El equipo no tiene una suscripción activa de este producto. Pide una.",
            "The team has no active subscription to this product. Ask for one.",
        ),
        Suspension::ScopeMissing => (
            "Nadie ha permitido a la aplicación estos datos y los webhooks a la vez. Pide los dos scopes al iniciar sesión.",
            "No user has allowed the application both this data and webhooks. Ask for both scopes at sign-in.",
        ),
        Suspension::UserDisabled => (
            "Quien autorizó la aplicación está desactivado. Otra persona de la organización tiene que iniciar sesión en ella.",
            "The user who authorized the application is disabled. Another user of the tenant has to sign in to it.",
        ),
        Suspension::UserUnconfirmed => (
            "El servicio se restauró de una copia y quien autorizó la aplicación no ha vuelto a iniciar sesión. Tiene que hacerlo.",
            "The service was restored from a backup, and the user who authorized the application has not signed in since. They have to.",
        ),
        Suspension::Withdrawn => (
            "La persona ha retirado el acceso a la aplicación. Alguien de la organización tiene que iniciar sesión en ella otra vez.",
            "The user has withdrawn the application's access. A user of the tenant has to sign in to it again.",
        ),
        Suspension::WithdrawnForTenant => (
            "Un administrador ha retirado el acceso de la aplicación a toda la organización. Alguien de la organización tiene que iniciar sesión en ella otra vez.",
            "An administrator has withdrawn the application's access for the whole tenant. A user of the tenant has to sign in to it again.",
        ),
        Suspension::Revoked => (
            "Se revocó el acceso de la aplicación. Alguien de la organización tiene que iniciar sesión en ella otra vez.",
            "The application's access was revoked. A user of the tenant has to sign in to it again.",
        ),
        Suspension::MembershipRemoved => (
            "Quien autorizó la aplicación ya no pertenece a la organización. Alguien de la organización tiene que iniciar sesión en ella.",
            "The user who authorized the application is no longer a member of the tenant. A user of the tenant has to sign in to it.",
        ),
        Suspension::NotAuthorized => (
            "Nadie de la organización ha autorizado la aplicación. Alguien tiene que iniciar sesión en ella.",
            "No user of the tenant has authorized the application. One has to sign in to it.",
        ),
    }
}

fn for_operators(suspension: Suspension) -> Words {
    match suspension {
        Suspension::TenantDisabled => (
            "La organización está desactivada. Actívala en su página para que las entregas sigan.",
            "The tenant is disabled. Enable it on its page to let deliveries go on.",
        ),
        Suspension::ClientDisabled => (
            "La aplicación está desactivada. Actívala en su página para que las entregas sigan.",
            "The application is disabled. Enable it on its page to let deliveries go on.",
        ),
        Suspension::ProductMissing => (
            "La aplicación no está registrada para este producto. Añádeselo en su página.",
            "The application is not registered for this product. Add the product on its page.",
        ),
        Suspension::TeamSubscriptionMissing => (
            "El equipo no tiene una suscripción activa de este producto. Tiene que pedirla, o puedes crearla tú.",
            "The team has no active subscription to this product. It has to ask for one, or you can create one.",
        ),
        Suspension::ScopeMissing => (
            "Nadie ha permitido a la aplicación estos datos y los webhooks a la vez. La aplicación tiene que pedir los dos scopes al iniciar sesión.",
            "No user has allowed the application both this data and webhooks. The application has to ask for both scopes at sign-in.",
        ),
        Suspension::UserDisabled => (
            "Quien autorizó la aplicación está desactivado. Activa a esa persona, o que otra de la organización inicie sesión en la aplicación.",
            "The user who authorized the application is disabled. Enable that user, or let another user of the tenant sign in to it.",
        ),
        other => for_developers(other),
    }
}
