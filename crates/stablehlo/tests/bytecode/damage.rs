//! Damaged artefacts, and artefacts written here byte by byte: each is a program or an error with
//! an offset, in little time and memory.

use crate::Artefact;
use cotangent_core::{Code, Error, Function, Loc, verify};
use cotangent_stablehlo::read;
use std::path::Path;
use std::time::{Duration, Instant};

/// A pseudorandom number generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn range(&mut self, n: usize, longest: usize) -> std::ops::Range<usize> {
        let from = self.below(n);
        from..(from + 1 + self.below(longest)).min(n)
    }
}

/// Bytes with one to three parts changed.
fn damaged(bytes: &[u8], r: &mut Random) -> Vec<u8> {
    const BYTES: [u8; 10] = [0x00, 0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x7F, 0x80, 0xFF];
    let mut out = bytes.to_vec();
    for _ in 0..=r.below(3) {
        if out.is_empty() {
            break;
        }
        let (to, from) = (r.range(out.len(), 8), r.range(out.len(), 16));
        match r.below(8) {
            0 => out[to.start] ^= 1 << r.below(8),
            1 => out[to.start] = BYTES[r.below(BYTES.len())],
            2 => out[to.start] = r.below(256) as u8,
            // A neighbouring number of one byte.
            3 => out[to.start] = out[to.start].wrapping_add(2),
            4 => out[to.start] = out[to.start].wrapping_sub(2),
            5 => {
                let copy = out[from].to_vec();
                let end = (to.start + copy.len()).min(out.len());
                out[to.start..end].copy_from_slice(&copy[..end - to.start]);
            }
            6 => {
                let copy = out[from].to_vec();
                out.splice(to.start..to.start, copy);
            }
            _ => drop(out.drain(to)),
        }
    }
    out
}

/// Reads and lowers all functions of bytes. Whether the main function could be read.
fn check(bytes: &[u8]) -> bool {
    let is_located = |e: &Error| {
        let known = !matches!(e.loc(), Loc::None) || e.code() == Code::Input;
        assert!(known, "{e} has no offset");
    };
    let valid = |f: &Function| verify(f).unwrap_or_else(|e| panic!("{e}"));
    match read(bytes, None) {
        Ok(module) => {
            valid(module.main());
            for name in module.names() {
                match module.function(name) {
                    Ok(f) => valid(&f),
                    Err(e) => is_located(&e),
                }
            }
            true
        }
        Err(e) => {
            is_located(&e);
            false
        }
    }
}

/// The number in a variable of the environment, or a default.
fn variable(default: usize, name: &str) -> usize {
    let number = std::env::var(name).ok().and_then(|v| v.parse().ok());
    number.unwrap_or(default)
}

#[test]
fn truncated_artefacts_are_errors_with_an_offset() {
    for a in Artefact::all() {
        for n in 0..a.bytes.len() {
            // The module of an export may be complete before its last bytes.
            let is_read = check(&a.bytes[..n]);
            assert!(
                !is_read || a.path.extension().unwrap() == "jax_export",
                "{n} bytes"
            );
        }
    }
}

#[test]
fn artefacts_with_one_byte_replaced_are_programs_or_errors_with_an_offset() {
    let mut r = Random(3);
    for name in [
        "effects-1.17.0.mlirbc",
        "training-1.17.0.mlirbc",
        "loops-0.9.0.mlirbc",
    ] {
        let bytes = Artefact::named(name).bytes;
        for at in 0..bytes.len() {
            for byte in [0x00, 0xFF, r.below(256) as u8] {
                let mut changed = bytes.clone();
                changed[at] = byte;
                check(&changed);
            }
        }
    }
}

#[test]
fn damaged_artefacts_are_programs_or_errors_with_an_offset() {
    let (mut r, all) = (Random(11), Artefact::all());
    let mut programs = 0;
    for k in 0..4_000 {
        programs += usize::from(check(&damaged(&all[k % all.len()].bytes, &mut r)));
    }
    assert!(
        programs > 100,
        "{programs} of the damaged artefacts are programs"
    );
}

