//! Words of the teams' pages.

use pages::texts;

texts! {
    TeamText {
        title: "Equipos", "Teams";
        one: "Equipo", "Team";
        lead: "Un equipo de desarrolladores es dueño de aplicaciones y suscripciones.", "A team of developers owns applications and subscriptions.";
        active: "Activo", "Active";
        disabled: "Desactivado", "Disabled";
        none: "Todavía no hay equipos", "No teams yet";
        none_text: "Crea el primero aquí debajo y añade a sus desarrolladores, o invítalos en Invitaciones.", "Create the first one below and add its developers, or invite them in Invitations.";
        new: "Crear un equipo", "Create a team";
        id_hint: "Opcional: letras, cifras, guiones y puntos. No se puede cambiar después.", "Optional: letters, digits, hyphens and dots. It cannot be changed later.";
        disabled_text: "Las claves de sus suscripciones no funcionan y los webhooks de sus aplicaciones están suspendidos.", "The keys of its subscriptions do not work, and the webhooks of its applications are suspended.";
        members: "Miembros", "Members";
        no_members: "El equipo no tiene miembros: nadie ve sus claves ni sus aplicaciones en el portal.", "The team has no members: nobody sees its keys and applications in the portal.";
        email: "Correo", "Email";
        role: "Rol", "Role";
        owner: "Titular", "Owner";
        member: "Miembro", "Member";
        account_disabled: "cuenta desactivada", "account disabled";
        make_owner: "Hacer titular", "Make owner";
        make_owner_text: "Podrá cambiar el equipo, sus miembros y sus roles.", "They can change the team, its members and their roles.";
        make_member: "Hacer miembro", "Make member";
        make_member_text: "Ya no podrá cambiar el equipo ni sus miembros.", "They can no longer change the team and its members.";
        since: "Desde", "Since";
        remove: "Quitar", "Remove";
        remove_text: "Dejará de ver las claves, aplicaciones y webhooks de este equipo. Su cuenta sigue existiendo.", "They no longer see this team's keys, applications and webhooks. Their account stays.";
        add: "Añadir a un miembro", "Add a member";
        add_text: "Verá las claves, aplicaciones y webhooks del equipo. Tiene que tener ya una cuenta de desarrollador; si no, invítala en Invitaciones.", "They see the team's keys, applications and webhooks. They must have a developer account; otherwise invite them in Invitations.";
        clients: "Aplicaciones", "Applications";
        no_clients: "El equipo no tiene aplicaciones.", "The team has no applications.";
        subscriptions: "Suscripciones", "Subscriptions";
        no_subscriptions: "El equipo no tiene suscripciones.", "The team has no subscriptions.";
        requests: "Solicitudes pendientes", "Pending requests";
        no_requests: "El equipo no tiene solicitudes pendientes.", "The team has no pending requests.";
        all_requests: "Ver todas sus solicitudes", "See all its requests";
        webhooks: "Ver los webhooks de sus aplicaciones", "See the webhooks of its applications";
        sandbox: "Entorno de pruebas", "Sandbox";
        no_sandbox: "El equipo no tiene entorno de pruebas. Lo crea en el portal.", "The team has no sandbox. It creates one in the portal.";
        sandbox_tenant: "Organización", "Tenant";
        sandbox_user: "Usuario", "User";
        sandbox_open: "Abierto", "Open";
        sandbox_closed: "Cerrado", "Closed";
        sandbox_loading: "Sin terminar", "Not complete";
        sandbox_erased: "Borrado", "Erased";
        sandbox_loaded: "Datos de ejemplo desde", "Sample data since";
        close_sandbox: "Cerrar el entorno de pruebas", "Close the sandbox";
        close_sandbox_text: "Se desactiva su organización: nadie puede iniciar sesión en ella, y sus webhooks se suspenden. Los datos de ejemplo se quedan.", "Its tenant is disabled: nobody can sign in to it, and its webhooks are suspended. The sample data stays.";
        open_sandbox: "Abrir el entorno de pruebas", "Open the sandbox";
        open_sandbox_text: "Su organización se activa de nuevo.", "Its tenant is enabled again.";
        rename: "Cambiar el nombre", "Rename";
        disable: "Desactivar el equipo", "Disable the team";
        disable_text: "Las claves de sus suscripciones dejan de funcionar al momento y los webhooks de sus aplicaciones se suspenden. Sus miembros pueden iniciar sesión en el portal, pero no cambiar nada. Se puede volver a activar.", "The keys of its subscriptions stop working at once, and the webhooks of its applications are suspended. Its members can sign in to the portal but change nothing. You can enable it again.";
        enable: "Activar el equipo", "Enable the team";
        enable_text: "Las claves de sus suscripciones vuelven a funcionar y los webhooks de sus aplicaciones siguen donde estaban.", "The keys of its subscriptions work again, and the webhooks of its applications resume where they stopped.";
    }
}
