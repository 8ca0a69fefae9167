//! `inspect`: calls a function with the value of a tensor when the program computes it.
//!
//! ```text
//! y = x, and f is called with x;  dy = after(dx, y)
//! ```
//! `after` returns its first operand and reads the second. So a derivative through an inspected
//! tensor computes the tensor, even if its value does not matter.

use crate::{
    Arg, Array, Batched, Cost, Dim, EagerTensor, Emit, Env, Op, Primitive, Result, Tensor,
    TracedTensor, Type, Val, bail,
};
use cotangent_core::primitive::{Linearized, no_rule};
use cotangent_core::transform::{Lin, Lv};
use std::fmt;
use std::sync::Arc;

/// The identity, which calls a function with its operand.
#[derive(Clone)]
struct Inspect {
    call: Arc<dyn Fn(&Tensor) + Send + Sync>,
    /// Number of leading batch axes. The function is called for each element of a batch.
    batch_axes: usize,
}

impl fmt::Debug for Inspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Inspect")
    }
}

impl Primitive for Inspect {
    fn name(&self) -> &str {
        "inspect"
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        match x {
            [x] if x.rank() >= self.batch_axes => Ok(vec![x.clone()]),
            _ => bail!(Arity, "`inspect` takes one operand, got {x:?}"),
        }
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let (batch, element) = x[0].shape().split_at(self.batch_axes);
        let count: usize = batch.iter().product();
        let all = Tensor::from(&x[0]).reshape(&[&[count][..], element].concat())?;
        for k in 0..count {
            (self.call)(&all.index(0, k)?.contiguous()?);
        }
        Ok(x.to_vec())
    }

    fn has_effect(&self) -> bool {
        true
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(Op::extension(self.clone()), x);
        let dy = t[0].map(|t| cx.apply1(Op::extension(After), &[t.into(), y.into()]));
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let batch_axes = self.batch_axes + usize::from(x[0].mapped);
        let one = Inspect {
            call: self.call.clone(),
            batch_axes,
        };
        Ok(vec![Batched {
            val: cx.op(Op::extension(one), &[x[0].val]),
            mapped: x[0].mapped,
        }])
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

/// The first operand, computed after the second.
#[derive(Debug)]
struct After;

impl Primitive for After {
    fn name(&self) -> &str {
        "after"
    }

    fn key(&self) -> Option<String> {
        Some(String::new())
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        match x {
            [x, _] => Ok(vec![x.clone()]),
            _ => bail!(Arity, "`after` takes two operands, got {x:?}"),
        }
    }

    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        Ok(vec![x[0].clone()])
    }

    fn linear_in(&self, mask: &[bool]) -> bool {
        *mask == [true, false]
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(Op::extension(After), x);
        let dy = t[0].map(|t| cx.apply1(Op::extension(After), &[t.into(), x[1].into()]));
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let back = match (ct[0], x[1].val()) {
            (Some(ct), Some(second)) => Some(cx.op(Op::extension(After), &[ct, second])),
            (ct, _) => ct,
        };
        Ok(vec![back, None])
    }

    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        Ok(vec![Batched {
            val: cx.op(Op::extension(After), &[x[0].val, x[1].val]),
            mapped: x[0].mapped,
        }])
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

impl TracedTensor {
    /// This tensor. Whenever a program computes it, `f` is called with its value: also under
    /// [`jit`](fn@crate::closures::jit), in derivatives, for each element of a
    /// [`vmap`](crate::closures::vmap), and in each step of a loop. Several inspected tensors are
    /// inspected in the order in which the program computes them.
    ///
    /// A tensor that no result needs is not computed, so continue with the tensor that is returned.
    /// A `checkpoint` computes values again, and `f` is called again.
    ///
    /// ```
    /// use cotangent::{Tensor, TracedTensor, closures::{grad, jit}};
    /// use std::sync::{Arc, Mutex};
    /// let seen = Arc::new(Mutex::new(Vec::new()));
    /// let log = seen.clone();
    /// let f = move |x: TracedTensor| {
    ///     let log = log.clone();
    ///     let y = (&x * &x).inspect(move |t: &Tensor| log.lock().unwrap().push(t.item::<f64>().unwrap()));
    ///     y + 1.0
    /// };
    /// assert_eq!(jit(grad(f))(TracedTensor::scalar(3.0))?.item::<f64>()?, 6.0);
    /// assert_eq!(*seen.lock().unwrap(), [9.0]);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    #[track_caller]
    #[must_use = "a tensor that no result needs is not computed, so it is not inspected"]
    pub fn inspect(&self, f: impl Fn(&Tensor) + Send + Sync + 'static) -> TracedTensor {
        let op = Op::extension(Inspect {
            call: Arc::new(f),
            batch_axes: 0,
        });
        TracedTensor::apply_one(op, &[self])
    }
}

impl EagerTensor {
    /// This tensor, after a call of `f` with its value.
    ///
    /// ```
    /// use cotangent::{EagerRuntime, Tensor};
    /// let x = EagerRuntime::new().scalar(2.0)?;
    /// let y = x.mul(&x)?.inspect(|t: &Tensor| assert_eq!(t.item::<f64>().unwrap(), 4.0))?;
    /// assert_eq!(y.to_tensor()?.item::<f64>()?, 4.0);
    /// # Ok::<(), cotangent::ad::Error>(())
    /// ```
    #[track_caller]
    pub fn inspect(
        &self,
        f: impl Fn(&Tensor),
    ) -> std::result::Result<EagerTensor, crate::ad::Error> {
        f(&self.to_tensor()?);
        Ok(self.clone())
    }
}
