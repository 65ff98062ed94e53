//! Words of the pages of tenants.

use pages::texts;

texts! {
    TenantText {
        lead: "Tus clientes: cada tenant es un conjunto de empresas con sus usuarios. Los sandboxes de los equipos también son tenants.", "Your customers: each tenant is a set of companies with its users. The sandboxes of teams are tenants too.";
        one: "Tenant", "Tenant";
        search: "Nombre o identificador", "Name or id";
        name: "Nombre", "Name";
        id: "Identificador", "Id";
        short_code: "Código corto", "Short code";
        active: "Activo", "Active";
        disabled: "Desactivado", "Disabled";
        sandbox: "sandbox", "sandbox";
        sandbox_of: "Sandbox del equipo", "Sandbox of the team";
        none: "Todavía no hay tenants", "There are no tenants yet";
        none_text: "Un tenant es un cliente tuyo: sus empresas, sus datos y sus usuarios. Añade el primero; después puedes cargar sus datos con la API de ingesta.", "A tenant is one of your customers: its companies, its data and its users. Add the first one; then load its data with the ingest API.";
        none_found: "Ningún tenant coincide", "No tenant matches";
        none_found_text: "La búsqueda compara como empiezan el nombre y el identificador. Prueba con menos letras o quita el filtro.", "The search compares how name and id begin. Try fewer letters, or clear the filter.";
        add: "Añadir un tenant", "Add a tenant";
        add_text: "El tenant empieza sin datos y sin usuarios.", "The tenant begins without data and without users.";
        id_hint: "Letras, cifras, guiones, puntos y guiones bajos. No se puede cambiar; vacío, se genera uno.", "Letters, digits, hyphens, dots and underscores. It cannot be changed; empty, one is generated.";
        short_code_hint: "El claim svc.es.idcda de sus tokens; vacío, sale del identificador.", "The claim svc.es.idcda of its tokens; empty, it is derived from the id.";
        data: "Ver sus datos", "See its data";
        webhooks: "Ver sus webhooks", "See its webhooks";
        webhook_count: "Webhooks", "Webhooks";
        reads: "Quién leyó qué", "Who read what";
        audit: "Auditoría del tenant", "Audit of the tenant";
        members: "Miembros", "Members";
        members_text: "Los usuarios que pueden elegir este tenant al entrar.", "The users who can choose this tenant when they sign in.";
        no_members: "Nadie puede entrar en este tenant", "Nobody can sign in to this tenant";
        no_members_text: "Añade a un usuario que exista, o invita a alguien a este tenant.", "Add a user who exists, or invite somebody into this tenant.";
        user: "Usuario", "User";
        user_hint: "Su correo o su identificador.", "Their e-mail address or their id.";
        last_used: "Última vez", "Last time";
        tenant_admin: "administra el tenant", "administers the tenant";
        make_admin: "Hacer administrador", "Make administrator";
        make_member: "Quitar la administración", "No longer administrator";
        add_member: "Añadir un miembro", "Add a member";
        add_member_text: "El usuario podrá entrar en este tenant y autorizar aplicaciones que lean y cambien sus datos.", "The user will be able to sign in to this tenant and authorize applications that read and change its data.";
        remove_member: "Quitar", "Remove";
        remove_member_text: "deja de poder entrar en este tenant. Lo que autorizó en él termina: los tokens se rechazan en dos segundos y se suspenden los webhooks que ningún otro usuario cubra.", "can no longer sign in to this tenant. What they authorized in it ends: tokens are refused within two seconds, and webhooks that no other user covers are suspended.";
        clients: "Aplicaciones autorizadas", "Authorized applications";
        no_clients: "Ningún usuario ha autorizado una aplicación en este tenant.", "No user has authorized an application in this tenant.";
        more_clients: "Hay más: solo se muestran las primeras.", "There are more: only the first ones are shown.";
        disable: "Desactivar el tenant", "Disable the tenant";
        disable_text: "Nadie podrá entrar en él, sus tokens se rechazan en dos segundos y sus webhooks quedan suspendidos. Los datos se conservan; al activarlo vuelve todo lo que no haya caducado.", "Nobody will be able to sign in to it, its tokens are refused within two seconds and its webhooks are suspended. The data stays; enabling it restores everything that has not expired.";
        enable: "Activar el tenant", "Enable the tenant";
        enable_text: "Sus usuarios vuelven a entrar, y los tokens y webhooks que no hayan caducado vuelven a funcionar.", "Its users can sign in again, and tokens and webhooks that have not expired work again.";
        erase: "Borrar el tenant para siempre", "Erase the tenant for good";
        erase_text: "Desaparecen en el acto sus empresas, registros, historial, autorizaciones y webhooks; las cuentas de sus usuarios se conservan. No se puede deshacer.", "Its companies, records, log, authorizations and webhooks disappear at once; the accounts of its users stay. This cannot be undone.";
        confirm: "Escribe el identificador del tenant para confirmarlo", "Type the id of the tenant to confirm";
    }
}
