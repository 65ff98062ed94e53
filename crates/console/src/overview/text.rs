//! Words of the overview, the first steps and the signing keys.

use pages::texts;

texts! {
    /// The overview's present numbers.
    OverviewText {
        now: "Ahora mismo", "Right now";
        calls_per_second: "Llamadas por segundo", "Calls per second";
        deliveries_per_second: "Entregas por segundo", "Deliveries per second";
        events_behind: "Eventos por entregar", "Events behind";
        failing: "Webhooks que fallan", "Failing webhooks";
        suspended: "Webhooks suspendidos", "Suspended webhooks";
        disabled: "Desactivados por el servicio", "Disabled by the service";
        requests: "Solicitudes pendientes", "Pending requests";
        oldest: "El evento más antiguo sin entregar es del", "The oldest undelivered event is from";
        none_waits: "No hay eventos por entregar.", "No event is waiting for delivery.";
        first_steps: "Primeros pasos", "First steps";
        open_steps: "Pasos de la instalación pendientes", "Installation steps still to do";
        see_steps: "Ver los primeros pasos", "See the first steps";
    }
}

texts! {
    /// Whether everything works, and what does not.
    ProblemText {
        all_well: "Todo va bien.", "Everything works.";
        not_well: "Hay problemas:", "There are problems:";
        unheld_shards: "Hay grupos de webhooks a los que ningún nodo entrega:", "No node delivers to some groups of webhooks:";
        calls_fail: "Llamadas que han fallado en la última hora en", "Calls that failed within the last hour in";
        webhooks_fail: "Webhooks cuyas entregas fallan", "Webhooks whose deliveries fail";
        deliveries_late: "Hay un evento sin entregar desde el", "An event has been waiting for delivery since";
        certificate_ended: "Ha caducado un certificado", "A certificate has expired";
        certificate_ends: "Un certificado caduca pronto", "A certificate expires soon";
        token_ends: "Caduca pronto el token de la API", "An API token expires soon:";
        replica_behind: "Va con retraso la réplica", "A standby is behind:";
        versions_differ: "Los nodos tienen versiones diferentes", "The nodes run different versions";
        see_doctor: "Ver el diagnóstico", "Open the doctor";
        see_area: "Ver el tráfico", "See the traffic";
        see_webhooks: "Ver los webhooks", "See the webhooks";
        see_tokens: "Ver los tokens", "See the tokens";
    }
}

texts! {
    /// Charts and tables of the traffic.
    TrafficText {
        span: "Periodo", "Period";
        hour: "Última hora", "Last hour";
        day: "Último día", "Last day";
        week: "Última semana", "Last week";
        six_hours: "En las gráficas, cada barra suma seis horas.", "In the charts, each bar adds up six hours.";
        time: "Hora", "Time";
        calls: "Llamadas", "Calls";
        by_area: "Llamadas por área", "Calls by area";
        area: "Área", "Area";
        all_areas: "Ver todas las áreas", "See all areas";
        answered: "Respondidas", "Answered";
        failed: "Errores (5xx)", "Errors (5xx)";
        refused: "Rechazadas", "Refused";
        limited: "Limitadas (429)", "Limited (429)";
        no_calls: "Nadie ha llamado a las API en este periodo.", "Nobody has called the APIs in this period.";
        sign_ins: "Inicios de sesión", "Sign-ins";
        signed_in: "Con éxito", "Successful";
        no_sign_ins: "Nadie ha iniciado sesión con contraseña en este periodo.", "Nobody has signed in with a password in this period.";
        deliveries: "Entregas de webhooks", "Webhook deliveries";
        delivered: "Entregados", "Delivered";
        failed_attempts: "Intentos fallidos", "Failed attempts";
        no_deliveries: "No se ha entregado nada en este periodo.", "Nothing has been delivered in this period.";
        csv: "Descargar el tráfico en CSV", "Download the traffic as CSV";
    }
}

texts! {
    /// Webhooks that fail, what ends soon, nodes and store.
    PartText {
        failing: "Webhooks que fallan desde hace más tiempo", "Webhooks that have been failing the longest";
        nothing_fails: "No falla ninguna entrega.", "No delivery is failing.";
        all_failing: "Ver todos los que fallan", "See all failing webhooks";
        webhook: "Webhook", "Webhook";
        tenant: "Organización", "Tenant";
        failing_since: "Falla desde", "Failing since";
        endings: "Caduca pronto", "Expires soon";
        nothing_ends: "En los próximos 30 días no caduca ningún certificado, clave, secreto ni token.", "No certificate, key, secret or token expires within the next 30 days.";
        what: "Qué", "What";
        kind: "Tipo", "Kind";
        ends: "Caduca", "Expires";
        certificate: "Certificado público del nodo", "Public certificate of a node";
        operator_certificate: "Certificado de operación del nodo", "Operator certificate of a node";
        operator_token: "Token de la API", "API token";
        client_secret: "Secreto anterior de la aplicación", "Previous secret of an application";
        subscription_key: "Clave anterior de la suscripción", "Previous key of a subscription";
        signing_key: "Clave de firma", "Signing key";
        nodes: "Nodos", "Nodes";
        node: "Nodo", "Node";
        version: "Versión", "Version";
        running_since: "En marcha desde", "Running since";
        last_seen: "Última señal", "Last seen";
        shards: "Grupos de webhooks", "Webhook groups";
        webhooks: "Webhooks", "Webhooks";
        behind: "Eventos por entregar", "Events behind";
        store: "Almacén", "Store";
        database: "Base de datos", "Database";
        size: "Tamaño", "Size";
        wal: "Registro de escritura (WAL)", "Write-ahead log (WAL)";
        commits: "Commits por segundo", "Commits per second";
        queued: "Escrituras en cola", "Queued writes";
        replicas: "Réplicas", "Standbys";
        no_replicas: "Ninguna", "None";
        replicas_unknown: "Se desconocen: el usuario de la base de datos no puede verlas (rol pg_monitor).", "Unknown: the database user may not see them (role pg_monitor).";
        lag: "retraso de", "behind by";
        unknown: "Se desconoce", "Unknown";
    }
}

