//! The operating system's limit on open files (RLIMIT_NOFILE), and how the service divides it.

use operator::operations::doctor::DescriptorFacts;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::config::Config;

/// For the store's files and connections, the log, the runtime, and short-lived files.
const FILES_RESERVED: u64 = 200;
/// Of these, what stays free of public connections. The other half is for files that are open all the time.
const FILES_SPARE: u64 = FILES_RESERVED / 2;

/// Raises the process's limit on open files as far as the system allows, and returns it. Raising it again does nothing.
pub(crate) fn raise_limit() -> u64 {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum || setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum }).is_err() {
        return current.unwrap_or(u64::MAX);
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Why the configured connections do not fit into the limit, and what to do about it.
pub(crate) fn shortage(config: &Config, limit: u64) -> Option<String> {
    let (public, others) = (count(config.server.connections_max), needed_by_others(config));
    let needed = public + others;
    if needed <= limit {
        return None;
    }
    let fits = limit.saturating_sub(others);
    let advice = if fits > 0 {
        format!("set it to {fits} or less, or raise the limit to {needed} or more (ulimit -n, LimitNOFILE=)")
    } else {
        format!(
            "raise the limit to {needed} or more (ulimit -n, LimitNOFILE=), or lower egress.sockets_max ({}) and \
             operator.connections_max ({}) too",
            config.egress.sockets_max, config.operator.connections_max
        )
    };
    Some(format!(
        "is {public}, which the limit on open files ({limit}) does not allow beside {others} for everything else: {advice}"
    ))
}

/// What the limit and the configured connections are.
pub(crate) fn facts(config: &Config) -> DescriptorFacts {
    let needed = count(config.server.connections_max) + needed_by_others(config);
    let open = std::fs::read_dir("/proc/self/fd").map(|entries| count(entries.count())).ok();
    DescriptorFacts { limit: raise_limit(), needed, open }
}

/// The first descriptor that no public connection may have: from here on they are reserved for the operator's listener
/// and the store's files. Below there is room for all public connections that the configuration allows
/// while few of the operator's are open.
pub(crate) fn public_ceiling(config: &Config, limit: u64) -> u64 {
    let reserve = count(config.operator.connections_max) + FILES_SPARE;
    // Without `check` (under `dev`) the limit may be too low for both; then each has a half.
    limit.saturating_sub(reserve).max(limit / 2)
}

fn needed_by_others(config: &Config) -> u64 {
    let sockets = [config.operator.connections_max, config.egress.sockets_max, config.store.connections_max];
    sockets.into_iter().map(count).sum::<u64>() + FILES_RESERVED
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX / 8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, Sources};

    /// 100 public connections, and 50 + 16 + 4 + 200 for everything else.
    fn config() -> Config {
        let settings = [
            ("server.connections_max", "100"),
            ("operator.connections_max", "50"),
            ("egress.sockets_max", "16"),
            ("store.connections_max", "4"),
        ];
        let flags = settings.map(|(key, value)| (key.to_owned(), value.to_owned())).into();
        config::load(&Sources { flags, ..Sources::default() }).unwrap()
    }

    #[test]
    fn limit_that_is_too_low_is_explained() {
        assert_eq!(shortage(&config(), 370), None);
        assert_eq!(
            shortage(&config(), 300).unwrap(),
            "is 100, which the limit on open files (300) does not allow beside 270 for everything else: set it to 30 or \
             less, or raise the limit to 370 or more (ulimit -n, LimitNOFILE=)"
        );
        let hopeless = shortage(&config(), 200).unwrap();
        assert!(
            hopeless.contains("raise the limit to 370 or more")
                && hopeless.contains("egress.sockets_max (16)")
        );
    }

    #[test]
    fn public_listener_leaves_the_reserve() {
        assert_eq!(public_ceiling(&config(), 1000), 850);
        assert_eq!(public_ceiling(&config(), 250), 125, "never less than half");
    }

    #[test]
    fn limit_that_fits_has_room_for_all_public_connections() {
        let (config, open_files) = (config(), FILES_RESERVED - FILES_SPARE);
        let below = open_files + count(config.egress.sockets_max) + count(config.store.connections_max);
        assert_eq!(shortage(&config, 370), None);
        assert!(public_ceiling(&config, 370) >= below + count(config.server.connections_max));
    }

    #[test]
    fn raised_limit_stays() {
        let raised = raise_limit();
        assert_eq!(raise_limit(), raised);
        assert_eq!(getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX), raised);
    }
}
