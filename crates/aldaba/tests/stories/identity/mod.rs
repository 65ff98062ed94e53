//! The identity provider, over the real program: the contract's rows and the answers to its silences.

mod exchange;
