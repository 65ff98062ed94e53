//! The integrator's kit on the command line: `verify`, `trigger`, `listen`.

mod listen;
mod listen_process;
mod listen_resume;
mod proxy;
mod trigger;
mod verify;

use super::client::{ClientFixture, dev};
use crate::harness::Program;

/// A command with the variables that `dev` prints for a shell, for the stage's tenant.
fn command(fixture: &ClientFixture, company: &str, arguments: &[&str]) -> Program {
    Program::new(arguments)
        .variable("OPERATOR", dev().text("operator_url"))
        .variable("TOKEN", dev().text("operator_token"))
        .variable("TENANT", fixture.tenant())
        .variable("COMPANY", company)
}
