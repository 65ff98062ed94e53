//! The list of all stories. Each is told once and played on every store that it is for.

mod database;
mod desk;
mod stage;
mod webhook_fixtures;

mod applications;
mod audit;
mod changes;
mod checkpoints;
mod codes;
mod companies;
mod directory;
mod erasure;
mod history;
mod idempotency;
mod invalidation;
mod lists;
mod live;
mod log;
mod maintenance;
mod own;
mod pages;
mod parallel;
mod payroll;
mod payroll_model;
mod payroll_since;
mod refresh;
mod refusals;
mod revisions;
mod seats;
mod secrets;
mod sessions;
mod shards;
mod tails;
mod transitions;
mod usage;
mod webhooks;
mod withdrawal;

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
                use super::super::$room;
                use crate::suite::{play, stage::Kind};

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

mod durable;

stories! {
    changes {
        customers_live_until_they_are_disabled,
        journals_live_until_they_are_deleted,
        companies_can_be_disabled_and_deleted,
        company_data_is_only_ever_updated,
        a_record_carries_the_number_and_the_version_of_its_entry,
        versions_grow_while_the_clock_stands_or_jumps_back,
        numbers_count_from_one_in_every_tenant,
        what_changes_nothing_leaves_no_trace,
        an_entry_keeps_all_that_was_said,
        a_batch_sees_its_own_earlier_lines,
        an_id_is_deleted_and_made_again_within_a_batch,
        any_text_can_be_an_id,
    }
    refusals {
        refused_lines_are_named_and_the_others_kept,
        a_batch_of_nothing_good_leaves_no_trace,
        an_account_length_holds_from_its_line_on,
        a_failure_of_no_company_is_nobodys,
        nobody_writes_or_reads_for_a_tenant_that_is_not_there,
    }
    companies {
        a_deleted_company_takes_its_records_along,
        a_company_made_again_starts_empty_and_stays_whole,
        a_company_is_deleted_and_made_again_within_a_batch,
        nobody_sees_what_belongs_to_another,
        companies_are_listed_in_order_of_creation,
    }
    own {
        a_payroll_company_has_the_writers_last_update_or_the_commits,
        a_payroll_company_that_says_the_same_is_left_alone,
        a_payroll_company_is_deleted_by_its_code,
        invoicing_tells_what_changed,
        the_tenants_own_records_have_pages_too,
    }
    log {
        the_log_is_read_in_order_and_in_pages,
        events_filter_the_log,
        a_company_filters_the_log_to_its_own_generation,
        what_is_old_is_pruned_and_the_floor_rises,
        who_is_not_further_behind_than_what_is_kept_loses_nothing,
    }
    parallel {
        a_follower_misses_nothing_while_many_write,
        requests_that_are_joined_get_their_own_answers,
        a_caller_who_goes_away_takes_nothing_along,
        a_change_that_breaks_down_harms_nobody,
    }
    pages {
        pages_match_a_model_whatever_was_deleted,
        a_page_past_the_end_is_empty,
        a_page_tells_where_the_log_stood,
        a_page_and_its_total_are_of_one_moment,
    }
    payroll {
        every_operator_works_on_every_field,
        and_binds_tighter_than_or_and_not_tightest,
        functions_look_into_texts_as_they_are,
        an_empty_text_is_in_every_text,
        no_sign_has_a_meaning_of_its_own,
        texts_compare_by_their_bytes,
        a_nul_is_in_no_text_and_below_all_that_follow,
        orders_go_up_and_down_and_end_with_the_code,
        pages_of_a_filter_join_to_the_whole,
        a_filter_sees_nothing_of_another_tenant,
        what_was_updated_or_deleted_matches_as_it_is_now,
        a_filtered_page_tells_where_the_log_stood,
        a_filtered_page_and_its_total_are_of_one_moment,
        the_longest_and_the_deepest_filters_are_answered,
    }
    payroll_since {
        what_changed_since_is_right_however_often_it_is_asked,
    }
    payroll_model {
        every_filter_and_order_means_what_the_model_says,
    }
    idempotency {
        a_key_remembers_how_far_its_request_has_come,
        another_line_under_a_key_applies_nothing,
        of_two_requests_under_one_key_one_wins,
        a_tally_survives_the_programs_end,
        errors_are_listed_by_line_and_counted_beyond_the_list,
    }
    codes {
        a_code_is_taken_once_and_its_second_use_revokes,
        of_many_takers_one_gets_the_code,
        another_client_neither_takes_nor_burns_a_code,
        an_expired_code_is_spent,
        a_code_that_is_judged_bad_is_spent,
        codes_and_grants_are_never_overwritten,
        a_judge_that_panics_harms_nobody,
        a_grant_is_revoked_once,
    }
    refresh {
        tokens_follow_one_another_to_an_absolute_end,
        tokens_slide_where_the_caller_says_so,
        a_lost_answer_is_found_again_within_the_grace,
        a_grant_lives_as_long_as_its_last_token,
        many_rotations_of_one_token_find_one_successor,
        a_token_used_again_after_the_grace_ends_the_grant,
        a_token_used_again_after_its_successor_ends_the_grant,
        another_successor_for_a_used_token_ends_the_grant,
        a_token_is_its_clients_alone,
        a_revoked_grant_ends_its_tokens,
    }
    live {
        a_grant_dies_with_what_it_stands_on,
        a_grant_comes_back_with_what_it_stands_on,
        a_user_sees_live_grants_last_used_first,
        a_refresh_token_is_looked_up_without_being_used,
    }
    withdrawal {
        what_a_client_may_do_for_a_user_is_taken_back,
        nothing_else_is_taken_back,
        of_many_who_withdraw_one_revokes,
        a_code_that_is_just_taken_is_taken_back_too,
        a_withdrawal_that_breaks_down_takes_nothing_back,
    }
    sessions {
        a_session_lives_until_it_expires,
        a_new_session_replaces_the_browsers_old_one,
        a_session_is_never_overwritten,
        a_session_ends_once,
        a_new_password_ends_the_users_sessions,
    }
    audit {
        records_are_kept_as_given_newest_first,
        every_filter_finds_its_records,
        a_filter_of_nobody_finds_nothing,
        a_nul_keeps_nothing_out_of_the_audit,
        pages_follow_one_another_through_ties,
        what_many_record_at_once_is_all_kept,
        a_code_leaves_its_grant_and_its_reuse_in_the_audit,
        a_reuse_names_a_grant_that_is_gone,
        refreshing_and_its_misuse_are_in_the_audit,
        a_revocation_says_why,
        what_was_undone_is_not_in_the_audit,
    }
    seats {
        a_seat_is_found_whole,
        a_membership_alone_is_no_seat,
        open_seats_come_last_used_first_then_by_name,
        a_choice_is_kept_with_its_code,
    }
    lists {
        tenants_are_listed_in_pages,
        users_are_listed_in_pages,
        clients_are_listed_in_pages,
        subscriptions_are_listed_in_pages,
        memberships_of_one_user_are_listed_in_pages,
    }
    revisions {
        a_tenant_is_updated_at_its_revision_only,
        a_user_is_updated_at_its_revision_only,
        a_client_is_updated_at_its_revision_only,
        a_subscription_is_updated_at_its_revision_only,
        concurrent_updates_of_one_revision_succeed_once,
        a_user_is_added_with_all_memberships_or_not_at_all,
    }
    directory {
        tenants_are_kept_as_given,
        users_are_kept_as_given,
        memberships_are_kept_as_given,
    }
    applications {
        clients_are_kept_as_given,
        a_client_secret_is_replaced_with_an_overlap,
        subscriptions_are_found_by_either_key,
        keys_are_rotated_slot_by_slot,
        development_credentials_are_kept_in_plain,
    }
    usage {
        calls_add_up_by_day_and_route,
        what_many_count_at_once_is_all_counted,
        old_counts_are_cleared_away,
        a_key_remembers_its_last_use,
        a_quota_is_set_and_taken_back,
        a_cancelled_subscription_is_over,
        nodes_are_counted_while_they_are_heard_of,
    }
    invalidation {
        a_change_moves_its_tenants_records,
        whoever_loses_access_is_looked_up_anew,
    }
    webhooks {
        a_new_webhook_is_kept_as_given_and_awaits_its_contract,
        a_nul_in_a_body_is_no_obstacle,
        the_same_body_is_the_same_webhook,
        of_many_who_subscribe_at_once_one_makes_it,
        an_owner_has_so_many_and_no_more,
        subscribing_again_enables_what_rests,
        after_an_unsubscribe_the_same_body_makes_a_new_one,
        webhooks_are_listed_in_the_order_of_their_making,
        a_webhook_is_changed_by_its_owner_alone,
        an_erased_tenant_leaves_no_webhook,
    }
    transitions {
        enabling_an_active_one_changes_nothing,
        who_rested_resumes_from_the_next_event,
        who_rested_before_its_contract_starts_with_it,
        what_was_given_up_resumes_from_what_was_not_delivered,
        a_new_address_waits_for_a_new_handshake,
        a_secret_is_replaced_with_an_overlap,
        no_two_live_ones_become_alike,
        an_end_is_final,
        what_the_audit_is_told_comes_with_the_change_or_not_at_all,
    }
    checkpoints {
        a_cursor_only_ever_moves_forward,
        each_point_is_judged_for_itself,
        a_change_by_its_owner_outdates_what_the_engine_knew,
        a_contract_is_made_once,
        a_new_contract_goes_on_where_the_old_one_ended,
        losses_are_joined,
        hundreds_of_points_are_one_checkpoint,
        replays_are_followed_to_their_end,
        what_many_write_at_once_is_all_written,
    }
    shards {
        a_node_alone_holds_every_shard_and_keeps_its_fences,
        a_shard_changes_hands_with_a_new_fence,
        nodes_share_the_shards_out,
        a_silent_nodes_shards_are_taken_when_its_lease_ends,
    }
    tails {
        a_tail_is_one_resources_events_in_order,
        reading_on_costs_what_is_read_and_not_what_lies_behind,
        a_records_events_are_found_by_themselves,
        a_shards_webhooks_are_read_page_by_page,
        what_moved_is_told_in_the_order_of_commits,
        heads_are_told_of_tenants_that_have_webhooks,
        whoever_is_disabled_has_its_webhooks_rest,
        the_bell_rings_before_the_answer,
    }
    history {
        attempts_are_kept_as_given_newest_first,
        deliveries_are_packed_and_read_back,
        all_is_known_of_one_events_delivery,
        an_outlook_tells_how_a_webhook_does,
        a_span_of_time_is_a_span_of_numbers,
        history_has_its_time,
        deliveries_of_many_events_are_found_at_once,
        events_are_found_by_their_sequences,
    }
    erasure {
        an_erased_tenant_is_gone_and_another_is_not,
        an_erased_tenants_id_can_be_taken_anew,
        of_many_who_erase_one_did_it,
    }
    secrets {
        signing_keys_come_back_whole,
        of_many_who_add_a_signing_key_one_does,
        signing_keys_are_in_the_order_of_adding,
        a_forgotten_signing_key_is_gone,
        another_master_key_opens_nothing,
        an_empty_store_has_its_master_key_too,
    }
    maintenance {
        what_is_past_goes_and_nothing_else,
        what_is_past_goes_a_few_at_a_time,
        a_used_code_is_known_as_long_as_its_grant,
        a_key_that_is_used_again_lives_on,
        a_store_tells_that_it_is_well,
        a_closed_store_takes_nothing_more,
        what_was_answered_before_the_end_is_kept,
    }
}
