//! Every outcome of a check: its verdict, its message and its remedy, in Spanish and English.

use super::Verdict::{self, Failure, NotChecked, Ok, Warning};

/// The text of an outcome. `{0}`, `{1}` and so on stand for the values of the finding.
#[derive(Debug)]
pub(super) struct OutcomeText {
    pub(super) code: &'static str,
    pub(super) verdict: Verdict,
    pub(super) es: &'static str,
    pub(super) en: &'static str,
    pub(super) remedy_es: &'static str,
    pub(super) remedy_en: &'static str,
}

/// Defines the outcomes: name, code, verdict, sentence (Spanish, English), what to do (Spanish, English).
macro_rules! outcomes {
    ($($name:ident = $code:literal $verdict:ident, $es:literal, $en:literal, $remedy_es:literal, $remedy_en:literal;)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Outcome {
            $($name,)*
        }

        impl Outcome {
            pub const ALL: [Self; [$($code),*].len()] = [$(Self::$name),*];

            pub(super) fn text(self) -> &'static OutcomeText {
                match self {
                    $(Self::$name => &OutcomeText {
                        code: $code, verdict: $verdict, es: $es, en: $en, remedy_es: $remedy_es, remedy_en: $remedy_en,
                    },)*
                }
            }
        }
    };
}

