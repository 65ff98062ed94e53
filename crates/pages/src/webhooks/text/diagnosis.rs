//! What a failed attempt means and what to do, in words.

use ui::Lang;

use super::diagnosis_responses::response;
use crate::texts;
use crate::webhooks::diagnosis::{Diagnosis, Side};

texts! {
    pub SideText {
        receiver: "Del lado del receptor", "On the receiver's side";
        network: "En la red, entre el servicio y el receptor", "In the network, between the service and the receiver";
        service: "De nuestro lado", "On our side";
    }
}

impl SideText {
    pub fn side(&self, side: Side) -> &'static str {
        match side {
            Side::Receiver => self.receiver,
            Side::Network => self.network,
            Side::Service => self.service,
        }
    }
}

/// What failed, and what to do.
#[derive(Clone, Copy, Debug)]
pub struct DiagnosisWords {
    pub what: &'static str,
    pub to_do: &'static str,
}

pub fn words(lang: Lang, diagnosis: Diagnosis) -> DiagnosisWords {
    let texts = no_response(diagnosis).unwrap_or_else(|| response(diagnosis));
    let [what, to_do] = match lang {
        Lang::Es => texts.0,
        Lang::En => texts.1,
    };
    DiagnosisWords { what, to_do }
}

/// What failed and what to do, in Spanish and English.
pub type Pair = ([&'static str; 2], [&'static str; 2]);

/// Those of an attempt that got no response.
fn no_response(diagnosis: Diagnosis) -> Option<Pair> {
    Some(match diagnosis {
        Diagnosis::AddressNotPublic | Diagnosis::AddressInvalid | Diagnosis::NameUnresolved => {
            address(diagnosis)
        }
        Diagnosis::CertificateExpired
        | Diagnosis::CertificateIssuer
        | Diagnosis::CertificateName
        | Diagnosis::TlsNotSpoken
        | Diagnosis::TlsFailed => tls(diagnosis),
        Diagnosis::ResolveTimeout
        | Diagnosis::ConnectTimeout
        | Diagnosis::TlsTimeout
        | Diagnosis::ResponseTimeout
        | Diagnosis::BodyTimeout => timeout(diagnosis),
        Diagnosis::ConnectionRefused
        | Diagnosis::ConnectionFailed
        | Diagnosis::ConnectionBroken
        | Diagnosis::NotHttp
        | Diagnosis::ServiceFault
        | Diagnosis::Unknown => connection(diagnosis),
        _ => return None,
    })
}

fn connection(diagnosis: Diagnosis) -> Pair {
    match diagnosis {
        Diagnosis::ConnectionRefused | Diagnosis::ConnectionFailed => no_connection(diagnosis),
        Diagnosis::ConnectionBroken => (
            [
                "La conexión se ha cortado antes de que llegara la respuesta completa.",
                "Mira si el programa se reinició o falló a esa hora, y si un proxy intermedio cierra conexiones.",
            ],
            [
                "The connection broke before the whole response had arrived.",
                "See whether the program restarted or crashed at that time, and whether a proxy in between closes connections.",
            ],
        ),
        Diagnosis::NotHttp => (
            [
                "El receptor ha respondido, pero no en HTTP.",
                "Comprueba el puerto de la dirección: seguramente escucha otro programa, o uno que espera https.",
            ],
            [
                "The receiver answered, but not in HTTP.",
                "Check the address's port: another program probably listens there, or one that expects https.",
            ],
        ),
        Diagnosis::ServiceFault => (
            [
                "La petición no llegó a salir: el fallo es nuestro y no cuenta contra tu webhook.",
                "No tienes que hacer nada: el servicio lo intenta otra vez. Si continúa, escribe a la persona de contacto.",
            ],
            [
                "The request was never sent: the failure is ours and does not count against your webhook.",
                "You need not do anything: the service tries again. If it continues, write to the contact.",
            ],
        ),
        _ => (
            [
                "El intento ha fallado por un motivo que esta página no conoce.",
                "Lee el motivo que se ha guardado; si no lo explica, escribe a la persona de contacto.",
            ],
            [
                "The attempt failed for a reason that this page does not know.",
                "Read the stored reason; if it does not explain the failure, write to the contact.",
            ],
        ),
    }
}

fn address(diagnosis: Diagnosis) -> Pair {
    match diagnosis {
        Diagnosis::AddressNotPublic => (
            [
                "El nombre lleva a una dirección que no es pública, y a esas no se envía nada.",
                "Publica el receptor en una dirección pública de internet, o cambia la dirección del webhook.",
            ],
            [
                "The name leads to an address that is not public, and nothing is sent to those.",
                "Put the receiver on a public internet address, or change the webhook's address.",
            ],
        ),
        Diagnosis::AddressInvalid => (
            ["La dirección del webhook no es válida.", "Cambia la dirección en la página del webhook."],
            ["The webhook's address is not valid.", "Change the address on the webhook's page."],
        ),
        _ => (
            [
                "El nombre del receptor no existe en el DNS.",
                "Comprueba que el dominio no ha caducado y que tiene un registro A o AAAA público.",
            ],
            [
                "The receiver's name does not exist in DNS.",
                "Check that the domain has not expired and has a public A or AAAA record.",
            ],
        ),
    }
}

