//! The meaning of nests: an interpreter that reads one element after the other. Operations are
//! given, so that it computes with the reference's arithmetic or with the runtime's kernels.

use crate::nests::access::{Bound, Read, Source, Start};
use crate::nests::affine::{Affine, Var};
use crate::nests::nest::{Expr, ExprOp, Nest, Nests, Order, What, WindowOrder};
use crate::nests::quantity::Quantity;
use crate::nests::verify::Condition;
use cotangent_core::dtype::Kind;
use cotangent_core::ops::{Convolution, DotGeneral, Op, Reduce, Sliding};
use cotangent_core::{
    Array, C128, DType, Dim, Env, Function, Result, Scalar, Type, Val, Wide, reference,
};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Results of an operation for operands.
pub(crate) type Arithmetic<'a> = &'a dyn Fn(&Op, &[Array], &Env) -> Result<Vec<Array>>;

/// The elements of a value that are computed.
struct Stored {
    shape: Vec<usize>,
    dtype: DType,
    elements: Wide,
    /// Which of them are computed; `None`: all.
    computed: Option<Vec<bool>>,
}

/// Values of nests, and nests whose elements are computed whenever they are read.
pub(crate) struct Interpreter<'a> {
    pub(crate) env: Env,
    values: Vec<Option<Stored>>,
    /// The nests of values that are not stored.
    inline: FxHashMap<Val, &'a Nest>,
    /// Elements of these values at positions, for one computation.
    read: RefCell<FxHashMap<(Val, Vec<usize>), Array>>,
    arithmetic: Arithmetic<'a>,
    function: &'a Function,
}

/// Runs nests on arguments. Also returns the extents of all symbols.
pub(crate) fn interpret(
    nests: &Nests<'_>,
    args: &[Array],
    arithmetic: Arithmetic<'_>,
) -> Result<(Vec<Array>, Env)> {
    let mut run = Interpreter::new(nests.function, args, arithmetic)?;
    for n in &nests.nests {
        run.nest(n)?;
    }
    Ok((run.results(nests)?, run.env))
}

/// The number for these extents.
fn number(q: &Quantity, env: &Env) -> i64 {
    match q {
        Quantity::Number(n) => *n,
        Quantity::Poly(p) => p.eval(env).unwrap(),
    }
}

/// Whether these extents fulfil a condition.
pub(crate) fn holds(c: &Condition, env: &Env) -> bool {
    c.any.iter().any(|q| number(q, env) >= 0) || c.space.iter().any(|d| d.eval(env).unwrap() == 0)
}

/// All indices of a space, in row-major order.
pub(crate) fn indices(shape: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let n: usize = shape.iter().product();
    let shape = shape.to_vec();
    (0..n).map(move |i| indices_of(i, &shape))
}

/// One element.
#[derive(Clone, Copy)]
enum ReadElement {
    Number(Scalar),
    At(Val, usize),
}

/// Zeros of a family of numbers.
fn zeros(kind: Kind, n: usize) -> Wide {
    match kind {
        Kind::Float => Wide::F(vec![0.0; n]),
        Kind::Complex => Wide::C(vec![C128::new(0.0, 0.0); n]),
        Kind::Int | Kind::Bool | Kind::Opaque => Wide::I(vec![0; n]),
    }
}

fn element_of(w: &Wide, i: usize) -> Scalar {
    match w {
        Wide::I(w) => Scalar::I(w[i]),
        Wide::F(w) => Scalar::F(w[i]),
        Wide::C(w) => Scalar::C(w[i]),
    }
}

fn set(w: &mut Wide, i: usize, s: Scalar) {
    match (w, s) {
        (Wide::I(w), Scalar::I(x)) => w[i] = x,
        (Wide::F(w), Scalar::F(x)) => w[i] = x,
        (Wide::C(w), Scalar::C(x)) => w[i] = x,
        _ => panic!("a number of another family"),
    }
}

