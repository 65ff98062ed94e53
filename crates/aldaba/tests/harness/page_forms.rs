//! The forms of a page as a browser can submit them: with the fields that are filled or chosen, once for each button.

use super::Page;
use super::browser::attribute;

/// A form that posts, and the button that submits it.
#[derive(Clone, Debug)]
pub(crate) struct Submission {
    /// Where it is sent; empty: to the page itself.
    pub(crate) action: String,
    /// The field of the button is the last one.
    pub(crate) fields: Vec<(String, String)>,
}

impl Page {
    /// Every form that posts, once for each of its buttons. Of radio buttons and checkboxes all are filled, of a select the
    /// first option.
    pub(crate) fn submissions(&self) -> Vec<Submission> {
        let mut all = Vec::new();
        for piece in self.text().split("<form").skip(1) {
            let (tag, rest) = piece.split_once('>').unwrap();
            if !tag.contains("method=\"post\"") {
                continue;
            }
            let inside = rest.split("</form>").next().unwrap();
            let (mut fields, mut buttons, mut select) = (Vec::new(), Vec::new(), None);
            for tag in inside.split('<').map(|piece| piece.split('>').next().unwrap()) {
                let value = || attribute(tag, "value").unwrap_or_default();
                match (tag.split(' ').next().unwrap(), attribute(tag, "name")) {
                    ("input", Some(name)) => fields.push((name, value())),
                    ("button", Some(name)) => buttons.push((name, value())),
                    ("textarea", Some(name)) => fields.push((name, String::new())),
                    ("select", name) => select = name,
                    ("option", _) => fields.extend(select.take().map(|name| (name, value()))),
                    _ => {}
                }
            }
            let action = attribute(tag, "action").unwrap_or_default();
            let submission = |fields: Vec<(String, String)>| Submission { action: action.clone(), fields };
            if buttons.is_empty() {
                all.push(submission(fields));
                continue;
            }
            for button in buttons {
                all.push(submission(fields.iter().cloned().chain([button]).collect()));
            }
        }
        all
    }
}
