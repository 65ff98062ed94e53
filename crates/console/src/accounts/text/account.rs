//! Words of the page of one account.

use pages::texts;

texts! {
    AccountText {
        email: "Correo", "E-mail";
        id: "Identificador", "Id";
        language: "Idioma", "Language";
        since: "Desde", "Since";
        role: "Rol", "Role";
        unconfirmed_text: "La cuenta viene de una copia de seguridad restaurada. Lo que autorizó no vale hasta que la persona vuelva a entrar.", "The account comes from a restored backup. What it authorized does not stand until the person signs in again.";
        disabled_text: "Esta cuenta no puede entrar.", "This account cannot sign in.";
        tenants: "Tenants", "Tenants";
        no_tenants: "No pertenece a ningún tenant", "Not a member of any tenant";
        no_tenants_text: "Sin un tenant no puede autorizar aplicaciones. Añade uno que exista.", "Without a tenant they cannot authorize applications. Add one that exists.";
        tenant: "Tenant", "Tenant";
        tenant_hint: "Su identificador.", "Its id.";
        add_tenant: "Añadir a un tenant", "Add to a tenant";
        add_tenant_text: "Podrá entrar en este tenant y autorizar aplicaciones que lean y cambien sus datos.", "They will be able to sign in to this tenant and authorize applications that read and change its data.";
        authorizations: "Aplicaciones autorizadas", "Authorized applications";
        no_authorizations: "No ha autorizado ninguna aplicación.", "They have not authorized any application.";
        application: "Aplicación", "Application";
        scopes: "Permisos", "Scopes";
        obstacle: "no vale ahora", "does not stand now";
        withdraw: "Retirar", "Withdraw";
        withdraw_text: "deja de tener acceso a este tenant en nombre de esta persona en dos segundos. La persona puede volver a autorizarla.", "loses access to this tenant in this person's name within two seconds. The person may authorize it again.";
        sessions: "Sesiones abiertas", "Open sessions";
        no_sessions: "No hay ninguna sesión abierta.", "There is no open session.";
        browser: "Navegador", "Browser";
        address: "Dirección", "Address";
        signed_in: "Entró", "Signed in";
        until: "Hasta", "Until";
        end_sessions: "Cerrar todas las sesiones", "End all sessions";
        end_sessions_text: "Tendrá que volver a entrar en todos los navegadores. Los permisos de las aplicaciones siguen.", "They have to sign in again in every browser. What applications may do stays.";
        factors: "Segundo factor", "Second factor";
        no_factors: "No tiene ninguno.", "None is enrolled.";
        totp: "Aplicación de autenticación", "Authenticator app";
        passkey: "Llave de acceso", "Passkey";
        last_used: "Último uso", "Last used";
        recovery_codes: "Códigos de recuperación sin usar", "Recovery codes left";
        reset_factors: "Quitar el segundo factor", "Remove the second factors";
        reset_factors_text: "Para quien lo ha perdido. Se quitan todos sus factores y códigos de recuperación y se cierran sus sesiones; la contraseña sigue. Comprueba antes, por otro camino, que es quien dice ser.", "For somebody who has lost them. All factors and recovery codes are removed and all sessions end; the password stays. First make sure by another way that they are who they say.";
        reset_password: "Enviar un enlace para cambiar la contraseña", "Send a link to set a new password";
        reset_password_text: "El enlace funciona una vez y durante una hora. La contraseña actual y el segundo factor siguen hasta que la persona elija otra; entonces se cierran sus sesiones.", "The link works once and for an hour. The present password and the second factors stay until the person chooses another; then their sessions end.";
        link_title: "Enlace para elegir la contraseña", "Link to choose the password";
        link_text: "No hay servidor de correo configurado: pasa este enlace a la persona por un medio seguro. Funciona una vez, durante una hora, y no se volverá a mostrar.", "No mail server is configured: pass this link to the person by a safe way. It works once, for an hour, and is not shown again.";
        disable: "Desactivar la cuenta", "Disable the account";
        disable_user_text: "No podrá entrar, y los tokens de las aplicaciones que autorizó se rechazan en dos segundos. Al activarla vuelve todo lo que no haya caducado.", "They cannot sign in, and the tokens of the applications they authorized are refused within two seconds. Enabling the account restores everything that has not expired.";
        disable_developer_text: "No podrá entrar en el portal. Las aplicaciones y las suscripciones de sus equipos siguen funcionando.", "They cannot sign in to the portal. The applications and subscriptions of their teams go on working.";
        disable_operator_text: "No podrá entrar en la consola. Los tokens de la API que creó siguen valiendo: revísalos.", "They cannot sign in to the console. API tokens that they made stay valid: review them.";
        enable: "Activar la cuenta", "Enable the account";
        enable_text: "Podrá volver a entrar con la contraseña y el segundo factor que tenía.", "They can sign in again with the password and the second factors that they had.";
        rename: "Cambiar el nombre o el idioma", "Change name or language";
        change_role: "Cambiar el rol", "Change the role";
        change_role_text: "El rol decide qué puede hacer en la consola, desde la siguiente página que abra.", "The role decides what they may do in the console, from the next page they open.";
        sign_ins: "Últimos accesos", "Latest sign-ins";
        no_sign_ins: "No ha entrado en los últimos 30 días.", "They have not signed in during the last 30 days.";
        audit: "Auditoría", "Audit";
        all_audit: "Ver toda la auditoría de esta cuenta", "See the whole audit of this account";
        event: "Suceso", "Event";
        by: "Quién", "By";
        teams: "Equipos", "Teams";
        no_teams: "No pertenece a ningún equipo. Añádelo desde la página de un equipo.", "Not in any team. Add them from the page of a team.";
        team: "Equipo", "Team";
        owner: "Titular", "Owner";
        member: "Miembro", "Member";
        invitations: "Invitaciones a este correo", "Invitations to this address";
        tokens: "Tokens de la API que ha creado", "API tokens that they made";
        no_tokens: "No ha creado ninguno.", "They have made none.";
        token: "Token", "Token";
        live: "Vale", "Live";
        expired: "Caducado", "Expired";
        revoked: "Revocado", "Revoked";
        all_tokens: "Ver todos los tokens", "See all tokens";
    }
}
