//! Words of the requests' pages.

use pages::texts;

texts! {
    RequestText {
        title: "Solicitudes", "Requests";
        one: "Solicitud", "Request";
        lead: "Lo que los equipos piden: aplicaciones, direcciones de retorno y suscripciones. Una decisión es definitiva.", "What teams ask for: applications, redirect addresses and subscriptions. A decision is final.";
        asked_for: "Se pide", "Asked for";
        kind: "Tipo", "Kind";
        client: "Aplicación", "Application";
        redirect_uri: "Dirección de retorno", "Redirect address";
        redirect_uris: "Direcciones de retorno", "Redirect addresses";
        subscription: "Suscripción", "Subscription";
        pkce: "PKCE", "PKCE";
        pkce_required: "Obligatorio", "Required";
        pkce_if_sent: "Si la aplicación lo envía", "If the application sends it";
        pkce_ignore: "No se comprueba", "Not checked";
        note: "Nota del equipo", "The team's note";
        no_note: "El equipo no ha escrito ninguna nota.", "The team has written no note.";
        asked_by: "La pidió", "Asked by";
        asked_at: "Pedida", "Asked";
        decided_by: "La decidió", "Decided by";
        decided_at: "Decidida", "Decided";
        reason: "Motivo", "Reason";
        result: "Resultado", "Result";
        pending: "Pendiente", "Pending";
        approved: "Aprobada", "Approved";
        refused: "Rechazada", "Refused";
        withdrawn: "Retirada", "Withdrawn";
        none: "Ninguna solicitud espera una decisión", "No request is waiting for a decision";
        none_text: "Cuando un equipo pida en el portal una aplicación, una dirección de retorno o una suscripción, aparecerá aquí.", "When a team asks in the portal for an application, a redirect address or a subscription, it appears here.";
        none_found: "No hay solicitudes con este filtro", "No requests match this filter";
        none_found_text: "Elige otro estado u otro equipo.", "Choose another state or another team.";
        approve: "Aprobar", "Approve";
        approve_client: "Se crea la aplicación del equipo, con estas direcciones de retorno y estos productos. Nadie ve su secreto: el equipo crea uno en el portal.", "The team's application is created, with these redirect addresses and products. Nobody sees its secret: the team creates one in the portal.";
        approve_redirect: "La dirección se registra en la aplicación: los códigos de quienes inicien sesión pueden llegar a ella.", "The address is registered with the application: the codes of people who sign in can be sent to it.";
        approve_subscription: "Se crea la suscripción del equipo. El equipo ve sus claves en el portal.", "The team's subscription is created. The team sees its keys in the portal.";
        real_data: "Da acceso a datos de organizaciones reales.", "It gives access to the data of real tenants.";
        with_consent: "Quien inicia sesión tiene que dar su consentimiento", "People who sign in must give their consent";
        with_consent_text: "Lo habitual para aplicaciones de terceros.", "Usual for third-party applications.";
        without_consent: "Sin pedir consentimiento", "Without asking for consent";
        without_consent_text: "Solo para aplicaciones propias: las personas no podrán negarse.", "Only for your own applications: people cannot refuse.";
        consent: "Consentimiento", "Consent";
        refuse: "Rechazar", "Refuse";
        refuse_text: "El equipo ve el motivo en el portal y recibe un aviso. Puede pedirlo de nuevo.", "The team sees the reason in the portal and gets a notice. It can ask again.";
        support_only: "Solo los operadores con el rol de soporte o de administración pueden decidir.", "Only operators with the role Support or Admin can decide.";
    }
}
