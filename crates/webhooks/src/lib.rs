//! Subscriptions of both families and the engine that delivers to them. Nothing lives here yet but the
//! direction: it may use the store, the web and the domain, and none of its neighbours.
