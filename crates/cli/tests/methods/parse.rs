//! Signatures of methods in sources that `rustfmt` has formatted.

/// A method of a trait, or of a type.
#[derive(Clone, Debug)]
pub(crate) struct Method {
    pub name: String,
    /// Lines of its documentation.
    pub doc: Vec<String>,
    /// Whether it has a receiver.
    pub receiver: bool,
    /// Further parameters: name and type.
    pub params: Vec<(String, String)>,
    /// The type of its result.
    pub result: String,
}

/// Parts of a list that are separated by commas outside brackets.
fn split(list: &str) -> Vec<String> {
    let (mut depth, mut parts) = (0, vec![String::new()]);
    for c in list.chars() {
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' | ']' | '>' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(c);
    }
    let parts = parts.iter().map(|p| p.trim().to_owned());
    parts.filter(|p| !p.is_empty()).collect()
}

/// A signature from `name` to the brace of its body.
fn method(signature: &str, doc: Vec<String>) -> Method {
    let signature = signature.split_whitespace().collect::<Vec<_>>().join(" ");
    let (name, rest) = signature.split_once('(').expect("parameters");
    let name = name.split('<').next().unwrap_or(name);
    let (params, result) = rest.rsplit_once(") -> ").expect("a result");
    let result = result.split(" where ").next().unwrap_or(result);
    let mut params = split(params);
    let receiver = params.first().is_some_and(|p| p.ends_with("self"));
    if receiver {
        params.remove(0);
    }
    let typed = |p: String| {
        let (name, ty) = p.split_once(": ").expect("a type");
        (name.to_owned(), ty.to_owned())
    };
    Method {
        name: name.to_owned(),
        doc,
        receiver,
        params: params.into_iter().map(typed).collect(),
        result: result.to_owned(),
    }
}

/// The methods of the traits of a source.
pub(crate) fn methods_of(text: &str) -> Vec<Method> {
    let Some(at) = text.find("pub trait ") else {
        return Vec::new();
    };
    let (mut found, mut doc) = (Vec::new(), Vec::new());
    let mut lines = text[at..].lines();
    while let Some(line) = lines.next() {
        let line = line.trim_start();
        if let Some(d) = line.strip_prefix("///") {
            doc.push(d.trim().to_owned());
        } else if let Some(start) = line.strip_prefix("fn ") {
            let mut signature = start.to_owned();
            while !signature.ends_with('{') {
                signature.push(' ');
                signature.push_str(lines.next().expect("a body").trim());
            }
            let signature = signature.trim_end_matches('{').trim();
            found.push(method(signature, std::mem::take(&mut doc)));
        } else if !line.starts_with('#') {
            doc.clear();
        }
    }
    found
}

/// The methods of the table of linear algebra (`functions!`): documentation, name, whether there is
/// a second operand, parameters, and number of results.
pub(crate) fn linear_algebra(text: &str) -> Vec<Method> {
    let (_, rows) = text.split_once("$make! {\n").expect("a table");
    let (rows, _) = rows.split_once("\n    };").expect("its end");
    let (mut found, mut doc) = (Vec::new(), Vec::new());
    for line in rows.lines().map(str::trim) {
        if let Some(text) = line.strip_prefix('"') {
            doc = vec![text.trim_end_matches(['"', ';']).to_owned()];
            continue;
        }
        let Some((name, rest)) = line.split_once(" [").filter(|_| !doc.is_empty()) else {
            continue;
        };
        let (second, rest) = rest.split_once("] (").expect("parameters");
        let (params, rest) = match rest.split_once(") 1") {
            Some((params, _)) => (params, "1"),
            None => rest.split_once(") ").expect("a number of results"),
        };
        let result = match rest.chars().next() {
            Some('1') => "Self",
            Some('2') => "(Self, Self)",
            _ => "(Self, Self, Self)",
        };
        let second = match second {
            "" => String::new(),
            name => format!("{name}: &Self, "),
        };
        let signature = format!("{name}(&self, {second}{params}) -> Result<{result}, Self::Error>");
        found.push(method(&signature, std::mem::take(&mut doc)));
    }
    found
}

/// Names of public methods in `impl` blocks of a type.
pub(crate) fn public_methods(text: &str, of: &str) -> Vec<String> {
    let mut names = Vec::new();
    for block in text.split(&format!("\nimpl {of} {{")).skip(1) {
        let block = block.split("\n}").next().unwrap();
        for line in block.lines() {
            if let Some(rest) = line.strip_prefix("    pub fn ") {
                names.extend(rest.split(['(', '<']).next().map(str::to_owned));
            }
        }
    }
    names
}

/// Names of public functions and methods that return a `Result`, and whether they are marked
/// `#[track_caller]`.
pub(crate) fn fallible(text: &str) -> Vec<(String, bool)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (k, line) in lines.iter().enumerate() {
        let Some(start) = line.trim_start().strip_prefix("pub fn ") else {
            continue;
        };
        let ends = |l: &&str| l.trim_end().ends_with(['{', ';']);
        let length = lines[k..].iter().take_while(|l| !ends(l)).count() + 1;
        let signature = lines[k..][..length].join(" ");
        let result = signature.rsplit(" -> ").next().unwrap_or_default();
        if !result.trim_start().starts_with("Result<") {
            continue;
        }
        let attributes = lines[..k].iter().rev().map(|l| l.trim());
        let marked = attributes
            .take_while(|l| l.starts_with("#[") || l.starts_with("//"))
            .any(|l| l == "#[track_caller]");
        let name = start.split(['(', '<']).next().unwrap_or_default();
        found.push((name.to_owned(), marked));
    }
    found
}
