//! Any bytes as StableHLO text. The reader returns a graph that verifies, or an error with a
//! position. A graph is then written and read again.
#![no_main]

use cotangent::stablehlo::{read, write};
use cotangent::verify::verify;
use cotangent::{Code, Loc};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let module = match read(text, None) {
        Ok(m) => m,
        Err(e) => {
            assert!(
                e.loc() != Loc::None || e.code() == Code::Input,
                "{e} has no place"
            );
            return;
        }
    };
    let main = module.main();
    verify(main).unwrap_or_else(|e| panic!("{e}"));
    let Ok(again) = write(std::slice::from_ref(main)) else {
        return;
    };
    read(&again, None).unwrap_or_else(|e| panic!("what was written is not read: {e}\n{again}"));
});
