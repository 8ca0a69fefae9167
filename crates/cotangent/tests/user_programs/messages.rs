//! Messages of the compiler for typical mistakes.

use std::path::PathBuf;
use std::process::Command;

/// The newest compiled form of the crate `cotangent` beside this test.
fn library() -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let found = std::fs::read_dir(here.parent().unwrap()).unwrap().flatten();
    let is_library = |p: &PathBuf| {
        let name = p.file_name().unwrap().to_string_lossy();
        name.starts_with("libcotangent-") && name.ends_with(".rlib")
    };
    let mut all: Vec<PathBuf> = found.map(|e| e.path()).filter(is_library).collect();
    all.sort_by_key(|p| p.metadata().unwrap().modified().unwrap());
    all.pop().expect("this test is linked with it")
}

/// The messages of the compiler for a program, which it refuses.
fn refused(name: &str, program: &str) -> String {
    let library = library();
    let folder =
        std::env::temp_dir().join(format!("cotangent_messages_{}_{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("program.rs");
    std::fs::write(&file, program).unwrap();
    let rustc = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    let done = Command::new(rustc)
        .args([
            "--edition",
            "2024",
            "--crate-type",
            "lib",
            "--emit",
            "metadata",
        ])
        .arg("--out-dir")
        .arg(&folder)
        .arg("-L")
        .arg(format!(
            "dependency={}",
            library.parent().unwrap().display()
        ))
        .arg("--extern")
        .arg(format!("cotangent={}", library.display()))
        .arg(&file)
        .output()
        .unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    let text = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(!done.status.success(), "{text}");
    text
}

#[test]
fn the_message_for_a_field_that_is_no_tree_names_fixed() {
    let text = refused(
        "field",
        "use cotangent::closures::{Tree, grad};
use cotangent::TracedTensor;
#[derive(Tree)]
pub struct Power { pub base: TracedTensor, pub times: usize }
pub fn slope(p: Power) -> Power { grad(|p: Power| p.base)(p).unwrap() }
",
    );
    assert!(text.contains("`usize` is not a tree of tensors"), "{text}");
    assert!(
        text.contains("a field that holds no tensor is marked `#[tree(fixed)]`"),
        "{text}"
    );
    // It points to the type of the field.
    assert!(text.contains("program.rs:4:55"), "{text}");
}

#[test]
fn the_message_for_an_argument_that_is_no_tree_names_its_type() {
    let text = refused(
        "argument",
        "use cotangent::closures::grad;
pub fn f() { let _ = grad(|x: f64| cotangent::TracedTensor::scalar(x))(1.0); }
",
    );
    assert!(text.contains("`f64` is not a tree of tensors"), "{text}");
}

#[test]
fn the_messages_for_closures_and_operands_say_the_way_out() {
    let head = "use cotangent::{TracedTensor as T, closures::grad};\npub fn f(x: T) -> T { ";
    for (name, body, wants) in [
        (
            "two_arguments",
            "grad(|a: T, b: T| a * b)((x.clone(), x)).unwrap().0",
            [
                "closure is expected to take 1 argument",
                "it takes 2 arguments",
            ],
        ),
        (
            "no_type",
            "grad(|x| x.sin())(x).unwrap()",
            [
                "type annotations needed",
                "consider giving this closure parameter an explicit type",
            ],
        ),
        (
            "moved",
            "x * x.sin()",
            ["borrow of moved value: `x`", "clone"],
        ),
    ] {
        let text = refused(name, &format!("{head}{body} }}\n"));
        for want in wants {
            assert!(text.contains(want), "{text}");
        }
    }
}
