//! The list of all tests. Each test function is written once and runs on every store that it applies to.

mod fixture;
mod migrated;
mod postgres_database;
mod test_tenant;
mod webhook_fixtures;
mod webhook_search;

mod account_links;
mod administration_audit;
mod audit;
mod authorizations;
mod calls;
mod changes;
mod checkpoints;
mod client_access;
mod clients;
mod codes;
mod companies;
mod concurrent_writes;
mod delivery_history;
mod directory;
mod directory_search;
mod engine_reads;
mod erasure;
mod figures;
mod idempotency;
mod invalidation;
mod inventory;
mod invitations;
mod lists;
mod live_grants;
mod log;
mod logouts;
mod mails;
mod maintenance;
mod notices;
mod operators;
mod pages;
mod password_resets;
mod payroll_filter_model;
mod payroll_filters;
mod payroll_last_update;
mod reads;
mod record_log;
mod refresh_tokens;
mod rejected_changes;
mod requests;
mod revisions;
mod sandboxes;
mod search;
mod second_factors;
mod sessions;
mod shard_leases;
mod sign_in_buckets;
mod signing_keys;
mod team_access;
mod team_webhooks;
mod teams;
mod tenant_memberships;
mod tenant_records;
mod ticket_keys;
mod usage;
mod webhook_changes;
mod webhooks;

use fixture::{Fixture, StoreKind};

/// Runs one test on a new fixture.
async fn run_test<F: Future<Output = ()>>(kind: StoreKind, test: impl FnOnce(Fixture) -> F) {
    test(Fixture::open(kind).await).await;
}

/// Declares the tests of one kind of store.
macro_rules! tests_on {
    ($store:ident, $kind:expr; $($module:ident { $($test:ident),* $(,)? })*) => {
        mod $store {
            $(mod $module {
                use super::super::$module;
                use crate::suite::{run_test, fixture::StoreKind};

                $(#[tokio::test(flavor = "multi_thread")]
                async fn $test() {
                    run_test($kind, $module::$test).await;
                })*
            })*
        }
    };
}

/// Declares tests that every store must pass.
macro_rules! tests_on_every_store {
    ($($all:tt)*) => {
        tests_on! { memory, StoreKind::Memory; $($all)* }
        tests_on! { sqlite, StoreKind::Sqlite; $($all)* }
        tests_on! { postgres, StoreKind::Postgres; $($all)* }
    };
}

mod durable;

