//! Words of the pages of records.

use pages::texts;
use ui::Lang;

use crate::text::{Done, Refusal};

/// What the pages of this area say after an action.
pub(crate) const DONE: &[Done] = &[
    (
        "record_saved",
        "El registro está guardado. El cambio tiene ya un número en el registro de cambios y se notifica a las aplicaciones.",
        "The record is saved. The change has a number in the log, and applications are notified.",
    ),
    (
        "record_unchanged",
        "El registro ya tenía este contenido: no ha cambiado nada.",
        "The record already had this body: nothing changed.",
    ),
    ("record_disabled", "El registro está deshabilitado.", "The record is disabled."),
    ("record_enabled", "El registro está habilitado.", "The record is enabled."),
    (
        "record_deleted",
        "El registro está eliminado. Puedes restaurarlo guardándolo otra vez.",
        "The record is deleted. You can restore it by saving it again.",
    ),
];

/// Reasons of refusals of this area, in Spanish.
pub(crate) const REFUSALS: &[Refusal] = &[
    (
        "reason: it has {} characters and must have {} to {}",
        "El motivo es obligatorio y tiene 500 caracteres como máximo.",
    ),
    ("reason: it is blank", "El motivo es obligatorio."),
    (
        "reason: it has control characters; line ends are the only ones that it may have",
        "El motivo tiene caracteres de control. Quítalos: solo puede tener saltos de línea.",
    ),
    ("the record is not a JSON object: {}", "El registro no es un objeto JSON: {}."),
    (
        "the record was changed since you read it; read it again and repeat",
        "El registro ha cambiado desde que lo leíste. Recárgalo, mira cómo está ahora y repite el cambio.",
    ),
    ("type the id of the record, {}, to delete it", "Escribe el id del registro, {}, para eliminarlo."),
    ("there is no record \"{}\" of {}", "No hay ningún registro «{}» de {}."),
    ("there is no company \"{}\"", "No existe la empresa «{}»."),
    (
        "the company has no account with the code {}; send the account first",
        "La empresa no tiene ninguna cuenta con el código {}; envía antes la cuenta.",
    ),
    (
        "data must not carry \"{}\": Aldaba sets it; leave it out",
        "Los datos no pueden llevar «{}»: lo pone Aldaba. Quítalo.",
    ),
    (
        "data must not carry \"{}\": Aldaba sets it; use the actions disable and enable",
        "Los datos no pueden llevar «{}»: lo pone Aldaba. Usa deshabilitar y habilitar.",
    ),
    (
        "data.{} has {} digits, but the company's accountLength is {}",
        "data.{} tiene {} dígitos, pero el accountLength de la empresa es {}.",
    ),
    ("company is missing: {} belong to a company", "Falta la empresa: {} pertenecen a una."),
    ("leave company out: {} belong to the tenant", "Quita la empresa: {} pertenecen a la organización."),
    ("{} is not the number of a change", "{} no es el número de un cambio."),
    ("name two versions: from and to", "Elige dos versiones: la anterior y la posterior."),
];

texts! {
    /// The lists.
    DataText {
        title: "Datos", "Data";
        lead: "Las empresas de esta organización y sus registros, tal como los leen las aplicaciones.", "The companies of this tenant and their records, as applications read them.";
        companies: "Empresas", "Companies";
        company: "Empresa", "Company";
        company_record: "Registro de la empresa", "Record of the company";
        no_companies: "Todavía no hay empresas", "No companies yet";
        no_companies_text: "Llegan con la primera petición a la API de cambios: POST /operator/v1/tenants/{tenant}/changes, o aldaba changes apply.", "They arrive with the first request to the changes API: POST /operator/v1/tenants/{tenant}/changes, or aldaba changes apply.";
        of_tenant: "Nóminas y facturación", "Payroll and invoicing";
        of_tenant_text: "Estos registros pertenecen a la organización y no a una de sus empresas de contabilidad.", "These records belong to the tenant and not to one of its accounting companies.";
        of_company: "Registros de la empresa", "Records of the company";
        vat_number: "NIF", "VAT number";
        changed: "Último cambio", "Last change";
        sequence: "Número", "Number";
        resource: "Recurso", "Resource";
        area: "Área", "Area";
        records: "Registros", "Records";
        record: "Registro", "Record";
        records_title: "Registros", "Records";
        in_all: "en total", "in all";
        find: "Buscar", "Find";
        find_company: "Id de la empresa", "Id of the company";
        find_record: "Id del registro", "Id of the record";
        not_found: "No se ha encontrado", "Not found";
        not_found_text: "no hay ningún registro con este id, y el registro de cambios no conserva ninguno eliminado.", "there is no record with this id, and the log has no deleted one.";
        no_records: "No hay registros", "No records";
        no_records_text: "De este recurso no ha llegado nada todavía, o se ha eliminado todo. Un registro eliminado se encuentra por su id mientras lo conserve el registro de cambios.", "No record of this resource has arrived yet, or all were deleted. You can find a deleted record by its id as long as the log has it.";
        past_the_end: "Esta página está después del final", "This page is past the end";
        past_the_end_text: "Quizá se han eliminado registros desde que la abriste.", "Perhaps records were deleted since you opened it.";
        first_page: "Primera página", "First page";
        accounting: "Contabilidad", "Accounting";
        core: "Datos generales", "Core data";
        import: "Importación", "Import";
        payroll: "Nóminas", "Payroll";
        invoicing: "Facturación", "Invoicing";
    }
}