texts! {
    /// The first steps of an installation.
    SetupText {
        title: "Primeros pasos", "First steps";
        lead: "Lo que falta para que el servicio esté listo para tus clientes. Cada paso se marca solo en cuanto está hecho.", "What is left to do before the service is ready for your customers. Each step is ticked off automatically once it is done.";
        checklist: "Lista", "Checklist";
        all_done: "Todo hecho: el servicio está listo.", "All done: the service is ready.";
        done: "Hecho", "Done";
        open: "Pendiente", "To do";
        address: "Dirección pública", "Public address";
        address_text: "Pon en aldaba.toml (server.base_url) la dirección con la que tus clientes llegan al servicio, y reinícialo.", "Set server.base_url in aldaba.toml to the address at which your customers reach the service, and restart it.";
        tls: "Cifrado (TLS)", "Encryption (TLS)";
        tls_text: "La dirección pública debe empezar por https://. Pon un certificado en aldaba.toml, o un proxy delante e indícalo en server.trusted_proxies.", "The public address must start with https://. Set a certificate in aldaba.toml, or put a proxy in front and name it in server.trusted_proxies.";
        mail: "Correo", "Mail";
        mail_text: "Con un servidor de correo, las invitaciones y los avisos se envían solos. Sin él, tienes que entregar los enlaces tú.", "With a mail server, invitations and notices are sent automatically. Without one, you have to hand over the links yourself.";
        backup: "Copia de seguridad", "Backup";
        backup_text: "Haz la primera copia y prográmala: la última no debe tener más de una semana. Con PostgreSQL, pon antes backup.directory en aldaba.toml. Guarda la clave maestra aparte; la copia no la contiene.", "Make the first backup and schedule it: the last one should not be older than a week. With PostgreSQL, set backup.directory in aldaba.toml first. Keep the master key elsewhere; the backup does not contain it.";
        last_backup: "Última copia:", "Last backup:";
        tenant: "Primera organización", "First tenant";
        tenant_text: "Una organización es un cliente tuyo: un conjunto de empresas. Después carga sus datos con la API de cambios.", "A tenant is a customer of yours: a set of companies. Then load its data with the changes API.";
        client: "Primera aplicación", "First application";
        client_text: "Una aplicación lee datos y recibe webhooks en nombre de quien la autoriza. También puedes invitar a desarrolladores y aprobar lo que piden.", "An application reads data and receives webhooks on behalf of the users who authorize it. You can also invite developers and approve what they ask for.";
        see_configuration: "Ver la configuración", "See the configuration";
        see_doctor: "Ver el diagnóstico", "Open the doctor";
        see_backups: "Ver las copias", "See the backups";
        see_tenants: "Ver las organizaciones", "See the tenants";
        see_clients: "Ver las aplicaciones", "See the applications";
        to_overview: "Ir al resumen", "Go to the overview";
    }
}

texts! {
    /// The signing keys.
    KeyText {
        lead: "Estas claves firman los tokens. Las aplicaciones las leen de la dirección JWKS del servicio (jwks_uri), y el servicio las renueva solo.", "These keys sign tokens. Applications read them from the service's JWKS address (jwks_uri), and the service rotates them automatically.";
        key: "Clave (kid)", "Key (kid)";
        created: "Creada", "Created";
        signs_from: "Firma desde", "Signs from";
        signs_until: "Firma hasta", "Signs until";
        ends: "Caduca", "Expires";
        next: "Siguiente", "Next";
        signing: "Activa", "Active";
        verifying: "En retirada", "Retiring";
        past: "Caducada", "Expired";
        rotate: "Renovar", "Rotate";
        admins_only: "Solo los operadores con el rol de administración pueden renovar las claves.", "Only operators with the role Admin can rotate keys.";
        has_next: "Ya hay una clave siguiente, que firma desde el", "There is a next key, which signs from";
        rotate_next: "Publicar la clave siguiente", "Publish the next key";
        rotate_next_text: "Se crea una clave nueva y se publica ahora; firmará dentro de 24 horas. Los tokens actuales siguen siendo válidos.", "A new key is created and published now, and signs from 24 hours on. Existing tokens remain valid.";
        replace: "Sustituir todas las claves ahora", "Replace all keys now";
        replace_text: "Solo si una clave puede haberse filtrado. Una clave nueva firma desde ahora, y en 5 segundos se rechazan todos los tokens de acceso y de identidad ya emitidos: las aplicaciones tienen que renovarlos con su token de refresco. No se puede deshacer.", "Only if a key may have leaked. A new key signs from now on, and within 5 seconds all access and ID tokens issued so far are refused: applications have to renew them with their refresh token. This cannot be undone.";
        replace_confirm: "Para confirmarlo, escribe los 8 primeros caracteres de la clave activa:", "To confirm, type the first 8 characters of the active key:";
        beginning: "Comienzo de la clave activa", "Beginning of the active key";
    }
}