/// `MUTANTS=1000000 cargo test -p cotangent-stablehlo --test bytecode -- --ignored --nocapture`
///
/// Mutants that fail are files in the folder of the target, and the run continues.
#[test]
#[ignore = "takes minutes: damages artefacts a million times"]
fn a_million_damaged_artefacts_need_little_time_and_memory() {
    const MAX_TIME: Duration = Duration::from_millis(50);
    const MAX_KIB: usize = 64 << 10;
    let all = Artefact::all();
    let mut r = Random(variable(17, "SEED") as u64);
    all.iter().for_each(|a| _ = check(&a.bytes));
    let before = status("VmRSS:");
    let (mut programs, mut longest, mut bad) = (0, Duration::ZERO, Vec::new());
    for k in 0..variable(100_000, "MUTANTS") {
        let bytes = damaged(&all[k % all.len()].bytes, &mut r);
        let time = || {
            let start = Instant::now();
            let is_read = std::panic::catch_unwind(|| check(&bytes));
            (start.elapsed(), is_read)
        };
        let (mut took, is_read) = time();
        // Other processes may interrupt a run.
        for _ in 0..4 {
            if took > MAX_TIME {
                took = took.min(time().0);
            }
        }
        let peak = before.zip(status("VmHWM:")).map_or(0, |(a, b)| b - a);
        if took > MAX_TIME || is_read.is_err() || peak > MAX_KIB {
            let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("mutant{k}"));
            std::fs::write(&path, &bytes).unwrap();
            println!("{} takes {took:?}, {peak} KiB", path.display());
            bad.push(k);
            assert!(peak <= MAX_KIB, "{peak} KiB");
        }
        longest = longest.max(took);
        programs += usize::from(is_read.is_ok_and(|is_read| is_read));
    }
    let peak = before.zip(status("VmHWM:")).map(|(a, b)| b - a);
    println!("{programs} programs; at most {longest:?} and {peak:?} KiB");
    assert!(bad.is_empty(), "mutants {bad:?}");
}

/// A number of KiB in the status of this process, on Linux.
fn status(name: &str) -> Option<usize> {
    let all = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = all.lines().find_map(|l| l.strip_prefix(name))?;
    line.trim().trim_end_matches(" kB").parse().ok()
}

/// Bytecode of version 6 from the contents of its sections.
#[derive(Default)]
struct Writer {
    strings: Vec<&'static str>,
    /// Attributes: the number of the dialect (0: builtin, 1: vhlo) and the bytes.
    attributes: Vec<(u8, Vec<u8>)>,
    types: Vec<(u8, Vec<u8>)>,
    /// Names of operations in the dialect VHLO, as numbers of strings. Operation 0 is the module.
    names: Vec<u8>,
    properties: Vec<Vec<u8>>,
    operations: Vec<u8>,
}

/// A number in the encoding of varints.
fn varint(n: u64) -> Vec<u8> {
    match n {
        0..0x80 => vec![(n << 1 | 1) as u8],
        _ => [&[0][..], &n.to_le_bytes()].concat(),
    }
}

impl Writer {
    fn bytes(&self, producer: &str) -> Vec<u8> {
        let mut out = [b"ML\xEFR".as_slice(), &varint(6), producer.as_bytes(), &[0]].concat();
        let mut section = |id: u8, data: &[u8]| {
            out.push(id);
            out.extend(varint(data.len() as u64));
            out.extend(data);
        };
        let strings = [&["builtin", "vhlo", "module"], &self.strings[..]].concat();
        let mut data = varint(strings.len() as u64);
        strings
            .iter()
            .rev()
            .for_each(|s| data.extend(varint(s.len() as u64 + 1)));
        strings
            .iter()
            .for_each(|s| data.extend([s.as_bytes(), &[0]].concat()));
        section(0, &data);
        let mut data = varint(2);
        [0, 1].iter().for_each(|&d| data.extend(varint(d << 1)));
        data.extend(varint(1 + self.names.len() as u64));
        data.extend([varint(0), varint(1), varint(2 << 1)].concat());
        data.extend([varint(1), varint(self.names.len() as u64)].concat());
        self.names
            .iter()
            .for_each(|&n| data.extend(varint((u64::from(n) + 3) << 1)));
        section(1, &data);
        let (mut all, mut sizes) = (Vec::new(), Vec::new());
        sizes.extend(varint(self.attributes.len() as u64));
        sizes.extend(varint(self.types.len() as u64));
        for (dialect, bytes) in self.attributes.iter().chain(&self.types) {
            let size = varint((bytes.len() as u64) << 1 | 1);
            sizes.extend([varint((*dialect).into()), varint(1), size].concat());
            all.extend(bytes);
        }
        section(2, &all);
        section(3, &sizes);
        section(4, &self.operations);
        let mut data = varint(self.properties.len() as u64);
        self.properties
            .iter()
            .for_each(|p| data.extend([varint(p.len() as u64), p.clone()].concat()));
        section(8, &data);
        out
    }

