//! The text form: arguments of `Program::parse_extended`.

use crate::Pattern;
use crate::SparseOp::{self, *};
use cotangent_core::ops::{Entry, OpaqueEntry, Spelled};
use cotangent_core::{Attrs, Code, Error, Op, OpaqueType, Result};

/// The operations.
pub fn operations() -> Vec<Entry> {
    let entry = |name, doc, parse| Entry {
        name,
        doc,
        parse,
        samples: |_| Vec::new(),
    };
    vec![
        entry("sparse.zero", "The zero of a type.", |s| typed(s, Zero)),
        entry("sparse.add", "The sum of two matrices.", |_| Ok(Add.into())),
        entry("sparse.scale", "A matrix times a number.", |_| {
            Ok(Scale.into())
        }),
        entry("sparse.dot", "The inner product of two matrices.", |_| {
            Ok(Dot.into())
        }),
        entry("sparse.from_blocks", "The matrix with these blocks.", |s| {
            typed(s, FromBlocks)
        }),
        entry("sparse.blocks", "The blocks of a matrix.", |_| {
            Ok(Blocks.into())
        }),
        entry(
            "sparse.matmul",
            "A matrix times a vector or a dense matrix.",
            |s| {
                let transposed = s.attrs.opt("transposed")?.unwrap_or(false);
                Ok(Matmul { transposed }.into())
            },
        ),
        entry(
            "sparse.sampled_outer",
            "The blocks of an outer product.",
            |s| typed(s, SampledOuter),
        ),
    ]
}

fn typed(s: &mut Spelled<'_>, op: fn(OpaqueType) -> SparseOp) -> Result<Op> {
    Ok(op(s.attrs.get("type")?).into())
}

/// The type `!sparse.matrix`.
pub fn types() -> Vec<OpaqueEntry> {
    let parse = |a: &mut Attrs| {
        let blocks: Vec<Vec<usize>> = a.get("blocks")?;
        let pair = |b: &Vec<usize>| match b[..] {
            [i, j] => Ok((i, j)),
            _ => Err(Error::new(Code::Attribute, "a block is `[row, column]`")),
        };
        let blocks = blocks.iter().map(pair).collect::<Result<Vec<_>>>()?;
        Pattern::declare(a.get("rows")?, a.get("columns")?, a.get("block")?, &blocks)
    };
    vec![OpaqueEntry {
        name: "sparse.matrix",
        doc: "A matrix of which some blocks differ from zero.",
        parse,
    }]
}
