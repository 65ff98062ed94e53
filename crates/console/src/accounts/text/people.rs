//! Words of the lists of users, developers and operators.

use pages::texts;

texts! {
    PeopleText {
        users_lead: "Las personas que inician sesión en tu producto y autorizan aplicaciones para que actúen en su nombre.", "The people who sign in to your product and authorize applications to act on their behalf.";
        developers_lead: "Las personas que integran aplicaciones, con cuenta en el portal. Sus equipos tienen las aplicaciones y las suscripciones.", "The people who integrate applications, with an account in the portal. Their teams own applications and subscriptions.";
        operators_lead: "Las personas que llevan el servicio, con cuenta en esta consola.", "The people who run the service, with an account in this console.";
        user: "Usuario", "User";
        developer: "Desarrollador", "Developer";
        operator: "Operador", "Operator";
        search: "Correo, nombre o identificador", "Email, name or id";
        search_hint: "Basta el comienzo.", "The beginning is enough.";
        name: "Nombre", "Name";
        family_name: "Apellidos (opcional)", "Family name (optional)";
        email: "Correo", "Email";
        role: "Rol", "Role";
        since: "Desde", "Since";
        state: "Estado", "State";
        any: "Cualquiera", "Any";
        active: "Activa", "Active";
        disabled: "Desactivada", "Disabled";
        unconfirmed: "Sin confirmar", "Unconfirmed";
        you: "tú", "you";
        admin: "Administración", "Admin";
        support: "Soporte", "Support";
        viewer: "Solo lectura", "Viewer";
        admin_text: "Puede hacerlo todo.", "May do everything.";
        support_text: "Todo menos cuentas, claves y configuración.", "Everything but accounts, keys and configuration.";
        viewer_text: "Lo ve todo y no cambia nada.", "Sees everything and changes nothing.";
        no_users: "Todavía no hay usuarios", "There are no users yet";
        no_users_text: "Invita a la primera persona, o añádela aquí: recibirá un enlace para elegir su contraseña.", "Invite the first person, or add them here: they get a link to choose their password.";
        no_developers: "Todavía no hay desarrolladores", "There are no developers yet";
        no_developers_text: "Invita a la primera persona que vaya a integrar una aplicación, a ser posible en un equipo.", "Invite the first person who is going to integrate an application, into a team if possible.";
        no_operators: "No hay operadores con cuenta", "There are no operators with an account";
        no_operators_text: "Invita a quienes llevan el servicio contigo.", "Invite those who run the service with you.";
        none_found: "Nadie coincide", "Nobody matches";
        none_found_text: "La búsqueda encuentra correos, nombres e identificadores que empiezan por el texto. Prueba con menos letras o quita el filtro.", "The search finds email addresses, names and ids that begin with the text. Try fewer letters, or clear the filter.";
        invite: "Invitar", "Invite";
        add_user: "Añadir un usuario", "Add a user";
        add_user_text: "La cuenta existe desde ya. La persona recibe por correo un enlace, que funciona una vez y durante una hora, para elegir su contraseña; sin servidor de correo, el enlace se muestra aquí para que se lo entregues.", "The account exists at once. The person gets a mail with a link, which works once and for an hour, to choose their password; without a mail server, the link is shown here for you to pass on.";
        tenants: "Organizaciones", "Tenants";
        tenants_hint: "Sus identificadores, separados por espacios. Se pueden añadir después.", "Their ids, separated by spaces. You can add them later.";
        language: "Idioma", "Language";
        spanish: "Español", "Spanish";
        english: "Inglés", "English";
        add: "Añadir", "Add";
    }
}
