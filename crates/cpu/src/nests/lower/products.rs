//! Products as folds, or the reason for which a kernel computes one.

use super::{Lowered, MAX_FOLDED_PRODUCT, NestBuilder};
use crate::nests::access::{IndexMap, Indices, Source};
use crate::nests::affine::Affine;
use crate::nests::nest::{Expr, ExprOp, ExprOperands, Order, What, Why, known_volume};
use cotangent_core::ops::{DotGeneral, Reduction};
use cotangent_core::{DType, Dim, Val};

/// Minimum number of reads of each element of a factor that is chosen from several values, for
/// which it is a value of its own.
const MIN_CHOSEN_READS: usize = 8;

impl NestBuilder<'_> {
    /// A product of small matrices is a fold, and so is one of strided matrices: kernels read these
    /// where they are. A product without sums is an expression.
    pub(super) fn product(&mut self, d: &DotGeneral, x: &[Val], y: Val) -> Result<Lowered, Why> {
        let (lhs, rhs, to) = (self.shape(x[0]), self.shape(x[1]), self.shape(y));
        let volume = |shape: &[Dim], batch: &[usize]| -> Option<usize> {
            let own = (0..shape.len()).filter(|k| !batch.contains(k));
            own.map(|k| shape[k].as_const())
                .try_fold(1usize, |n, d| n.checked_mul(d?))
        };
        // Pairs of contracted axes are numbered in the order of the left operand's axes.
        let contracted = d.lhs_contract.iter().copied();
        let mut pairs: Vec<_> = contracted.zip(d.rhs_contract.iter().copied()).collect();
        pairs.sort_unstable();
        let (lhs_contract, rhs_contract): (Vec<usize>, Vec<usize>) = pairs.into_iter().unzip();
        let (sums, mut large) = (!lhs_contract.is_empty(), false);
        if sums {
            let free: Vec<usize> = [&d.rhs_batch[..], &rhs_contract].concat();
            let size = volume(lhs, &d.lhs_batch)
                .zip(volume(rhs, &free))
                .and_then(|(a, b)| a.checked_mul(b));
            large = size.is_none_or(|n| n > MAX_FOLDED_PRODUCT);
            let free = |shape: &[Dim]| shape.len() - d.lhs_batch.len() - lhs_contract.len();
            let matrices = lhs_contract.len() == 1 && free(lhs) <= 1 && free(rhs) <= 1;
            if d.stable || large && !matrices {
                return Err(Why::Product);
            }
        }
        let folded: Vec<Dim> = lhs_contract.iter().map(|&k| lhs[k].clone()).collect();
        let extents: Vec<Dim> = to.iter().chain(&folded).cloned().collect();
        let batch = d.lhs_batch.len();
        let lhs_free = lhs.len() - batch - lhs_contract.len();
        let index = |rank: usize, batches: &[usize], contracted: &[usize], first: usize| {
            let mut free = first..;
            let axis = |k: usize| {
                let at = |list: &[usize]| list.iter().position(|&a| a == k);
                match (at(batches), at(contracted)) {
                    (Some(b), _) => Affine::axis(b),
                    (_, Some(c)) => Affine::axis(to.len() + c),
                    _ => Affine::axis(free.next().expect("no end")),
                }
            };
            IndexMap::of((0..rank).map(axis).collect::<Indices>())
        };
        let maps = [
            index(lhs.len(), &d.lhs_batch, &lhs_contract, batch),
            index(rhs.len(), &d.rhs_batch, &rhs_contract, batch + lhs_free),
        ];
        let mut expr = Expr::default();
        let mut operands = ExprOperands::default();
        let all = known_volume(&extents);
        for (&v, map) in x.iter().zip(&maps) {
            let mut read = self.read_at(v, map, &extents).ok_or(Why::Product)?;
            if large && !read.is_strided() {
                return Err(Why::Product);
            }
            // The choices of elements that are read often are made once.
            let own = known_volume(self.shape(v)).and_then(|n| n.checked_mul(MIN_CHOSEN_READS));
            if matches!(read.source, Source::Choice(_)) && own.is_some() && own <= all {
                self.materialize(v);
                read = self.read_at(v, map, &extents).ok_or(Why::Product)?;
            }
            operands.push(expr.read(read, self.dtype(v)));
        }
        let op = self.interner.op(&d.multiplied().into());
        expr.push(ExprOp::Apply { op, operands }, self.dtype(y));
        if !sums {
            return Ok(self.map(y, expr));
        }
        let space = self.space(to, &folded);
        let order = Order::Chain;
        let how = match self.dtype(y) {
            DType::Bool => Reduction::Any,
            _ => Reduction::Sum,
        };
        Ok(Lowered::Nest(space, What::Fold { expr, how, order }))
    }
}
