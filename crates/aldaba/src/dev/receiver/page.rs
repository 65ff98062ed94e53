//! The page of the receiver: its last requests, the newest first, with their bodies.

use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};
use pages::texts;
use ui::app::{Column, State, Table, empty_state, state, table};
use ui::{DisplayName, Lang, safe_href, timestamp};

use super::ResponseMode;
use super::received_request::{ReceivedRequest, RequestHistory};
use crate::dev::site::PageRequest;
use crate::signature_check::SignatureCheck;

texts! {
    DeliveriesText {
        title: "Lo que ha recibido dev", "What dev received";
        lead: "Las últimas peticiones al receptor de dev, la más reciente primero, con la firma comprobada.", "The last requests to dev's receiver, the newest first, with their signatures verified.";
        works: "El receptor contesta 200.", "The receiver answers 200.";
        fails: "El receptor contesta 500, hasta que le digas otra cosa:", "The receiver answers 500 until you tell it otherwise:";
        refresh: "Actualizar", "Refresh";
        json_text: "Los programas reciben esta dirección en JSON, en orden de llegada; con ?delivered=1, ?failed=2 o ?handshakes=1 espera hasta que haya tantas, 30 segundos como mucho.", "Programs get this address as JSON, in order of arrival; with ?delivered=1, ?failed=2 or ?handshakes=1 it waits until there are that many, 30 seconds at most.";
        time: "Hora", "Time";
        event: "Evento", "Event";
        record: "Registro", "Record";
        signature: "Firma", "Signature";
        answer: "Respuesta", "Answer";
        request: "Petición", "Request";
        verified: "Comprobada", "Verified";
        wrong: "No coincide", "Does not match";
        unsigned: "Sin firma", "Not signed";
        attempt: "intento", "attempt";
        body: "Ver el cuerpo", "Show the body";
        none: "Todavía no ha llegado nada", "Nothing has arrived yet";
        none_text: "Suscribe un webhook: enseguida llega el Acknowledge y, después, cada cambio. La dirección es", "Subscribe a webhook: the Acknowledge arrives at once, and every change after it. The address is";
    }
}

pub(super) fn deliveries(
    request: &PageRequest,
    history: &RequestHistory,
    mode: ResponseMode,
    receiver_url: &str,
) -> Response {
    let lang = request.lang;
    let text = DeliveriesText::of(lang);
    let content = html! {
        h1 { (text.title) }
        p.lead { (text.lead) }
        @match mode {
            ResponseMode::Ok => p { (state(State::Ok, text.works)) },
            ResponseMode::Fail => {
                p { (state(State::Bad, text.fails)) " " code { "curl -X PUT " (receiver_url) "mood -d ok" } }
            },
        }
        @if history.is_empty() { (empty_state(text.none, &format!("{} {receiver_url}hooks", text.none_text), None)) }
        @else { (requests(lang, history)) }
        p.small.muted { (text.json_text) }
        p.after { a.button.secondary href=(safe_href("/deliveries")) { (text.refresh) } }
    };
    request.page(StatusCode::OK, text.title, &content)
}

fn requests(lang: Lang, history: &RequestHistory) -> Markup {
    let text = DeliveriesText::of(lang);
    let columns = [
        Column::text(text.time),
        Column::main(text.event),
        Column::text(text.record),
        Column::text(text.signature),
        Column::text(text.answer),
        Column::text(text.request),
    ];
    let rows = history.newest_first().map(|(number, one)| (number.to_string(), cells(lang, number, one)));
    table(lang, &Table { caption: text.title, columns: &columns, rows: rows.collect(), ..Table::default() })
}

fn cells(lang: Lang, number: usize, one: &ReceivedRequest) -> Vec<Markup> {
    let text = DeliveriesText::of(lang);
    let body = serde_json::to_string_pretty(&one.body).unwrap_or_default();
    vec![
        timestamp(lang, one.at),
        html! { code { (one.event) } @if one.count > 1 { span.sub { (text.attempt) " " (one.count) } } },
        html! { @if let Some(record) = &one.record { (DisplayName(record)) } },
        signature(lang, &one.signature),
        html! { span class={ "status-" (one.status.as_u16() / 100) } { (one.status.as_u16()) } },
        html! {
            code { (DisplayName(&one.path)) }
            @if let Some(id) = &one.id { span.sub { (DisplayName(id)) } }
            @if !one.body.is_null() {
                details.more id={ "body-" (number) } { summary { (text.body) } pre.plain tabindex="0" { code { (body) } } }
            }
        },
    ]
}

fn signature(lang: Lang, check: &SignatureCheck) -> Markup {
    let text = DeliveriesText::of(lang);
    html! {
        @match check {
            SignatureCheck::Valid(headers) => { (state(State::Ok, text.verified)) span.sub { (headers.join(", ")) } },
            SignatureCheck::Missing => (state(State::Off, text.unsigned)),
            SignatureCheck::Wrong(why) => { (state(State::Bad, text.wrong)) span.sub lang="en" { (DisplayName(why)) } },
        }
    }
}
