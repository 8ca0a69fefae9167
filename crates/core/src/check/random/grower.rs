//! [`Grower`]: a graph under construction, and its values at random arguments.

use crate::array::Array;
use crate::check::numbers::Rng;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ir::{Builder, Emit, Function, Op, Session, Val};
use crate::ops::Constant;
use crate::shape::{Dim, Env, Shape, Type};

/// A function and arguments for it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The function.
    pub function: Function,
    /// Arguments at which all its values are finite, with magnitudes of at most 100.
    pub args: Vec<Array>,
}

/// Largest magnitude of an element.
const MAX_MAGNITUDE: f64 = 100.0;

/// A value of the graph, and its array at the arguments.
pub(super) struct RandomValue {
    pub val: Val,
    pub now: Array,
}

pub(super) struct Grower {
    pub b: Builder,
    pub rng: Rng,
    pub env: Env,
    pub values: Vec<RandomValue>,
    pub args: Vec<Array>,
    pub dims: Vec<Dim>,
    /// Whether this is a region, whose parameters are fixed.
    pub closed: bool,
    pub depth: usize,
    pub fault: Option<Error>,
}

impl Grower {
    pub(super) fn new(name: &str, rng: Rng, env: Env, dims: Vec<Dim>) -> Grower {
        let b = Builder::new(name, Session::default());
        Grower {
            b,
            rng,
            env,
            dims,
            values: Vec::new(),
            args: Vec::new(),
            closed: false,
            depth: 0,
            fault: None,
        }
    }

    pub(super) fn ty(&self, k: usize) -> Type {
        self.b.ty(self.values[k].val)
    }

    /// A random value; later values are more likely.
    pub(super) fn pick(&mut self) -> usize {
        let n = self.values.len();
        if self.rng.chance(0.5) {
            n - 1 - self.rng.below(n.min(3))
        } else {
            self.rng.below(n)
        }
    }

    /// A value of exactly this type other than `not`, if any.
    pub(super) fn another(&mut self, ty: &Type, not: usize) -> Option<usize> {
        let all: Vec<usize> = (0..self.values.len())
            .filter(|&k| k != not && self.ty(k) == *ty)
            .collect();
        (!all.is_empty()).then(|| all[self.rng.below(all.len())])
    }

    /// A value of rank 1 or more, if any.
    pub(super) fn another_with_rows(&mut self) -> Option<usize> {
        let all: Vec<usize> = (0..self.values.len())
            .filter(|&k| self.values[k].now.shape().first().is_some_and(|&n| n > 0))
            .collect();
        (!all.is_empty()).then(|| all[self.rng.below(all.len())])
    }

    /// An extent; a symbol only if an argument has it.
    pub(super) fn random_dim(&mut self) -> Dim {
        let d = self.dims[self.rng.below(self.dims.len())].clone();
        let known = d.as_const().is_some()
            || self
                .values
                .iter()
                .any(|v| self.b.ty(v.val).shape.contains(&d));
        if known { d } else { 1.into() }
    }

    pub(super) fn random_dtype(&mut self) -> DType {
        use DType::*;
        [F64, F64, F64, F64, F32, C128, F32, C64, I32, Bool, BF16, U8][self.rng.below(12)]
    }

    pub(super) fn param(&mut self) -> Result<usize> {
        let rank = self.rng.below(4);
        let shape: Shape = (0..rank)
            .map(|_| self.dims[self.rng.below(self.dims.len())].clone())
            .collect();
        let dtype = if self.rng.chance(0.7) {
            DType::F64
        } else {
            self.random_dtype()
        };
        let ty = Type::new(dtype, shape);
        let now = self.rng.array(&ty, &self.env)?;
        Ok(self.bind(ty, now))
    }

    /// A new parameter with this argument; in a region, a constant.
    pub(super) fn given(&mut self, now: &Array, constant: bool) -> Option<usize> {
        match constant || self.closed {
            true => self.apply(Constant::dense(now.clone()), &[]),
            false => Some(self.bind(now.ty(), now.clone())),
        }
    }

    /// A new parameter with this argument.
    pub(super) fn bind(&mut self, ty: Type, now: Array) -> usize {
        let val = self.b.param(ty, Some(&format!("x{}", self.args.len())));
        self.args.push(now.clone());
        self.values.push(RandomValue { val, now });
        self.values.len() - 1
    }

