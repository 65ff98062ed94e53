//! The pages of the portal and the console: a shell with navigation, panels, tables, charts and text to copy. Pages load two
//! stylesheets and one script, all of this host; without the script everything works but copying, live updates and local
//! times.

mod chart;
mod shell;
mod split;
mod table;
mod text;

pub use chart::{Chart, ChartPoint, chart, in_groups, meter};
pub use shell::{Brand, NavGroup, NavItem, Shell, app_page, plain_app_page};
pub use split::{SplitPart, split};
pub use table::{Cell, Column, Table, table};
pub use text::{
    State, copy_block, copy_button, copy_inline, copy_lines, download_button, empty_state, fact_lines, facts,
    id_end, number, parts_code, parts_name, percent, prose, short_id, state, tabs,
};
