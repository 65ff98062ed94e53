//! The PostgreSQL server for the tests: the one in the environment, or a temporary one.

use std::{env, process::Command};

use crate::{
    failure::Failure,
    postgres::{self, Cluster, Settings},
};

/// The environment variable with the url of a server where tests may create databases.
const SERVER: &str = "ALDABA_TEST_POSTGRES";

/// The server of one run. A temporary one stops when this value is dropped.
pub(crate) struct Server {
    variables: Vec<(&'static str, String)>,
    cluster: Option<Cluster>,
}

impl Server {
    pub(crate) fn prepare() -> Result<Self, Failure> {
        let url = env::var(SERVER).ok().filter(|url| !url.is_empty());
        if let Some(url) = url {
            println!("using the server in {SERVER}");
            let programs = postgres::find_programs().ok();
            return Ok(Self::new(url, programs.map(|folder| folder.display().to_string()), None));
        }
        let cluster = Cluster::start(Settings::default())?;
        println!("temporary server at {} (programs: {})", cluster.url(), cluster.programs().display());
        let programs = cluster.programs().display().to_string();
        Ok(Self::new(cluster.url(), Some(programs), Some(cluster)))
    }

    fn new(url: String, programs: Option<String>, cluster: Option<Cluster>) -> Self {
        let mut variables = vec![(SERVER, url)];
        variables.extend(programs.map(|folder| (postgres::PROGRAMS, folder)));
        Self { variables, cluster }
    }

    /// Sets a child process's environment: the server's url, and the folder of PostgreSQL's programs for a test that starts
    /// and stops its own server.
    pub(crate) fn set_environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.envs(self.variables.iter().map(|(name, value)| (name, value)))
    }

    /// The server's url, and the folder of PostgreSQL's programs.
    pub(crate) fn url_and_programs(&self) -> Option<(&str, Option<&str>)> {
        let value = |wanted: &str| {
            self.variables.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str())
        };
        Some((value(SERVER)?, value(postgres::PROGRAMS)))
    }

    pub(crate) fn stop(self) -> Result<(), String> {
        self.cluster.map_or(Ok(()), Cluster::stop)
    }
}
