//! Arguments of `aldaba client`.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub(crate) enum Client {
    /// Register a client and print its secret, which cannot be shown again
    Add(ClientAdd),
    /// List clients
    List {
        /// Only those of this team
        #[arg(long, value_name = "TEAM")]
        team: Option<String>,
    },
    /// Show all settings of a client
    Show {
        /// The client id
        id: String,
    },
    /// Disable a client: sign-in through it and its tokens are refused
    Disable {
        /// The client id
        id: String,
    },
    /// Enable a disabled client: its tokens that have not expired work again
    Enable {
        /// The client id
        id: String,
    },
    /// Add redirect URIs
    Redirect {
        /// The client id
        id: String,
        /// The URIs to add
        #[arg(required = true, value_name = "URI")]
        uris: Vec<String>,
    },
    /// Remove redirect URIs; at least one must remain
    Unredirect {
        /// The client id
        id: String,
        /// The URIs to remove, exactly as `client show` prints them
        #[arg(required = true, value_name = "URI")]
        uris: Vec<String>,
    },
    /// Change the settings of a client; settings that are not given stay unchanged
    Set {
        /// The client id
        id: String,
        /// How to treat PKCE
        #[arg(long, value_enum)]
        pkce: Option<PkceMode>,
        /// Whether users are asked for consent
        #[arg(long, value_name = "true|false")]
        consent: Option<bool>,
        /// When the callback carries an id_token
        #[arg(long, value_enum)]
        callback_id_token: Option<CallbackIdTokenMode>,
        /// A product whose data the client may read (repeatable; replaces all of them)
        #[arg(long = "product", value_name = "PRODUCT", value_parser = ["accounting", "payroll", "invoicing"])]
        products: Vec<String>,
        /// A post-logout redirect URI (repeatable; replaces all of them; '' removes all)
        #[arg(long = "post-logout-uri", value_name = "URI")]
        post_logout_uris: Vec<String>,
        /// Where the client is told that a session has ended (OpenID Connect Back-Channel Logout); '' removes it
        #[arg(long, value_name = "URI")]
        backchannel_logout_uri: Option<String>,
        /// The id of the team that owns the client; '' takes it out of its team
        #[arg(long)]
        team: Option<String>,
        /// Whether the client is for sandbox tenants alone
        #[arg(long, value_name = "true|false")]
        sandbox: Option<bool>,
    },
    /// Create a new secret and print it; it cannot be shown again
    Rotate {
        /// The client id
        id: String,
        /// How long the old secret stays valid
        #[arg(long, value_name = "DURATION", default_value = "24h")]
        overlap: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ClientAdd {
    /// The name that users see
    pub(crate) name: String,
    /// The client id, which cannot be changed later [default: a new GUID]
    #[arg(long)]
    pub(crate) id: Option<String>,
    /// What the client is, which cannot be changed later
    #[arg(long, value_enum, default_value_t = ClientKindArg::Web)]
    pub(crate) kind: ClientKindArg,
    /// A redirect URI (repeatable); a resource server has none
    #[arg(long = "redirect-uri", value_name = "URI", required_unless_present = "kind")]
    pub(crate) redirect_uris: Vec<String>,
    /// A post-logout redirect URI (repeatable)
    #[arg(long = "post-logout-uri", value_name = "URI")]
    pub(crate) post_logout_uris: Vec<String>,
    /// Where the client is told that a session has ended (OpenID Connect Back-Channel Logout)
    #[arg(long, value_name = "URI")]
    pub(crate) backchannel_logout_uri: Option<String>,
    /// How to treat PKCE [default: if-sent; required for browser and native, and nothing else]
    #[arg(long, value_enum)]
    pub(crate) pkce: Option<PkceMode>,
    /// Ask users for consent before the client gets access
    #[arg(long)]
    pub(crate) consent: bool,
    /// A product whose data the client may read (repeatable) [default: all]
    #[arg(long = "product", value_name = "PRODUCT", value_parser = ["accounting", "payroll", "invoicing"])]
    pub(crate) products: Vec<String>,
    /// The id of the team that owns the client
    #[arg(long)]
    pub(crate) team: Option<String>,
    /// When the callback carries an id_token
    #[arg(long, value_enum, default_value_t = CallbackIdTokenMode::Auto)]
    pub(crate) callback_id_token: CallbackIdTokenMode,
    /// The same as --callback-id-token never
    #[arg(long, conflicts_with = "callback_id_token")]
    pub(crate) no_callback_id_token: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ClientKindArg {
    /// An application with a server, which keeps a secret
    Web,
    /// An application that runs in a browser: no secret, PKCE required, CORS for its origins
    Browser,
    /// An application for phones or desktops: no secret, PKCE required, loopback addresses and private-use schemes
    Native,
    /// An API that checks tokens by introspection: a secret, no redirect URIs
    ResourceServer,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PkceMode {
    /// Refuse authorization requests without a code challenge
    Required,
    /// Verify PKCE if the authorization request has a code challenge
    IfSent,
    /// Never verify PKCE
    Ignore,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CallbackIdTokenMode {
    /// With the scope openid and a nonce, if the authorization request has no PKCE challenge
    #[value(alias = "true")]
    Auto,
    /// Whenever the authorization request has the scope openid
    Always,
    /// Never, for strict code-flow libraries without PKCE
    #[value(alias = "false")]
    Never,
}
