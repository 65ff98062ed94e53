//! What the pages say in English.

use maud::html;

use super::{Code, Error, FormPost, Permissions, RadioOption, Said, Scopes, SignIn, SignOut, Words};

pub(super) const WORDS: Words = Words {
    sign_in: SIGN_IN,
    choice: CHOICE,
    scopes: SCOPES,
    code: CODE,
    form_post: FORM_POST,
    sign_out: SIGN_OUT,
    error: ERROR,
    permissions: PERMISSIONS,
};

const SIGN_IN: SignIn = SignIn {
    title: "Sign in",
    title_with_problem: "Notice: sign in",
    lead: |name| html! { "to continue to " b { (name) } },
    lead_permissions: "to see which applications have access to your data",
    username: "Email address",
    password: "Password",
    submit: "Sign in",
    forgotten: "Forgotten your password? Ask whoever manages your account.",
    assurance: |name| html! { "Your password is checked here: " (name) " will not see it." },
    wrong: Said {
        title: "We could not sign you in",
        text: "The email address or the password is not right. Check both and try again.",
    },
    wrong_is_slow: "After several failed attempts, each answer takes a few seconds longer.",
    empty: Said { title: "Something is missing", text: "Enter your email address and your password." },
    expired: Said {
        title: "This page was open for too long",
        text: "It has expired to keep your account safe. Just sign in again.",
    },
    no_cookies: Said {
        title: "Cookies are needed",
        text: "Your browser does not accept cookies from this page. Allow them and try again.",
    },
    busy: "We are very busy right now",
    busy_wait: |span| html! { "Try again in " (span) "." },
    too_many: "Too many attempts from your network",
    too_many_wait: |span| {
        html! { "The limit is on the network, not on your account: wait " (span) " before you try again." }
    },
};

const CHOICE: RadioOption = RadioOption {
    title: "Choose an organisation",
    title_with_problem: "Notice: choose an organisation",
    lead: |name| html! { b { (name) } " will work with the data of the organisation that you choose." },
    consent_title: "Allow access",
    consent_heading: |name| html! { (name) " asks for access to your data" },
    signed_in_as: |email| html! { "Signed in as " (email) },
    other_account: "Use another account",
    allows: "If you allow it, it will be able to:",
    legend: "For which organisation?",
    search: "Search organisations",
    search_submit: "Search",
    count: |shown, total| match (shown, total) {
        (1, 1) => "1 organisation".to_owned(),
        (shown, total) if shown == total => format!("{total} organisations"),
        (shown, total) => format!("{shown} of {total}"),
    },
    count_cut: |shown, total| format!("Showing {shown} of {total}. Search to find the others."),
    none_found: |query| html! { "No organisation matches “" (query) "”." },
    none_found_advice: "Try another part of its name, or its code.",
    recent: "Recent",
    go_on: "Continue",
    allow: "Allow",
    deny: "Don’t allow",
    revocable: "You can take this access back at any time.",
    nothing_chosen: Said { title: "Choose an organisation", text: "Select one from the list to continue." },
    not_yours: Said {
        title: "That organisation is not available",
        text: "Your account has no access to it. Choose another one from the list.",
    },
};

const SCOPES: Scopes = Scopes {
    openid: Said { title: "Know who you are", text: "The identifier of your account." },
    offline_access: Said {
        title: "Keep its access",
        text: "Also while you are not using the application, until you take it back.",
    },
    offline_access_alone: "Keep access when you are away",
    profile: Said { title: "See your name and language", text: "Your name and the language that you use." },
    email: Said { title: "See your email address", text: "The address that you sign in with." },
    id_info: Said { title: "See your profile", text: "Name and email address." },
    master_data: Said {
        title: "See data of people and companies",
        text: "The basics: persons, legal entities and activities.",
    },
    accounting: Said {
        title: "See the accounting",
        text: "Companies, customers, suppliers, accounts, invoices and journals.",
    },
    management: Said { title: "See management data", text: "The organisation’s management information." },
    payroll: Said { title: "See payroll companies", text: "The companies whose payroll is managed." },
    webhooks: Said { title: "Be told about changes", text: "Know at once when data changes." },
};

const CODE: Code = Code {
    title: "Copy the code",
    heading: |name| html! { "Copy this code into " (name) },
    lead: "Go back to the application and paste it where it asks for it.",
    label: "Code",
    valid: |span| html! { "It is valid for " (span) " and works once. Do not share it with anyone." },
    under_a_minute: "less than a minute",
};

const FORM_POST: FormPost = FormPost {
    title: "One moment…",
    lead: "Taking you back to the application. If nothing happens, press Continue.",
    submit: "Continue",
};

const SIGN_OUT: SignOut = SignOut {
    title: "Sign out",
    heading: "Sign out?",
    asked_by: |name| html! { b { (name) } " has asked for it." },
    signed_in_as: |email| html! { "Signed in as " b { (email) } },
    submit: "Sign out",
    or_stay: "If you would rather stay signed in, just leave this page.",
    done_title: "You are signed out",
    done_text: "You can close this page. On a shared computer, close the browser as well.",
    access_stays: |link| {
        html! { "Applications that you gave access to keep it; you can take it back in " (link) "." }
    },
    back: |name| html! { "Back to " (name) },
};

const ERROR: Error = Error {
    reference: "Reference for support",
    details: "Technical details",
    unknown_client: Said {
        title: "Application not available",
        text: "It is not registered or has been disabled. Please tell whoever maintains it.",
    },
    redirect_missing: Said {
        title: "Return address missing",
        text: "The application did not say where to return after signing in. Please tell whoever maintains it.",
    },
    redirect_unregistered: Said {
        title: "Return address not registered",
        text: "We stopped here to keep you safe: the application wants to return to an address that is not \
               registered. Please tell whoever maintains it.",
    },
    bad_request: Said {
        title: "This request is not valid",
        text: "Something in it is missing or not as it should be. Go back to the application and start again.",
    },
    expired: Said {
        title: "Page not available",
        text: "This page cannot be opened directly, or it has expired. Go back to the application and \
               start again.",
    },
    not_found: Said {
        title: "This page does not exist",
        text: "Check the address, or go back to the application that you came from.",
    },
    busy: Said {
        title: "We are very busy",
        text: "The service has a lot to do right now. Wait a few seconds and reload the page.",
    },
    broken: Said {
        title: "Something went wrong",
        text: "The problem is on our side. Try again in a few minutes and, if it goes on, send the reference to \
               support.",
    },
};

const PERMISSIONS: Permissions = Permissions {
    title: "Applications with access",
    greeting: |name| html! { "Hello, " (name) },
    lead: "They have access to data of your organisations in your name. You can take it back at any time.",
    none: Said {
        title: "No application has access",
        text: "Once you allow an application to see your data, it appears here.",
    },
    revoked: |name| html! { (name) " no longer has access." },
    tenant: "Organisation",
    since: "With access since",
    last_used: "Last used",
    never_used: "Not yet",
    revoke: "Remove access",
    revoke_means: |application, tenant| {
        html! {
            b { (application) } " will lose its access to the data of " b { (tenant) }
            " until you allow it again."
        }
    },
    revoke_submit: "Yes, remove",
    sign_out: "Sign out",
};
