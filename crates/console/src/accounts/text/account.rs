//! Words of the page of one account.

use pages::texts;

texts! {
    AccountText {
        email: "Correo", "Email";
        id: "Identificador", "Id";
        language: "Idioma", "Language";
        since: "Desde", "Since";
        role: "Rol", "Role";
        unconfirmed_text: "La cuenta viene de una copia de seguridad restaurada. Lo que autorizó no vale hasta que la persona vuelva a iniciar sesión.", "The account comes from a restored backup. Its authorizations are not valid until the person signs in again.";
        disabled_text: "Esta cuenta no puede iniciar sesión.", "This account cannot sign in.";
        tenants: "Organizaciones", "Tenants";
        no_tenants: "No pertenece a ninguna organización", "Not a member of any tenant";
        no_tenants_text: "Sin una organización no puede autorizar aplicaciones. Añade la cuenta a una organización con el formulario de abajo.", "Without a tenant they cannot authorize applications. Add the account to a tenant with the form below.";
        tenant: "Organización", "Tenant";
        tenant_hint: "Su identificador.", "Its id.";
        add_tenant: "Añadir a una organización", "Add to a tenant";
        add_tenant_text: "Podrá iniciar sesión en esta organización y autorizar aplicaciones que lean sus datos.", "They will be able to sign in to this tenant and authorize applications that read its data.";
        authorizations: "Aplicaciones autorizadas", "Authorized applications";
        no_authorizations: "No ha autorizado ninguna aplicación.", "They have not authorized any application.";
        application: "Aplicación", "Application";
        scopes: "Permisos", "Scopes";
        obstacle: "no vale ahora", "not valid now";
        withdraw: "Retirar", "Withdraw";
        withdraw_text: "deja de tener acceso a esta organización en nombre de esta persona en dos segundos. La persona puede volver a autorizarla.", "loses its access to this tenant on this person's behalf within two seconds. The person can authorize it again.";
        sessions: "Sesiones abiertas", "Open sessions";
        no_sessions: "No hay ninguna sesión abierta.", "There is no open session.";
        browser: "Navegador", "Browser";
        address: "Dirección", "Address";
        signed_in: "Inicio de sesión", "Signed in";
        until: "Hasta", "Until";
        end_sessions: "Cerrar todas las sesiones", "End all sessions";
        end_sessions_text: "Tendrá que volver a iniciar sesión en todos los navegadores. Las aplicaciones conservan su acceso.", "They have to sign in again in every browser. Applications keep their access.";
        factors: "Segundo factor", "Second factor";
        no_factors: "No tiene ninguno.", "They have none.";
        totp: "Aplicación de autenticación", "Authenticator app";
        passkey: "Llave de acceso", "Passkey";
        last_used: "Último uso", "Last used";
        recovery_codes: "Códigos de recuperación sin usar", "Recovery codes left";
        reset_factors: "Quitar los segundos factores", "Remove the second factors";
        reset_factors_text: "Para quien los ha perdido. Se quitan todos sus factores y códigos de recuperación y se cierran sus sesiones; la contraseña sigue. Comprueba antes, por otra vía, que es quien dice ser.", "For somebody who has lost them. All factors and recovery codes are removed and all sessions end; the password stays. First verify in another way that they are who they say they are.";
        reset_password: "Enviar un enlace para cambiar la contraseña", "Send a link to set a new password";
        reset_password_text: "El enlace funciona una vez y durante una hora. La contraseña actual vale hasta que la persona elija otra; entonces se cierran sus sesiones. Los segundos factores no cambian.", "The link works once and for an hour. The current password is valid until the person chooses another; then their sessions end. The second factors do not change.";
        link_title: "Enlace para elegir la contraseña", "Link to choose the password";
        link_text: "No hay servidor de correo configurado: entrega este enlace a la persona por un canal seguro. Funciona una vez, durante una hora, y no se volverá a mostrar.", "No mail server is configured: give this link to the person through a safe channel. It works once, for an hour, and is not shown again.";
        disable: "Desactivar la cuenta", "Disable the account";
        disable_user_text: "No podrá iniciar sesión, y los tokens de las aplicaciones que autorizó se rechazan en dos segundos. Al activarla vuelve todo lo que no haya caducado.", "They cannot sign in, and the tokens of the applications they authorized are refused within two seconds. Enabling the account restores everything that has not expired.";
        disable_developer_text: "No podrá iniciar sesión en el portal. Las aplicaciones y las suscripciones de sus equipos siguen funcionando.", "They cannot sign in to the portal. The applications and subscriptions of their teams keep working.";
        disable_operator_text: "No podrá iniciar sesión en la consola. Los tokens de la API que creó siguen valiendo: revísalos.", "They cannot sign in to the console. API tokens that they created stay valid: review them.";
        enable: "Activar la cuenta", "Enable the account";
        enable_text: "Podrá volver a iniciar sesión con la contraseña y los segundos factores que tenía.", "They can sign in again with the password and the second factors that they had.";
        rename: "Cambiar el nombre o el idioma", "Change name or language";
        change_role: "Cambiar el rol", "Change the role";
        change_role_text: "El rol decide qué puede hacer en la consola, desde la siguiente página que abra.", "The role decides what they may do in the console, from the next page they open.";
        sign_ins: "Últimos inicios de sesión", "Latest sign-ins";
        no_sign_ins: "No ha iniciado sesión en los últimos 30 días.", "They have not signed in during the last 30 days.";
        audit: "Auditoría", "Audit";
        all_audit: "Ver toda la auditoría de esta cuenta", "See the whole audit of this account";
        event: "Qué ocurrió", "What happened";
        by: "Quién", "By";
        teams: "Equipos", "Teams";
        no_teams: "No pertenece a ningún equipo. Añádelo desde la página de un equipo.", "Not in any team. Add them from the page of a team.";
        team: "Equipo", "Team";
        owner: "Titular", "Owner";
        member: "Miembro", "Member";
        invitations: "Invitaciones a este correo", "Invitations to this address";
        tokens: "Tokens de la API que ha creado", "API tokens that they created";
        no_tokens: "No ha creado ninguno.", "They have created none.";
        token: "Token", "Token";
        live: "Válido", "Valid";
        expired: "Caducado", "Expired";
        revoked: "Revocado", "Revoked";
        all_tokens: "Ver todos los tokens", "See all tokens";
    }
}
