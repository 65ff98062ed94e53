//! Names of the kinds of audit entries, of actors and of objects, in Spanish and English.

use ui::Lang;

/// A kind of entry in Spanish and English.
#[rustfmt::skip]
const KINDS: &[(&str, &str, &str)] = &[
    ("signed_in", "Inicio de sesión", "Signed in"),
    ("sign_in_failed", "Inicio de sesión fallido", "Sign-in failed"),
    ("signed_out", "Cierre de sesión", "Signed out"),
    ("developer_signed_in", "Inicio de sesión de un desarrollador", "Developer signed in"),
    ("developer_sign_in_failed", "Inicio de sesión fallido de un desarrollador", "Sign-in of a developer failed"),
    ("developer_signed_out", "Cierre de sesión de un desarrollador", "Developer signed out"),
    ("operator_signed_in", "Inicio de sesión de un operador", "Operator signed in"),
    ("operator_sign_in_failed", "Inicio de sesión fallido de un operador", "Sign-in of an operator failed"),
    ("operator_signed_out", "Cierre de sesión de un operador", "Operator signed out"),
    ("sessions_ended", "Sesiones cerradas", "Sessions ended"),
    ("backchannel_logout_queued", "Aviso de fin de sesión a una aplicación pendiente", "Back-channel logout queued"),
    ("backchannel_logout_delivered", "Aviso de fin de sesión a una aplicación entregado", "Back-channel logout delivered"),
    ("backchannel_logout_failed", "Aviso de fin de sesión a una aplicación fallido", "Back-channel logout failed"),
    ("second_factor_added", "Segundo factor añadido", "Second factor added"),
    ("second_factor_renamed", "Segundo factor renombrado", "Second factor renamed"),
    ("second_factor_removed", "Segundo factor quitado", "Second factor removed"),
    ("second_factor_reset", "Segundos factores restablecidos", "Second factors reset"),
    ("recovery_codes_made", "Códigos de recuperación nuevos", "New recovery codes"),
    ("recovery_code_used", "Código de recuperación usado", "Recovery code used"),
    ("consent_denied", "Permiso denegado a una aplicación", "Consent to an application denied"),
    ("client_refused", "Autenticación de una aplicación rechazada", "Client authentication refused"),
    ("code_issued", "Código de autorización emitido", "Authorization code issued"),
    ("granted", "Acceso concedido a una aplicación", "Access granted to an application"),
    ("refreshed", "Tokens renovados", "Tokens refreshed"),
    ("code_reused", "Código de autorización usado dos veces", "Authorization code used twice"),
    ("refresh_reused", "Token de refresco usado dos veces", "Refresh token used twice"),
    ("revoked", "Tokens revocados", "Tokens revoked"),
    ("access_ended", "Fin del acceso de una aplicación", "Access of an application ended"),
    ("tenant_added", "Organización añadida", "Tenant added"),
    ("tenant_changed", "Organización cambiada", "Tenant changed"),
    ("tenant_erased", "Organización borrada", "Tenant erased"),
    ("user_added", "Usuario añadido", "User added"),
    ("user_changed", "Usuario cambiado", "User changed"),
    ("developer_added", "Desarrollador añadido", "Developer added"),
    ("developer_changed", "Desarrollador cambiado", "Developer changed"),
    ("operator_added", "Operador añadido", "Operator added"),
    ("operator_changed", "Operador cambiado", "Operator changed"),
    ("invitation_made", "Invitación creada", "Invitation created"),
    ("invitation_resent", "Invitación reenviada con otro enlace", "Invitation sent again with another link"),
    ("invitation_revoked", "Invitación anulada", "Invitation revoked"),
    ("invitation_accepted", "Invitación aceptada", "Invitation accepted"),
    ("password_reset_requested", "Nueva contraseña solicitada", "Password reset requested"),
    ("password_reset", "Contraseña restablecida", "Password reset"),
    ("membership_added", "Usuario añadido a una organización", "User added to a tenant"),
    ("membership_changed", "Rol de un usuario en una organización cambiado", "Role of a user in a tenant changed"),
    ("membership_removed", "Usuario quitado de una organización", "User removed from a tenant"),
    ("client_added", "Aplicación añadida", "Application added"),
    ("client_changed", "Aplicación cambiada", "Application changed"),
    ("client_secret_rotated", "Secreto de una aplicación renovado", "Secret of an application rotated"),
    ("subscription_added", "Suscripción añadida", "Subscription added"),
    ("subscription_changed", "Suscripción cambiada", "Subscription changed"),
    ("subscription_cancelled", "Suscripción cancelada", "Subscription cancelled"),
    ("subscription_key_rotated", "Clave de una suscripción renovada", "Key of a subscription rotated"),
    ("subscription_key_revealed", "Clave de una suscripción mostrada", "Key of a subscription revealed"),
    ("team_added", "Equipo añadido", "Team added"),
    ("team_changed", "Equipo cambiado", "Team changed"),
    ("team_member_added", "Miembro añadido a un equipo", "Member added to a team"),
    ("team_member_changed", "Rol de un miembro de un equipo cambiado", "Role of a team member changed"),
    ("team_member_removed", "Miembro quitado de un equipo", "Member removed from a team"),
    ("notice_preferences_changed", "Avisos por correo cambiados", "Mail notices changed"),
    ("request_added", "Solicitud de un equipo", "Request of a team"),
    ("request_approved", "Solicitud aprobada", "Request approved"),
    ("request_refused", "Solicitud rechazada", "Request refused"),
    ("request_withdrawn", "Solicitud retirada", "Request withdrawn"),
    ("sandbox_added", "Entorno de pruebas creado", "Sandbox created"),
    ("sandbox_reset", "Entorno de pruebas reiniciado", "Sandbox reset"),
    ("sandbox_receiver_changed", "Receptor de un entorno de pruebas cambiado", "Receiver of a sandbox changed"),
    ("operator_token_added", "Token de la API añadido", "API token added"),
    ("operator_token_revoked", "Token de la API revocado", "API token revoked"),
    ("signing_key_rotated", "Clave de firma nueva", "New signing key"),
    ("signing_key_retired", "Clave de firma retirada", "Signing key retired"),
    ("signing_key_deleted", "Clave de firma borrada", "Signing key deleted"),
    ("webhook_subscribed", "Webhook suscrito", "Webhook subscribed"),
    ("webhook_changed", "Webhook cambiado", "Webhook changed"),
    ("webhook_secret_rotated", "Secreto de un webhook renovado", "Secret of a webhook rotated"),
    ("webhook_replayed", "Entregas reenviadas", "Deliveries replayed"),
    ("webhook_unsubscribed", "Suscripción de un webhook cancelada", "Webhook unsubscribed"),
    ("webhook_deleted", "Webhook eliminado", "Webhook deleted"),
    ("webhook_failing", "Webhook que falla desde hace mucho", "Webhook failing for a long time"),
    ("webhook_disabled", "Webhook desactivado por el servicio", "Webhook disabled by the service"),
    ("webhook_lost", "Eventos perdidos de un webhook", "Events of a webhook lost"),
    ("webhook_doubted", "El servidor de un webhook no coincide con quien lo suscribió", "Host of a webhook does not match its subscriber"),
    ("webhook_suspended", "Webhook suspendido", "Webhook suspended"),
    ("webhook_resumed", "Webhook reanudado", "Webhook resumed"),
    ("record_edited", "Registro editado a mano", "Record edited by hand"),
    ("backup_started", "Copia de seguridad iniciada", "Backup started"),
    ("backup_completed", "Copia de seguridad terminada", "Backup completed"),
    ("backup_failed", "Copia de seguridad fallida", "Backup failed"),
    ("backup_downloaded", "Copia de seguridad descargada", "Backup downloaded"),
    ("restored", "Copia de seguridad restaurada", "Backup restored"),
];

