//! The verifier of nests: every access inside of its value, types, spaces and the order of nests.

use super::access::{Read, Source, Start};
use super::affine::{Affine, Var};
use super::nest::{AxisKind, Call, Expr, ExprOp, Nest, Nests, Order, What, WindowOrder};
use super::quantity::Quantity;
use super::ranges::Ranges;
use cotangent_core::dtype::Kind;
use cotangent_core::graph::Def;
use cotangent_core::{Code, DType, Dim, Error, Function, Loc, Result, Scalar, Type, Val, bail};
use rustc_hash::FxHashSet;
use std::fmt;

/// A condition on extents that only a run decides: one of `any` is at least 0, or the space of the
/// nest has no index.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    /// The nest and the requirement.
    text: String,
    pub any: Vec<Quantity>,
    /// The extents of the space that may be 0.
    pub space: Vec<Dim>,
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let any = self.any.iter().map(|q| format!("{q} >= 0"));
        let none = self.space.iter().map(|d| format!("{d} = 0"));
        let all: Vec<String> = any.chain(none).collect();
        write!(f, "{}: {}", self.text, all.join(" or "))
    }
}

/// Checks the nests of a function. Returns the conditions on symbolic extents that cannot be
/// decided. Returns an error that names the nest for everything else that is wrong.
pub(crate) fn verify(nests: &Nests<'_>) -> Result<Vec<Condition>> {
    let f = nests.function;
    let mut v = Verifier {
        f,
        defined: f.params().iter().copied().collect(),
        conditions: Vec::new(),
        what: String::new(),
    };
    for n in &nests.nests {
        v.what = format!("nest {}", f.show(n.value));
        let checked = v.nest(n);
        let eqn = f.eqns().get(n.eqn as usize);
        let loc = eqn.map_or(Loc::None, |e| e.loc);
        checked.map_err(|e| v.located(&e).at(loc))?;
    }
    if nests.results.len() != f.results().len() {
        let (n, want) = (nests.results.len(), f.results().len());
        bail!(
            Invalid,
            "{n} results of nests for the {want} of `{}`",
            f.name
        );
    }
    for (k, (read, &r)) in nests.results.iter().zip(f.results()).enumerate() {
        v.what = format!("result {k}");
        let ty = f.ty(r);
        let checked = v.read(read, ty.dtype, &ty.shape);
        checked.map_err(|e| v.located(&e))?;
    }
    Ok(v.conditions)
}

struct Verifier<'a> {
    f: &'a Function,
    /// Arguments, and values of the nests so far.
    defined: FxHashSet<Val>,
    conditions: Vec<Condition>,
    /// The nest or result that is checked.
    what: String,
}