    /// Adds an operation if its results are acceptable. Returns the index of its first result.
    pub(super) fn apply(&mut self, op: impl Into<Op>, x: &[usize]) -> Option<usize> {
        let op = op.into();
        // Operations of linear programs cannot be executed.
        if op.pending() {
            return None;
        }
        let types: Vec<Type> = x.iter().map(|&k| self.ty(k)).collect();
        let results = op.infer(&types).ok()?;
        let now: Vec<Array> = x.iter().map(|&k| self.values[k].now.clone()).collect();
        let concrete: Vec<Type> = now.iter().map(Array::ty).collect();
        let env = &self.env;
        let fixed = op.map_dims(&|d| d.eval(env).map_or_else(|_| d.clone(), Dim::Const));
        let fixed = fixed.as_ref().unwrap_or(&op);
        // With a symbolic extent the operation may reject these arguments; otherwise it must accept
        // them.
        let unknown = types
            .iter()
            .chain(&results)
            .any(|t| t.shape.as_const().is_none());
        if let Err(e) = fixed.infer(&concrete) {
            self.fault = self.fault.take().or((!unknown).then_some(e));
            return None;
        }
        let y = fixed.eval(&now, env).ok()?;
        if y.iter().any(|a| !tame(a)) {
            return None;
        }
        let bound = op.binds();
        for (t, a) in results.iter().zip(&y) {
            for (d, &n) in t.shape.iter().zip(a.shape()) {
                if let Some(s) = d.as_sym().filter(|s| bound.contains(s)) {
                    self.env.insert(s.clone(), n);
                }
            }
        }
        let vals: Vec<Val> = x.iter().map(|&k| self.values[k].val).collect();
        let first = self.values.len();
        for (val, now) in self.b.emit(op, &vals).into_iter().zip(y) {
            self.values.push(RandomValue { val, now });
        }
        Some(first)
    }

    /// Adds the operations that a closure writes, one by one. Returns the index of its result.
    pub(super) fn write(
        &mut self,
        x: &[usize],
        write: impl Fn(&dyn Emit, &[Val]) -> Val,
    ) -> Option<usize> {
        let b = Builder::new("steps", Session::default());
        let params: Vec<Val> = x.iter().map(|&k| b.param(self.ty(k), None)).collect();
        let y = write(&b, &params);
        let f = b.finish(&[y]).ok()?;
        let mut at = vec![0; f.len()];
        for (&p, &k) in f.params().iter().zip(x) {
            at[p.index()] = k;
        }
        for e in f.eqns() {
            let x: Vec<usize> = f.operands(e).iter().map(|v| at[v.index()]).collect();
            let first = self.apply(e.op.clone(), &x)?;
            for (i, r) in e.results().enumerate() {
                at[r.index()] = first + i;
            }
        }
        Some(at[f.results()[0].index()])
    }

    /// A random region with parameters of these types and values.
    pub(super) fn inside(&mut self, params: Vec<(Type, Array)>) -> Option<Grower> {
        if self.depth == 2 {
            return None;
        }
        let rng = Rng::new(self.rng.bits());
        let mut inner = Grower::new("body", rng, self.env.clone(), self.dims.clone());
        for (ty, now) in params {
            inner.bind(ty, now);
        }
        (inner.closed, inner.depth) = (true, self.depth + 1);
        inner.grow(5);
        Some(inner)
    }

    /// A random region on some of the values, and these values.
    pub(super) fn body(&mut self) -> Option<(Function, Vec<usize>)> {
        let x: Vec<usize> = (0..1 + self.rng.below(3)).map(|_| self.pick()).collect();
        let params = x
            .iter()
            .map(|&k| (self.ty(k), self.values[k].now.clone()))
            .collect();
        Some((self.inside(params)?.finish().ok()?.function, x))
    }

    /// The last values and some others as results.
    pub(super) fn finish(mut self) -> Result<Case> {
        if let Some(e) = self.fault {
            return Err(e.note(format!(
                "in a random graph with {} values",
                self.values.len()
            )));
        }
        let n = self.values.len();
        let mut results: Vec<Val> = self.values[n - n.min(2)..].iter().map(|v| v.val).collect();
        for _ in 0..self.rng.below(3) {
            results.push(self.values[self.rng.below(n)].val);
        }
        Ok(Case {
            function: self.b.finish(&results)?,
            args: self.args,
        })
    }
}

/// Whether an array has few elements, all of small magnitude.
pub(super) fn tame(a: &Array) -> bool {
    a.len() <= 512
        && (!a.dtype().has_tangent() || a.to_c128().iter().all(|z| z.norm() <= MAX_MAGNITUDE))
}
