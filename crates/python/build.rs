//! Options of the linker for a small wheel, where it takes them, and the instruction sets that the
//! extension is compiled for, as a file of the wheel.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env, fs};

/// Options of lld, the linker of rustc on x86-64 Linux; gold has the first.
const OPTIONS: [&str; 2] = [
    // Merges functions of equal machine code: those of several element types often are. Nothing
    // here compares addresses of functions.
    "-Wl,--icf=all",
    // Similar functions are beside each other: the wheel, which is compressed, is 8 % smaller.
    "-Wl,--bp-compression-sort=both",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    for option in OPTIONS {
        if takes(option) == Some(true) {
            println!("cargo::rustc-link-arg-cdylib={option}");
        }
    }
    let folder = env::var_os("OUT_DIR").expect("cargo sets it");
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    fs::write(Path::new(&folder).join("cpu_features.txt"), features).expect("OUT_DIR is writable");
}

/// Whether an empty library links with this option.
fn takes(option: &str) -> Option<bool> {
    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc
        .args(["-", "--crate-name", "trial", "--crate-type", "cdylib"])
        .args(["-C", &format!("link-arg={option}")])
        .arg("--target")
        .arg(env::var_os("TARGET")?)
        .arg("--out-dir")
        .arg(Path::new(&env::var_os("OUT_DIR")?));
    if let Ok(linker) = env::var("RUSTC_LINKER") {
        rustc.args(["-C", &format!("linker={linker}")]);
    }
    if let Ok(flags) = env::var("CARGO_ENCODED_RUSTFLAGS") {
        rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    }
    let quiet = rustc
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Some(quiet.status().ok()?.success())
}
