//! Words of the page of invitations.

use pages::texts;

texts! {
    InvitationText {
        lead: "Una invitación es un enlace de un solo uso, que funciona 72 horas, con el que una persona crea su cuenta.", "An invitation is a one-time link, which works for 72 hours, with which a person creates their account.";
        search: "Correo", "Email";
        realm: "Para quién", "For whom";
        any: "Cualquiera", "Any";
        user: "Usuario", "User";
        developer: "Desarrollador", "Developer";
        operator: "Operador", "Operator";
        users: "Usuarios", "Users";
        developers: "Desarrolladores", "Developers";
        operators: "Operadores", "Operators";
        pending: "Pendiente", "Pending";
        expired: "Caducada", "Expired";
        accepted: "Aceptada", "Accepted";
        revoked: "Anulada", "Revoked";
        gets: "Recibe", "Gets";
        valid_until: "El enlace funciona hasta", "The link works until";
        invited_by: "Quién invitó", "Invited by";
        first_operator: "El primer operador", "The first operator";
        none: "No hay invitaciones pendientes", "There are no pending invitations";
        none_text: "Invita a un usuario, a un desarrollador o a otro operador con el formulario de abajo.", "Invite a user, a developer or another operator with the form below.";
        none_found: "Ninguna invitación coincide", "No invitation matches";
        none_found_text: "La búsqueda encuentra los correos que empiezan por el texto. Prueba con menos letras o quita el filtro.", "The search finds addresses that begin with the text. Try fewer letters, or clear the filter.";
        resend: "Enviar otra vez", "Send again";
        resend_text: "Recibe un enlace nuevo, que funciona 72 horas; el anterior deja de funcionar.", "They get a new link, which works for 72 hours; the old one stops working.";
        revoke: "Anular", "Revoke";
        revoke_text: "El enlace deja de funcionar en el acto. Puedes volver a invitar.", "The link stops working at once. You can invite again.";
        invite: "Invitar", "Invite";
        invite_text: "La persona recibe el enlace por correo; sin servidor de correo, se muestra aquí una sola vez. Una invitación nueva sustituye a la pendiente para el mismo correo.", "The person gets the link by mail; without a mail server, it is shown here once. A new invitation replaces a pending one for the same address.";
        email: "Correo", "Email";
        name: "Nombre", "Name";
        name_hint: "La persona puede cambiarlo.", "The person can change it.";
        language: "Idioma", "Language";
        tenants: "Organizaciones", "Tenants";
        tenants_hint: "Los identificadores de las organizaciones en las que podrá iniciar sesión, separados por espacios.", "The ids of the tenants that they can sign in to, separated by spaces.";
        role: "Rol", "Role";
        team: "Equipo", "Team";
        team_hint: "El identificador del equipo al que se une; vacío, a ninguno.", "The id of the team that they join; empty for none.";
        team_owner: "Será titular del equipo", "They become an owner of the team";
        owner_of: "Titular de", "Owner of";
        member_of: "Miembro de", "Member of";
        link_title: "Enlace de la invitación", "Link of the invitation";
        link_text: "No hay servidor de correo configurado: entrega este enlace a la persona por un canal seguro. Funciona una vez, durante 72 horas, y no se volverá a mostrar.", "No mail server is configured: give this link to the person through a safe channel. It works once, for 72 hours, and is not shown again.";
    }
}
