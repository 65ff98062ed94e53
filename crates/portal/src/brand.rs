//! How the operator presents the service: name, logo, colour, contact.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue, X_CONTENT_TYPE_OPTIONS,
};
use pages::Response;
use ui::app::Brand;

use crate::Portal;

/// A picture from the operator's configuration.
#[derive(Clone, Debug)]
pub struct Logo {
    /// `image/svg+xml` or `image/png`.
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub struct BrandSettings {
    pub name: String,
    pub logo: Option<Logo>,
    /// `#rrggbb`: a decoration, never behind or of text, so that every colour is readable.
    pub color: Option<String>,
    /// An e-mail address or URL; may be empty.
    pub contact: String,
}

/// The paths of the operator's picture and colour, below the portal's.
#[derive(Debug)]
pub(crate) struct BrandPaths {
    pub(crate) logo: String,
    pub(crate) colour: String,
}

impl BrandPaths {
    pub(crate) fn below(base_path: &str) -> Self {
        Self { logo: format!("{base_path}/brand/logo"), colour: format!("{base_path}/brand/colour.css") }
    }
}

impl Portal {
    pub(crate) fn brand(&self) -> Brand<'_> {
        let settings = &self.settings.brand;
        Brand {
            name: &settings.name,
            logo: settings.logo.as_ref().map(|_| self.brand_paths.logo.as_str()),
            stylesheet: settings.color.as_ref().map(|_| self.brand_paths.colour.as_str()),
        }
    }

    pub(crate) fn logo(&self) -> Option<Response> {
        let logo = self.settings.brand.logo.as_ref()?;
        let mut response = file(logo.content_type, logo.bytes.clone());
        // An SVG image may contain scripts; opened by itself, it must not run them.
        let policy = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; sandbox");
        response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
        Some(response)
    }

    pub(crate) fn colour(&self) -> Option<Response> {
        let color = self.settings.brand.color.as_ref()?;
        Some(file("text/css; charset=utf-8", format!(":root {{ --brand: {color}; }}\n").into_bytes()))
    }
}

fn file(content_type: &'static str, bytes: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(bytes));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}
