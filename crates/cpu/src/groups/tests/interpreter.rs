//! The meaning of groups: an interpreter that runs a block of rows after the other. Inline members
//! are computed when they are read, and those of a block are forgotten after it.

use crate::groups::form::{Member, NestGroup, Storage};
use crate::nests::nest::{Nest, Nests, What};
use crate::nests::tests::interpreter::{Arithmetic, Interpreter, indices};
use cotangent_core::{Array, Env, Result};

/// The number of rows of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum BlockRows {
    All,
    Of(usize),
}

/// Runs groups on arguments, in blocks of this number of rows. Also returns the extents of symbols.
pub(super) fn interpret(
    nests: &Nests<'_>,
    groups: &[NestGroup],
    args: &[Array],
    rows: BlockRows,
    arithmetic: Arithmetic<'_>,
) -> Result<(Vec<Array>, Env)> {
    let mut run = Interpreter::new(nests.function, args, arithmetic)?;
    for g in groups {
        let nest = |m: &Member| &nests.nests[m.nest as usize];
        if let [m] = &g.members[..]
            && matches!(nest(m).what, What::Call(_) | What::Literal(_))
        {
            run.nest(nest(m))?;
            continue;
        }
        for m in &g.members {
            match m.at {
                Storage::Inline => run.computed_by_readers(nest(m)),
                Storage::Block | Storage::Whole => run.allocate(nest(m).value)?,
            }
        }
        let shape = run.shape(&g.space.axes)?;
        let all: Vec<Vec<usize>> = indices(&shape[..g.space.rows]).collect();
        let size = match rows {
            BlockRows::All => all.len().max(1),
            BlockRows::Of(n) => n,
        };
        for block in all.chunks(size) {
            for m in g.members.iter().filter(|m| m.at != Storage::Inline) {
                if m.at == Storage::Block {
                    run.allocate(nest(m).value)?;
                }
                let rank = nests.function.ty(nest(m).value).rank();
                let at = indices_in(&mut run, g, m, nest(m), rank, block)?;
                run.compute(nest(m), &at)?;
            }
        }
    }
    Ok((run.results(nests)?, run.env))
}

/// The indices of the value of a member in a block of rows.
fn indices_in(
    run: &mut Interpreter<'_>,
    g: &NestGroup,
    m: &Member,
    n: &Nest,
    rank: usize,
    block: &[Vec<usize>],
) -> Result<Vec<Vec<usize>>> {
    let extents = run.shape(&n.extents()[..rank])?;
    let in_row: Vec<usize> = (0..rank)
        .filter(|&a| m.axes[a] as usize >= g.space.rows)
        .collect();
    let inner: Vec<usize> = in_row.iter().map(|&a| extents[a]).collect();
    let mut out = Vec::new();
    for row in block {
        for i in indices(&inner) {
            let mut index = vec![0; rank];
            for (a, at) in index.iter_mut().enumerate() {
                *at = match in_row.iter().position(|&b| b == a) {
                    Some(k) => i[k],
                    None => row[m.axes[a] as usize],
                };
            }
            out.push(index);
        }
    }
    Ok(out)
}
