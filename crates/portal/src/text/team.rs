//! Words of the team page.

use pages::texts;

texts! {
    TeamText {
        title: "Equipo", "Team";
        lead: "Quién trabaja en la integración. Cada miembro ve las claves, aplicaciones y webhooks del equipo.", "Who works on the integration. Every member sees the team's keys, applications and webhooks.";
        no_team: "Todavía no perteneces a ningún equipo", "You do not belong to a team yet";
        no_team_text: "Un equipo reúne claves, aplicaciones y webhooks. Pide a una persona titular de tu equipo, o a la persona de contacto, que te añada.", "A team owns keys, applications and webhooks. Ask an owner of your team, or the contact, to add you.";
        members: "Miembros", "Members";
        name: "Nombre", "Name";
        email: "Correo", "Email";
        role: "Rol", "Role";
        since: "Desde", "Since";
        owner: "Titular", "Owner";
        member: "Miembro", "Member";
        disabled: "cuenta desactivada", "account disabled";
        you: "tú", "you";
        make_owner: "Hacer titular", "Make owner";
        make_member: "Hacer miembro", "Make member";
        remove: "Quitar del equipo", "Remove from the team";
        leave: "Dejar el equipo", "Leave the team";
        remove_text: "Dejará de ver las claves, aplicaciones y webhooks de este equipo. Su cuenta sigue existiendo.", "They will no longer see this team's keys, applications and webhooks. Their account stays.";
        leave_text: "Dejarás de ver las claves, aplicaciones y webhooks de este equipo. Tu cuenta sigue existiendo.", "You will no longer see this team's keys, applications and webhooks. Your account stays.";
        invite: "Invitar a alguien", "Invite somebody";
        invite_text: "Recibirá un enlace que vale 72 horas y un solo uso.", "They get a link that is valid for 72 hours and works once.";
        send: "Invitar", "Invite";
        link_title: "Entrega este enlace a la persona invitada", "Give this link to the invited person";
        link_text: "Solo se muestra ahora. Vale 72 horas y un solo uso.", "It is shown only now. It is valid for 72 hours and works once.";
        invitations: "Invitaciones sin aceptar", "Open invitations";
        valid_until: "El enlace vale hasta", "The link is valid until";
        expired: "caducada", "expired";
        resend: "Reenviar", "Resend";
        revoke: "Anular", "Revoke";
        revoke_text: "El enlace dejará de funcionar y la persona no podrá unirse al equipo con él.", "The link stops working, and the person cannot join the team with it.";
        rename: "Nombre del equipo", "Name of the team";
        owners_only: "Solo las personas titulares pueden cambiar el equipo.", "Only owners can change the team.";
    }
}