fn tls(diagnosis: Diagnosis) -> Pair {
    match diagnosis {
        Diagnosis::CertificateExpired => (
            [
                "El certificado del receptor ha caducado.",
                "Renuévalo y recarga el servidor; luego revisa la renovación automática.",
            ],
            [
                "The receiver's certificate has expired.",
                "Renew it and reload the server; then check the automatic renewal.",
            ],
        ),
        Diagnosis::CertificateIssuer => (
            [
                "No se confía en quien emitió el certificado del receptor, o falta el certificado intermedio.",
                "Instala la cadena completa (fullchain) de una autoridad pública. Los certificados autofirmados no valen.",
            ],
            [
                "The issuer of the receiver's certificate is not trusted, or the intermediate certificate is missing.",
                "Install the full chain of a public authority. Self-signed certificates are not accepted.",
            ],
        ),
        Diagnosis::CertificateName => (
            [
                "El certificado del receptor es de otro nombre.",
                "Pide uno que incluya el nombre de la dirección del webhook, o usa en ella el nombre del certificado.",
            ],
            [
                "The receiver's certificate is for another name.",
                "Get one that includes the name in the webhook's address, or use the certificate's name there.",
            ],
        ),
        Diagnosis::TlsNotSpoken => (
            [
                "El puerto del receptor no habla TLS.",
                "Activa https en ese puerto, o corrige el puerto de la dirección.",
            ],
            [
                "The receiver's port does not speak TLS.",
                "Turn https on for that port, or correct the address's port.",
            ],
        ),
        _ => (
            [
                "No se ha podido negociar TLS con el receptor.",
                "Comprueba que admite TLS 1.2 o 1.3 y que su certificado es válido; el motivo guardado da el detalle.",
            ],
            [
                "TLS could not be negotiated with the receiver.",
                "Check that it supports TLS 1.2 or 1.3 and that its certificate is valid; the stored reason has the details.",
            ],
        ),
    }
}

fn timeout(diagnosis: Diagnosis) -> Pair {
    match diagnosis {
        Diagnosis::ResolveTimeout => (
            [
                "El DNS no ha resuelto a tiempo el nombre del receptor.",
                "Comprueba los servidores DNS del dominio. Si solo pasó una vez, no hace falta hacer nada: el servicio lo intenta otra vez.",
            ],
            [
                "DNS did not resolve the receiver's name in time.",
                "Check the domain's name servers. If it happened only once, you need not do anything: the service tries again.",
            ],
        ),
        Diagnosis::ConnectTimeout => (
            [
                "El receptor no ha aceptado la conexión a tiempo.",
                "Suele ser un cortafuegos que descarta los paquetes o un servidor apagado. Abre el puerto a internet.",
            ],
            [
                "The receiver did not accept the connection in time.",
                "It is usually a firewall that drops packets, or a server that is down. Open the port to the internet.",
            ],
        ),
        Diagnosis::TlsTimeout => (
            [
                "El receptor aceptó la conexión pero no terminó de negociar TLS a tiempo.",
                "Mira si el servidor o su proxy están saturados.",
            ],
            [
                "The receiver accepted the connection but did not finish negotiating TLS in time.",
                "See whether the server or its proxy is overloaded.",
            ],
        ),
        Diagnosis::ResponseTimeout => (
            [
                "El receptor recibió el evento pero no respondió a tiempo.",
                "Responde 200 en cuanto guardes el evento y procésalo después. Puede que ya lo tengas: ignora los OutgoingId repetidos.",
            ],
            [
                "The receiver got the event but did not answer in time.",
                "Answer 200 as soon as the event is stored, and process it later. You may have it already: ignore an OutgoingId that repeats.",
            ],
        ),
        _ => (
            [
                "La respuesta del receptor empezó pero no terminó a tiempo.",
                "Responde con un cuerpo corto o vacío, y termina la respuesta.",
            ],
            [
                "The receiver's response began but did not end in time.",
                "Answer with a short or empty body, and end the response.",
            ],
        ),
    }
}

fn no_connection(diagnosis: Diagnosis) -> Pair {
    match diagnosis {
        Diagnosis::ConnectionRefused => (
            [
                "El receptor ha rechazado la conexión: nada escucha en ese puerto.",
                "Comprueba que el programa está en marcha y escucha en el puerto de la dirección, y que el cortafuegos lo deja pasar.",
            ],
            [
                "The receiver refused the connection: nothing listens on that port.",
                "Check that the program runs and listens on the address's port, and that the firewall lets it through.",
            ],
        ),
        _ => (
            [
                "No se ha podido abrir una conexión con el receptor.",
                "Comprueba la ruta y el cortafuegos: el servidor debe ser accesible desde internet.",
            ],
            [
                "No connection to the receiver could be opened.",
                "Check routes and the firewall: the server must be reachable from the internet.",
            ],
        ),
    }
}
