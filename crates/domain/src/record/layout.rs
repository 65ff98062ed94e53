//! The order of a body's members. The contract shows the members that the store sets among the writer's own ones for
//! companies, customers and accounts; for every other resource they come last.

use std::borrow::Cow;

use super::{RecordTail, push_member};
use crate::catalogue::Resource;
use crate::json::{self, Object};

/// In front of which of the writer's members a member of the store stands; none: after all of them.
#[derive(Clone, Copy, Default)]
struct Layout {
    state: Option<&'static str>,
    correlation_id: Option<&'static str>,
}

impl Layout {
    fn of(resource: Resource) -> Self {
        if resource == Resource::customers() {
            Self { state: Some("\"vatNumber\":"), correlation_id: Some("\"vatNumberCorrelationId\":") }
        } else if resource == Resource::companies() {
            Self { state: Some("\"chartOfAccountId\":"), correlation_id: None }
        } else if resource == Resource::accounts() {
            Self { state: None, correlation_id: Some("\"code\":") }
        } else {
            Self::default()
        }
    }
}

impl RecordTail<'_> {
    /// The body with these members.
    pub fn body_of(&self, members: &str) -> String {
        let mut layout = Layout::of(self.resource);
        let mut body = String::with_capacity(members.len() + 180);
        body.push('{');
        let mut rest = members;
        // In every layout the state stands before the correlation id.
        for (place, write) in [
            (&mut layout.state, Self::write_state as fn(&Self, &mut String)),
            (&mut layout.correlation_id, Self::write_correlation_id),
        ] {
            *place = place.filter(|next| {
                let Some(at) = find_member(rest, next) else { return false };
                body.push_str(&rest[..at]);
                write(self, &mut body);
                rest = &rest[at..];
                true
            });
        }
        body.push_str(rest);
        if !members.is_empty() {
            body.push(',');
        }
        self.write_end(layout, &mut body);
        body
    }

    /// The writer's members in a body.
    pub fn members_of<'b>(&self, body: &'b str) -> Cow<'b, str> {
        let layout = Layout::of(self.resource);
        self.without_store_members(body, layout)
            // Bodies from before schema 12 have all members of the store at their end.
            .or_else(|| self.without_store_members(body, Layout::default()))
            .unwrap_or_else(|| Cow::Owned(self.parse_members(body)))
    }

    fn without_store_members<'b>(&self, body: &'b str, layout: Layout) -> Option<Cow<'b, str>> {
        let mut end = String::with_capacity(180);
        self.write_end(layout, &mut end);
        let members = body.strip_prefix('{')?.strip_suffix(end.as_str())?;
        let mut members = Cow::Borrowed(members.strip_suffix(',').unwrap_or(members));
        for (place, write) in [
            (layout.state, Self::write_state as fn(&Self, &mut String)),
            (layout.correlation_id, Self::write_correlation_id),
        ] {
            let Some(next) = place else { continue };
            let mut piece = String::with_capacity(80);
            write(self, &mut piece);
            let at = find_member(&members, next)?;
            let start = members[..at].strip_suffix(piece.as_str())?.len();
            members = Cow::Owned(format!("{}{}", &members[..start], &members[at..]));
        }
        Some(members)
    }

    /// For a body in any order of members.
    fn parse_members(&self, body: &str) -> String {
        let mut out = String::with_capacity(body.len());
        if let Ok(object) = Object::parse(body.as_bytes()) {
            let is_own = |name: &str| match name {
                "correlationId" | "version" | "sequenceVersion" => false,
                "state" => !self.resource.has_state(),
                _ => true,
            };
            for (name, value) in object.members().filter(|(name, _)| is_own(name)) {
                push_member(&mut out, name, value);
            }
        }
        out
    }

    fn write_state(&self, out: &mut String) {
        if self.resource.has_state() {
            out.push_str("\"state\":\"");
            out.push_str(self.state.as_str());
            out.push_str("\",");
        }
    }

    fn write_correlation_id(&self, out: &mut String) {
        out.push_str("\"correlationId\":");
        json::write_string(self.correlation_id, out);
        out.push(',');
    }

    /// The members of the store that do not stand among the writer's, and the closing brace.
    fn write_end(&self, layout: Layout, out: &mut String) {
        if layout.correlation_id.is_none() {
            self.write_correlation_id(out);
        }
        if layout.state.is_none() {
            self.write_state(out);
        }
        out.push_str("\"version\":\"");
        out.push_str(&self.version.iso());
        out.push_str("\",\"sequenceVersion\":\"");
        out.push_str(&self.sequence.to_string());
        out.push_str("\"}");
    }
}

/// Where a member begins, given its quoted name with the colon. A quotation mark inside a string is escaped, so a comma
/// directly before one is always between two members.
fn find_member(members: &str, name: &str) -> Option<usize> {
    if members.starts_with(name) {
        return Some(0);
    }
    members.match_indices(name).map(|(at, _)| at).find(|at| members[..*at].ends_with(','))
}

/// The code in the body of an account.
pub fn account_code(body: &str) -> Option<&str> {
    const NAME: &str = "\"code\":";
    let members = body.strip_prefix('{')?;
    let value = members[find_member(members, NAME)? + NAME.len()..].strip_prefix('"')?;
    value.split('"').next()
}
