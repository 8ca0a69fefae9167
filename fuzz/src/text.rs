//! Any bytes as graph text. The parser returns a program or an error, and a printed program parses
//! to itself.
#![no_main]

use cotangent::ad::AdContext;
use cotangent::text::Program;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(program) = Program::parse(text, None) else {
        return;
    };
    let once = program.to_string();
    let again = Program::parse(&once, None)
        .unwrap_or_else(|e| panic!("canonical text is not read: {e}\n{once}"));
    assert_eq!(once, again.to_string());
    if let Ok(derived) = program.derive(&AdContext::default()) {
        let text = derived.to_string();
        Program::parse(&text, None)
            .unwrap_or_else(|e| panic!("derived text is not read: {e}\n{text}"));
    }
});
