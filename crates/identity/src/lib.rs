//! Who is calling: sign-in, tenant choice, codes, tokens, signing keys, discovery and sessions. Nothing lives
//! here yet but the direction: it may use the store, the look, the web and the domain.
