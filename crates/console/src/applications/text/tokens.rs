//! Words of the page of API tokens.

use pages::texts;

texts! {
    TokenText {
        title: "Tokens de la API", "API tokens";
        lead: "Para programas que usan la API de operación (/operator/v1): cada uno con su nombre, su rol y, si quieres, una fecha de caducidad.", "For programs that use the operator's API (/operator/v1): each with its name, its role and, if you want, an expiry date.";
        role: "Rol", "Role";
        created_by: "Creado por", "Created by";
        expires: "Caduca", "Expires";
        last_used: "Último uso", "Last used";
        live: "Válido", "Valid";
        expired: "Caducado", "Expired";
        revoked: "Revocado", "Revoked";
        none: "No hay tokens con nombre", "There are no named tokens";
        none_text: "Crea uno para cada programa, con el rol que necesite: así puedes revocarlo sin tocar los demás, y la auditoría dice cuál actuó.", "Create one for every program, with the role that it needs: you can revoke it without touching the others, and the audit names the one that acted.";
        new: "Crear un token", "Create a token";
        name_hint: "Letras, cifras, guiones y puntos: «copias-nocturnas», por ejemplo.", "Letters, digits, hyphens and dots: \"nightly-backups\", for example.";
        lifetime: "Vale durante", "Valid for";
        new_token: "El token está creado", "The token has been created";
        revoke: "Revocar", "Revoke";
        revoke_text: "Las peticiones con este token se rechazan desde ahora. No se puede deshacer.", "Requests with this token are refused from now on. This cannot be undone.";
        confirm: "Escribe el nombre del token para confirmar", "Type the token's name to confirm";
    }
}
