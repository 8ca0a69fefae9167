//! The meaning of nests: an interpreter that reads one element after the other. Operations are
//! given, so that it computes with the reference's arithmetic or with the runtime's kernels.

use crate::nests::access::{Bound, Read, Source, Start};
use crate::nests::affine::{Affine, Var};
use crate::nests::nest::{Expr, ExprOp, Nests, Order, What};
use crate::nests::quantity::Quantity;
use crate::nests::verify::Condition;
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{DotGeneral, Op, Reduce};
use cotangent_core::{Array, C128, DType, Dim, Env, Result, Scalar, Type, Val, Wide, reference};

/// Results of an operation for operands.
pub(super) type Arithmetic<'a> = &'a dyn Fn(&Op, &[Array], &Env) -> Result<Vec<Array>>;

/// A computed value.
struct Stored {
    array: Array,
    wide: Wide,
}

struct Interpreter<'a> {
    env: Env,
    values: Vec<Option<Stored>>,
    arithmetic: Arithmetic<'a>,
}

/// Runs nests on arguments. Also returns the extents of all symbols.
pub(super) fn interpret(
    nests: &Nests<'_>,
    args: &[Array],
    arithmetic: Arithmetic<'_>,
) -> Result<(Vec<Array>, Env)> {
    let f = nests.function;
    let mut env = Env::default();
    let types: Vec<Type> = args.iter().map(Array::ty).collect();
    reference::bind(f, &types, &mut env)?;
    let mut run = Interpreter {
        env,
        values: (0..f.len()).map(|_| None).collect(),
        arithmetic,
    };
    for (&p, a) in f.params().iter().zip(args) {
        run.store(p, a.clone());
    }
    for n in &nests.nests {
        let extents = n.extents();
        match &n.what {
            What::Map(e) => {
                let y = run.expr(e, &extents)?.pop().unwrap();
                run.store(n.value, y.reshape(run.shape(&extents)?)?);
            }
            What::Fold { expr, how, order } => {
                let rank = f.ty(n.value).rank();
                let (shape, folded) = (run.shape(&extents[..rank])?, run.shape(&extents[rank..])?);
                let rows = [shape.iter().product(), folded.iter().product()];
                let nodes = run.expr(expr, &extents)?;
                let row = |k: usize| nodes[k].clone().reshape(rows.to_vec());
                let last = nodes.len() - 1;
                let y = match (order, &expr.nodes[last].op) {
                    (Order::Chain, ExprOp::Apply { op, operands }) => {
                        let dot = DotGeneral {
                            lhs_batch: vec![0],
                            rhs_batch: vec![0],
                            lhs_contract: vec![1],
                            rhs_contract: vec![1],
                            strong_zero: op.name() != "mul",
                            ..DotGeneral::default()
                        };
                        let x = [row(operands[0] as usize)?, row(operands[1] as usize)?];
                        (run.arithmetic)(&dot.into(), &x, &run.env)?
                    }
                    _ => {
                        let stable = *order == Order::Exact;
                        let fold = Reduce::new(*how, &[1], stable).or_identity();
                        (run.arithmetic)(&fold.into(), &[row(last)?], &run.env)?
                    }
                };
                run.store(n.value, y[0].clone().reshape(shape)?);
            }
            What::Literal(a) => run.store(n.value, a.clone()),
            What::Call { op, operands, .. } => {
                let x = operands
                    .iter()
                    .map(|x| run.whole(&x.read, &x.ty))
                    .collect::<Result<Vec<_>>>()?;
                let y = (run.arithmetic)(op, &x, &run.env)?;
                for (k, y) in y.into_iter().enumerate() {
                    let r = Val::from_index(n.value.index() + k);
                    for (d, &n) in f.ty(r).shape.iter().zip(y.shape()) {
                        if let Some(s) = d.as_sym().filter(|s| op.binds().contains(s)) {
                            run.env.insert(s.clone(), n);
                        }
                    }
                    run.store(r, y);
                }
            }
        }
    }
    let results = nests.results.iter().zip(f.results());
    let y = results.map(|(r, v)| run.whole(r, f.ty(*v)));
    Ok((y.collect::<Result<_>>()?, run.env))
}

/// The number for these extents.
fn number(q: &Quantity, env: &Env) -> i64 {
    match q {
        Quantity::Number(n) => *n,
        Quantity::Poly(p) => p.eval(env).unwrap(),
    }
}

/// Whether these extents fulfil a condition.
pub(super) fn holds(c: &Condition, env: &Env) -> bool {
    c.any.iter().any(|q| number(q, env) >= 0) || c.space.iter().any(|d| d.eval(env).unwrap() == 0)
}

/// All indices of a space, in row-major order.
fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let n: usize = shape.iter().product();
    let shape = shape.to_vec();
    (0..n).map(move |i| {
        let (mut rest, mut index) = (i, vec![0; shape.len()]);
        for (k, &d) in shape.iter().enumerate().rev() {
            index[k] = rest % d;
            rest /= d;
        }
        index
    })
}

/// One element.
#[derive(Clone, Copy)]
enum ReadElement {
    Number(Scalar),
    At(Val, usize),
}

