//! The texts in English.

use domain::Realm;
use maud::html;

use super::{
    AccountText, CodeText, ErrorText, FormPostText, Message, Messages, PermissionsText,
    RedirectAddressesText, ScopesText, SignInText, SignOutText, TenantChoiceText,
};

pub(super) const MESSAGES: Messages = Messages {
    sign_in: SIGN_IN,
    choice: CHOICE,
    scopes: SCOPES,
    code: CODE,
    form_post: FORM_POST,
    sign_out: SIGN_OUT,
    error: ERROR,
    permissions: PERMISSIONS,
    account: ACCOUNT,
    link: super::link::EN,
};

const SIGN_IN: SignInText = SignInText {
    title: "Sign in",
    title_with_error: "Notice: sign in",
    lead: |name| html! { "to continue to " b { (name) } },
    lead_home: |realm| match realm {
        Realm::Users => "to see which applications have access to your data",
        Realm::Developers => "to the developer portal",
        Realm::Operators => "to the operator console",
    },
    username: "Email address",
    password: "Password",
    show_password: "Show password",
    submit: "Sign in",
    forgotten: "Forgot your password? Ask your administrator for a new one.",
    assurance: |name| html! { "Your password is checked here: " (name) " will not see it." },
    wrong: Message {
        title: "We could not sign you in",
        text: "The email address or the password is incorrect. Check both and try again.",
    },
    empty: Message { title: "Something is missing", text: "Enter your email address and your password." },
    expired: Message {
        title: "This page was open for too long",
        text: "It has expired to keep your account safe. Just sign in again.",
    },
    no_cookies: Message {
        title: "Cookies are needed",
        text: "Your browser does not accept cookies from this page. Allow them and try again.",
    },
    busy: "The service is very busy right now",
    busy_wait: |span| html! { "Try again in " (span) "." },
    too_many: "Too many failed attempts",
    too_many_wait: |span| html! { "Wait " (span) " before you try again." },
};

const CHOICE: TenantChoiceText = TenantChoiceText {
    title: "Choose an organisation",
    title_with_error: "Notice: choose an organisation",
    lead: |name| html! { b { (name) } " will work with the data of the organisation that you choose." },
    consent_title: "Allow access",
    consent_heading: |name| html! { (name) " asks for access to your organisation’s data" },
    consent_heading_identity: |name| html! { (name) " asks for access to your data" },
    returns_to: |host| html! { "You will then return to " b { (host) } },
    returns_to_device: "You will then return to the application on this device",
    returns_with_code: "You will then get a code to copy into the application",
    signed_in_as: |email| html! { "Signed in as " (email) },
    other_account: "Use another account",
    allows: "If you allow it, it will be able to:",
    legend: "Of which organisation?",
    legend_of_one: "Organisation",
    short_code: "Code",
    tax_number: "NIF",
    search: "Search organisations",
    search_submit: "Search",
    count: |shown_count, total_count| match (shown_count, total_count) {
        (1, 1) => "1 organisation".to_owned(),
        (shown_count, total_count) if shown_count == total_count => format!("{total_count} organisations"),
        (shown_count, total_count) => format!("{shown_count} of {total_count}"),
    },
    count_cut: |shown_count, total_count| {
        format!("Showing {shown_count} of {total_count}. Search to find the others.")
    },
    none_found: |query| html! { "No organisation matches “" (query) "”." },
    none_found_advice: "Try another part of its name, or its code.",
    last_used: "Last used",
    continue_label: "Continue",
    allow: "Allow",
    deny: "Don’t allow",
    revocable: |page| html! { "You can withdraw this access at any time, in “" (page) "”." },
    nothing_chosen: Message {
        title: "Choose an organisation",
        text: "Select one from the list to continue.",
    },
    not_yours: Message {
        title: "That organisation is not available",
        text: "Your account has no access to it. Choose another one from the list.",
    },
};

const SCOPES: ScopesText = ScopesText {
    identity: |name, email| match (name, email) {
        (false, false) => "Know who you are: the identifier of your account.",
        (true, false) => "Know who you are: your name and your language.",
        (false, true) => "Know who you are: your email address.",
        (true, true) => "Know who you are: your name, your language and your email address.",
    },
    offline_access: Message {
        title: "Keep access while you are away",
        text: "Even while you are not using the application, until you withdraw it.",
    },
    master_data: Message {
        title: "See data about people and companies",
        text: "Master data: persons, legal entities and activities.",
    },
    accounting: Message {
        title: "See the accounting",
        text: "Companies, customers, suppliers, accounts, invoices and journals.",
    },
    management: Message {
        title: "See management data", text: "The organisation’s management information."
    },
    payroll: Message { title: "See payroll companies", text: "The companies whose payroll is managed." },
    webhooks: Message {
        title: "Be notified of changes",
        text: "Receive a notification as soon as data changes.",
    },
};

const CODE: CodeText = CodeText {
    title: "Copy the code",
    heading: |name| html! { "Copy this code into " (name) },
    lead: "Go back to the application and paste it where it asks for it.",
    label: "Code",
    state: "State, if the application asks for it",
    valid: |span| html! { "It is valid for " (span) " and works once. Do not share it with anyone." },
    under_a_minute: "less than a minute",
};

const FORM_POST: FormPostText = FormPostText {
    title: "One moment…",
    lead: "Taking you back to the application. If nothing happens, press Continue.",
    submit: "Continue",
};

