//! What the developer portal and the operator console share: pages that are rendered on the server, work without a script and
//! answer in JSON (`Accept: application/json`) and, where there is a table, in CSV (`format=csv`) at the same URLs.

mod backchannel_logout;
mod csv;
mod error;
mod form;
mod live;
mod params;
mod reason;
mod request;
mod response;
mod routes;
mod shell;
mod text;
pub mod webhooks;

pub use backchannel_logout::BackchannelLogoutView;
pub use csv::Csv;
pub use error::PageError;
pub use form::SubmittedForm;
pub use params::Params;
pub use reason::{SHARED_REASONS, translate_reason};
pub use request::{FormValues, Format, PageRequest, PageSite, request_id};
pub use response::{Response, json, page, see_other};
pub use routes::{ActionHandler, PageFuture, PageHandler, Route, handlers};
pub use shell::{PageContext, View, error_page, sentence};
pub use ui::Lang;
