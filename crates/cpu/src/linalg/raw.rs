//! Solves of one small system on memory.

use crate::element::PlainElement;
use crate::raw_kernel::{RawForm, RawKernel};
use cotangent_core::{C64, C128, DType};
use cotangent_kernels::linalg::{self, Field};
use smallvec::{SmallVec, smallvec};

/// Number of elements of a matrix in stack memory.
const STACK_ELEMENTS: usize = 64;
/// Number of rows whose permutation is in stack memory.
const STACK_ROWS: usize = 16;

/// `A x = B` for one matrix `A`; `None` for several.
pub(crate) fn solve(a: RawForm<'_>, b: RawForm<'_>) -> Option<RawKernel> {
    let [n, k] = *b.shape.last_chunk()?;
    (b.numel() == n * k && a.numel() == n * n).then_some(())?;
    Some(match b.dtype {
        DType::F32 => solving::<f32, f64>([a, b], [n, k], f64::from, |x| x as f32),
        DType::C64 => solving::<C64, C128>(
            [a, b],
            [n, k],
            |z| C128::new(z.re.into(), z.im.into()),
            |z| C64::new(z.re as f32, z.im as f32),
        ),
        DType::F64 => solving::<f64, f64>([a, b], [n, k], |x| x, |x| x),
        DType::C128 => solving::<C128, C128>([a, b], [n, k], |x| x, |x| x),
        _ => return None,
    })
}

/// A solve of elements `T` in double precision.
fn solving<T: PlainElement, D: PlainElement + Field>(
    forms: [RawForm<'_>; 2],
    [n, k]: [usize; 2],
    widen: fn(T) -> D,
    round: fn(D) -> T,
) -> RawKernel {
    let [of_a, of_b] = forms.map(|x| x.positions());
    let zero = <D as Field>::zero();
    let run = move |y: &[*mut u8], x: &[*const u8]| {
        // SAFETY: the positions are those of the elements of the operand, which the caller of
        // `RawKernel::run` guarantees.
        let element = |x: *const u8, at: isize| widen(unsafe { x.cast::<T>().offset(at).read() });
        let a: SmallVec<[D; STACK_ELEMENTS]> = of_a.iter().map(|&at| element(x[0], at)).collect();
        let mut packed: SmallVec<[D; STACK_ELEMENTS]> = smallvec![zero; n * n];
        let mut swaps: SmallVec<[i32; STACK_ROWS]> = smallvec![0; n];
        let mut perm: SmallVec<[i32; STACK_ROWS]> = smallvec![0; n];
        if linalg::lu(&mut packed, &mut swaps, &mut perm, &a, n, n).is_err() {
            return false;
        }
        let mut z: SmallVec<[D; STACK_ELEMENTS]> = smallvec![zero; n * k];
        for (row, &p) in z.chunks_exact_mut(k).zip(&perm) {
            let from = &of_b[p as usize * k..(p as usize + 1) * k];
            row.iter_mut()
                .zip(from)
                .for_each(|(z, &at)| *z = element(x[1], at));
        }
        if super::solve_factored(&mut z, &packed, n, k).is_err() {
            return false;
        }
        for (i, z) in z.into_iter().enumerate() {
            // SAFETY: the result has `n * k` elements, which the caller of `RawKernel::run`
            // guarantees.
            unsafe { y[0].cast::<T>().add(i).write(round(z)) };
        }
        true
    };
    // SAFETY: `run` accesses the elements of these forms alone, whose memory its caller guarantees.
    unsafe { RawKernel::new(run) }
}
