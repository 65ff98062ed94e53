//! The report format that all benchmarks share.

use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) bench: String,
    pub(crate) store: String,
    pub(crate) figures: Vec<Figure>,
}

#[derive(Debug, Default, Serialize)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) value: f64,
    pub(crate) unit: String,
    /// What the machine reached without the program, in the same run.
    pub(crate) limit: Option<f64>,
    pub(crate) ratio: Option<f64>,
    pub(crate) goal: Option<f64>,
    pub(crate) met: Option<bool>,
}

impl Figure {
    pub(crate) fn plain(name: &str, value: f64, unit: &str) -> Self {
        Self { name: name.into(), value, unit: unit.into(), ..Self::default() }
    }

    /// Adds the limit; `goal` is the wanted ratio to it.
    pub(crate) fn beside(mut self, limit: f64, goal: Option<f64>) -> Self {
        let ratio = self.value / limit;
        self.limit = Some(limit);
        self.ratio = Some(ratio);
        self.goal = goal;
        self.met = goal.map(|goal| ratio >= goal);
        self
    }

    /// Adds an upper bound as the goal.
    pub(crate) fn below(mut self, bound: f64) -> Self {
        self.goal = Some(bound);
        self.met = Some(self.value < bound);
        self
    }
}