const ACTORS: &[(&str, &str, &str)] = &[
    ("service", "El servicio", "The service"),
    ("anonymous", "Alguien sin identificar", "Unidentified caller"),
    ("operator", "Operador", "Operator"),
    ("token", "Token de la API", "API token"),
    ("cli", "Línea de comandos", "Command line"),
    ("user", "Usuario", "User"),
    ("developer", "Desarrollador", "Developer"),
    ("client", "Aplicación", "Application"),
    ("unknown", "Desconocido", "Unknown"),
];

const OBJECTS: &[(&str, &str, &str)] = &[
    ("user", "Usuario", "User"),
    ("developer", "Desarrollador", "Developer"),
    ("operator", "Operador", "Operator"),
    ("invitation", "Invitación", "Invitation"),
    ("membership", "Pertenencia", "Membership"),
    ("team", "Equipo", "Team"),
    ("subscription", "Suscripción", "Subscription"),
    ("request", "Solicitud", "Request"),
    ("operator_token", "Token", "Token"),
    ("signing_key", "Clave", "Key"),
    ("webhook", "Webhook", "Webhook"),
    ("record", "Registro", "Record"),
    ("backup", "Copia", "Backup"),
];

fn find(lang: Lang, words: &'static [(&str, &str, &str)], name: &str) -> Option<&'static str> {
    let (_, es, en) = words.iter().find(|(known, ..)| *known == name)?;
    Some(match lang {
        Lang::Es => es,
        Lang::En => en,
    })
}

/// The name of a kind; its identifier where it has no name.
pub(crate) fn kind_text(lang: Lang, kind: &'static str) -> &'static str {
    find(lang, KINDS, kind).unwrap_or(kind)
}

pub(crate) fn actor_text(lang: Lang, kind: &str) -> &'static str {
    find(lang, ACTORS, kind).unwrap_or_default()
}

/// What an object as `webhook:<id>` is.
pub(super) fn object_text(lang: Lang, object: &str) -> &'static str {
    let kind = object.split_once(':').map_or("", |(kind, _)| kind);
    find(lang, OBJECTS, kind).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use store::AuditKind;

    use super::*;

    #[test]
    fn every_kind_has_words_of_its_own_in_both_languages() {
        for lang in [Lang::Es, Lang::En] {
            let words: BTreeSet<&str> = AuditKind::ALL
                .iter()
                .map(|kind| find(lang, KINDS, kind.as_str()).unwrap_or_else(|| panic!("{}", kind.as_str())))
                .collect();
            assert_eq!(words.len(), AuditKind::ALL.len());
        }
        assert_eq!(KINDS.len(), AuditKind::ALL.len(), "words without a kind");
    }

    #[test]
    fn every_actor_has_words() {
        for kind in store::Actor::KINDS.into_iter().chain(["unknown"]) {
            assert!(
                !actor_text(Lang::Es, kind).is_empty() && !actor_text(Lang::En, kind).is_empty(),
                "{kind}"
            );
        }
        assert_eq!(object_text(Lang::En, "webhook:1"), "Webhook");
        assert_eq!(object_text(Lang::En, "x"), "");
    }
}
