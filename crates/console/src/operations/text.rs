//! Words of the doctor, the configuration and the backups.

use pages::texts;

texts! {
    DoctorText {
        lead: "Qué podría ir mal en esta instalación, comprobado desde este nodo. El comando aldaba doctor hace lo mismo.", "What may be wrong with this installation, checked from this node. The command aldaba doctor does the same.";
        all_good: "No hay nada que arreglar", "There is nothing to fix";
        some_warnings: "Funciona, pero hay avisos", "It works, but there are warnings";
        some_failures: "Hay algo que arreglar", "Something has to be fixed";
        examined: "Comprobado", "Checked";
        again: "Comprobar otra vez", "Check again";
        again_text: "El resultado se guarda diez segundos.", "A result is cached for ten seconds.";
        check: "Comprobación", "Check";
        result: "Resultado", "Result";
        what: "Qué pasa y qué hacer", "What was found, and what to do";
        to_do: "Qué hacer:", "What to do:";
        ok: "Bien", "OK";
        warning: "Aviso", "Warning";
        failure: "Fallo", "Failure";
        not_checked: "Sin comprobar", "Not checked";
    }
}

texts! {
    ConfigurationText {
        lead: "Cada clave con el valor que usa este nodo, su valor por defecto y de dónde sale. Los secretos no se muestran. Se cambia en aldaba.toml, en el entorno o en la línea de comandos, y vale desde el siguiente arranque.", "Every key with the value that this node uses, its default and where it came from. Secrets are not shown. Change it in aldaba.toml, in the environment or on the command line; it takes effect at the next start.";
        search: "Clave, valor o explicación", "Key, value or explanation";
        only_changed: "Solo lo cambiado", "Only changed keys";
        key: "Clave", "Key";
        value: "Valor", "Value";
        default: "Por defecto", "Default";
        source: "Origen", "Source";
        from_default: "Por defecto", "Default";
        from_file: "Archivo", "File";
        from_environment: "Variable de entorno", "Environment variable";
        from_command_line: "Línea de comandos", "Command line";
        hidden: "Puesto, no se muestra", "Set, not shown";
        empty: "Vacío", "Empty";
        changed: "cambiado", "changed";
        none: "Ninguna clave coincide", "No key matches";
        none_text: "Busca otra palabra o quita el filtro.", "Search for another word, or clear the filter.";
        explained: "Las explicaciones están en inglés, como en aldaba.default.toml.", "The explanations are those of aldaba.default.toml.";
    }
}

texts! {
    BackupText {
        lead: "Cada copia contiene todos los datos de un momento: se escribe, se vuelve a leer y solo entonces recibe su nombre. No contiene la clave maestra, que hace falta para restaurarla.", "Each backup contains all data of one moment: it is written, read back, and only then gets its name. It does not contain the master key, which a restore needs.";
        directory: "Directorio", "Directory";
        kept: "Se guardan", "Backups kept";
        encryption: "Cifrado", "Encryption";
        encrypted: "Cifrada (age)", "Encrypted (age)";
        plain: "Sin cifrar", "Not encrypted";
        none: "Todavía no hay ninguna copia", "There is no backup yet";
        none_text: "Haz la primera aquí, con aldaba store backup o con POST /operator/v1/backups, y llévate las copias a otra máquina.", "Make the first one here, with aldaba store backup or with POST /operator/v1/backups, and take the backups to another machine.";
        no_directory: "Falta un directorio para las copias", "There is no directory for backups";
        no_directory_text: "Con PostgreSQL, pon backup.directory en aldaba.toml y reinicia. aldaba store backup ARCHIVO funciona igualmente.", "With PostgreSQL, set backup.directory in aldaba.toml and restart. aldaba store backup FILE works anyway.";
        name: "Copia", "Backup";
        taken: "Hecha", "Taken";
        size: "Tamaño", "Size";
        make: "Hacer una copia ahora", "Make a backup now";
        make_text: "Se escribe una copia de todos los datos en el directorio, mientras el servicio sigue funcionando. Cuando está completa, se borran las copias más antiguas que pasen del número que se guarda.", "A backup of all data is written to the directory while the service keeps running. When it is complete, the oldest backups beyond the number to keep are deleted.";
        running: "Hay una copia en marcha", "A backup is being made";
        writing: "Escribiendo", "Writing";
        verifying: "Comprobando lo escrito", "Verifying what was written";
        done: "Completa", "Complete";
        failed: "Ha fallado", "Failed";
        last: "La última que ha hecho este nodo", "The last one that this node made";
        started_by: "La empezó", "Started by";
        started: "Empezó", "Started";
        ended: "Terminó", "Ended";
        rows: "Filas", "Rows";
        progress: "Cuánto lleva", "Progress";
        download: "Descargar", "Download";
        download_text: "La descarga contiene todos los datos y queda registrada en la auditoría con tu nombre.", "The download contains all data, and the audit records it with your name.";
        admins_only: "Solo los operadores con el rol de administración pueden hacer y descargar copias.", "Only operators with the role Admin can make and download backups.";
    }
}
