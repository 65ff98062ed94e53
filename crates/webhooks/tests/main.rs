//! The engine under a fake clock, with everything around it scripted.

#[cfg(test)]
mod simulation;
