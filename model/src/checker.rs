//! Explores every state of a model breadth first. A broken rule comes with the shortest way to it.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt::{self, Debug, Display};
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::mem::{Discriminant, discriminant};

/// A state machine with finitely many states.
pub trait Model {
    type State: Clone + Debug + Eq + Hash;
    type Action: Copy + Debug + PartialEq;

    fn initial_state(&self) -> Self::State;

    /// Adds every action that is possible in the state, once, and the state that follows.
    fn steps(&self, state: &Self::State, steps: &mut Vec<(Self::Action, Self::State)>);

    /// The rule that the state breaks.
    fn broken_rule(&self, state: &Self::State) -> Option<&'static str>;

    /// Whether the state is where the system wants to be, for example with everything delivered.
    fn is_settled(&self, state: &Self::State) -> bool;

    /// Whether the action leads there: neither a failure, nor a new event, nor a decision of an owner.
    fn is_progress(&self, action: &Self::Action) -> bool;
}

/// The rule that every model has: from each state, progress alone leads to a settled state.
pub const SETTLES: &str = "a settled state can be reached without further failures";

/// What a check has found.
#[derive(Debug)]
pub struct Outcome<M: Model> {
    pub states: usize,
    pub steps: usize,
    /// The number of actions to the farthest state.
    pub depth: u32,
    /// How many kinds of actions were taken; fewer than the model has: part of it is never reached.
    pub action_kinds: usize,
    pub counterexample: Option<Counterexample<M>>,
}

/// The shortest way from the initial state to one that breaks a rule.
#[derive(Debug)]
pub struct Counterexample<M: Model> {
    pub rule: &'static str,
    pub actions: Vec<M::Action>,
    pub state: M::State,
}

impl<M: Model> Display for Counterexample<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "broken: {}", self.rule)?;
        for (index, action) in self.actions.iter().enumerate() {
            writeln!(f, "{:>4}. {action:?}", index + 1)?;
        }
        write!(f, "leads to {:#?}", self.state)
    }
}

impl<M: Model> Display for Outcome<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { states, steps, depth, action_kinds, .. } = self;
        write!(f, "{states} states, {steps} steps, depth {depth}, {action_kinds} kinds of actions")
    }
}

/// More states than this are a mistake in the model.
const STATES_MAX: usize = 4_000_000;

/// Where a state was first reached from, and by which action.
struct Origin<A> {
    parent: u32,
    depth: u32,
    action: A,
}

/// States are numbered in the order in which they are found. Each is kept once, as a key of `numbers`.
struct Search<M: Model> {
    numbers: HashMap<M::State, u32, BuildHasherDefault<StateHasher>>,
    unexplored: VecDeque<M::State>,
    origins: Vec<Option<Origin<M::Action>>>,
    is_settled: Vec<bool>,
    /// Progress from the first state to the second.
    progress: Vec<(u32, u32)>,
    action_kinds: HashSet<Discriminant<M::Action>>,
    steps: usize,
}

/// Explores all states, and stops at the first that breaks a rule.
pub fn check<M: Model>(model: &M) -> Outcome<M> {
    let mut search = Search::new(model);
    let broken = search.explore(model).or_else(|| search.find_unsettled());
    search.outcome(model, broken)
}

impl<M: Model> Search<M> {
    fn new(model: &M) -> Self {
        let initial = model.initial_state();
        Self {
            numbers: HashMap::from_iter([(initial.clone(), 0)]),
            is_settled: vec![model.is_settled(&initial)],
            unexplored: VecDeque::from([initial]),
            origins: vec![None],
            progress: Vec::new(),
            action_kinds: HashSet::new(),
            steps: 0,
        }
    }

    fn explore(&mut self, model: &M) -> Option<(u32, &'static str)> {
        let mut following = Vec::new();
        let mut number = 0;
        while let Some(state) = self.unexplored.pop_front() {
            if let Some(rule) = model.broken_rule(&state) {
                return Some((number, rule));
            }
            model.steps(&state, &mut following);
            for (action, next) in following.drain(..) {
                self.action_kinds.insert(discriminant(&action));
                self.steps += 1;
                let next = self.number_of(model, next, number, action);
                if model.is_progress(&action) && next != number {
                    self.progress.push((number, next));
                }
            }
            number += 1;
        }
        None
    }