outcomes! {
    Unfinished = "unfinished" Warning,
        "No hubo resultado dentro de los 1,8 segundos que tiene cada comprobación.",
        "There was no result within the 1.8 seconds that each check has.",
        "Comprueba otra vez dentro de unos segundos. Si se repite, la red o el disco responden muy despacio.",
        "Check again in a few seconds. If it happens again, the network or the disk responds very slowly.";

    ConfigurationValid = "configuration_valid" Ok,
        "La configuración es válida para producción.",
        "The configuration is valid for production.", "", "";
    ConfigurationInvalid = "configuration_invalid" Failure,
        "El servicio no arrancaría con esta configuración: {0}.",
        "The service would not start with this configuration: {0}.",
        "Corrige esas claves en aldaba.toml o en el entorno.",
        "Correct these keys in aldaba.toml or in the environment.";

    ClockAgrees = "clock_agrees" Ok,
        "El reloj de esta máquina coincide con el de la base de datos (diferencia: {0} s).",
        "This machine's clock agrees with the database's (difference: {0} s).", "", "";
    ClockOff = "clock_off" Warning,
        "El reloj de esta máquina se aparta {0} s del de la base de datos.",
        "This machine's clock differs by {0} s from the database's.",
        "Sincroniza los relojes de todas las máquinas con NTP (chrony, systemd-timesyncd).",
        "Synchronise the clocks of all machines with NTP (chrony, systemd-timesyncd).";
    ClockWrong = "clock_wrong" Failure,
        "El reloj de esta máquina se aparta {0} s del de la base de datos, más de lo que toleran los nodos; este nodo usa la hora de la base de datos.",
        "This machine's clock differs by {0} s from the database's, more than nodes tolerate; this node uses the database's time.",
        "Pon en hora esta máquina y mantenla sincronizada con NTP (chrony, systemd-timesyncd).",
        "Set this machine's clock and keep it synchronised with NTP (chrony, systemd-timesyncd).";
    ClockAlone = "clock_alone" NotChecked,
        "El reloj no se ha comparado: SQLite no tiene otro con el que hacerlo.",
        "The clock was not compared: SQLite has no other one to compare it with.",
        "Mantén esta máquina sincronizada con NTP: los códigos y tokens caducan según su reloj.",
        "Keep this machine synchronised with NTP: codes and tokens expire by its clock.";
    ClockUnknown = "clock_unknown" NotChecked,
        "El reloj no se ha comparado: la base de datos no ha respondido.",
        "The clock was not compared: the database did not answer.", "", "";

    DiskFree = "disk_free" Ok,
        "En el disco de {0} quedan libres {1} de {2}.",
        "The disk of {0} has {1} free of {2}.", "", "";
    DiskLow = "disk_low" Warning,
        "En el disco de {0} solo quedan libres {1} de {2}.",
        "The disk of {0} has only {1} free of {2}.",
        "Amplía el disco o borra lo que sobre; backup.keep dice cuántas copias se guardan.",
        "Enlarge the disk or delete what is not needed; backup.keep says how many backups are kept.";
    DiskFull = "disk_full" Failure,
        "En el disco de {0} quedan libres {1} de {2}: las escrituras están a punto de fallar.",
        "The disk of {0} has {1} free of {2}: writes are about to fail.",
        "Haz sitio ahora. Las lecturas siguen, y las escrituras vuelven solas en cuanto hay espacio.",
        "Make room now. Reads go on, and writes resume by themselves once there is room.";
    DiskUnknown = "disk_unknown" NotChecked,
        "No se puede examinar el disco de {0}: {1}.",
        "The disk of {0} cannot be examined: {1}.",
        "Comprueba que el directorio existe y que el servicio puede leerlo.",
        "Check that the directory exists and that the service may read it.";
    DiskRemote = "disk_remote" NotChecked,
        "Los datos están en PostgreSQL, en un disco que este programa no ve.",
        "The data is in PostgreSQL, on a disk that this program cannot see.",
        "Vigila el espacio libre en el servidor de la base de datos.",
        "Monitor the free space on the database's server.";

    DescriptorsEnough = "descriptors_enough" Ok,
        "El límite de archivos abiertos es {0}; la configuración necesita {1} como mucho y ahora hay {2} abiertos.",
        "The limit on open files is {0}; the configuration needs {1} at most, and {2} are open now.", "", "";
    DescriptorsShort = "descriptors_short" Failure,
        "El límite de archivos abiertos es {0}, pero las conexiones configuradas pueden necesitar {1} (ahora hay {2} abiertos).",
        "The limit on open files is {0}, but the configured connections may need {1} ({2} are open now).",
        "Sube el límite a {1} o más (ulimit -n, LimitNOFILE=) o baja server.connections_max.",
        "Raise the limit to {1} or more (ulimit -n, LimitNOFILE=), or lower server.connections_max.";
    DescriptorsNearlyUsed = "descriptors_nearly_used" Warning,
        "Hay {2} archivos abiertos y el límite es {0}; la configuración necesita {1} como mucho.",
        "{2} files are open and the limit is {0}; the configuration needs {1} at most.",
        "Sube el límite (ulimit -n, LimitNOFILE=) y mira en /metrics qué conexiones se acumulan.",
        "Raise the limit (ulimit -n, LimitNOFILE=) and see in /metrics which connections pile up.";

    AddressAnswers = "address_answers" Ok,
        "{0}: este servicio responde en {1}.",
        "{0}: this service answers at {1}.", "", "";
    AddressLocal = "address_local" Warning,
        "{0} es {1}: solo se llega desde esta misma máquina.",
        "{0} is {1}: it can be reached from this machine alone.",
        "Está bien para probar. Para que otros lo usen, pon la dirección pública con https.",
        "That is fine for a trial. For others to use it, set the public https address.";
    AddressMissing = "address_missing" Failure,
        "{0} no está configurada.",
        "{0} is not set.",
        "Pon la dirección pública del servicio, por ejemplo https://api.example.com.",
        "Set it to the public URL of the service, for example https://api.example.com.";
    AddressPlain = "address_plain" Failure,
        "{0} es {1}, sin https: las contraseñas y los tokens se podrían leer en la red.",
        "{0} is {1}, without https: passwords and tokens would be readable in the network.",
        "Usa https: pon un certificado en el servicio o delante un proxy que lo tenga.",
        "Use https: give the service a certificate, or put a proxy in front of it that has one.";
    AddressUnresolved = "address_unresolved" Failure,
        "{0}: el nombre de {1} no se resuelve ({2}).",
        "{0}: the name of {1} does not resolve ({2}).",
        "Añade el nombre al DNS o corrige la clave.",
        "Add the name to the DNS, or correct the key.";
    AddressSilent = "address_silent" Warning,
        "{0}: desde esta máquina no responde nada en {1} ({2}).",
        "{0}: from this machine, nothing answers at {1} ({2}).",
        "Comprueba que el servicio está en marcha, y el proxy, el cortafuegos y el puerto. Algunas redes no dejan que una máquina llegue a su propia dirección pública: prueba entonces desde fuera.",
        "Check that the service is running, and the proxy, the firewall and the port. Some networks do not let a machine reach its own public address: then try from outside.";
    AddressOther = "address_other" Failure,
        "{0}: en {1} responde otro programa (estado {2} en /livez).",
        "{0}: another program answers at {1} (status {2} at /livez).",
        "Haz que el proxy apunte a la dirección en la que escucha el servicio y que pase la ruta sin cambiarla.",
        "Point the proxy at the address that the service listens on, and let it pass the path on unchanged.";
    AddressCertificate = "address_certificate" Failure,
        "{0}: el certificado de {1} no se acepta ({2}).",
        "{0}: the certificate of {1} is not accepted ({2}).",
        "Renueva el certificado, envía la cadena completa y comprueba el nombre. Una autoridad propia tiene que estar entre las de esta máquina.",
        "Renew the certificate, send the whole chain and check the name. An authority of your own must be among those of this machine.";
    AddressNotTried = "address_not_tried" NotChecked,
        "{0}: no se ha comprobado si {1} responde.",
        "{0}: whether {1} answers was not checked.", "", "";

    ProxyNamed = "proxy_named" Ok,
        "{1} nombra los proxys de confianza: {2}.",
        "{1} lists the trusted proxies: {2}.", "", "";
    ProxyNotNeeded = "proxy_not_needed" Ok,
        "{0} no necesita ningún proxy en {1}.",
        "{0} needs no proxy in {1}.", "", "";
    ProxyMissing = "proxy_missing" Failure,
        "{0} es https y el servicio no tiene certificado, pero {1} está vacía: todos los clientes tendrían la dirección del proxy, y los inicios de sesión fallidos de uno bloquearían a todos.",
        "{0} is https and the service has no certificate, but {1} is empty: every client would have the proxy's address, and the failed sign-ins of one would lock out all.",
        "Pon la dirección del proxy en server.trusted_proxies, o server.peer_is_client = true si llegan las direcciones de los clientes.",
        "List the proxy's address in server.trusted_proxies, or set server.peer_is_client = true if requests arrive with the clients' addresses.";
    ProxyMissingForOperators = "proxy_missing_for_operators" Warning,
        "{0} es https y la escucha de operación no tiene certificado, pero {1} está vacía: la auditoría muestra la dirección del proxy y no la de cada persona.",
        "{0} is https and the operator's listener has no certificate, but {1} is empty: the audit shows the proxy's address and not each person's.",
        "Pon la dirección del proxy en operator.trusted_proxies.",
        "List the proxy's address in operator.trusted_proxies.";
    ProxySeen = "proxy_seen" Warning,
        "{2} reenvía peticiones (X-Forwarded-For), pero {1} no lo nombra; {0} usa su dirección como si fuera la del cliente.",
        "{2} forwards requests (X-Forwarded-For), but {1} does not list it; {0} takes its address for the client's.",
        "Si es tu proxy, añádelo a {1} y reinicia. Si no lo es, alguien se hace pasar por uno y el servicio lo ignora.",
        "If it is your proxy, add it to {1} and restart. If it is not, somebody pretends to be one, and the service ignores it.";

    CertificateNone = "certificate_none" NotChecked,
        "El servicio no tiene certificados propios: los tiene un proxy, o no los hay.",
        "The service has no certificates of its own: a proxy has them, or there are none.",
        "Vigila en el proxy cuándo caducan.",
        "Monitor their expiry at the proxy.";
    CertificateGood = "certificate_good" Ok,
        "{0}: la cadena de {1} vale hasta el {2}.",
        "{0}: the chain in {1} is valid until {2}.", "", "";
    CertificateEndsSoon = "certificate_ends_soon" Warning,
        "{0}: un certificado de {1} caduca el {2}.",
        "{0}: a certificate in {1} expires on {2}.",
        "Renuévalo y reinicia: el nuevo se usa desde el siguiente arranque.",
        "Renew it and restart: the new one is used from the next start on.";
    CertificateEnded = "certificate_ended" Failure,
        "{0}: un certificado de {1} caducó el {2}.",
        "{0}: a certificate in {1} expired on {2}.",
        "Renuévalo y reinicia: los clientes rechazan las conexiones.",
        "Renew it and restart: clients refuse to connect.";
    CertificateNotYet = "certificate_not_yet" Failure,
        "{0}: el certificado de {1} no vale hasta el {2}.",
        "{0}: the certificate in {1} is not valid before {2}.",
        "Comprueba el reloj de esta máquina y la fecha del certificado.",
        "Check this machine's clock and the certificate's date.";
    CertificateUnreadable = "certificate_unreadable" Failure,
        "{0}: no se puede usar {1} ({2}).",
        "{0}: {1} cannot be used ({2}).",
        "El archivo debe ser PEM, con el certificado del servidor primero, y la clave debe corresponderle.",
        "The file must be PEM with the server's certificate first, and the key must belong to it.";
    CertificateOrder = "certificate_order" Failure,
        "{0}: los certificados de {1} no forman una cadena: cada uno debe estar emitido por el siguiente.",
        "{0}: the certificates in {1} do not form a chain: each must be issued by the one after it.",
        "Pon primero el del servidor, después los intermedios, en orden.",
        "Put the server's first, then the intermediates, in order.";
    CertificateOtherName = "certificate_other_name" Failure,
        "{0}: el certificado de {1} no vale para {2}.",
        "{0}: the certificate in {1} is not for {2}.",
        "Pide uno para ese nombre o corrige la dirección configurada.",
        "Get one for that name, or correct the configured address.";
    CertificateAlone = "certificate_alone" Warning,
        "{0}: en {1} solo está el certificado del servidor, sin intermedios.",
        "{0}: {1} has the server's certificate only, without intermediates.",
        "Añade los intermedios de la autoridad: sin ellos muchos clientes rechazan la conexión.",
        "Add the authority's intermediates: without them many clients refuse to connect.";
    CertificateSelfSigned = "certificate_self_signed" Warning,
        "{0}: el certificado de {1} es autofirmado.",
        "{0}: the certificate in {1} is self-signed.",
        "Solo lo aceptan los clientes que lo conocen. Para los demás, usa uno de una autoridad de certificación.",
        "Only clients that know it accept it. For others, use a certificate of a certificate authority.";

    DnsAnswers = "dns_answers" Ok,
        "Se resuelven todos los nombres de la configuración: {0}.",
        "All names of the configuration resolve: {0}.", "", "";
    DnsFails = "dns_fails" Failure,
        "Estos nombres de la configuración no se resuelven: {0}.",
        "These names of the configuration do not resolve: {0}.",
        "Comprueba los nombres y los servidores DNS de esta máquina (/etc/resolv.conf). Sin DNS tampoco se entregan webhooks.",
        "Check the names and this machine's DNS servers (/etc/resolv.conf). Without DNS, webhooks are not delivered either.";
    DnsNothing = "dns_nothing" NotChecked,
        "La configuración no tiene ningún nombre que resolver, solo direcciones.",
        "The configuration has no name to resolve, only addresses.", "", "";

    MailReachable = "mail_reachable" Ok,
        "El servidor de correo {0} acepta conexiones.",
        "The mail server {0} accepts connections.", "", "";
    MailUnreachable = "mail_unreachable" Failure,
        "No se llega al servidor de correo {0}: {1}.",
        "The mail server {0} cannot be reached: {1}.",
        "Comprueba mail.server, el cortafuegos y si tu proveedor bloquea ese puerto.",
        "Check mail.server, the firewall, and whether your provider blocks that port.";
    OutboundNothing = "outbound_nothing" NotChecked,
        "La configuración no nombra ningún servidor de correo, y con los receptores solo se conecta para entregar.",
        "The configuration names no mail server, and the service connects to receivers only to deliver.",
        "La página de cada webhook dice por qué falla una entrega.",
        "The page of each webhook says why a delivery fails.";

    StoreMissing = "store_missing" NotChecked,
        "La base de datos todavía no existe; la crea el primer arranque.",
        "The database does not exist yet; the first start creates it.", "", "";
    StoreSilent = "store_silent" Failure,
        "La base de datos no responde: {0}.",
        "The database does not answer: {0}.",
        "Comprueba store.url, que el servidor esté en marcha y que acepte conexiones desde esta máquina.",
        "Check store.url, that the server is running, and that it accepts connections from this machine.";
    PostgresVersion = "postgres_version" Ok,
        "PostgreSQL {0}.",
        "PostgreSQL {0}.", "", "";
    PostgresOld = "postgres_old" Failure,
        "PostgreSQL {0} es demasiado antiguo.",
        "PostgreSQL {0} is too old.",
        "Actualiza a PostgreSQL 15 o posterior.",
        "Upgrade to PostgreSQL 15 or newer.";
    PostgresDurable = "postgres_durable" Ok,
        "Los commits son duraderos: fsync, full_page_writes y synchronous_commit están activos.",
        "Commits are durable: fsync, full_page_writes and synchronous_commit are on.", "", "";
    PostgresNotDurable = "postgres_not_durable" Failure,
        "PostgreSQL tiene desactivado {0}: un corte de corriente puede perder o dañar datos ya confirmados.",
        "PostgreSQL has {0} switched off: a power failure may lose or damage committed data.",
        "Actívalo en postgresql.conf y recarga el servidor. Si estuvo así durante un corte, restaura una copia.",
        "Switch it on in postgresql.conf and reload the server. If a power failure happened meanwhile, restore a backup.";
    PostgresConnectionsEnough = "postgres_connections_enough" Ok,
        "PostgreSQL admite {0} conexiones; este nodo abre {1} como mucho y ahora hay {2} en uso.",
        "PostgreSQL allows {0} connections; this node opens {1} at most, and {2} are in use now.", "", "";
    PostgresConnectionsShort = "postgres_connections_short" Failure,
        "PostgreSQL admite {0} conexiones, pero este nodo puede abrir {1} (ahora hay {2} en uso).",
        "PostgreSQL allows {0} connections, but this node may open {1} ({2} are in use now).",
        "Sube max_connections en PostgreSQL o baja store.connections_max. Cuentan las conexiones de todos los nodos.",
        "Raise max_connections in PostgreSQL, or lower store.connections_max. The connections of all nodes count.";
    PostgresConnectionsNearlyUsed = "postgres_connections_nearly_used" Warning,
        "Casi todas las conexiones de PostgreSQL están en uso: {2} de {0} (este nodo abre {1} como mucho).",
        "Nearly all connections of PostgreSQL are in use: {2} of {0} (this node opens {1} at most).",
        "Sube max_connections, o baja store.connections_max en todos los nodos.",
        "Raise max_connections, or lower store.connections_max on all nodes.";
    PostgresArchives = "postgres_archives" Ok,
        "PostgreSQL archiva su WAL (wal_level {0}).",
        "PostgreSQL archives its WAL (wal_level {0}).", "", "";
    PostgresArchivesNot = "postgres_archives_not" Ok,
        "PostgreSQL no archiva su WAL (wal_level {0}): solo se puede volver a la última copia de seguridad.",
        "PostgreSQL does not archive its WAL (wal_level {0}): the last backup is the only way back.",
        "Haz copias a menudo, o activa el archivado para poder volver a cualquier momento.",
        "Make backups often, or switch archiving on to be able to return to any moment.";
    PostgresArchiveFails = "postgres_archive_fails" Failure,
        "PostgreSQL no consigue archivar su WAL (wal_level {0}): el disco del servidor se llenará.",
        "PostgreSQL fails to archive its WAL (wal_level {0}): the server's disk will fill up.",
        "Mira en el registro de PostgreSQL por qué falla archive_command.",
        "See in PostgreSQL's log why archive_command fails.";
    SqliteDurable = "sqlite_durable" Ok,
        "Los commits son duraderos: SQLite usa journal_mode {0} y synchronous {1}.",
        "Commits are durable: SQLite uses journal_mode {0} and synchronous {1}.", "", "";
    SqliteNotDurable = "sqlite_not_durable" Failure,
        "SQLite usa journal_mode {0} y synchronous {1}: un corte de corriente puede perder datos ya confirmados.",
        "SQLite uses journal_mode {0} and synchronous {1}: a power failure may lose committed data.",
        "Otro programa ha cambiado el archivo. Reinicia el servicio, que vuelve a poner WAL.",
        "Another program has changed the file. Restart the service, which sets WAL again.";
    SqliteIntact = "sqlite_intact" Ok,
        "El archivo de SQLite ({0}) no tiene daños.",
        "The SQLite file ({0}) has no damage.", "", "";
    SqliteDamaged = "sqlite_damaged" Failure,
        "El archivo de SQLite ({0}) está dañado: {1}.",
        "The SQLite file ({0}) is damaged: {1}.",
        "Para el servicio, guarda el archivo y restaura la última copia de seguridad. Comprueba el disco.",
        "Stop the service, keep the file, and restore the last backup. Check the disk.";
    SqliteNotRead = "sqlite_not_read" NotChecked,
        "El archivo de SQLite tiene {0}, demasiado para leerlo entero aquí.",
        "The SQLite file has {0}, too much to read all of it here.",
        "Una copia de seguridad lee todos los datos: si termina, se pueden leer.",
        "A backup reads all data: if it finishes, the data can be read.";
}
