//! The machine's cores in two halves: a node has one and the load generator the other. On shared cores the latency of the node would be
//! that of the processor's scheduler, and a call that it answered in time would wait for its caller.

use std::process::Command;

use crate::Fallible;

/// Which cores belong to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cores {
    node: Vec<usize>,
    own: Vec<usize>,
}

impl Cores {
    /// The first half for the node. This process runs on the others from now on, and so does what it starts.
    pub(crate) fn split() -> Fallible<Self> {
        let set = rustix::thread::sched_getaffinity(None)?;
        let all: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect();
        let cores = Self::halves(&all).ok_or("the node and the load generator need two cores")?;
        let process = std::process::id().to_string();
        let taskset = ["--all-tasks", "--cpu-list", "--pid", &text(&cores.own), &process];
        let output = Command::new("taskset").args(taskset).output()?;
        if !output.status.success() {
            return Err(format!("taskset: {}", String::from_utf8_lossy(&output.stderr).trim()).into());
        }
        Ok(cores)
    }

    fn halves(all: &[usize]) -> Option<Self> {
        let (node, own) = all.split_at(all.len() / 2);
        (!node.is_empty()).then(|| Self { node: node.to_vec(), own: own.to_vec() })
    }

    /// What starts the node on its cores.
    pub(crate) fn node_wrapper(&self) -> Vec<String> {
        vec!["taskset".into(), "--cpu-list".into(), text(&self.node)]
    }

    pub(crate) fn all(&self) -> Vec<usize> {
        [&self.node[..], &self.own].concat()
    }

    pub(crate) fn node_count(&self) -> usize {
        self.node.len()
    }
}

fn text(cores: &[usize]) -> String {
    cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_divided() {
        let cores = Cores::halves(&[0, 1, 2, 3, 6]).unwrap();
        assert_eq!((cores.node_count(), cores.all()), (2, vec![0, 1, 2, 3, 6]));
        assert_eq!(cores.node_wrapper(), ["taskset", "--cpu-list", "0,1"]);
        assert_eq!(Cores::halves(&[0]), None);
    }
}