impl<'a> Interpreter<'a> {
    /// The interpreter of a function on arguments.
    pub(crate) fn new(
        f: &'a Function,
        args: &[Array],
        arithmetic: Arithmetic<'a>,
    ) -> Result<Interpreter<'a>> {
        let mut env = Env::default();
        let types: Vec<Type> = args.iter().map(Array::ty).collect();
        reference::bind(f, &types, &mut env)?;
        let mut run = Interpreter {
            env,
            values: (0..f.len()).map(|_| None).collect(),
            inline: FxHashMap::default(),
            read: RefCell::default(),
            arithmetic,
            function: f,
        };
        for (&p, a) in f.params().iter().zip(args) {
            run.store(p, a);
        }
        Ok(run)
    }

    /// Computes the whole results of a nest.
    pub(crate) fn nest(&mut self, n: &Nest) -> Result<()> {
        match &n.what {
            What::Map(_) | What::Fold { .. } => {
                let rank = self.function.ty(n.value).rank();
                let shape = self.shape(&n.extents()[..rank])?;
                let all: Vec<Vec<usize>> = indices(&shape).collect();
                let y = self.elements(n, &all)?;
                self.store(n.value, &y.reshape(shape)?);
            }
            What::Literal(a) => self.store(n.value, a),
            What::Call(c) => {
                let x = c
                    .operands
                    .iter()
                    .map(|x| self.whole(&x.read, &x.ty))
                    .collect::<Result<Vec<_>>>()?;
                let y = (self.arithmetic)(&c.op, &x, &self.env)?;
                for (r, y) in n.values().zip(y) {
                    let shape = &self.function.ty(r).shape;
                    for (d, &n) in shape.iter().zip(y.shape()) {
                        if let Some(s) = d.as_sym().filter(|s| c.op.binds().contains(s)) {
                            self.env.insert(s.clone(), n);
                        }
                    }
                    self.store(r, &y);
                }
            }
        }
        Ok(())
    }

    /// The results of the function.
    pub(crate) fn results(&self, nests: &Nests<'_>) -> Result<Vec<Array>> {
        let results = nests.results.iter().zip(self.function.results());
        results
            .map(|(r, v)| self.whole(r, self.function.ty(*v)))
            .collect()
    }

    /// The elements of a map or a fold at these indices of its value, as a vector.
    pub(crate) fn elements(&self, n: &Nest, at: &[Vec<usize>]) -> Result<Array> {
        let extents = n.extents();
        match &n.what {
            What::Map(e) => Ok(self.expr(e, at)?.pop().unwrap()),
            What::Fold { expr, how, order } => {
                let rank = self.function.ty(n.value).rank();
                let folded = self.shape(&extents[rank..])?;
                let rows = [at.len(), folded.iter().product()];
                let all = at
                    .iter()
                    .flat_map(|i| indices(&folded).map(move |j| [&i[..], &j].concat()));
                let nodes = self.expr(expr, &all.collect::<Vec<_>>())?;
                let row = |k: usize| nodes[k].clone().reshape(rows.to_vec());
                let last = nodes.len() - 1;
                let y = match (order, &expr.nodes[last].op) {
                    (Order::Window(WindowOrder::Sequence), ExprOp::Apply { operands, .. }) => {
                        // A window of all terms in each group.
                        let terms = |k: u32| {
                            let all = vec![rows[0], 1, 1, rows[1]];
                            nodes[k as usize].clone().reshape(all)
                        };
                        let sum = Convolution {
                            sliding: Sliding::plain(1),
                            extents: vec![Dim::Const(1)],
                            stable: false,
                            strong_zero: false,
                        };
                        let x = [terms(operands[0])?, terms(operands[1])?];
                        let y = (self.arithmetic)(&sum.into(), &x, &self.env)?;
                        vec![y[0].clone().reshape(vec![rows[0]])?]
                    }
                    (
                        Order::Chain | Order::Window(WindowOrder::Chain),
                        ExprOp::Apply { op, operands },
                    ) => {
                        let dot = DotGeneral {
                            lhs_batch: vec![0],
                            rhs_batch: vec![0],
                            lhs_contract: vec![1],
                            rhs_contract: vec![1],
                            strong_zero: op.name() != "mul",
                            ..DotGeneral::default()
                        };
                        let x = [row(operands[0] as usize)?, row(operands[1] as usize)?];
                        (self.arithmetic)(&dot.into(), &x, &self.env)?
                    }
                    _ => {
                        let stable = *order == Order::Exact;
                        let fold = Reduce::new(*how, &[1], stable).or_identity();
                        (self.arithmetic)(&fold.into(), &[row(last)?], &self.env)?
                    }
                };
                Ok(y[0].clone())
            }
            What::Literal(_) | What::Call(_) => panic!("{n:?} has no elements of its own"),
        }
    }

    /// The extents of a shape.
    pub(crate) fn shape(&self, extents: &[Dim]) -> Result<Vec<usize>> {
        extents.iter().map(|d| d.eval(&self.env)).collect()
    }

    fn store(&mut self, v: Val, array: &Array) {
        self.values[v.index()] = Some(Stored {
            shape: array.shape().to_vec(),
            dtype: array.dtype(),
            elements: array.wide(),
            computed: None,
        });
    }

    /// Computes the elements of a value whenever they are read.
    pub(crate) fn computed_by_readers(&mut self, n: &'a Nest) {
        self.inline.insert(n.value, n);
    }

    /// Forgets the elements of a value.
    pub(crate) fn allocate(&mut self, v: Val) -> Result<()> {
        let ty = self.function.ty(v);
        let shape = self.shape(&ty.shape)?;
        let n = shape.iter().product();
        self.values[v.index()] = Some(Stored {
            shape,
            dtype: ty.dtype,
            elements: zeros(ty.dtype.kind(), n),
            computed: Some(vec![false; n]),
        });
        Ok(())
    }

    /// Computes and stores the elements of an allocated value at these indices.
    pub(crate) fn compute(&mut self, n: &Nest, at: &[Vec<usize>]) -> Result<()> {
        self.read.borrow_mut().clear();
        let y = self.elements(n, at)?.wide();
        let stored = self.values[n.value.index()].as_mut().unwrap();
        for (k, i) in at.iter().enumerate() {
            let at = i.iter().zip(&stored.shape).fold(0, |at, (i, d)| at * d + i);
            set(&mut stored.elements, at, element_of(&y, k));
            stored.computed.as_mut().unwrap()[at] = true;
        }
        Ok(())
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

    fn start(&self, s: &Start, index: &[usize]) -> Result<i64> {
        let at = match self.element(&s.read, index)? {
            ReadElement::Number(x) => x,
            ReadElement::At(v, i) => element_of(&self.read_elements(v, &[i])?, 0),
        };
        let Scalar::I(at) = at else {
            panic!("a start is an integer")
        };
        Ok(at.clamp(0, i128::from(number(&s.last, &self.env))) as i64)
    }

    fn element(&self, r: &Read, index: &[usize]) -> Result<ReadElement> {
        let starts = r.starts.iter().map(|s| self.start(s, index));
        let starts = starts.collect::<Result<Vec<i64>>>()?;
        self.source(&r.source, index, &starts)
    }

    fn source(&self, s: &Source, index: &[usize], starts: &[i64]) -> Result<ReadElement> {
        match s {
            Source::Number(s) => Ok(ReadElement::Number(**s)),
            Source::Element(a) => {
                let shape = self.shape(&self.function.ty(a.of).shape)?;
                let mut at = 0;
                for (f, &d) in a.at.iter().zip(&shape) {
                    let i = self.form(f, index, starts);
                    assert!((0..d as i64).contains(&i), "{a:?} at {index:?}: {i} of {d}");
                    at = at * d + i as usize;
                }
                Ok(ReadElement::At(a.of, at))
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

    /// Elements of a value at these positions.
    fn read_elements(&self, v: Val, at: &[usize]) -> Result<Wide> {
        if let Some(n) = self.inline.get(&v) {
            let mut distinct = at.to_vec();
            distinct.sort_unstable();
            distinct.dedup();
            let shape = self.shape(&self.function.ty(v).shape)?;
            let index = |&i: &usize| indices_of(i, &shape);
            let key = (v, distinct.clone());
            let known = self.read.borrow().get(&key).cloned();
            let y = match known {
                Some(y) => y,
                None => {
                    let all: Vec<Vec<usize>> = distinct.iter().map(index).collect();
                    let y = self.elements(n, &all)?;
                    self.read.borrow_mut().insert(key, y.clone());
                    y
                }
            };
            let (dtype, y) = (y.dtype(), y.wide());
            let mut out = zeros(dtype.kind(), at.len());
            for (k, i) in at.iter().enumerate() {
                set(
                    &mut out,
                    k,
                    element_of(&y, distinct.binary_search(i).unwrap()),
                );
            }
            return Ok(out);
        }
        let stored = self.values[v.index()].as_ref().expect("it is computed");
        let mut out = zeros(stored.dtype.kind(), at.len());
        for (k, &i) in at.iter().enumerate() {
            let computed = stored.computed.as_ref().is_none_or(|c| c[i]);
            assert!(computed, "element {i} of {v:?} is not computed");
            set(&mut out, k, element_of(&stored.elements, i));
        }
        Ok(out)
    }

    /// The elements of a read at indices of a space, as a vector.
    fn read(&self, r: &Read, dtype: DType, at: &[Vec<usize>]) -> Result<Array> {
        let mut out = zeros(dtype.kind(), at.len());
        let mut by_value: BTreeMap<Val, (Vec<usize>, Vec<usize>)> = BTreeMap::new();
        for (k, index) in at.iter().enumerate() {
            match self.element(r, index)? {
                ReadElement::Number(s) => set(&mut out, k, s),
                ReadElement::At(v, i) => {
                    let (of, from) = by_value.entry(v).or_default();
                    of.push(k);
                    from.push(i);
                }
            }
        }
        for (v, (of, from)) in by_value {
            let found = self.read_elements(v, &from)?;
            for (j, k) in of.into_iter().enumerate() {
                set(&mut out, k, element_of(&found, j));
            }
        }
        out.narrow(dtype, [at.len()])
    }

    /// A read at every index of a type.
    fn whole(&self, r: &Read, ty: &Type) -> Result<Array> {
        let shape = self.shape(&ty.shape)?;
        let all: Vec<Vec<usize>> = indices(&shape).collect();
        self.read(r, ty.dtype, &all)?.reshape(shape)
    }

    /// The results of all operations of an expression, each a vector over the indices.
    fn expr(&self, e: &Expr, at: &[Vec<usize>]) -> Result<Vec<Array>> {
        let n = at.len();
        let mut all: Vec<Array> = Vec::with_capacity(e.nodes.len());
        for node in &e.nodes {
            all.push(match &node.op {
                ExprOp::Read(r) => self.read(r, node.dtype, at)?,
                ExprOp::Number(s) => s.full(node.dtype, vec![n])?,
                ExprOp::Extent(d) => {
                    let extent = Scalar::I(d.eval(&self.env)? as i128);
                    extent.full(node.dtype, vec![n])?
                }
                ExprOp::Index(k) => {
                    let at = at.iter().map(|i| i[*k]);
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

/// The index at a position in row-major order.
fn indices_of(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (k, &d) in shape.iter().enumerate().rev() {
        index[k] = at % d;
        at /= d;
    }
    index
}
