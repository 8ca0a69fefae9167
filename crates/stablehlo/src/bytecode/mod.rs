//! Reader of StableHLO bytecode to [`ast`](crate::ast): portable artefacts, which are MLIR bytecode
//! with operations of the dialect VHLO, alone or in artefacts of `jax.export`.
//!
//! `cursor` reads numbers and ranges, `file` the sections, `entries` attributes and types, and `ir`
//! operations. `operations` is the table of VHLO, and
//! `attributes` writes its attributes as those of StableHLO. Positions are offsets in the file.
//! Memory is proportional to the size of the file, and recursion is limited.

mod attributes;
mod cursor;
mod entries;
mod export;
mod file;
mod ir;
mod location;
mod operations;

use crate::ast::ParsedModule;
use cotangent_core::{Code, Error, Loc, Result};
use entries::Entries;
use export::Export;
use file::{File, MAGIC};

/// The newest version of StableHLO whose operations are known.
const NEWEST_STABLEHLO: (u32, u32) = (1, 20);

/// The module in a file.
fn module(bytes: &[u8]) -> Option<Export<'_>> {
    if bytes.starts_with(&MAGIC) {
        return Some(Export {
            at: 0,
            module: bytes,
            platforms: Vec::new(),
        });
    }
    export::module(bytes)
}

/// Reads bytecode.
pub(crate) fn read(bytes: &[u8]) -> Result<ParsedModule<'_>> {
    let Some(export) = module(bytes) else {
        let text = "this is neither StableHLO text nor bytecode: its bytes are not UTF-8, and it has no module that starts with the bytes 4D 4C EF 52";
        return Err(Error::new(Code::Syntax, text).at(Loc::Byte(0)));
    };
    let platform = match export.platforms.len() {
        0 | 1 => None,
        _ => {
            let cpu = export.platforms.iter().position(|p| *p == b"cpu");
            let Some(cpu) = cpu else {
                let all: Vec<String> = export
                    .platforms
                    .iter()
                    .map(|p| String::from_utf8_lossy(p).into_owned())
                    .collect();
                let text = format!(
                    "this artefact is for the platforms {}: export it for `cpu`, too",
                    all.join(", ")
                );
                return Err(Error::new(Code::Input, text).at(Loc::Byte(0)));
            };
            Some(cpu as i64)
        }
    };
    ir::module(Entries::new(File::new(export.module, export.at)?), platform)
}

/// The error with the location of its operation in the program that was compiled.
pub(crate) fn locate(e: Error, bytes: &[u8]) -> Error {
    let Loc::Byte(at) = e.loc() else { return e };
    let Some(export) = module(bytes) else {
        return e;
    };
    let Ok(file) = File::new(export.module, export.at) else {
        return e;
    };
    let is_unknown = e.code() == Code::UnknownOperation;
    let e = match file.operations.starting_at(at) {
        Some(at) => location::note(&file, at, e),
        None => e,
    };
    match written_by(file.producer).filter(|v| is_unknown && *v > NEWEST_STABLEHLO) {
        Some((major, minor)) => {
            let (known, newest) = NEWEST_STABLEHLO;
            e.note(format!(
                "written by StableHLO {major}.{minor}; operations up to {known}.{newest} are known"
            ))
        }
        None => e,
    }
}

/// The version of StableHLO in the name of a writer, such as `StableHLO_v1.17.0`.
fn written_by(producer: &[u8]) -> Option<(u32, u32)> {
    let version = std::str::from_utf8(producer).ok()?.split_once("_v")?.1;
    let mut parts = version.split('.').map(|n| n.parse().ok());
    Some((parts.next()??, parts.next()??))
}
