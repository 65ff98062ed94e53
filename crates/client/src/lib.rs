//! What integrators import: sign-in, typed reads, webhook management, and the verification of deliveries.
//! Nothing lives here yet but the direction: it may use the domain, and nothing else of the service.
