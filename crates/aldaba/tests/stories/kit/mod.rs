//! The integrator's kit on the command line: `verify`, `trigger`, `listen`.

mod listen;
mod listen_again;
mod listening;
mod proxy;
mod trigger;
mod verify;

use super::client::{Stage, dev};
use crate::harness::Program;

/// A command with the variables that `dev` prints for a shell, for the stage's tenant.
fn command(stage: &Stage, company: &str, arguments: &[&str]) -> Program {
    Program::new(arguments)
        .variable("OPERATOR", dev().text("operator_url"))
        .variable("TOKEN", dev().text("operator_token"))
        .variable("TENANT", stage.tenant())
        .variable("COMPANY", company)
}
