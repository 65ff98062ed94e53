//! Tests of the two stores that keep their data when the program ends: SQLite and PostgreSQL.

mod audit_transaction;
mod backup;
mod diagnosis;
mod mail_rows;
mod migrations;
mod old_backups;
mod operations;
mod postgres_cluster;
mod postgres_network;
mod postgres_nodes;
mod postgres_outage;
mod postgres_reads;
mod postgres_tls;
mod purged_rows;
mod refused_restores;
mod restored_access;
mod restored_links;
mod rows;
mod schema;
mod secrets_at_rest;
mod sqlite_file;
mod sqlite_full_disk;
mod sqlite_snapshots;

/// Declares tests that both durable stores must pass.
macro_rules! tests_on_durable_stores {
    ($($all:tt)*) => {
        tests_on! { sqlite, StoreKind::Sqlite; $($all)* }
        tests_on! { postgres, StoreKind::Postgres; $($all)* }
    };
}

tests_on_durable_stores! {
    migrations {
        reopened_store_is_unchanged,
        newer_schema_is_refused_and_unchanged,
        schema_1_store_is_migrated_with_its_rows,
        schema_1_records_get_the_contracts_order_and_their_accounts,
        schema_7_store_suspends_nobody_who_has_access,
        concurrent_opens_of_an_empty_store_succeed,
        invalid_locations_are_reported,
    }
    backup {
        backup_restores_into_sqlite,
        backup_restores_into_postgres,
        backup_is_one_snapshot,
    }
    old_backups {
        backup_of_schema_6_is_restored,
    }
    restored_access {
        confirmed_access_stands_after_the_users_next_sign_in,
        confirmed_restore_revokes_named_tokens,
        kept_access_stands_at_once,
        store_with_an_unfinished_restore_does_not_open,
    }
    restored_links {
        links_are_void_after_a_restore,
    }
    mail_rows {
        content_is_sealed_for_its_recipient_and_deleted_once_sent,
        backup_contains_no_mail,
    }
    audit_transaction {
        mutation_without_its_audit_entry_is_rolled_back,
    }
    refused_restores {
        damaged_backup_is_refused,
        restore_needs_an_empty_store,
        restore_needs_the_same_master_key,
        backup_of_a_newer_schema_is_refused,
        interrupted_backup_is_damaged,
    }
    purged_rows {
        erased_tenant_leaves_no_rows,
        deleted_company_leaves_no_rows,
        unchanged_batch_writes_no_rows,
    }
    operations {
        operations_are_measured_by_class,
    }
    secrets_at_rest {
        no_secret_is_stored_in_plain_text,
        sealed_key_opens_in_its_slot_alone,
    }
}
