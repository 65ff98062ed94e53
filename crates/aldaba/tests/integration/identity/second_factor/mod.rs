//! The second factor over HTTP, with a clock that the tests move: enrolment, sign-in, OpenID Connect, and ways around it.

mod attacks;
mod enrolment;
mod fixture;
mod oidc;
mod policies;
mod sign_in;
mod throttling;
