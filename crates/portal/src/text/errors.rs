//! Words of the page of error codes.

use domain::error_code::ErrorGroup;
use pages::texts;
use ui::Lang;

texts! {
    ErrorCodesText {
        title: "Códigos de error", "Error codes";
        lead: "Todo error de las API lleva un code, que es para programas, y un message, que es para personas. Un código no cambia nunca de significado; una versión posterior puede añadir otros, así que trata los que no conozcas por su estado HTTP.", "Every error of the APIs has a code, which is for programs, and a message, which is for people. A code never changes its meaning; a later version may add codes, so treat one that you do not know by its HTTP status.";
        in_reports: "Los que tienen el estado 200 aparecen en el informe sobre cada línea de una carga de cambios.", "Those with the status 200 are in the report about each line of a request with changes.";
        oauth: "Las direcciones de OAuth responden con error y error_description, como dice su especificación.", "The OAuth endpoints answer with error and error_description, as its specification says.";
        code: "Código", "Code";
        status: "Estado", "Status";
        cause: "Causa", "Cause";
        cure: "Solución", "Cure";
    }
}

/// The name of a group of codes.
pub(crate) fn group_name(lang: Lang, group: ErrorGroup) -> &'static str {
    let (spanish, english) = match group {
        ErrorGroup::Access => ("Acceso", "Access"),
        ErrorGroup::Requests => ("Peticiones", "Requests"),
        ErrorGroup::Webhooks => ("Webhooks", "Webhooks"),
        ErrorGroup::Changes => {
            ("Carga de cambios (API del operador)", "Ingest of changes (the operator's API)")
        }
        ErrorGroup::Operator => ("Administración (API del operador)", "Administration (the operator's API)"),
    };
    match lang {
        Lang::Es => spanish,
        Lang::En => english,
    }
}