    /// A program: `@main` returns a value of type tensor<2xf32> that `body` computes from its
    /// parameter. `body` has `ops` operations and defines `values` values.
    fn program(name: &'static str, ops: u64, values: u64, body: &[u8]) -> Writer {
        let list = |v: &[u64]| v.iter().flat_map(|&n| varint(n)).collect::<Vec<u8>>();
        let mut w = Writer {
            strings: vec![
                "func_v1",
                "return_v1",
                name,
                "main",
                "",
                "f.py",
                "jit(f)/mystery",
            ],
            names: vec![0, 1, 2],
            ..Writer::default()
        };
        // Types: f32, tensor<2xf32>, its function.
        w.types = vec![
            (1, varint(4)),
            (1, list(&[20, 1, 4, 0])),
            (1, list(&[8, 1, 1, 1, 1])),
        ];
        // Attributes: location; name, type, no attributes, visibility; location in a file.
        w.attributes = vec![
            (0, varint(15)),
            (1, list(&[14, 6])),
            (1, list(&[17, 2])),
            (1, list(&[1, 0])),
            (1, list(&[14, 7])),
            (0, list(&[2, 8])),
            (0, list(&[2, 9])),
            (0, list(&[11, 5, 12, 3])),
            (0, list(&[14, 6, 7])),
        ];
        w.properties = vec![list(&[3, 2, 3, 1, 4])];
        // The function's block: one argument, `body`, return of the last value.
        let block = [
            list(&[1, 1 + values, (ops + 1) << 1 | 1, 1, 1 << 1]),
            vec![0],
            body.to_vec(),
            list(&[2]),
            vec![0x04],
            list(&[0, 1, values]),
        ]
        .concat();
        let function = [list(&[1]), vec![0x50], list(&[0, 0, 1 << 1]), block].concat();
        let module = [
            list(&[0]),
            vec![0x10],
            list(&[0, 1 << 1, 1, 0, 1 << 1]),
            function,
        ]
        .concat();
        w.operations = [list(&[1 << 1]), module].concat();
        w
    }
}

/// An operation of one operand and one result: its number, location and operand.
fn unary(op: u64, location: u64, operand: u64) -> Vec<u8> {
    let fields = [location, 1, 1, 1, operand]
        .into_iter()
        .flat_map(varint)
        .collect();
    [varint(op), vec![0x06], fields].concat()
}

fn error(bytes: &[u8]) -> Error {
    read(bytes, Some("a.mlirbc")).map(|_| ()).unwrap_err()
}

#[test]
fn bytecode_written_by_hand_is_a_program() {
    let w = Writer::program("abs_v1", 1, 1, &unary(3, 0, 0));
    assert!(
        check(&w.bytes("StableHLO_v1.17.0")),
        "{}",
        error(&w.bytes(""))
    );
    // `compare_v1` needs its attributes, `sine_v1` is an older version of `sine_v2`.
    let w = Writer::program("sine_v1", 1, 1, &unary(3, 0, 0));
    assert!(check(&w.bytes("StableHLO_v1.0.0")));
}

