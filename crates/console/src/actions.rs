//! The one list of what the console's forms do. A form that names another action is refused; one that names a dangerous action
//! is accepted from somebody who has just proved who they are. Tests try every action in every role.

use operator::admin::Permission;
use pages::PageError;

use crate::{accounts, applications, audit, data, operations, overview, webhooks};

/// What a button of a page does.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    /// The page's path, as in the list of routes.
    pub page: &'static str,
    /// The value of the button.
    pub name: &'static str,
    /// What the function behind it requires.
    pub permission: Permission,
    /// Whether it destroys, gives access or reveals.
    pub is_dangerous: bool,
}

impl Action {
    pub(crate) const fn new(page: &'static str, name: &'static str, permission: Permission) -> Self {
        Self { page, name, permission, is_dangerous: false }
    }

    pub(crate) const fn dangerous(page: &'static str, name: &'static str, permission: Permission) -> Self {
        Self { page, name, permission, is_dangerous: true }
    }
}

/// Every action.
pub fn console_actions() -> Vec<Action> {
    let areas = [
        overview::ACTIONS,
        applications::ACTIONS,
        accounts::ACTIONS,
        data::ACTIONS,
        webhooks::ACTIONS,
        audit::ACTIONS,
        operations::ACTIONS,
    ];
    areas.into_iter().flatten().copied().collect()
}

/// The action of a page's form.
pub(crate) fn action_of(page: &str, name: &str) -> Result<Action, PageError> {
    let found = console_actions().into_iter().find(|action| action.page == page && action.name == name);
    found.ok_or_else(PageError::no_action)
}
