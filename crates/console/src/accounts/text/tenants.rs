//! Words of the pages of tenants.

use pages::texts;

texts! {
    TenantText {
        lead: "Tus clientes: cada organización es un conjunto de empresas con sus usuarios. Los entornos de pruebas de los equipos también son organizaciones.", "Your customers: each tenant is a set of companies with its users. The sandboxes of teams are tenants too.";
        one: "Organización", "Tenant";
        search: "Nombre o identificador", "Name or id";
        name: "Nombre", "Name";
        id: "Identificador", "Id";
        short_code: "Código corto", "Short code";
        active: "Activa", "Active";
        disabled: "Desactivada", "Disabled";
        sandbox: "entorno de pruebas", "sandbox";
        sandbox_of: "Entorno de pruebas del equipo", "Sandbox of the team";
        none: "Todavía no hay organizaciones", "There are no tenants yet";
        none_text: "Una organización es un cliente tuyo: sus empresas, sus datos y sus usuarios. Añade la primera; después carga sus datos con la API de cambios.", "A tenant is one of your customers: its companies, its data and its users. Add the first one; then load its data with the changes API.";
        none_found: "Ninguna organización coincide", "No tenant matches";
        none_found_text: "La búsqueda encuentra nombres e identificadores que empiezan por el texto. Prueba con menos letras o quita el filtro.", "The search finds names and ids that begin with the text. Try fewer letters, or clear the filter.";
        add: "Añadir una organización", "Add a tenant";
        add_text: "La organización empieza sin datos y sin usuarios.", "The tenant starts without data and without users.";
        id_hint: "Letras, cifras, guiones, puntos y guiones bajos. No se puede cambiar después. Si lo dejas vacío, se genera uno.", "Letters, digits, hyphens, dots and underscores. It cannot be changed later. If empty, one is generated.";
        short_code_hint: "El claim svc.es.idcda de sus tokens. Si lo dejas vacío, se obtiene del identificador.", "The claim svc.es.idcda of its tokens. If empty, it is derived from the id.";
        data: "Ver sus datos", "See its data";
        webhooks: "Ver sus webhooks", "See its webhooks";
        webhook_count: "Webhooks", "Webhooks";
        reads: "Quién leyó qué", "Who read what";
        audit: "Auditoría de la organización", "Audit of the tenant";
        members: "Miembros", "Members";
        members_text: "Los usuarios que pueden elegir esta organización al iniciar sesión.", "The users who can choose this tenant when they sign in.";
        no_members: "Nadie puede iniciar sesión en esta organización", "Nobody can sign in to this tenant";
        no_members_text: "Añade a un usuario con el formulario de abajo, o invita a alguien a esta organización.", "Add a user with the form below, or invite somebody to this tenant.";
        user: "Usuario", "User";
        user_hint: "Su correo o su identificador.", "Their email address or their id.";
        last_used: "Último uso", "Last used";
        tenant_admin: "administra la organización", "administers the tenant";
        make_admin: "Hacer administrador", "Make administrator";
        make_member: "Quitar como administrador", "Remove as administrator";
        add_member: "Añadir un miembro", "Add a member";
        add_member_text: "El usuario podrá iniciar sesión en esta organización y autorizar aplicaciones que lean sus datos.", "The user will be able to sign in to this tenant and authorize applications that read its data.";
        remove_member: "Quitar", "Remove";
        remove_member_text: "ya no podrá iniciar sesión en esta organización. Lo que autorizó en ella termina: los tokens se rechazan en dos segundos y se suspenden los webhooks que ningún otro usuario autorice.", "can no longer sign in to this tenant. What they authorized in it ends: tokens are refused within two seconds, and webhooks that no other user has authorized are suspended.";
        clients: "Aplicaciones autorizadas", "Authorized applications";
        no_clients: "Ningún usuario ha autorizado una aplicación en esta organización.", "No user has authorized an application in this tenant.";
        more_clients: "Hay más: solo se muestran las primeras.", "There are more: only the first ones are shown.";
        disable: "Desactivar la organización", "Disable the tenant";
        disable_text: "Nadie podrá iniciar sesión en ella, sus tokens se rechazan en dos segundos y sus webhooks quedan suspendidos. Los datos se conservan; al activarlo vuelve todo lo que no haya caducado.", "Nobody will be able to sign in to it, its tokens are refused within two seconds and its webhooks are suspended. The data stays; enabling it restores everything that has not expired.";
        enable: "Activar la organización", "Enable the tenant";
        enable_text: "Sus usuarios pueden volver a iniciar sesión, y los tokens y webhooks que no hayan caducado vuelven a funcionar.", "Its users can sign in again, and tokens and webhooks that have not expired work again.";
        erase: "Borrar la organización para siempre", "Erase the tenant for good";
        erase_text: "Se borran al momento sus empresas, sus registros con su historial, sus autorizaciones y sus webhooks. Las cuentas de sus usuarios se conservan. No se puede deshacer.", "Its companies, its records with their history, its authorizations and its webhooks are erased at once. The accounts of its users stay. This cannot be undone.";
        confirm: "Escribe el identificador de la organización para confirmarlo", "Type the id of the tenant to confirm";
    }
}