#[test]
fn an_unknown_operation_is_an_error_with_its_line_and_version() {
    let w = Writer::program("mystery_v1", 1, 1, &unary(3, 8, 0));
    let e = error(&w.bytes("StableHLO_v1.99.0"));
    assert_eq!(e.code(), Code::UnknownOperation);
    let text = e.to_string();
    assert!(text.starts_with("a.mlirbc:byte "), "{text}");
    assert!(
        text.contains("the operation `mystery_v1` is not supported"),
        "{text}"
    );
    assert!(text.contains("in jit(f)/mystery, f.py:12"), "{text}");
    assert!(text.contains("written by StableHLO 1.99"), "{text}");
    // Where it is not used by the main function, it is no error of that.
    let mut unused = Writer::program("mystery_v1", 1, 1, &unary(3, 8, 0));
    unused.strings[2] = "negate_v1";
    assert!(check(&unused.bytes("")));
}

#[test]
fn an_undefined_value_is_an_error() {
    for operand in [1, 2, 1 << 40] {
        let w = Writer::program("abs_v1", 1, 1, &unary(3, 0, operand));
        let e = error(&w.bytes(""));
        assert_eq!(e.code(), Code::UnknownName, "{e}");
    }
}

#[test]
fn counts_that_exceed_the_file_are_errors() {
    let huge = varint(1 << 60);
    let mut w = Writer::program("abs_v1", 1, 1, &unary(3, 0, 0));
    w.attributes.push((1, [varint(1), huge.clone()].concat()));
    w.attributes[3] = (1, [varint(1), huge.clone()].concat());
    assert!(error(&w.bytes("")).message().contains("cannot be in"));
    let mut w = Writer::program("abs_v1", 1, 1, &unary(3, 0, 0));
    w.types[1].1 = [varint(20), huge.clone()].concat();
    assert!(error(&w.bytes("")).message().contains("cannot be in"));
    for at in 0..9 {
        let mut body = unary(3, 0, 0);
        if at < body.len() {
            body.splice(at..at + 1, huge.clone());
        }
        check(&Writer::program("abs_v1", 1, 1, &body).bytes(""));
    }
}

#[test]
fn attributes_that_contain_themselves_are_errors() {
    let mut w = Writer::program("abs_v1", 1, 1, &unary(3, 0, 0));
    // The attributes of the arguments are a list of itself.
    w.attributes[3] = (1, [varint(1), varint(1), varint(3)].concat());
    assert!(error(&w.bytes("")).message().contains("contains itself"));
    let mut w = Writer::program("abs_v1", 1, 1, &unary(3, 0, 0));
    w.types[0] = (1, [varint(1), varint(0)].concat());
    assert!(error(&w.bytes("")).message().contains("contains itself"));
}

#[test]
fn shared_attributes_do_not_grow_without_bound() {
    let mut w = Writer::program("abs_v1", 1, 1, &unary(3, 0, 0));
    // Lists of two lists of two lists ..
    w.attributes[3] = (1, [1, 2, 9, 9].into_iter().flat_map(varint).collect());
    for k in 0..30 {
        let next = [1, 2, 10 + k, 10 + k].into_iter().flat_map(varint);
        w.attributes.push((1, next.collect()));
    }
    w.attributes
        .push((1, [1, 0].into_iter().flat_map(varint).collect()));
    let e = error(&w.bytes(""));
    assert_eq!(e.code(), Code::Limit, "{e}");
    for k in 30..200 {
        let last = w.attributes.len() - 1;
        let next = [1, 1, 10 + k].into_iter().flat_map(varint);
        w.attributes.insert(last, (1, next.collect()));
    }
    assert_eq!(error(&w.bytes("")).code(), Code::Limit);
}

#[test]
fn deeply_nested_regions_are_an_error() {
    // `case` in `case` ..: each has a region of one block with one operation.
    let mut body = Vec::new();
    for _ in 0..1_000_000 {
        let region = [1, 0, 1 << 1].into_iter().flat_map(varint);
        body.extend(
            [
                varint(3),
                vec![0x10],
                varint(0),
                varint(1 << 1),
                region.collect(),
            ]
            .concat(),
        );
    }
    let e = error(&Writer::program("case_v1", 1, 0, &body).bytes(""));
    assert_eq!(e.code(), Code::Limit, "{e}");
}

#[test]
fn a_newer_bytecode_is_an_error() {
    let mut bytes = Writer::program("abs_v1", 1, 1, &unary(3, 0, 0)).bytes("");
    bytes[4] = varint(7)[0];
    assert_eq!(error(&bytes).code(), Code::Limit);
}
