//! Which requests of teams the operator decides on, and which are approved at once. Automatic approval opens the sandbox
//! alone: real tenants, and redirect addresses of clients without consent, always need the operator.

use domain::subscription::Products;
use store::{Client, Consent, RequestKind};

/// Who approves requests, by product.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApprovalSettings {
    /// The products whose requests for the sandbox are approved automatically.
    pub automatic: Products,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApprovalMode {
    NeedsOperator,
    Automatic,
}

/// Who approves a request. `client` is the one that the request names.
pub fn approval_mode(
    kind: &RequestKind,
    settings: ApprovalSettings,
    client: Option<&Client>,
) -> ApprovalMode {
    let (products, is_sandbox) = match kind {
        RequestKind::Client { products, is_sandbox, .. } => (*products, *is_sandbox),
        RequestKind::Subscription { product, is_sandbox, .. } => {
            ([*product].into_iter().collect(), *is_sandbox)
        }
        RequestKind::RedirectUri { .. } => {
            let consenting = client.filter(|client| client.consent == Consent::Required);
            consenting.map_or((Products::all(), false), |client| (client.products, client.is_sandbox))
        }
    };
    let is_automatic = settings.automatic.union(products) == settings.automatic;
    if is_sandbox && is_automatic { ApprovalMode::Automatic } else { ApprovalMode::NeedsOperator }
}

#[cfg(test)]
mod tests {
    use domain::subscription::Product;
    use domain::{ClientId, Guid, Ticks};
    use store::{CallbackIdToken, FIRST_REVISION, Pkce, Status};

    use super::*;

    fn of(products: &[Product]) -> Products {
        products.iter().copied().collect()
    }

    fn client(products: Products, consent: Consent, is_sandbox: bool) -> Client {
        Client {
            id: ClientId::new("erp"),
            guid: Guid::from_bytes([1; 16]),
            name: "ERP".into(),
            redirect_uris: Vec::new(),
            post_logout_uris: Vec::new(),
            pkce: Pkce::IfSent,
            consent,
            kind: domain::ClientKind::Web,
            backchannel_logout_uri: None,
            callback_id_token: CallbackIdToken::Auto,
            products,
            team: None,
            is_sandbox,
            status: Status::Active,
            created_at: Ticks(0),
            revision: FIRST_REVISION,
        }
    }

    #[test]
    fn only_the_sandbox_of_automatic_products_opens_without_the_operator() {
        let automatic = ApprovalSettings { automatic: of(&[Product::Accounting, Product::Payroll]) };
        let subscription =
            |product, is_sandbox| RequestKind::Subscription { name: "Clave".into(), product, is_sandbox };
        let new_client = |products: &[Product], is_sandbox| RequestKind::Client {
            name: "ERP".into(),
            kind: domain::ClientKind::Web,
            redirect_uris: Vec::new(),
            products: of(products),
            pkce: Pkce::IfSent,
            is_sandbox,
        };
        for (kind, is_automatic) in [
            (subscription(Product::Accounting, true), true),
            (subscription(Product::Accounting, false), false),
            (subscription(Product::Invoicing, true), false),
            (new_client(&[Product::Accounting, Product::Payroll], true), true),
            (new_client(&[Product::Accounting], false), false),
            (new_client(&[Product::Accounting, Product::Invoicing], true), false),
        ] {
            let expected = if is_automatic { ApprovalMode::Automatic } else { ApprovalMode::NeedsOperator };
            assert_eq!(approval_mode(&kind, automatic, None), expected, "{kind:?}");
            let by_default = approval_mode(&kind, ApprovalSettings::default(), None);
            assert_eq!(by_default, ApprovalMode::NeedsOperator, "{kind:?}");
        }
    }

    #[test]
    fn redirect_address_of_a_client_without_consent_needs_the_operator() {
        let automatic = ApprovalSettings { automatic: Products::all() };
        let kind = RequestKind::RedirectUri { client: ClientId::new("erp"), uri: "https://x.example".into() };
        let mode = |consent, is_sandbox| {
            approval_mode(&kind, automatic, Some(&client(Products::all(), consent, is_sandbox)))
        };
        assert_eq!(mode(Consent::Required, true), ApprovalMode::Automatic);
        assert_eq!(mode(Consent::None, true), ApprovalMode::NeedsOperator);
        assert_eq!(
            mode(Consent::Required, false),
            ApprovalMode::NeedsOperator,
            "it receives codes of real tenants"
        );
        assert_eq!(approval_mode(&kind, automatic, None), ApprovalMode::NeedsOperator);
    }
}