tests_on_every_store! {
    directory_search {
        accounts_are_found_by_address_name_and_id,
        tenants_are_found_by_name_and_id,
        members_and_their_tenants_are_listed_in_pages,
        authorizations_of_a_user_are_listed_in_pages,
        invitations_are_found_by_address,
    }
    account_links {
        account_is_filled_in_from_its_code,
        first_enabled_account_of_several_is_taken,
        change_without_its_account_is_refused,
        guid_is_found_in_any_case,
    }
    calls {
        calls_are_listed_as_they_were_recorded_newest_first,
        pages_follow_the_numbers,
        filters_select_calls,
        trimming_keeps_the_newest_calls_of_a_subscription,
        old_calls_expire,
        followers_miss_no_call_that_others_append,
    }
    reads {
        reads_add_up_by_hour_newest_day_first,
        every_filter_of_reads_finds_its_rows,
        companies_beyond_the_bound_of_a_day_share_a_row,
        old_reads_expire,
        erased_tenants_reads_are_erased,
        concurrent_reads_lose_nothing,
    }
    search {
        records_of_every_tenant_are_found_by_their_id,
        records_of_deleted_companies_do_not_fill_the_result,
        newest_webhooks_come_first,
        calls_are_found_by_their_request,
    }
    figures {
        figures_add_up_by_minute_and_hour,
        single_webhooks_have_hours_only,
        concurrent_additions_lose_nothing,
        old_figures_expire,
        buffer_is_flushed_once_and_counts_again_after_an_error,
    }
    inventory {
        nodes_describe_themselves,
        credentials_that_end_soon_are_listed,
        store_tells_its_state,
    }
    changes {
        customers_are_disabled_never_deleted,
        batch_that_waited_too_long_changes_nothing,
        journals_are_deleted_and_have_no_state,
        companies_can_be_disabled_and_deleted,
        company_data_only_has_updated_events,
        record_has_the_sequence_and_version_of_its_log_entry,
        versions_grow_when_the_clock_stops_or_goes_back,
        sequences_start_at_one_in_every_tenant,
        unchanged_records_write_no_log_entry,
        log_entry_has_every_member_of_the_change,
        batch_sees_its_own_earlier_lines,
        record_can_be_deleted_and_recreated_within_a_batch,
        any_text_is_a_valid_id,
    }
    rejected_changes {
        rejected_lines_are_listed_and_the_others_applied,
        batch_with_only_rejected_lines_changes_nothing,
        account_length_applies_from_its_line_on,
        failure_of_an_unknown_company_belongs_to_no_company,
        unknown_tenant_can_neither_write_nor_read,
    }
    companies {
        deleting_a_company_deletes_its_records,
        recreated_company_starts_empty_and_survives_the_purge,
        company_can_be_deleted_and_recreated_within_a_batch,
        tenants_and_companies_do_not_see_each_others_records,
        companies_are_listed_in_order_of_creation,
    }
    tenant_records {
        payroll_last_update_is_the_writers_or_the_commit_time,
        unchanged_payroll_company_keeps_its_last_update,
        payroll_company_is_deleted_by_its_code,
        invoicing_entries_list_the_changed_members,
        tenant_level_records_have_pages,
    }
    log {
        log_is_read_in_order_and_in_pages,
        event_filter_selects_log_entries,
        company_filter_selects_the_current_generation_only,
        pruning_removes_old_entries_and_raises_the_floor,
        cursor_within_the_retention_loses_no_event,
    }
    record_log {
        log_of_a_record_is_its_own_newest_first,
        log_of_a_record_outlives_it,
        sizes_are_those_of_the_company_or_the_tenant,
        edit_and_its_audit_entry_are_one_transaction,
        edit_of_a_record_that_has_changed_is_rejected,
    }
    concurrent_writes {
        log_reader_misses_nothing_during_concurrent_writes,
        batched_requests_get_their_own_results,
        cancelled_caller_does_not_affect_others,
        panicking_change_is_rolled_back_and_blocks_nobody,
    }
    pages {
        pages_match_a_model_after_deletions,
        page_past_the_end_is_empty,
        page_reports_collection_version_and_log_head,
        page_and_total_come_from_one_snapshot,
    }
    payroll_filters {
        every_operator_works_on_every_field,
        and_binds_tighter_than_or_and_not_tightest,
        string_functions_compare_exact_characters,
        empty_string_matches_every_text,
        wildcard_and_quote_characters_are_literal,
        texts_compare_by_bytes,
        nul_matches_no_text_and_sorts_first,
        order_is_ascending_or_descending_with_the_code_as_tie_breaker,
        filtered_pages_join_to_the_whole_result,
        filter_sees_only_its_own_tenant,
        filter_matches_the_current_state,
        filtered_page_reports_collection_version_and_log_head,
        filtered_page_and_total_come_from_one_snapshot,
        longest_and_deepest_filters_are_answered,
    }
    payroll_last_update {
        repeated_last_update_queries_stay_correct,
    }
    payroll_filter_model {
        filters_and_orders_match_the_model,
    }
    idempotency {
        key_stores_the_progress_of_its_request,
        chunk_at_a_wrong_line_is_refused,
        concurrent_requests_under_one_key_have_one_winner,
        batch_counts_survive_a_restart,
        errors_are_sorted_by_line_and_counted_beyond_the_limit,
    }
    codes {
        second_use_of_code_revokes_its_grant,
        one_of_many_concurrent_exchanges_redeems_the_code,
        other_client_cannot_redeem_or_spend_a_code,
        expired_code_is_spent,
        refused_code_is_spent,
        codes_and_grants_are_never_overwritten,
        panicking_decision_is_rolled_back,
        grant_is_revoked_once,
    }
    refresh_tokens {
        rotated_tokens_keep_the_absolute_expiry,
        successor_expiry_can_slide,
        retry_within_the_grace_finds_the_same_successor,
        grant_expires_with_its_last_token,
        concurrent_rotations_of_one_token_find_one_successor,
        token_reused_after_the_grace_revokes_the_grant,
        token_reused_after_its_successor_revokes_the_grant,
        different_successor_for_a_used_token_revokes_the_grant,
        token_of_another_client_is_unknown,
        revoked_grant_revokes_its_tokens,
    }
    live_grants {
        grant_needs_an_active_client_user_tenant_and_membership,
        grant_is_live_again_after_reactivation,
        unconfirmed_users_grant_is_live_after_the_next_sign_in,
        live_grants_are_listed_last_used_first,
        refresh_token_lookup_does_not_use_it,
    }
    client_access {
        revoking_client_access_revokes_its_grants_and_codes,
        revoking_client_access_leaves_everything_else,
        concurrent_revocations_revoke_each_grant_once,
        code_redeemed_during_the_revocation_is_revoked_too,
        panicking_revocation_is_rolled_back,
    }
    sessions {
        session_is_found_until_it_expires,
        new_session_replaces_the_browsers_old_one,
        session_is_never_overwritten,
        session_ends_once,
        new_password_ends_the_users_sessions,
        cookie_of_one_realm_finds_no_session_in_another,
        owner_lists_and_ends_sessions,
    }
    logouts {
        end_of_a_session_tells_its_clients,
        every_way_to_end_a_session_tells_its_clients,
        expired_session_tells_nobody,
        clients_stay_in_a_renewed_session,
        client_that_joins_too_late_is_told_at_once,
        exchange_of_a_code_joins_the_session,
        logout_is_leased_by_one_node_and_retried,
        ended_logout_is_audited_and_never_due_again,
        concurrent_nodes_lease_each_logout_once,
        old_logouts_are_deleted,
    }
    second_factors {
        factors_are_stored_unchanged,
        secret_and_credential_are_added_once,
        concurrent_additions_stay_within_the_limit,
        concurrent_additions_of_one_secret_add_it_once,
        code_of_a_step_is_accepted_once,
        challenge_and_count_of_a_passkey_are_accepted_once,
        recovery_code_is_used_once,
        used_recovery_code_is_mailed,
        changes_end_other_sessions_and_mail_the_person,
        void_session_changes_no_factor,
        session_begins_only_while_its_proof_holds,
        reset_removes_everything_and_ends_all_sessions,
        session_without_the_second_factor_does_not_begin,
        concurrent_enrolment_leaves_no_session_without_the_factor,
    }
    sign_in_buckets {
        bucket_allows_a_burst_and_then_refills_evenly,
        token_of_an_attempt_under_way_is_awaited,
        attempt_takes_one_token_of_each_bucket_or_none,
        attempt_of_a_failed_node_counts_as_failed,
        concurrent_attempts_take_no_more_tokens_than_the_bucket_has,
        only_full_buckets_expire,
        clock_set_back_does_not_empty_a_bucket_further,
    }
    ticket_keys {
        ticket_keys_are_stored_unchanged,
        concurrent_additions_add_one_ticket_key,
    }
    audit {
        records_are_stored_unchanged_and_read_newest_first,
        every_filter_finds_its_records,
        filter_by_an_unknown_name_finds_nothing,
        nul_in_a_text_is_replaced,
        pages_continue_through_equal_times,
        page_looks_at_a_bounded_number_of_records,
        concurrent_records_are_all_stored,
        failures_are_counted_by_account_and_minute,
        grant_and_code_reuse_are_audited,
        code_reuse_names_a_deleted_grant,
        refresh_and_refresh_reuse_are_audited,
        revocation_is_audited_with_its_reason,
        rolled_back_operations_are_not_audited,
    }
    administration_audit {
        every_mutation_leaves_its_entry,
        mutations_that_change_nothing_leave_no_entry,
        webhook_entries_are_written_only_with_their_change,
    }
    tenant_memberships {
        tenant_membership_is_found_with_user_and_tenant,
        membership_without_user_or_tenant_is_not_found,
        active_memberships_come_last_used_first_then_by_name,
        storing_a_code_records_the_membership_use,
    }
    lists {
        tenants_are_listed_in_pages,
        users_are_listed_in_pages,
        clients_are_listed_in_pages,
        subscriptions_are_listed_in_pages,
        clients_and_subscriptions_of_one_team_are_listed_in_pages,
        memberships_of_one_user_are_listed_in_pages,
        teams_are_found_by_the_beginning_of_id_or_name,
        clients_are_found_by_the_beginning_of_id_or_name,
        subscriptions_are_found_by_the_beginning_of_id_or_name,
    }
    revisions {
        tenant_is_updated_only_at_the_expected_revision,
        user_is_updated_only_at_the_expected_revision,
        client_is_updated_only_at_the_expected_revision,
        subscription_is_updated_only_at_the_expected_revision,
        concurrent_updates_of_one_revision_succeed_once,
        user_is_added_with_all_memberships_or_not_at_all,
    }
    directory {
        tenants_are_stored_unchanged,
        users_are_stored_unchanged,
        accounts_of_the_realms_never_mix,
        memberships_are_stored_unchanged,
    }
    clients {
        clients_are_stored_unchanged,
        client_secret_rotation_has_an_overlap,
        public_clients_have_no_secret,
        origins_of_active_browser_applications_are_found,
        subscriptions_are_found_by_either_key,
        keys_are_rotated_slot_by_slot,
        current_key_is_revealed_with_an_audit_entry,
        development_credentials_are_stored_in_plain_text,
    }
    authorizations {
        exchange_makes_and_widens_an_authorization,
        clients_of_a_tenant_are_listed_once_each,
        authorization_ends_with_its_cause_and_its_grants,
        authorization_outlives_its_tokens,
        concurrent_revocations_of_the_last_grants_end_the_authorization,
        membership_added_again_is_another_one,
        disabled_user_does_not_count_until_enabled,
        membership_carries_admin,
        end_for_the_tenant_deletes_unused_codes,
        access_and_webhooks_change_concurrently,
        webhook_added_during_a_withdrawal_learns_of_it,
        erased_tenant_has_no_authorizations,
        suspension_is_stored_and_its_end_resets_retries,
    }
    team_webhooks {
        webhooks_of_a_team_are_listed_over_clients_and_tenants,
        webhooks_of_a_team_are_filtered_by_event,
        webhooks_of_a_team_are_filtered_by_status,
        listed_webhook_says_what_fails_and_how_far_it_is_behind,
    }
    webhook_search {
        webhooks_are_found_by_the_host_of_their_receiver,
        webhooks_of_all_owners_are_searched_by_owner_and_state,
        search_looks_at_a_bounded_number_of_webhooks,
    }
    teams {
        teams_are_stored_unchanged,
        members_are_added_changed_and_removed,
        team_keeps_an_owner_under_concurrent_removals,
        concurrent_additions_of_a_member_add_one,
    }
    team_access {
        key_of_a_disabled_team_finds_nothing,
        webhooks_follow_the_subscriptions_of_the_clients_team,
        webhooks_of_a_sandbox_client_without_a_team_are_suspended,
        changes_of_a_team_bump_the_access_version,
    }
    sandboxes {
        sandbox_is_made_once_and_stored_unchanged,
        concurrent_requests_make_one_sandbox,
        users_of_sandboxes_and_of_tenants_never_mix,
        reset_goes_back_to_the_beginning,
        sandbox_without_a_tenant_is_reset,
        only_credentials_of_its_team_open_a_sandbox,
        events_of_a_day_are_bounded,
        receiver_keeps_the_newest_requests,
    }
    requests {
        requests_are_stored_unchanged_and_filtered,
        approval_carries_out_its_effect,
        approved_redirect_address_is_added_once,
        automatic_approval_is_for_sandbox_clients_with_consent,
        decided_request_never_changes,
        concurrent_decisions_have_one_winner,
        pending_requests_are_bounded,
        old_decided_requests_make_room,
        every_step_is_audited,
    }
    usage {
        calls_add_up_by_day_and_route,
        concurrent_counts_add_up,
        old_counts_expire,
        key_stores_its_last_use,
        daily_quota_is_set_and_removed,
        cancelled_subscription_cannot_be_changed,
        nodes_count_while_they_register_in_time,
    }
    invalidation {
        change_bumps_its_tenants_records_version,
        access_changes_bump_the_access_version,
    }
    webhooks {
        new_webhook_is_stored_unchanged_and_needs_a_handshake,
        nul_in_a_subscription_is_replaced,
        identical_subscription_is_the_same_webhook,
        concurrent_identical_subscriptions_create_one_webhook,
        owner_has_a_webhook_limit,
        subscribing_again_enables_a_disabled_webhook,
        subscribing_again_asks_for_an_outstanding_handshake,
        invoicing_handshake_is_asked_for_by_pausing_and_resuming,
        default_port_makes_no_difference,
        unsubscribe_finds_the_present_url_before_the_first_one,
        same_subscription_after_unsubscribe_creates_a_new_webhook,
        webhooks_are_listed_in_order_of_creation,
        webhook_is_changed_only_by_its_owner,
        erased_tenant_has_no_webhooks,
    }
    webhook_changes {
        enabling_an_active_webhook_changes_nothing,
        paused_webhook_resumes_with_the_next_event,
        webhook_paused_before_its_handshake_gets_a_new_one,
        webhook_disabled_by_failures_resumes_from_undelivered_events,
        changed_url_needs_a_new_handshake,
        secret_rotation_has_an_overlap,
        url_change_cannot_create_a_duplicate,
        changed_url_of_a_disabled_webhook_gets_its_handshake,
        ended_webhook_cannot_be_changed,
    }
    checkpoints {
        cursor_only_moves_forward,
        each_checkpoint_has_its_own_result,
        checkpoint_of_an_older_revision_is_stale,
        handshake_is_accepted_once,
        new_handshake_keeps_the_cursor,
        event_gaps_are_merged,
        hundreds_of_checkpoints_are_one_transaction,
        replays_are_tracked_until_they_are_done,
        concurrent_checkpoints_are_all_written,
    }
    shard_leases {
        single_node_holds_every_shard_and_keeps_its_fences,
        transferred_shard_has_a_new_fence,
        nodes_share_the_shards,
        shards_of_an_expired_lease_are_taken,
    }
    engine_reads {
        tail_has_one_resources_events_in_order,
        read_cost_does_not_depend_on_the_position_in_the_log,
        record_tail_has_one_records_events,
        webhooks_of_a_shard_are_read_in_pages,
        changed_webhooks_are_listed_in_commit_order,
        log_heads_cover_tenants_with_webhooks,
        disabled_owners_are_listed,
        commit_signal_is_raised_before_the_call_returns,
    }
    delivery_history {
        attempts_are_stored_unchanged_and_read_newest_first,
        deliveries_are_packed_and_read_back,
        delivery_history_has_every_attempt_of_an_event,
        webhook_stats_summarise_deliveries,
        stats_of_a_long_history_come_from_the_figures,
        time_range_maps_to_a_sequence_range,
        delivery_history_expires,
        deliveries_of_many_events_are_found_in_one_call,
        events_are_found_by_their_sequences,
    }
    erasure {
        erased_tenant_is_gone_and_others_are_unchanged,
        erased_tenants_id_can_be_reused,
        concurrent_erasures_have_one_winner,
    }
    signing_keys {
        signing_keys_are_stored_unchanged,
        concurrent_additions_add_one_signing_key,
        signing_keys_are_listed_in_order_of_addition,
        deleted_signing_key_is_gone,
        other_master_key_cannot_open_the_store,
        empty_store_is_bound_to_its_master_key,
    }
    invitations {
        invitation_is_stored_unchanged_and_found_by_its_link,
        accepted_invitation_makes_one_account_and_ends,
        operator_gets_the_invited_role,
        developer_joins_the_team,
        invitation_without_an_address_takes_the_chosen_one,
        concurrent_acceptances_make_one_account,
        new_invitation_replaces_the_open_one,
        concurrent_invitations_leave_one_open,
        resent_invitation_has_one_new_link,
        revoked_invitation_cannot_be_accepted,
        address_with_an_account_is_refused,
        invitations_are_listed_by_realm_and_state,
        old_invitations_and_links_are_deleted,
    }
    password_resets {
        reset_sets_the_password_once_and_ends_every_session,
        reset_link_is_for_its_realm_and_expires,
        newer_link_or_password_makes_a_link_void,
        concurrent_uses_of_a_link_set_one_password,
        expired_reset_links_are_deleted,
    }
    operators {
        tokens_are_stored_unchanged_and_found_by_their_secrets,
        tokens_of_one_creator_are_listed_in_pages,
        revoked_token_is_revoked_once_and_frees_its_name,
        last_use_is_recorded_once_a_minute,
        last_admin_stays,
        concurrent_changes_leave_an_admin,
    }
    notices {
        decision_of_somebody_else_is_a_notice,
        checkpoint_tells_the_team_what_the_service_did,
        webhook_that_fails_for_an_hour_is_one_notice,
        webhook_that_is_not_active_does_not_fail,
        failures_are_listed_by_their_beginning,
        keys_and_secrets_that_end_are_notices,
        member_reads_and_chooses,
        mails_are_queued_once_for_active_members,
        list_is_paged_and_bounded,
    }
    mails {
        mail_is_stored_unchanged_and_leased_once,
        mails_are_leased_in_the_order_in_which_they_are_due,
        failed_mail_is_due_again_at_its_time,
        ended_lease_can_be_taken_by_another_node,
        sent_mail_is_never_due_again,
        expired_mail_is_not_sent_and_deleted_later,
        concurrent_nodes_lease_each_mail_once,
        mail_is_queued_once,
    }
    maintenance {
        expiry_removes_only_expired_rows,
        expiry_is_bounded_per_call,
        used_code_is_known_as_long_as_its_grant,
        idempotency_key_in_use_does_not_expire,
        health_reports_queue_and_schema,
        closed_store_refuses_writes,
        writes_acknowledged_before_close_are_stored,
    }
}
