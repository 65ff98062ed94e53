//! What holds for the two stores that keep what they are given when the program ends.

mod backup;
mod cluster;
mod companions;
mod damage;
mod full_disk;
mod migrations;
mod nodes;
mod old_backups;
mod outage;
mod plain_text;
mod rows;
mod schema;
mod traces;
mod views;

/// Stories for both durable stores.
macro_rules! durable_stories {
    ($($all:tt)*) => {
        play_on! { sqlite, Kind::Sqlite; $($all)* }
        play_on! { postgres, Kind::Postgres; $($all)* }
    };
}

durable_stories! {
    migrations {
        a_store_is_opened_again_as_it_was,
        a_newer_schema_is_refused_and_left_alone,
        a_store_of_before_sign_in_keeps_what_it_had,
        those_who_open_an_empty_store_at_once_all_succeed,
        what_is_no_store_is_told,
    }
    backup {
        a_backup_restores_into_sqlite,
        a_backup_restores_into_postgres,
        a_backup_is_of_one_moment,
    }
    old_backups {
        a_backup_of_schema_6_restores,
    }
    damage {
        a_damaged_backup_is_refused,
        only_an_empty_store_takes_a_backup,
        another_master_key_restores_nothing,
        another_schema_is_refused,
        a_backup_that_was_cut_short_is_never_whole,
    }
    traces {
        an_erased_tenant_leaves_no_rows,
        a_deleted_company_leaves_no_rows,
        what_changes_nothing_writes_nothing,
    }
    plain_text {
        no_secret_lies_in_plain_text,
    }
}