impl Verifier<'_> {
    fn located(&self, e: &Error) -> Error {
        Error::new(Code::Invalid, format!("{}: {}", self.what, e.message()))
    }

    fn nest(&mut self, n: &Nest) -> Result<()> {
        let extents = n.extents();
        if self.f.def(n.value) != Def::Eqn(n.eqn as usize) {
            bail!(Invalid, "equation {} does not define it", n.eqn);
        }
        match &n.what {
            What::Map(e) => {
                self.space(n, 0)?;
                let dtype = self.expr(e, &extents)?;
                self.result_type(dtype, n)?;
            }
            What::Fold { expr, how, order } => {
                let folded = n.space.iter().filter(|a| a.kind == AxisKind::Fold);
                self.space(n, folded.count())?;
                let dtype = self.expr(expr, &extents)?;
                if !(how.def().types)(dtype) {
                    bail!(Invalid, "a fold by `{}` of {dtype}", how.def().name);
                }
                let last = expr.nodes.last().map(|n| &n.op);
                let product =
                    matches!(last, Some(ExprOp::Apply { operands, .. }) if operands.len() == 2);
                let sums = matches!(
                    order,
                    Order::Tree | Order::Exact | Order::Window(WindowOrder::Tree)
                );
                if !sums && !product {
                    bail!(Invalid, "a chain of products folds no product");
                }
                self.result_type(dtype, n)?;
            }
            What::Literal(a) => {
                let (have, want) = (a.ty(), self.f.ty(n.value));
                if have.differs(want) {
                    bail!(Invalid, "the literal is {have}, not {want}");
                }
            }
            What::Call(c) => self.call(n, c)?,
        }
        if !self.defined.insert(n.value) {
            bail!(Invalid, "its value is computed twice");
        }
        Ok(())
    }

    fn call(&mut self, n: &Nest, c: &Call) -> Result<()> {
        for x in &c.operands {
            self.read(&x.read, x.ty.dtype, &x.ty.shape)?;
        }
        let types: Vec<Type> = c.operands.iter().map(|x| x.ty.clone()).collect();
        let (have, name) = (c.op.infer(&types)?, c.op.name());
        if have.len() != c.results {
            let results = c.results;
            bail!(Invalid, "{results} results of `{name}`, not {}", have.len());
        }
        for (k, (have, v)) in have.iter().zip(n.values()).enumerate() {
            let want = self.f.ty(v);
            if have.dtype != want.dtype || have.rank() != want.rank() {
                bail!(Invalid, "result {k} of `{name}` is {have}, not {want}");
            }
        }
        self.defined.extend(n.values().skip(1));
        Ok(())
    }

    /// Checks that the axes are those of the value, and then this number of folded axes.
    fn space(&self, n: &Nest, folded: usize) -> Result<()> {
        let want = &self.f.ty(n.value).shape;
        let (own, rest) = n.space.split_at(want.rank().min(n.space.len()));
        let par = own.iter().all(|a| a.kind == AxisKind::Par);
        let fold = rest.iter().all(|a| a.kind == AxisKind::Fold);
        let extents: Vec<Dim> = own.iter().map(|a| a.extent.clone()).collect();
        if !par || !fold || rest.len() != folded || want.differs(&extents) {
            let (all, value) = (n.extents(), self.f.ty(n.value));
            bail!(
                Invalid,
                "the space {all:?} with {folded} folded axes is not that of {value}"
            );
        }
        Ok(())
    }

    fn result_type(&self, dtype: DType, n: &Nest) -> Result<()> {
        let want = self.f.ty(n.value).dtype;
        if dtype != want {
            bail!(Invalid, "the expression is {dtype}, the value {want}");
        }
        Ok(())
    }

    /// Checks an expression, and returns the type of its result.
    fn expr(&mut self, e: &Expr, space: &[Dim]) -> Result<DType> {
        for (k, node) in e.nodes.iter().enumerate() {
            match &node.op {
                ExprOp::Read(r) => self.read(r, node.dtype, space)?,
                ExprOp::Number(s) => number(**s, node.dtype)?,
                ExprOp::Index(axis) if *axis >= space.len() => {
                    bail!(
                        Invalid,
                        "the index of axis {axis} in a space of {} axes",
                        space.len()
                    );
                }
                ExprOp::Index(_) | ExprOp::Extent(_) => {}
                ExprOp::Apply { op, operands } => {
                    if let Some(x) = operands.iter().find(|&&x| x as usize >= k) {
                        bail!(
                            Invalid,
                            "operation {k} reads operation {x}, which follows it"
                        );
                    }
                    let type_of = |&x: &u32| Type::scalar(e.nodes[x as usize].dtype);
                    let types: Vec<Type> = operands.iter().map(type_of).collect();
                    let have = op.infer(&types)?;
                    if have.len() != 1 || have[0].dtype != node.dtype {
                        let name = op.name();
                        bail!(Invalid, "`{name}` gives {have:?}, not {}", node.dtype);
                    }
                }
            }
        }
        match e.nodes.last() {
            Some(node) => Ok(node.dtype),
            None => bail!(Invalid, "an expression of no operations"),
        }
    }

    /// Checks a read of elements of a type at each index of a space.
    fn read(&mut self, r: &Read, dtype: DType, space: &[Dim]) -> Result<()> {
        for s in &r.starts {
            self.start(s, space)?;
        }
        self.source(&r.source, dtype, &Ranges::new(space, &r.starts), space)
    }

    fn start(&mut self, s: &Start, space: &[Dim]) -> Result<()> {
        let Some(dtype) = self.source_type(&s.read.source) else {
            bail!(
                Invalid,
                "a start reads a value that no nest before computes"
            );
        };
        if !dtype.is_int() {
            bail!(Invalid, "a start is {dtype}, not an integer");
        }
        self.read(&s.read, dtype, space)?;
        self.require(vec![s.last.clone()], "a window fits", space)
    }

    /// The element type of a source, if its value is defined. A number is an integer here.
    fn source_type(&self, s: &Source) -> Option<DType> {
        match s {
            Source::Number(s) => Some(match **s {
                Scalar::I(_) => DType::I64,
                Scalar::F(_) | Scalar::C(_) => DType::F64,
            }),
            Source::Element(a) => self.defined.contains(&a.of).then(|| self.f.ty(a.of).dtype),
            Source::Choice(c) => self.source_type(&c.inside).filter(|d| {
                let number = |s: &Source| matches!(s, Source::Number(_));
                number(&c.outside) || self.source_type(&c.outside) == Some(*d)
            }),
        }
    }

    fn source(
        &mut self,
        s: &Source,
        dtype: DType,
        known: &Ranges<'_>,
        space: &[Dim],
    ) -> Result<()> {
        match s {
            Source::Number(s) => number(**s, dtype),
            Source::Choice(c) => {
                if c.bounds.is_empty() || c.bounds.iter().any(|b| b.step < 1) {
                    bail!(Invalid, "a choice without bounds, or with a step below 1");
                }
                for b in &c.bounds {
                    indices(&b.form, space.len(), known.starts())?;
                }
                self.source(&c.inside, dtype, &known.inside(&c.bounds), space)?;
                self.source(&c.outside, dtype, &known.outside(&c.bounds), space)
            }
            Source::Element(a) => {
                if !self.defined.contains(&a.of) {
                    bail!(
                        Invalid,
                        "it reads {}, which no nest before computes",
                        self.f.show(a.of)
                    );
                }
                let ty = self.f.ty(a.of);
                if ty.dtype != dtype {
                    bail!(Invalid, "it reads {} of {ty} as {dtype}", self.f.show(a.of));
                }
                if ty.rank() != a.at.len() {
                    let n = a.at.len();
                    bail!(
                        Invalid,
                        "it reads {} of {ty} at {n} indices",
                        self.f.show(a.of)
                    );
                }
                for form in &*a.at {
                    indices(form, space.len(), known.starts())?;
                }
                for (axis, (form, d)) in a.at.iter().zip(ty.shape.iter()).enumerate() {
                    self.index(form, d, known, space).map_err(|_| {
                        let value = self.f.show(a.of);
                        let text =
                            format!("axis {axis} of {value} is read outside of its extent {d}");
                        Error::new(Code::Invalid, text)
                    })?;
                }
                Ok(())
            }
        }
    }

    /// Checks `0 <= form < limit`.
    fn index(
        &mut self,
        form: &Affine,
        limit: &Dim,
        known: &Ranges<'_>,
        space: &[Dim],
    ) -> Result<()> {
        if known.is_empty() {
            return Ok(());
        }
        self.require(known.lows(form), "an index is at least 0", space)?;
        let room = known.room(form, &limit.into());
        self.require(room, "an index is less than its extent", space)
    }

    /// Requires that one of these numbers is at least 0 where the space has an index.
    fn require(&mut self, any: Vec<Quantity>, text: &str, space: &[Dim]) -> Result<()> {
        let zero = Quantity::Number(0);
        let decided: Vec<Option<bool>> = any.iter().map(|q| q.at_least(&zero)).collect();
        if decided.contains(&Some(true)) || space.iter().any(|d| d.is(0)) {
            return Ok(());
        }
        let symbolic: Vec<Dim> = space
            .iter()
            .filter(|d| d.as_const().is_none())
            .cloned()
            .collect();
        if !decided.contains(&None) && symbolic.is_empty() {
            bail!(Invalid, "{text}: not so");
        }
        let mut open: Vec<Quantity> = Vec::new();
        for q in any {
            if q.at_least(&zero).is_none() && !open.contains(&q) {
                open.push(q);
            }
        }
        self.conditions.push(Condition {
            text: format!("{}: {text}", self.what),
            any: open,
            space: symbolic,
        });
        Ok(())
    }
}

/// Checks that the indices of a form are axes of the space and starts of the read.
fn indices(form: &Affine, rank: usize, starts: usize) -> Result<()> {
    for t in &form.terms {
        match t.var {
            Var::Axis(k) if k >= rank => bail!(Invalid, "a form has axis {k} of {rank}"),
            Var::Start(k) if k >= starts => bail!(Invalid, "a form has start {k} of {starts}"),
            Var::Axis(_) | Var::Start(_) => {}
        }
    }
    Ok(())
}

/// Checks that a number is one of this element type's family.
fn number(s: Scalar, dtype: DType) -> Result<()> {
    let fits = match s {
        Scalar::I(_) => matches!(dtype.kind(), Kind::Int | Kind::Bool),
        Scalar::F(_) => dtype.kind() == Kind::Float,
        Scalar::C(_) => dtype.kind() == Kind::Complex,
    };
    if !fits {
        bail!(Invalid, "the number {s:?} is no {dtype}");
    }
    Ok(())
}