    fn number_of(&mut self, model: &M, state: M::State, parent: u32, action: M::Action) -> u32 {
        match self.numbers.entry(state) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(new) => {
                let number = self.origins.len();
                assert!(number < STATES_MAX, "the model has more than {STATES_MAX} states");
                let depth = self.origins[parent as usize].as_ref().map_or(0, |origin| origin.depth) + 1;
                self.is_settled.push(model.is_settled(new.key()));
                self.unexplored.push_back(new.key().clone());
                self.origins.push(Some(Origin { parent, depth, action }));
                *new.insert(u32::try_from(number).unwrap_or(u32::MAX))
            }
        }
    }

    /// The first state from which progress alone leads to no settled state: follows progress backwards from those.
    fn find_unsettled(&self) -> Option<(u32, &'static str)> {
        let mut first_edge = vec![0; self.origins.len() + 1];
        for (_, to) in &self.progress {
            first_edge[*to as usize + 1] += 1;
        }
        for index in 1..first_edge.len() {
            first_edge[index] += first_edge[index - 1];
        }
        let mut next_edge = first_edge.clone();
        let mut sources = vec![0; self.progress.len()];
        for (from, to) in &self.progress {
            sources[next_edge[*to as usize]] = *from;
            next_edge[*to as usize] += 1;
        }
        let mut settles = self.is_settled.clone();
        let mut reached: Vec<usize> = (0..settles.len()).filter(|number| settles[*number]).collect();
        while let Some(number) = reached.pop() {
            for source in &sources[first_edge[number]..first_edge[number + 1]] {
                if !std::mem::replace(&mut settles[*source as usize], true) {
                    reached.push(*source as usize);
                }
            }
        }
        let unsettled = settles.iter().position(|settles| !settles)?;
        Some((u32::try_from(unsettled).unwrap_or(u32::MAX), SETTLES))
    }

    fn outcome(self, model: &M, broken: Option<(u32, &'static str)>) -> Outcome<M> {
        let depths = self.origins.iter().flatten().map(|origin| origin.depth);
        Outcome {
            states: self.origins.len(),
            steps: self.steps,
            depth: depths.max().unwrap_or(0),
            action_kinds: self.action_kinds.len(),
            counterexample: broken.map(|(number, rule)| self.counterexample(model, number, rule)),
        }
    }

    /// Repeats the actions that led to the state.
    fn counterexample(&self, model: &M, number: u32, rule: &'static str) -> Counterexample<M> {
        let mut actions = Vec::new();
        let mut at = number;
        while let Some(origin) = &self.origins[at as usize] {
            actions.push(origin.action);
            at = origin.parent;
        }
        actions.reverse();
        let mut state = model.initial_state();
        for action in &actions {
            let mut following = Vec::new();
            model.steps(&state, &mut following);
            let next = following.into_iter().find(|(candidate, _)| candidate == action);
            state = next.map_or(state, |(_, next)| next);
        }
        Counterexample { rule, actions, state }
    }
}

/// States are a few dozen small numbers: one multiplication for each is enough.
#[derive(Debug, Default)]
struct StateHasher(u64);

impl StateHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }
}

impl Hasher for StateHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.add(u64::from(*byte));
        }
    }

    fn write_u8(&mut self, number: u8) {
        self.add(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.add(number as u64);
    }

    fn write_isize(&mut self, number: isize) {
        self.add(number.unsigned_abs() as u64);
    }

    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A counter that may not reach `forbidden`, and is settled at zero, where only `Reset` leads.
    struct Counter {
        forbidden: u8,
        resets: bool,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Move {
        Add(u8),
        Reset,
    }

    impl Model for Counter {
        type State = u8;
        type Action = Move;

        fn initial_state(&self) -> u8 {
            0
        }

        fn steps(&self, state: &u8, steps: &mut Vec<(Move, u8)>) {
            steps.extend([1, 2].map(|by| (Move::Add(by), (state + by) % 10)));
            if self.resets {
                steps.push((Move::Reset, 0));
            }
        }

        fn broken_rule(&self, state: &u8) -> Option<&'static str> {
            (*state == self.forbidden).then_some("forbidden")
        }

        fn is_settled(&self, state: &u8) -> bool {
            *state == 0
        }

        fn is_progress(&self, action: &Move) -> bool {
            *action == Move::Reset
        }
    }

    #[test]
    fn explores_every_state_once() {
        let outcome = check(&Counter { forbidden: 10, resets: true });
        assert!(outcome.counterexample.is_none());
        let found = (outcome.states, outcome.steps, outcome.depth, outcome.action_kinds);
        assert_eq!(found, (10, 30, 5, 2));
    }

    #[test]
    fn finds_the_shortest_way_to_a_broken_rule() {
        let found = check(&Counter { forbidden: 5, resets: true }).counterexample.unwrap();
        assert_eq!((found.rule, found.state, found.actions.len()), ("forbidden", 5, 3));
    }

    #[test]
    fn finds_a_state_that_never_settles() {
        let found = check(&Counter { forbidden: 10, resets: false }).counterexample.unwrap();
        assert_eq!((found.rule, found.state, found.actions), (SETTLES, 1, vec![Move::Add(1)]));
    }
}
