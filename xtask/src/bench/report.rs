//! The figures of a benchmark, as a table or as one line of JSON.

use serde_json::Value;

/// The figures of one bench on one store.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    pub bench: String,
    pub store: String,
    pub figures: Vec<Figure>,
}

/// One measured value with its limit and goal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    pub name: String,
    pub value: f64,
    pub unit: String,
    /// What the machine reaches without the program, measured in the same run.
    pub limit: Option<f64>,
    /// The value divided by the limit.
    pub ratio: Option<f64>,
    pub goal: Option<f64>,
    /// Whether the goal was met: the bench knows if more or less is better.
    pub met: Option<bool>,
}

/// The columns; text is aligned left, numbers right.
const HEADINGS: [&str; 7] = ["figure", "value", "unit", "limit", "ratio", "goal", "met"];

impl Report {
    /// Parses the output of `json`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text.trim()).map_err(|error| error.to_string())?;
        let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let figures = value["figures"].as_array().ok_or("the report has no figures")?;
        let figure = |figure: &Value| Figure {
            name: word(&figure["name"]),
            value: figure["value"].as_f64().unwrap_or(f64::NAN),
            unit: word(&figure["unit"]),
            limit: figure["limit"].as_f64(),
            ratio: figure["ratio"].as_f64(),
            goal: figure["goal"].as_f64(),
            met: figure["met"].as_bool(),
        };
        Ok(Self {
            bench: word(&value["bench"]),
            store: word(&value["store"]),
            figures: figures.iter().map(figure).collect(),
        })
    }

    /// The names of the figures that missed their goal.
    pub fn missed(&self) -> impl Iterator<Item = &str> {
        self.figures.iter().filter(|figure| figure.met == Some(false)).map(|figure| figure.name.as_str())
    }

    /// One object on one line; absent values are null.
    pub fn json(&self) -> String {
        let figures: Vec<String> = self.figures.iter().map(Figure::json).collect();
        let (bench, store) = (Value::from(self.bench.as_str()), Value::from(self.store.as_str()));
        format!(r#"{{"bench":{bench},"store":{store},"figures":[{}]}}"#, figures.join(","))
    }

    pub fn table(&self) -> String {
        let mut rows = vec![HEADINGS.map(str::to_owned)];
        rows.extend(self.figures.iter().map(Figure::cells));
        let widths: [usize; HEADINGS.len()] = std::array::from_fn(|column| {
            rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
        });
        let mut text = format!("{} on {}", self.bench, self.store);
        for row in rows {
            let cells = row.iter().zip(widths).zip(HEADINGS).map(|((cell, width), heading)| match heading {
                "figure" | "unit" => format!("  {cell:<width$}"),
                _ => format!("  {cell:>width$}"),
            });
            text = text + "\n" + cells.collect::<String>().trim_end();
        }
        text
    }
}

impl Figure {
    fn json(&self) -> String {
        let (name, unit) = (Value::from(self.name.as_str()), Value::from(self.unit.as_str()));
        let [value, limit, ratio, goal] =
            [Some(self.value), self.limit, self.ratio, self.goal].map(Value::from);
        let met = Value::from(self.met);
        format!(
            r#"{{"name":{name},"value":{value},"unit":{unit},"limit":{limit},"ratio":{ratio},"goal":{goal},"met":{met}}}"#
        )
    }

    fn cells(&self) -> [String; HEADINGS.len()] {
        let met = self.met.map_or("", |met| if met { "yes" } else { "NO" });
        let optional = |number: Option<f64>| number.map_or_else(String::new, format_number);
        [
            self.name.clone(),
            format_number(self.value),
            self.unit.clone(),
            optional(self.limit),
            optional(self.ratio),
            optional(self.goal),
            met.to_owned(),
        ]
    }
}

/// Two decimals below 100; thousands separators above.
fn format_number(number: f64) -> String {
    if number.abs() < 100.0 {
        return format!("{number:.2}");
    }
    let digits = format!("{number:.0}");
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits.as_str()), |digits| ("-", digits));
    let mut text = sign.to_owned();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) && number.is_finite() {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        let with_goal = Figure {
            name: "pages".into(),
            value: 61_234.5,
            unit: "1/s".into(),
            limit: Some(74_000.0),
            ratio: Some(0.83),
            goal: Some(0.8),
            met: Some(true),
        };
        let bare = Figure { name: "p99 \"hot\"".into(), value: 1.25, unit: "ms".into(), ..Figure::default() };
        Report { bench: "reads".into(), store: "sqlite".into(), figures: vec![with_goal, bare] }
    }

    #[test]
    fn json_is_one_object_with_null_for_absent_values() {
        assert_eq!(
            report().json(),
            concat!(
                r#"{"bench":"reads","store":"sqlite","figures":["#,
                r#"{"name":"pages","value":61234.5,"unit":"1/s","limit":74000.0,"ratio":0.83,"goal":0.8,"met":true},"#,
                r#"{"name":"p99 \"hot\"","value":1.25,"unit":"ms","limit":null,"ratio":null,"goal":null,"met":null}]}"#
            )
        );
        assert!(serde_json::from_str::<Value>(&report().json()).is_ok());
    }

    #[test]
    fn table_is_aligned() {
        let expected = "\
reads on sqlite
  figure      value  unit   limit  ratio  goal  met
  pages      61,234  1/s   74,000   0.83  0.80  yes
  p99 \"hot\"    1.25  ms";
        assert_eq!(report().table(), expected);
    }

    #[test]
    fn numbers_are_formatted_for_people() {
        let formatted = [0.5, 99.994, 100.4, 1_234_567.0, -1_234.0, f64::INFINITY].map(format_number);
        assert_eq!(formatted, ["0.50", "99.99", "100", "1,234,567", "-1,234", "inf"]);
    }
}
