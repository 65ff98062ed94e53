//! The integrator's commands: `verify`, `trigger` and `listen`.

mod listen;
mod listen_process;
mod listen_resume;
mod proxy;
mod trigger;
mod verify;

use super::client::{ClientFixture, dev};
use crate::harness::Program;

/// A command with the variables that `dev` exports, for the fixture's tenant.
fn command(fixture: &ClientFixture, company: &str, arguments: &[&str]) -> Program {
    Program::new(arguments)
        .variable("OPERATOR", dev().text("operator_url"))
        .variable("TOKEN", dev().text("operator_token"))
        .variable("TENANT", fixture.tenant())
        .variable("COMPANY", company)
}
