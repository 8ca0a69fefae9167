//! `convolve`: circular convolution along the last axis, and correlation, its adjoint.
//!
//! ```text
//! y[i] = Σ_j x[i - j] k[j]         correlate: y[i] = Σ_j x[i + j] k[j]        indices modulo n
//! ```
//! Linear in either operand. Leading axes are batches.

use cotangent::extend::{
    Arg, Attrs, Batched, Cost, Emit, Entry, Env, Kernel, Lin, Linearized, Lv, Op, Operand,
    Primitive, Sample, Spelled, Val, Wide, bail,
};
use cotangent::{Array, DType, Dim, Element, Result, TracedTensor, Type};

/// The operation.
#[derive(Clone, Copy, Debug)]
pub struct Convolve {
    /// Whether to compute the correlation: `x[i + j]` instead of `x[i - j]`.
    pub correlate: bool,
}

/// `y[i] = Σ_j x[i ∓ j] k[j]` for every row of `n` elements; products in order of `j`.
fn rows<T: Copy + Into<f64>>(
    correlate: bool,
    x: &[T],
    k: &[T],
    n: usize,
    put: &mut dyn FnMut(f64),
) {
    for (x, k) in x.chunks(n.max(1)).zip(k.chunks(n.max(1))) {
        for i in 0..n {
            let at = |j: usize| x[if correlate { i + j } else { n + i - j } % n].into();
            put((0..n).map(|j| at(j) * k[j].into()).sum());
        }
    }
}

fn last(ty: &Type) -> Dim {
    ty.shape.last().cloned().unwrap_or(Dim::Const(1))
}

impl Primitive for Convolve {
    fn name(&self) -> &str {
        "convolve"
    }

    fn attrs(&self) -> Attrs {
        Attrs::default().with_if(self.correlate, "correlate", true)
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let [a, b] = x else {
            bail!(Arity, "`convolve` takes two operands, got {}", x.len())
        };
        if !matches!(a.dtype, DType::F32 | DType::F64) || a.rank() == 0 {
            bail!(
                DTypeMismatch,
                "`convolve` takes f32 or f64 with at least one axis, got {a}"
            );
        }
        if a.differs(b) {
            bail!(
                ShapeMismatch,
                "`convolve` takes operands of one type, got {a} and {b}"
            );
        }
        Ok(vec![a.clone()])
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let (dtype, shape) = (x[0].dtype(), x[0].shape().to_vec());
        let mut y = Vec::with_capacity(x[0].len());
        let n = shape.last().copied().unwrap_or(1);
        rows(
            self.correlate,
            &x[0].to_f64(),
            &x[1].to_f64(),
            n,
            &mut |v| y.push(v),
        );
        Ok(vec![Wide::F(y).narrow(dtype, shape)?])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        mask[0] != mask[1]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let op = Op::extension(*self);
        let y = cx.op(op.clone(), x);
        let by_x = t[0].map(|t| cx.apply1(op.clone(), &[t.into(), x[1].into()]));
        let by_k = t[1].map(|t| cx.apply1(op, &[Operand::R(x[0]), t.into()]));
        Ok(cx.one(y, cx.sum_opt(by_x, by_k)))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let Some(ct) = ct[0] else {
            return Ok(vec![None, None]);
        };
        let op = |correlate, a, b| Some(cx.op(Op::extension(Convolve { correlate }), &[a, b]));
        Ok(match (self.correlate, x[0].val(), x[1].val()) {
            (false, None, Some(k)) => vec![op(true, ct, k), None],
            (false, Some(x), None) => vec![None, op(true, ct, x)],
            (true, None, Some(k)) => vec![op(false, ct, k), None],
            (true, Some(x), None) => vec![None, op(true, x, ct)],
            _ => unreachable!("linear in one operand"),
        })
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let x = [cx.replicate(x[0], size).val, cx.replicate(x[1], size).val];
        Ok(vec![Batched {
            val: cx.op(Op::extension(*self), &x),
            mapped: true,
        }])
    }

    fn cost(&self, x: &[Type], _: &[Type]) -> Cost {
        let count = |d: Dim| d.as_const().unwrap_or(1) as f64;
        let all = count(x[0].shape.numel());
        let size = x[0].dtype.size() as f64;
        Cost {
            flops: 2.0 * all * count(last(&x[0])),
            bytes: 3.0 * all * size,
        }
    }
}

/// The kernel for operands of one element type.
pub(crate) fn kernel<T: Element + Into<f64>>(op: &dyn Primitive) -> Kernel {
    let correlate = op
        .attrs()
        .opt::<bool>("correlate")
        .ok()
        .flatten()
        .unwrap_or(false);
    Box::new(move |_, x| {
        let (dtype, shape) = (x[0].dtype(), x[0].shape().to_vec());
        let x = x
            .into_iter()
            .map(|x| x.into_dense())
            .collect::<Result<Vec<_>>>()?;
        let mut y = Vec::with_capacity(x[0].numel());
        let n = shape.last().copied().unwrap_or(1);
        if let (Some(a), Some(b)) = (x[0].as_slice::<T>(), x[1].as_slice::<T>()) {
            rows(correlate, a, b, n, &mut |v| y.push(v));
        }
        Ok([Wide::F(y).narrow(dtype, shape)?.into()]
            .into_iter()
            .collect())
    })
}

pub(crate) fn entry() -> Entry {
    let parse = |s: &mut Spelled<'_>| {
        Ok(Op::extension(Convolve {
            correlate: s.attrs.opt("correlate")?.unwrap_or(false),
        }))
    };
    let samples = |_: &str| {
        let x = Array::vector(vec![0.5, -1.0, 2.0, 0.25]);
        let k = Array::vector(vec![1.0, 0.0, -0.5, 3.0]);
        [false, true]
            .map(|correlate| {
                Sample::new(
                    Op::extension(Convolve { correlate }),
                    vec![x.clone(), k.clone()],
                )
            })
            .into()
    };
    Entry {
        name: "convolve",
        doc: "Circular convolution along the last axis.",
        parse,
        samples,
    }
}

/// The circular convolution of two traced tensors along their last axis.
pub fn convolve(x: &TracedTensor, k: &TracedTensor) -> Result<TracedTensor> {
    Ok(TracedTensor::apply(Op::extension(Convolve { correlate: false }), &[x, k])?.remove(0))
}