impl DataText {
    /// The name of an area, by its name in the catalogue of resources.
    pub(super) fn area_name(lang: Lang, area: &str) -> &str {
        let text = Self::of(lang);
        match area {
            "accounting" => text.accounting,
            "core" => text.core,
            "import" => text.import,
            "payroll" => text.payroll,
            "invoicing" => text.invoicing,
            other => other,
        }
    }
}

texts! {
    /// One record.
    RecordText {
        title: "Registro", "Record";
        id: "Id", "Id";
        notified: "A quién se notificó", "Who was notified";
        enabled: "Habilitado", "Enabled";
        disabled: "Deshabilitado", "Disabled";
        deleted: "Eliminado", "Deleted";
        deleted_title: "Este registro está eliminado", "This record is deleted";
        deleted_text: "Las aplicaciones ya no lo leen. Su historial sigue aquí mientras lo conserve el registro de cambios. Lo restauras guardándolo otra vez.", "Applications no longer read it. Its history stays here as long as the log keeps it. You restore it by saving it again.";
        deleted_with_company_text: "Se eliminó junto con su empresa. Para restaurarlo tiene que existir otra vez la empresa.", "It was deleted together with its company. To restore it, the company has to exist again.";
        never_stored: "Nunca guardado", "Never stored";
        never_stored_text: "El registro de cambios solo tiene errores de otros sistemas con este id.", "The log has only failures of other systems with this id.";
        last_change: "Último cambio", "Last change";
        body: "Contenido", "Body";
        body_text: "Tal como lo leen las aplicaciones, byte a byte salvo los saltos de línea.", "As applications read it, byte for byte but for the line breaks.";
        history: "Historial", "History";
        history_text: "Del registro de cambios: quién, cuándo y desde qué proceso. El usuario y el origen son los que indicó quien envió el cambio.", "From the change log: who, when and from which process. User and source are as the sender of the change gave them.";
        pruned: "El registro de cambios de esta organización ya no conserva los cambios hasta el número", "The log of this tenant no longer has the changes up to number";
        no_history: "El registro de cambios ya no tiene este registro", "The log no longer has this record";
        no_history_text: "Sus cambios son más antiguos que la retención (retention.log).", "Its changes are older than the retention (retention.log).";
        when: "Cuándo", "When";
        what: "Qué", "What";
        who: "Quién", "Who";
        source: "Origen y proceso", "Source and process";
        not_said: "sin indicar", "not given";
        edited_by_hand: "editado a mano: ver auditoría", "edited by hand: see the audit";
        created: "Creado", "Created";
        updated: "Modificado", "Updated";
        was_disabled: "Deshabilitado", "Disabled";
        was_deleted: "Eliminado", "Deleted";
        failed: "Error de otro sistema", "Failure of another system";
        older: "Versión anterior", "Older version";
        newer: "Versión posterior", "Newer version";
        compare: "Comparar", "Compare";
        empty: "vacío", "empty";
    }
}

