//! The public interface of the crate, as a text. `BLESS=1` writes it.

use std::fs;
use std::path::Path;

/// A source without comments, and with each item on one line.
fn items(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|l| !l.starts_with("//"));
    let text = lines.collect::<Vec<_>>().join(" ");
    let ends = |c: char| c == ';' || c == '}';
    let mut items = Vec::new();
    let (mut depth, mut item) = (0, String::new());
    for c in text.chars() {
        item.push(c);
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 && ends(c) {
            items.push(std::mem::take(&mut item).trim().to_owned());
        }
    }
    items
}

/// Names that a `use` item exports.
fn exported(list: &str) -> Vec<String> {
    let list = list.trim_end_matches(';').trim();
    let (path, names) = match list.split_once('{') {
        Some((path, names)) => (path, names.trim_end_matches(['}', ' '])),
        None => list.rsplit_once("::").unwrap_or(("", list)),
    };
    let name = |n: &str| {
        let n = n.trim();
        let n = n.rsplit(" as ").next().unwrap_or(n);
        match n {
            "*" => format!("{}*", path.trim_end_matches(':').to_owned() + "::"),
            n => n.to_owned(),
        }
    };
    names
        .split(',')
        .filter(|n| !n.trim().is_empty())
        .map(name)
        .collect()
}

/// The public names of a file of re-exports, sorted: `hidden` ones are not documented.
fn public(path: &str) -> Vec<String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(path);
    let mut names = Vec::new();
    for item in items(&fs::read_to_string(file).unwrap()) {
        let hidden = item.contains("#[doc(hidden)]");
        let Some(at) = item
            .find("pub ")
            .filter(|&k| k == 0 || item.starts_with("#["))
        else {
            continue;
        };
        let item = &item[at + "pub ".len()..];
        let found = match item.split_once(' ') {
            Some(("use", list)) => exported(list),
            Some(("mod" | "fn" | "type", rest)) => {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                vec![rest[..end.unwrap_or(rest.len())].to_owned()]
            }
            _ => panic!("{path}: {item}"),
        };
        names.extend(found.into_iter().map(|n| match hidden {
            true => format!("{n} (hidden)"),
            false => n,
        }));
    }
    names.sort();
    names
}

#[test]
fn the_public_interface_is_the_list_that_was_reviewed() {
    let mut text = String::new();
    let files = [
        ("cotangent", "lib.rs"),
        ("cotangent::ad", "ad.rs"),
        ("cotangent::extend", "extend.rs"),
        ("cotangent::methods", "methods/mod.rs"),
        ("cotangent::runtime", "runtime.rs"),
    ];
    for (module, file) in files {
        text += &format!("{module}\n");
        for name in public(file) {
            assert!(name != "cotangent_core::*", "{file} exports the whole core");
            text += &format!("  {name}\n");
        }
    }
    let blessed = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/names/api.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&blessed, &text).unwrap();
    }
    let want = fs::read_to_string(&blessed).unwrap_or_default();
    assert!(
        want == text,
        "tests/names/api.txt is not this list (BLESS=1 writes it):\n{text}"
    );
}

/// Authors of operations need one module, and users see one context of derivatives.
#[test]
fn one_name_means_one_type() {
    use cotangent::{C64, C128, Complex32, Complex64, extend};
    fn same<T: 'static, U: 'static>() {
        assert_eq!(std::any::TypeId::of::<T>(), std::any::TypeId::of::<U>());
    }
    same::<cotangent::AdContext, cotangent::ad::AdContext>();
    same::<cotangent::AdContext, cotangent::transform::AdContext>();
    same::<cotangent::ad::AdContextBuilder, cotangent::transform::AdContextBuilder>();
    same::<extend::Val, cotangent::Val>();
    same::<extend::RuleSet, cotangent::ad::RuleSet>();
    same::<extend::View, cotangent::cpu::View>();
    same::<Complex32, C64>();
    same::<Complex64, C128>();
    let context = cotangent::AdContext::default().with_rules(extend::RuleSet::default());
    assert!(!context.numerics.strong_zero);
}

/// Errors of eager tensors convert to the error of the crate with their code, and back.
#[test]
fn errors_convert_both_ways() {
    use cotangent::{Code, EagerRuntime, Tensor, ad};
    fn mixed() -> cotangent::Result<Tensor> {
        let (x, y) = (
            EagerRuntime::new().scalar(1.0)?,
            EagerRuntime::new().scalar(2.0)?,
        );
        match x.add(&y).unwrap_err() {
            ad::Error::ContextMismatch { lhs, rhs } => {
                assert!(lhs == x.ctx_id() && rhs == y.ctx_id());
            }
            e => panic!("{e}"),
        }
        Ok(x.add(&y)?.to_tensor()?)
    }
    assert_eq!(mixed().unwrap_err().code(), Code::ForeignValue);
    fn eager() -> ad::Result<Tensor> {
        Ok(Tensor::vector(vec![1.0]).reshape([2])?)
    }
    assert_eq!(eager().unwrap_err().code(), Code::ShapeMismatch);
}
