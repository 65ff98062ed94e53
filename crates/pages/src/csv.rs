//! Tables as CSV (RFC 4180), for spreadsheets and scripts.

/// A table of texts.
#[derive(Clone, Debug, Default)]
pub struct Csv {
    /// Names the file, without its extension.
    pub name: &'static str,
    pub columns: Vec<&'static str>,
    pub rows: Vec<Vec<String>>,
}

impl Csv {
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        line(&mut text, self.columns.iter().copied());
        for row in &self.rows {
            line(&mut text, row.iter().map(String::as_str));
        }
        text
    }
}

fn line<'a>(text: &mut String, cells: impl Iterator<Item = &'a str>) {
    for (index, cell) in cells.enumerate() {
        if index > 0 {
            text.push(',');
        }
        push_cell(text, cell);
    }
    text.push_str("\r\n");
}

/// A cell that begins like a formula gets an apostrophe: spreadsheets would run it.
fn push_cell(text: &mut String, cell: &str) {
    let is_formula = cell.starts_with(['=', '+', '-', '@', '\t', '\r']) && cell.parse::<f64>().is_err();
    let prefix = if is_formula { "'" } else { "" };
    if cell.contains([',', '"', '\n', '\r']) {
        text.push('"');
        text.push_str(prefix);
        text.push_str(&cell.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(prefix);
        text.push_str(cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_quoted_and_formulas_defused() {
        let csv = Csv {
            name: "x",
            columns: vec!["a", "b"],
            rows: vec![
                vec!["1,5".into(), "say \"hi\"".into()],
                vec!["=1+1".into(), "-3".into()],
                vec!["-x".into(), "ñ".into()],
            ],
        };
        assert_eq!(csv.to_text(), "a,b\r\n\"1,5\",\"say \"\"hi\"\"\"\r\n'=1+1,-3\r\n'-x,ñ\r\n");
    }
}
