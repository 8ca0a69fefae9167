//! Constants that a machine decides: `tuning.rs` of each crate.

use crate::{assert_none, sources};
use regex_lite::Regex;

/// Words of a name that are a unit.
const UNITS: &[&str] = &[
    "BYTES",
    "BLOCKS",
    "CALLS",
    "CANDIDATES",
    "CHUNK",
    "CHUNKS",
    "CLASSES",
    "COLUMNS",
    "ELEMENTS",
    "EQUATIONS",
    "ITEMS",
    "LENGTH",
    "LINES",
    "MULTIPLIES",
    "NS",
    "OPERANDS",
    "OPS",
    "OUTPUTS",
    "PERCENT",
    "PIECES",
    "PRODUCTS",
    "PS",
    "ROWS",
    "STEPS",
    "TILES",
    "US",
    "VALUES",
    "VECTORS",
    "WINDOWS",
];

#[test]
fn tuning_constants_name_their_unit() {
    let row = Regex::new(r"(?m)^ +(?:pub |pub\(crate\) )?([A-Z][A-Z0-9_]*): \w+ =").unwrap();
    let (mut bad, mut all) = (Vec::new(), 0);
    for (name, text) in sources() {
        if !name.ends_with("/src/tuning.rs") {
            continue;
        }
        for found in row.captures_iter(&text) {
            all += 1;
            if !found[1].split('_').any(|word| UNITS.contains(&word)) {
                bad.push(format!("{name}: {}", &found[1]));
            }
        }
    }
    assert!(all > 50, "the rows of tuning.rs are found");
    assert_none("tuning constants without a unit", bad);
}

/// A duration cannot decide bits, so a constant that is one is tuning.
#[test]
fn durations_stand_in_tuning() {
    let constant =
        Regex::new(r"^(?:pub(?:\([a-z]+\))? )?const ([A-Z][A-Z0-9_]*): ([\w:]+)").unwrap();
    let mut bad = Vec::new();
    for (name, text) in sources() {
        let kernel = ["crates/kernels/src/", "crates/cpu/src/"];
        if !kernel.iter().any(|folder| name.starts_with(folder)) || name.ends_with("/tuning.rs") {
            continue;
        }
        for (i, line) in text.lines().enumerate() {
            let Some(found) = constant.captures(line) else {
                continue;
            };
            let time = ["NS", "PS", "US", "MS"];
            if found[1].split('_').any(|word| time.contains(&word))
                || found[2].ends_with("Duration")
            {
                bad.push(format!("{name}:{}: {}", i + 1, &found[1]));
            }
        }
    }
    assert_none("durations outside tuning.rs", bad);
}
