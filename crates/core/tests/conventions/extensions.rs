//! Operations of the conventions that this crate does not have, defined as extensions.

use cotangent_core::ops::Unary;
use cotangent_core::primitive::{Linearized, no_rule};
use cotangent_core::transform::{Lin, Lv};
use cotangent_core::{Arg, Array, Batched, Cost, Dim, Emit, Env, Op, Primitive, Result, Type, Val};

/// `x y + z` on scalars.
#[derive(Debug)]
pub(crate) struct Fma;

impl Primitive for Fma {
    fn name(&self) -> &str {
        "fma"
    }
    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![x[0].clone()])
    }
    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let [a, b, c] = [0, 1, 2].map(|i| x[i].to_f64()[0]);
        Ok(vec![Array::scalar(a.mul_add(b, c))])
    }
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(Op::extension(Fma), x);
        let a = t[0].map(|t| cx.scale(x[1], t));
        let b = t[1].map(|t| cx.scale(x[0], t));
        Ok(cx.one(y, cx.sum_opt(cx.sum_opt(a, b), t[2])))
    }
    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }
    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

/// `x -> x, 2x, 3x, ..`: any number of results, each linear.
#[derive(Clone, Debug)]
pub(crate) struct Multiples(pub usize);

impl Primitive for Multiples {
    fn name(&self) -> &str {
        "multiples"
    }
    fn results(&self) -> usize {
        self.0
    }
    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![x[0].clone(); self.0])
    }
    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        Ok((1..=self.0)
            .map(|k| Array::scalar(k as f64 * x[0].to_f64()[0]))
            .collect())
    }
    fn linear_in(&self, _: &[bool]) -> bool {
        true
    }
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.itself(&Op::extension(self.clone()), x, t))
    }
    fn transpose(&self, cx: &dyn Emit, _: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let terms = ct
            .iter()
            .enumerate()
            .filter_map(|(k, ct)| Some(cx.scale_by((k + 1) as f64, (*ct)?)));
        Ok(vec![terms.reduce(|a, b| cx.add(a, b))])
    }
    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

/// `x -> sin x, cos x`.
#[derive(Debug)]
pub(crate) struct SinCos;

impl Primitive for SinCos {
    fn name(&self) -> &str {
        "sin_cos"
    }
    fn results(&self) -> usize {
        2
    }
    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![x[0].clone(); 2])
    }
    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        Ok([Unary::Sin.eval(x, env)?, Unary::Cos.eval(x, env)?].concat())
    }
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.emit().emit(Op::extension(SinCos), x);
        let t = t[0].expect("one operand");
        let dy = vec![Some(cx.scale(y[1], t)), Some(cx.lneg(cx.scale(y[0], t)))];
        Ok((y, dy))
    }
    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }
    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}
