//! The runtime: a loop over equations. Operations of the core are evaluated by its reference.

use crate::matrix::error;
use crate::{Matrix, Pattern};
use cotangent_core::{Array, Code, Env, Function, Op, OpaqueType, Result, Type, tape};

/// A value: an array, or a block-sparse matrix.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An array.
    Dense(Array),
    /// A block-sparse matrix.
    Sparse(Matrix),
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Dense(Array::scalar(x))
    }
}

/// The executor.
pub struct Executor;

impl tape::Executor for Executor {
    type Value = Value;

    fn ty(&self, v: &Value) -> Type {
        match v {
            Value::Dense(a) => a.ty(),
            Value::Sparse(m) => m.ty().into(),
        }
    }

    fn run(&mut self, f: &Function, x: &[Value]) -> Result<Vec<Value>> {
        let mut values: Vec<Option<Value>> = vec![None; f.len()];
        for (p, x) in f.params().iter().zip(x) {
            values[p.index()] = Some(x.clone());
        }
        let value = |values: &[Option<Value>], k: usize| match &values[k] {
            Some(v) => Ok(v.clone()),
            None => error(Code::Input, format!("`{}` needs more arguments", f.name)),
        };
        for e in f.eqns() {
            let x = f.operands(e).iter().map(|v| value(&values, v.index()));
            let y = apply(&e.op, &x.collect::<Result<Vec<_>>>()?).map_err(|err| err.at(e.loc))?;
            for (r, y) in e.results().zip(y) {
                values[r.index()] = Some(y);
            }
        }
        f.results()
            .iter()
            .map(|r| value(&values, r.index()))
            .collect()
    }
}

fn apply(op: &Op, x: &[Value]) -> Result<Vec<Value>> {
    let dense = |v: &Value| match v {
        Value::Dense(a) => Some(a.clone()),
        Value::Sparse(_) => None,
    };
    if let Op::Extension(_) = op {
        return Ok(vec![sparse(op, x)?]);
    }
    match x.iter().map(dense).collect::<Option<Vec<Array>>>() {
        Some(x) => Ok(op
            .eval(&x, &Env::default())?
            .into_iter()
            .map(Value::Dense)
            .collect()),
        None => error(
            Code::Input,
            format!("`{}` is not computed on matrices", op.name()),
        ),
    }
}

fn sparse(op: &Op, x: &[Value]) -> Result<Value> {
    use Value::{Dense, Sparse};
    let ty = || op.attrs().get::<OpaqueType>("type");
    let made = |ty: OpaqueType, elements: Vec<f64>| Ok(Sparse(Matrix::new(ty, elements)?));
    let pairs = |a: &Matrix, b: &Matrix, f: fn((&f64, &f64)) -> f64| -> Vec<f64> {
        a.elements().iter().zip(b.elements()).map(f).collect()
    };
    match (op.name(), x) {
        ("sparse.zero", []) => {
            let ty = ty()?;
            let shape = Pattern::of(ty).map_or([0; 3], Pattern::shape);
            made(ty, vec![0.0; shape.iter().product()])
        }
        ("sparse.add", [Sparse(a), Sparse(b)]) => made(a.ty(), pairs(a, b, |(a, b)| a + b)),
        ("sparse.dot", [Sparse(a), Sparse(b)]) => {
            Ok(pairs(a, b, |(a, b)| a * b).iter().sum::<f64>().into())
        }
        ("sparse.scale", [Sparse(a), Dense(s)]) => {
            let s = s.to_f64()[0];
            made(a.ty(), a.elements().iter().map(|a| a * s).collect())
        }
        ("sparse.from_blocks", [Dense(v)]) => made(ty()?, v.to_f64()),
        ("sparse.blocks", [Sparse(a)]) => {
            let v = Array::from_vec(a.pattern().shape(), a.elements().to_vec())?;
            Ok(Dense(v))
        }
        ("sparse.matmul", [Sparse(a), Dense(x)]) => {
            let transposed = op.attrs().opt("transposed")?.unwrap_or(false);
            Ok(Dense(product(a, transposed, x)?))
        }
        ("sparse.sampled_outer", [Dense(u), Dense(v)]) => {
            let ty = ty()?;
            let Some(p) = Pattern::of(ty) else {
                return error(
                    Code::DTypeMismatch,
                    format!("{ty} is no block-sparse matrix"),
                );
            };
            let (n, u, v) = (columns(u), u.to_f64(), v.to_f64());
            let mut elements = vec![0.0; p.shape().iter().product()];
            p.each(|at, i, j| elements[at] = (0..n).map(|k| u[i * n + k] * v[j * n + k]).sum());
            made(ty, elements)
        }
        (name, x) => error(Code::Input, format!("`{name}` of {x:?} is not defined")),
    }
}

/// Number of columns of a dense matrix; 1 for a vector.
fn columns(x: &Array) -> usize {
    x.shape()[1..].iter().product()
}

fn product(a: &Matrix, transposed: bool, x: &Array) -> Result<Array> {
    let ([rows, cols], n, of_x) = (a.pattern().extents(), columns(x), x.to_f64());
    let rows = if transposed { cols } else { rows };
    let mut y = vec![0.0; rows * n];
    a.pattern().each(|at, i, j| {
        let (i, j) = if transposed { (j, i) } else { (i, j) };
        for k in 0..n {
            y[i * n + k] += a.elements()[at] * of_x[j * n + k];
        }
    });
    Array::from_vec([&[rows], &x.shape()[1..]].concat(), y)
}
