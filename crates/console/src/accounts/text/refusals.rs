//! What pages say after an action, and why one was refused.

use crate::text::{Done, Refusal};

/// What the pages of this area say after an action.
pub(crate) const DONE: &[Done] = &[
    ("tenant_added", "La organización está creada.", "The tenant has been created."),
    ("tenant_disabled", "La organización está desactivada.", "The tenant is disabled."),
    ("tenant_enabled", "La organización está activa.", "The tenant is active."),
    ("tenant_erased", "El tenant se ha borrado.", "The tenant has been erased."),
    (
        "tenant_member_added",
        "El usuario ya es miembro de la organización.",
        "The user is now a member of the tenant.",
    ),
    (
        "tenant_member_removed",
        "El usuario ya no es miembro de la organización.",
        "The user is no longer a member of the tenant.",
    ),
    ("tenant_member_changed", "El rol del miembro ha cambiado.", "The member's role has changed."),
    (
        "account_added_without_link",
        "La cuenta existe, pero el enlace para elegir la contraseña no se pudo enviar. Envíalo desde esta página.",
        "The account exists, but the link to choose a password could not be sent. Send it from this page.",
    ),
    (
        "account_added",
        "La cuenta está creada, y el enlace para elegir la contraseña se envía por correo.",
        "The account has been created, and the link to choose the password is on its way by mail.",
    ),
    ("account_disabled", "La cuenta está desactivada.", "The account is disabled."),
    ("account_enabled", "La cuenta está activa.", "The account is active."),
    ("account_renamed", "Los datos de la cuenta se han guardado.", "The account has been saved."),
    ("account_role_changed", "El rol ha cambiado.", "The role has changed."),
    (
        "account_factors_reset",
        "Se han quitado los segundos factores.",
        "The second factors have been removed.",
    ),
    ("account_sessions_ended", "Se han cerrado las sesiones.", "The sessions have ended."),
    (
        "account_reset_sent",
        "El enlace para elegir otra contraseña se envía por correo.",
        "The link to choose another password is on its way by mail.",
    ),
    (
        "account_access_withdrawn",
        "La aplicación ya no tiene acceso.",
        "The application no longer has access.",
    ),
    ("account_invited", "La invitación se envía por correo.", "The invitation is on its way by mail."),
    (
        "account_invitation_resent",
        "La invitación se envía otra vez por correo, con otro enlace.",
        "The invitation is on its way by mail again, with another link.",
    ),
    ("account_invitation_revoked", "La invitación está anulada.", "The invitation is revoked."),
];

/// Reasons of refusals of this area, in Spanish.
pub(crate) const REFUSALS: &[Refusal] = &[
    (
        "type the id of the tenant, {}, to erase it",
        "Escribe el identificador de la organización, {}, para borrarla.",
    ),
    (
        "a name has 1 to 200 characters, none of them a control character",
        "Un nombre tiene de 1 a 200 caracteres, sin caracteres de control.",
    ),
    (
        "{} has 1 to 100 letters, digits, hyphens, dots or underscores, and begins with a letter or digit",
        "Un identificador tiene de 1 a 100 letras, cifras, guiones, puntos o guiones bajos, y empieza por letra o cifra.",
    ),
    (
        "{} is not an e-mail address",
        "{} no es una dirección de correo. Escríbela completa, como ana@example.com.",
    ),
    ("there is already such a membership", "Ese usuario ya es miembro de esa organización."),
    ("there is already a tenant \"{}\"", "Ya existe la organización «{}»."),
    ("there is already a user \"{}\"", "Ya hay un usuario con el correo {}."),
    ("there is already a developer \"{}\"", "Ya hay un desarrollador con el correo {}."),
    ("there is already an operator \"{}\"", "Ya hay un operador con el correo {}."),
    ("there is no tenant \"{}\"", "No existe la organización «{}»: comprueba el identificador."),
    (
        "there is no user \"{}\"",
        "No existe el usuario «{}»: comprueba el correo o el identificador, o invítalo.",
    ),
    ("there is no team \"{}\"", "No existe el equipo «{}»: comprueba el identificador."),
    (
        "a sandbox tenant is for the user of its sandbox alone, and that user has no other tenant; add an ordinary user to an \
         ordinary tenant",
        "La organización de un entorno de pruebas es solo para el usuario de ese entorno, y ese usuario no tiene otra organización. Añade un usuario \
         normal a una organización normal.",
    ),
    (
        "operator \"{}\" is the last active operator with the role admin, and nobody else could manage operators; give \
         another one the role first",
        "{} es el último operador activo con el rol de administración, y nadie más podría gestionar las cuentas. Da antes ese \
         rol a otra persona.",
    ),
    (
        "the {} \"{}\" is disabled and cannot sign in; enable the account first",
        "La cuenta {1} está desactivada y no puede iniciar sesión. Actívala antes.",
    ),
    (
        "the invitation for \"{}\" was accepted; invite again instead",
        "La invitación para {} ya se aceptó. Si hace falta, invita de nuevo.",
    ),
    (
        "the invitation for \"{}\" was revoked; invite again instead",
        "La invitación para {} está anulada. Invita de nuevo.",
    ),
    (
        "an owner needs the team that they own",
        "Para ser titular hace falta el equipo: escribe su identificador.",
    ),
    ("choose a role", "Elige un rol."),
    ("choose for whom the invitation is", "Elige para quién es la invitación."),
];