impl Interpreter<'_> {
    fn shape(&self, extents: &[Dim]) -> Result<Vec<usize>> {
        extents.iter().map(|d| d.eval(&self.env)).collect()
    }

    fn store(&mut self, v: Val, array: Array) {
        let wide = array.wide();
        self.values[v.index()] = Some(Stored { array, wide });
    }

    fn form(&self, a: &Affine, index: &[usize], starts: &[i64]) -> i64 {
        a.terms.iter().fold(number(&a.offset, &self.env), |sum, t| {
            let at = match t.var {
                Var::Axis(k) => index[k] as i64,
                Var::Start(k) => starts[k],
            };
            let quotient = at.div_euclid(number(&t.divisor, &self.env));
            let value = match &t.modulus {
                Some(m) => quotient.rem_euclid(number(m, &self.env)),
                None => quotient,
            };
            sum + number(&t.coefficient, &self.env) * value
        })
    }

    fn start(&self, s: &Start, index: &[usize]) -> i64 {
        let at = match self.element(&s.read, index) {
            ReadElement::Number(Scalar::I(i)) => i,
            ReadElement::At(v, i) => match &self.values[v.index()].as_ref().unwrap().wide {
                Wide::I(w) => w[i],
                _ => panic!("a start is an integer"),
            },
            ReadElement::Number(_) => panic!("a start is an integer"),
        };
        at.clamp(0, i128::from(number(&s.last, &self.env))) as i64
    }

    fn element(&self, r: &Read, index: &[usize]) -> ReadElement {
        let starts: Vec<i64> = r.starts.iter().map(|s| self.start(s, index)).collect();
        self.source(&r.source, index, &starts)
    }

    fn source(&self, s: &Source, index: &[usize], starts: &[i64]) -> ReadElement {
        match s {
            Source::Number(s) => ReadElement::Number(*s),
            Source::Element(a) => {
                let stored = self.values[a.of.index()].as_ref().expect("it is computed");
                let at =
                    a.at.iter()
                        .zip(stored.array.shape())
                        .fold(0, |at, (f, &d)| {
                            let i = self.form(f, index, starts);
                            assert!((0..d as i64).contains(&i), "{a:?} at {index:?}: {i} of {d}");
                            at * d + i as usize
                        });
                ReadElement::At(a.of, at)
            }
            Source::Choice(c) => {
                let holds = |b: &Bound| {
                    let i = self.form(&b.form, index, starts);
                    let low = number(&b.low, &self.env);
                    low <= i && i < number(&b.high, &self.env) && (i - low) % b.step == 0
                };
                match c.bounds.iter().all(holds) {
                    true => self.source(&c.inside, index, starts),
                    false => self.source(&c.outside, index, starts),
                }
            }
        }
    }

    /// The elements of a read at every index of a space, as a vector.
    fn read(&self, r: &Read, dtype: DType, shape: &[usize]) -> Result<Array> {
        let found: Vec<ReadElement> = indices(shape).map(|i| self.element(r, &i)).collect();
        let (n, wide) = (found.len(), |v: Val| {
            &self.values[v.index()].as_ref().unwrap().wide
        });
        let all = match dtype.kind() {
            Kind::Float => Wide::F(
                found
                    .into_iter()
                    .map(|e| match e {
                        ReadElement::Number(Scalar::F(x)) => x,
                        ReadElement::At(v, i) => match wide(v) {
                            Wide::F(w) => w[i],
                            _ => panic!("no float"),
                        },
                        _ => panic!("no float"),
                    })
                    .collect(),
            ),
            Kind::Complex => Wide::C(
                found
                    .into_iter()
                    .map(|e| match e {
                        ReadElement::Number(Scalar::C(x)) => x,
                        ReadElement::At(v, i) => match wide(v) {
                            Wide::C(w) => w[i],
                            _ => panic!("no complex number"),
                        },
                        _ => panic!("no complex number"),
                    })
                    .collect::<Vec<C128>>(),
            ),
            Kind::Int | Kind::Bool | Kind::Opaque => Wide::I(
                found
                    .into_iter()
                    .map(|e| match e {
                        ReadElement::Number(Scalar::I(x)) => x,
                        ReadElement::At(v, i) => match wide(v) {
                            Wide::I(w) => w[i],
                            _ => panic!("no integer"),
                        },
                        _ => panic!("no integer"),
                    })
                    .collect(),
            ),
        };
        all.narrow(dtype, [n])
    }

    /// A read at every index of a type.
    fn whole(&self, r: &Read, ty: &Type) -> Result<Array> {
        let shape = self.shape(&ty.shape)?;
        self.read(r, ty.dtype, &shape)?.reshape(shape)
    }

    /// The results of all operations of an expression, each a vector over the indices.
    fn expr(&self, e: &Expr, extents: &[Dim]) -> Result<Vec<Array>> {
        let shape = self.shape(extents)?;
        let n = shape.iter().product();
        let mut all: Vec<Array> = Vec::with_capacity(e.nodes.len());
        for node in &e.nodes {
            all.push(match &node.op {
                ExprOp::Read(r) => self.read(r, node.dtype, &shape)?,
                ExprOp::Number(s) => s.full(node.dtype, vec![n])?,
                ExprOp::Extent(d) => {
                    let extent = Scalar::I(d.eval(&self.env)? as i128);
                    extent.full(node.dtype, vec![n])?
                }
                ExprOp::Index(k) => {
                    let at = indices(&shape).map(|i| i[*k]);
                    let all = match node.dtype.kind() {
                        Kind::Float => Wide::F(at.map(|i| i as f64).collect()),
                        Kind::Complex => Wide::C(at.map(|i| C128::new(i as f64, 0.0)).collect()),
                        _ => Wide::I(at.map(|i| i as i128).collect()),
                    };
                    all.narrow(node.dtype, [n])?
                }
                ExprOp::Apply { op, operands } => {
                    let x: Vec<Array> = operands.iter().map(|&x| all[x as usize].clone()).collect();
                    (self.arithmetic)(op, &x, &self.env)?.remove(0)
                }
            });
        }
        Ok(all)
    }
}
