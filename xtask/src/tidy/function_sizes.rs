//! Finds functions and their ends by counting braces, which is enough once strings and comments are removed.

use super::rust_lexer::{code_only, is_word, word_at};

/// A function with a body: from the line of its `fn` to the line of its closing brace.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) lines: usize,
}

/// Every function of a source file, including nested ones.
pub(super) fn functions(source: &str) -> Vec<Function> {
    let code = code_only(source);
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while at < code.len() {
        if !is_word(code[at]) {
            line += usize::from(code[at] == '\n');
            at += 1;
            continue;
        }
        let word = word_at(&code, at);
        at += word.len();
        if word != ['f', 'n'] {
            continue;
        }
        let start = skip_space(&code, at);
        let name = word_at(&code, start);
        if let (false, Some(end)) = (name.is_empty(), body_end(&code, start + name.len())) {
            let lines = 1 + code[at..end].iter().filter(|c| **c == '\n').count();
            found.push(Function { name: name.iter().collect(), line, lines });
        }
    }
    found
}

/// The index after the closing brace of the body that follows a function's name; None if it has no body.
fn body_end(code: &[char], mut at: usize) -> Option<usize> {
    let mut inside = 0_usize;
    let mut before = ' ';
    loop {
        let here = *code.get(at)?;
        match here {
            '(' | '[' => inside += 1,
            // The end of a macro's argument: this is not a function.
            ')' | ']' => inside = inside.checked_sub(1)?,
            ';' if inside == 0 => return None,
            // `Array<{ N }>` in the signature.
            '{' if inside > 0 || before == '<' => {
                at = braces_end(code, at)?;
                before = '}';
                continue;
            }
            '{' => return braces_end(code, at),
            _ => {}
        }
        if !here.is_whitespace() {
            before = here;
        }
        at += 1;
    }
}

/// The index after the brace that closes the one at `open`.
fn braces_end(code: &[char], open: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, here) in code[open..].iter().enumerate() {
        match here {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(open + offset + 1);
        }
    }
    None
}

fn skip_space(code: &[char], at: usize) -> usize {
    at + code[at..].iter().take_while(|c| c.is_whitespace()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Name, line and lines of every function.
    fn found_functions(source: &str) -> Vec<(String, usize, usize)> {
        functions(source).into_iter().map(|function| (function.name, function.line, function.lines)).collect()
    }

    fn check(source: &str, expected: &[(&str, usize, usize)]) {
        let expected: Vec<_> =
            expected.iter().map(|(name, line, lines)| ((*name).to_owned(), *line, *lines)).collect();
        assert_eq!(found_functions(source), expected, "{source}");
    }

    #[test]
    fn functions_run_from_fn_to_the_closing_brace() {
        check("fn a() {}\n\npub async fn b(\n    x: u8,\n) -> u8 {\n    x\n}\n", &[("a", 1, 1), ("b", 3, 5)]);
        check("impl A {\n    fn a() {\n        fn b() {\n        }\n    }\n}\n", &[("a", 2, 4), ("b", 3, 2)]);
    }

    #[test]
    fn functions_need_a_body_and_a_name() {
        check("trait A {\n    fn a(&self) -> [u8; 4];\n    fn b() { }\n}\n", &[("b", 3, 1)]);
        check("struct A { run: fn(u8) -> u8 }\ntype B = fn();\nlet r#fn = 1; { }\n", &[]);
        check("macro_rules! m { ($name:ident) => { fn $name() { } }; }\nlet fns = 1; { }\n", &[]);
        check("m!(fn a, fn b); { }\n", &[]);
    }

    #[test]
    fn raw_identifiers_are_names() {
        check("fn r#type() {\n}\nfn r#fn() {\n\n}\n", &[("type", 1, 2), ("fn", 3, 3)]);
    }

    #[test]
    fn braces_in_a_signature_are_not_the_body() {
        check(
            "fn a<const N: usize>() -> [u8; { N }]\nwhere\n    A<{ N }>: B,\n{\n    x\n}\n",
            &[("a", 1, 6)],
        );
    }

    #[test]
    fn strings_are_not_code() {
        check("fn a() {\n    \"}\\\"}\";\n    b\"}\";\n}\n", &[("a", 1, 4)]);
        check("fn a() {\n    r\"}\\\";\n    br##\"}\"# fn b() {} \"##;\n    c\"{\";\n}\n", &[("a", 1, 5)]);
        check("const A: &str = \"\nfn b() {\n}\n\";\nfn c() {}\n", &[("c", 5, 1)]);
        check("let bar = 1;\nlet s = r#\"\"quoted\" {\"#;\nfn a() {}\n", &[("a", 3, 1)]);
    }

    #[test]
    fn characters_are_not_code_but_lifetimes_are() {
        check(
            "fn a<'a>(x: &'a str) -> &'a str {\n    x.split('{'); '\\''; b'}'; '\"'; '\\u{7d}'\n}\n",
            &[("a", 1, 3)],
        );
        check(
            "fn a(x: &'static str) { 'outer: loop { break 'outer; } }\nfn b() {}\n",
            &[("a", 1, 1), ("b", 2, 1)],
        );
    }

    #[test]
    fn comments_are_not_code() {
        check("/// fn no() {\nfn a() {\n    // } it's\n    /* } /* } */ } \" */\n}\n", &[("a", 2, 4)]);
    }

    #[test]
    fn incomplete_source_does_not_panic() {
        for source in ["fn", "fn a", "fn a(", "fn a() {", "\"", "'", "r#\"", "/*", "fn a() { '\\", "r#", "b'"]
        {
            assert!(found_functions(source).is_empty(), "{source}");
        }
    }
}
