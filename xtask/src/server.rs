//! The PostgreSQL server that tests run beside: somebody's, or a throwaway one.

use std::{env, process::Command};

use crate::{
    failure::Failure,
    postgres::{self, Cluster, Settings},
};

/// Where the tests find the server in which they may create databases.
const SERVER: &str = "ALDABA_TEST_POSTGRES";

/// The server of one run: somebody's, or a throwaway one that goes with this value.
pub(crate) struct Server {
    variables: Vec<(&'static str, String)>,
    cluster: Option<Cluster>,
}

impl Server {
    pub(crate) fn prepare() -> Result<Self, Failure> {
        let given = env::var(SERVER).ok().filter(|url| !url.is_empty());
        if let Some(url) = given {
            println!("using the server that {SERVER} names");
            let programs = postgres::find_programs().ok();
            return Ok(Self::new(url, programs.map(|folder| folder.display().to_string()), None));
        }
        let cluster = Cluster::start(Settings::default())?;
        println!("throwaway server at {} (programs: {})", cluster.url(), cluster.programs().display());
        let programs = cluster.programs().display().to_string();
        Ok(Self::new(cluster.url(), Some(programs), Some(cluster)))
    }

    fn new(url: String, programs: Option<String>, cluster: Option<Cluster>) -> Self {
        let mut variables = vec![(SERVER, url)];
        variables.extend(programs.map(|folder| (postgres::PROGRAMS, folder)));
        Self { variables, cluster }
    }

    /// Lets a child process know: the server's url, and PostgreSQL's programs for a test that needs a
    /// server of its own to stop and start.
    pub(crate) fn set_environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.envs(self.variables.iter().map(|(name, value)| (name, value)))
    }

    pub(crate) fn stop(self) -> Result<(), String> {
        self.cluster.map_or(Ok(()), Cluster::stop)
    }
}