const SIGN_OUT: SignOutText = SignOutText {
    again: "Sign in again",
    title: "Sign out",
    heading: "Sign out?",
    requested_by: |name| html! { b { (name) } " has requested it." },
    signed_in_as: |email| html! { "Signed in as " b { (email) } },
    submit: "Sign out",
    cancel: "Cancel and stay signed in",
    done_title: "You are signed out",
    done_text: "You can close this page. On a shared computer, close the browser as well.",
    access_stays: |link| {
        html! { "Applications that you gave access to keep it; you can withdraw it in " (link) "." }
    },
    back: |name| html! { "Back to " (name) },
};

const ERROR: ErrorText = ErrorText {
    reference: "Reference for support",
    details: "Technical details",
    retry: "Try again",
    home: |realm| match realm {
        Realm::Users => "See your applications with access",
        Realm::Developers => "Go to the developer portal",
        Realm::Operators => "Go to the operator console",
    },
    addresses: RedirectAddressesText {
        title: "For developers (in aldaba dev only)",
        sent: "Address that the application sent",
        registered: "Registered addresses",
        none: "None",
        register: "To register it:",
    },
    unknown_client: Message {
        title: "Application not available",
        text: "It is not registered or has been disabled. Please tell whoever maintains it.",
    },
    not_for_sign_in: Message {
        title: "Nobody signs in to this application",
        text: "It is registered as an API that checks tokens, not as an application with users. Please tell whoever maintains the application that sent you here.",
    },
    redirect_missing: Message {
        title: "Return address missing",
        text: "The application did not say where to return after signing in. Please tell whoever maintains it.",
    },
    redirect_unregistered: Message {
        title: "Return address not registered",
        text: "We stopped here to keep you safe: the application wants to return to an address that is not \
               registered. Please tell whoever maintains it.",
    },
    bad_request: Message {
        title: "This request is not valid",
        text: "Something in it is missing or incorrect. Go back to the application and start again.",
    },
    expired: Message {
        title: "Page not available",
        text: "This page cannot be opened directly, or it has expired. Go back to the application and \
               start again.",
    },
    not_found: Message {
        title: "This page does not exist",
        text: "Check the address, or go back to the application that you came from.",
    },
    busy: Message { title: "The service is very busy", text: "Wait a few seconds and reload the page." },
    broken: Message {
        title: "Something went wrong",
        text: "The problem is on our side. Try again in a few minutes and, if it persists, send the reference to \
               support.",
    },
};

const PERMISSIONS: PermissionsText = PermissionsText {
    title: "Applications with access",
    greeting: |name| html! { "Hello, " (name) },
    lead: "They can access data of your organisations in your name. You can withdraw this at any time.",
    none: Message {
        title: "No application has access",
        text: "Once you allow an application to see your data, it appears here.",
    },
    revoked: |name, tenant| html! { (name) " no longer has access to the data of " (tenant) "." },
    revoked_webhooks_go_on: |name, tenant| {
        html! {
            (name) " no longer has access in your name to the data of " (tenant) ". It is still notified of changes, because a colleague has \
            allowed it too."
        }
    },
    can_do: "What it can do",
    since: "With access since",
    last_used: "Last used",
    never_used: "Not yet",
    revoke: "Withdraw access",
    revoke_explanation: |application, tenant| {
        html! {
            b { (application) } " will lose its access to the data of " b { (tenant) }
            " until you allow it again."
        }
    },
    webhooks_stop: "It will no longer be notified of changes either.",
    webhooks_go_on: "It will still be notified of changes, because a colleague has allowed it too. Only an \
                     administrator can withdraw everybody’s access.",
    revoke_submit: "Yes, withdraw access",
    webhooks: "Is notified of changes",
    last_delivery: "last notified:",
    no_delivery: "not yet",
    more_webhooks: |count| html! { "and " (count) " more" },
    colleagues: |count| {
        html! {
            @if count == 1 { "One colleague has given it access." }
            @else { (count) " colleagues have given it access." }
        }
    },
    revoke_for_tenant: "Withdraw everybody’s access",
    revoke_for_tenant_explanation: |application, tenant| {
        html! {
            b { (application) } " will lose its access to the data of " b { (tenant) }
            " and its notifications of changes, whoever allowed them."
        }
    },
    sign_out: "Sign out",
};

const ACCOUNT: AccountText = AccountText {
    title: "Your account",
    to_portal: "Back to the portal",
    lead: |realm| match realm {
        Realm::Users => "Your details, and where you are signed in.",
        Realm::Developers => "Your details as a developer, and where you are signed in to the portal.",
        Realm::Operators => "Your details as an operator, and where you are signed in to the console.",
    },
    profile: "Name and language",
    name: "Name",
    language: "Language",
    save: "Save",
    password: "Password",
    password_note: "A change signs you out everywhere else.",
    current_password: "Current password",
    new_password: "New password",
    repeated_password: "New password again",
    change_password: "Change password",
    sessions: "Where you are signed in",
    sessions_note: "End what you do not recognise, and change your password.",
    this_browser: "This browser",
    unknown_browser: "Unknown browser",
    since: "since",
    end_session: "Sign out",
    end_others: "Sign out everywhere else",
    applications: "See which applications read your data, and withdraw their access",
    profile_saved: "Your details are saved.",
    password_changed: "Your password is changed. You are signed out everywhere else.",
    sessions_ended: "Those sessions have ended.",
    family_name: "Family name (optional)",
    name_refused: "A name has 1 to 200 characters.",
    current_password_wrong: "The current password is incorrect.",
    repetition_differs: "The two new passwords are different.",
    expired: "Nothing was changed. Try again.",
};
