//! The gate that every API call passes (key, token, scope, limit) and the read APIs behind it. Nothing lives
//! here yet but the direction: it may use the store, the web and the domain, and none of its neighbours.
