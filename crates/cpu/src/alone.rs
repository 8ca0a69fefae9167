//! Elementwise operations that run alone: programs of one equation, which each thread keeps.
//!
//! A key is the operation, which has no attributes besides a type, its element types, and either
//! the extents of small operands or a rank. So an operation on few elements runs
//! [directly](Program::is_direct), and larger operands of any extents share a program.

use crate::element::PlainElement;
use crate::executor::Executor;
use crate::kernel::{Kernel, Operands, Results};
use crate::program::Program;
use crate::tensor::{Extents, Tensor};
use crate::tuning::MAX_VALUE_BYTES;
use cotangent_core::ops::Unary;
use cotangent_core::transform::Session;
use cotangent_core::{Builder, DType, Dim, Emit, Env, Op, Result, Type, Val};
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// Number of programs that a thread keeps.
const KEPT_PROGRAMS: usize = 512;

/// An operation without attributes besides a type: variant, row of its table, and type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Plain {
    variant: std::mem::Discriminant<Op>,
    row: u32,
    to: Option<DType>,
}

impl Plain {
    fn of(op: &Op) -> Option<Plain> {
        let (row, to) = match op {
            // It moves its operand.
            Op::Unary(Unary::StopGradient) => return None,
            Op::Unary(f) => (*f as u32, None),
            Op::Binary(f) => (*f as u32, None),
            Op::Compare(c) => (c.0 as u32, None),
            Op::Convert(c) => (0, Some(c.to)),
            Op::Select(_) => (0, None),
            _ => return None,
        };
        let variant = std::mem::discriminant(op);
        Some(Plain { variant, row, to })
    }
}

/// A program, with what it was made for. All operands have one shape.
struct KnownProgram {
    op: Plain,
    dtypes: SmallVec<[DType; 3]>,
    /// `None`: any extents of this rank.
    extents: Option<Extents>,
    rank: usize,
    program: Rc<Program>,
}

thread_local! {
    /// Programs by the hash of what they were made for. A program replaces another one of its
    /// place.
    static KNOWN: RefCell<Vec<Option<KnownProgram>>> = const { RefCell::new(Vec::new()) };
}

/// The extents for which a program of its own is made: those of few elements.
fn own_extents(x: &[Tensor]) -> Option<&[usize]> {
    // Results of all types are small.
    (1..=MAX_VALUE_BYTES / size_of::<u128>())
        .contains(&x[0].numel())
        .then(|| x[0].shape())
}

/// The place of a program in the list of a thread.
fn place(op: Plain, x: &[Tensor], extents: Option<&[usize]>) -> usize {
    let mut h = FxHasher::default();
    op.hash(&mut h);
    x.iter().for_each(|x| x.dtype().hash(&mut h));
    extents.hash(&mut h);
    x[0].shape().len().hash(&mut h);
    h.finish() as usize % KEPT_PROGRAMS
}

/// The program of one equation.
fn compiled(op: &Op, types: &[Type]) -> Result<Program> {
    let b = Builder::new(op.name(), Session::default());
    let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let y = b.emit(op.clone(), &x).to_vec();
    Executor::new().compile(&b.finish(&y)?.into())
}

/// The program of an elementwise operation; `None` for other operations and for operands of several
/// shapes. An error if the operands do not follow the type rule.
pub(crate) fn program(op: &Op, x: &[Tensor]) -> Result<Option<Rc<Program>>> {
    let Some(plain) = Plain::of(op) else {
        return Ok(None);
    };
    let [first, others @ ..] = x else {
        return Ok(None);
    };
    if others.iter().any(|x| x.shape() != first.shape()) {
        return Ok(None);
    }
    let extents = own_extents(x);
    let at = place(plain, x, extents);
    let fits = |k: &&KnownProgram| {
        k.op == plain
            && k.rank == first.shape().len()
            && k.extents.as_deref() == extents
            && k.dtypes.len() == x.len()
            && k.dtypes.iter().zip(x).all(|(d, x)| *d == x.dtype())
    };
    let known = KNOWN.with_borrow(|all| Some(all.get(at)?.as_ref().filter(fits)?.program.clone()));
    match known {
        Some(program) => Ok(Some(program)),
        None => new_program(op, plain, x, at).map(Some),
    }
}

/// Makes the program of an operation.
#[cold]
fn new_program(op: &Op, plain: Plain, x: &[Tensor], at: usize) -> Result<Rc<Program>> {
    let mut types: SmallVec<[Type; 3]> = x.iter().map(Tensor::ty).collect();
    op.infer(&types)?.iter().try_for_each(Type::check_array)?;
    let (extents, rank) = (own_extents(x).map(Extents::from_slice), x[0].shape().len());
    if extents.is_none() {
        let any: Vec<Dim> = (0..rank).map(|k| Dim::sym(&format!("n{k}"))).collect();
        types = x
            .iter()
            .map(|x| Type::new(x.dtype(), any.clone()))
            .collect();
    }
    let program = Rc::new(compiled(op, &types)?);
    let known = KnownProgram {
        op: plain,
        dtypes: x.iter().map(Tensor::dtype).collect(),
        extents,
        rank,
        program: program.clone(),
    };
    KNOWN.with_borrow_mut(|all| {
        all.resize_with(KEPT_PROGRAMS, || None);
        all[at] = Some(known);
    });
    Ok(program)
}

/// Runs a program of an elementwise operation. Axes along which all operands repeat are computed
/// once.
pub(crate) fn run(program: &Program, x: Operands) -> Result<Results> {
    if program.is_direct() {
        return program.call(x, &Env::default());
    }
    let full = Extents::from_slice(x[0].shape());
    let repeats = |d: usize| full[d] > 1 && x.iter().all(|x| x.strides()[d] == 0);
    let repeated: SmallVec<[bool; 8]> = (0..full.len()).map(repeats).collect();
    if !repeated.contains(&true) {
        return program.call(x, &Env::default());
    }
    let x = x.into_iter().map(|x| x.narrowed(|d| repeated[d])).collect();
    let y = program.call(x, &Env::default())?;
    Ok(y.into_iter().map(|y| y.widened(&full)).collect())
}

/// The kernel of an elementwise operation on operands of these types, which have one shape.
pub(crate) fn kernel(op: &Op, types: &[Type]) -> Result<Kernel> {
    let program = compiled(op, types)?;
    Ok(Box::new(move |_, x| run(&program, x)))
}

impl Tensor {
    /// Computes `self += x` in place. Returns `false` and changes nothing if the buffer is shared
    /// or not dense, or if shapes or types differ or are not supported.
    pub fn add_over(&mut self, x: &Tensor) -> bool {
        fn of<T: PlainElement + std::ops::Add<Output = T>>(y: &mut Tensor, x: &Tensor) -> bool {
            match (y.exclusive::<T>(), x.as_slice::<T>()) {
                (Some(y), Some(x)) => y.iter_mut().zip(x).for_each(|(y, &x)| *y = *y + x),
                _ => return false,
            }
            true
        }
        match (self.dtype(), x.dtype()) {
            _ if self.shape() != x.shape() => false,
            (DType::F64, DType::F64) => of::<f64>(self, x),
            (DType::F32, DType::F32) => of::<f32>(self, x),
            _ => false,
        }
    }
}
