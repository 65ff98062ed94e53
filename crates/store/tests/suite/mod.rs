//! The list of all stories. Each is told once and played on every store that it is for.

mod database;
mod desk;
mod stage;

mod changes;

use stage::{Kind, Stage};

/// Sets the stage and plays one story on it.
async fn play<F: Future<Output = ()>>(kind: Kind, story: impl FnOnce(Stage) -> F) {
    story(Stage::set(kind).await).await;
}

/// A test for every story on one kind of store.
macro_rules! play_on {
    ($store:ident, $kind:expr; $($room:ident { $($story:ident),* $(,)? })*) => {
        mod $store {
            $(mod $room {
                use crate::suite::{play, stage::Kind, $room};

                $(#[tokio::test(flavor = "multi_thread")]
                async fn $story() {
                    play($kind, $room::$story).await;
                })*
            })*
        }
    };
}

/// Stories for every store.
macro_rules! stories {
    ($($all:tt)*) => {
        play_on! { memory, Kind::Memory; $($all)* }
        play_on! { sqlite, Kind::Sqlite; $($all)* }
        play_on! { postgres, Kind::Postgres; $($all)* }
    };
}

stories! {
    changes {
        customers_live_until_they_are_disabled,
    }
}