texts! {
    /// Edits by hand.
    EditText {
        title: "Editar a mano", "Edit by hand";
        lead: "El cambio se procesa como los de tus productos: se valida, recibe un número en el registro de cambios y se notifica a las aplicaciones. La auditoría guarda quién lo hizo y por qué. Tu producto puede sobrescribirlo con su próxima petición.", "The change is processed like those of your products: it is validated, gets a number in the log, and applications are notified. The audit records who made it and why. Your product may overwrite it with its next request.";
        reason: "Motivo", "Reason";
        reason_hint: "Se guarda en la auditoría. Hasta 500 caracteres.", "It is stored in the audit. Up to 500 characters.";
        upsert: "Modificar el contenido", "Change the body";
        upsert_text: "Sustituye todo el contenido del registro", "Replaces the whole body of the record";
        restore: "Restaurar el registro", "Restore the record";
        restore_text: "Vuelve a crear, con el mismo id, el registro", "Creates the record again, with the same id:";
        data: "Contenido (JSON)", "Body (JSON)";
        data_hint: "El registro entero, sin los campos que pone Aldaba (correlationId, state, version, sequenceVersion).", "The whole record, without the members that Aldaba sets (correlationId, state, version, sequenceVersion).";
        too_large: "Este registro es demasiado grande para editarlo aquí: envíalo a la API de cambios.", "This record is too large to be edited here: send it to the changes API.";
        disable: "Deshabilitar", "Disable";
        disable_text: "Las aplicaciones lo siguen leyendo, con el estado Disabled, y se les notifica. Deshabilita el registro", "Applications still read it, with the state Disabled, and are notified. Disables the record";
        enable: "Habilitar", "Enable";
        enable_text: "Vuelve al estado Enabled y se notifica a las aplicaciones. Habilita el registro", "It gets the state Enabled again, and applications are notified. Enables the record";
        delete: "Eliminar", "Delete";
        delete_text: "Las aplicaciones ya no podrán leerlo y se les notifica. Aldaba no conserva su contenido: para restaurarlo hay que escribirlo otra vez. Elimina el registro", "Applications can no longer read it, and are notified. Aldaba does not keep its body: to restore the record, you have to write it again. Deletes the record";
        delete_company_text: "Con la empresa se eliminan todos sus registros: clientes, cuentas, facturas y los demás. No se pueden recuperar; tu producto tendría que enviarlos otra vez. Elimina la empresa", "All records of the company are deleted with it: customers, accounts, invoices and the others. They cannot be restored; your product would have to send them again. Deletes the company";
        confirm: "Escribe el id para confirmar", "Type the id to confirm";
    }
}

texts! {
    /// Two versions compared.
    DiffText {
        title: "Comparar versiones", "Compare versions";
        change_between: "cambio entre las dos versiones", "change between the two versions";
        changes_between: "cambios entre las dos versiones", "changes between the two versions";
        members: "Qué cambió", "What changed";
        members_text: "Según el registro de cambios. «Vacío» puede ser un texto vacío, null o un campo que no existe.", "According to the log. \"Empty\" may be an empty text, null, or a member that does not exist.";
        member: "Campo", "Member";
        unknown: "el registro de cambios ya no lo dice", "the log no longer says";
        same: "Nada distinto", "Nothing differs";
        same_text: "Los valores que conserva el registro de cambios son los mismos en las dos versiones.", "The values that the log keeps are the same in both versions.";
        no_values: "El registro de cambios no conserva los valores", "The log does not keep values";
        no_values_text: "En contabilidad y nóminas guarda quién cambió el registro, cuándo y desde dónde, pero no qué decía antes: solo se conoce el contenido actual. En facturación conserva los valores que cambian.", "For accounting and payroll it keeps who changed the record, when and from where, but not the previous values: only the current body is known. For invoicing it keeps the values that change.";
    }
}

texts! {
    /// Who was notified.
    NotifiedText {
        title: "A quién se notificó", "Who was notified";
        of_change: "notificaciones del cambio", "notifications of change";
        all_changes: "Ver las de todos los cambios", "Show those of all changes";
        of_newest: "notificaciones de los últimos", "notifications of the newest";
        changes: "cambios", "changes";
        nobody: "A nadie", "Nobody";
        nobody_text: "Ningún webhook de esta organización estaba suscrito a estos cambios cuando ocurrieron. Las aplicaciones que leen la API o el canal de cambios no aparecen aquí: mira «Quién leyó qué».", "No webhook of this tenant was subscribed to these changes when they happened. Applications that read the API or the feed of changes are not listed here: see \"Who read what\".";
        none_here: "Ninguno de los webhooks de esta página recibe estos cambios.", "None of the webhooks on this page receives these changes.";
        application: "Aplicación", "Application";
        event: "Evento", "Event";
        when: "Entregado", "Delivered";
        next_attempt: "próximo intento", "next attempt";
        attempts: "Intentos fallidos y reenvíos", "Failed attempts and replays";
        csv: "Descargar CSV", "Download CSV";
        first: "Primera página", "First page";
        more: "Más webhooks", "More webhooks";
    }
}
