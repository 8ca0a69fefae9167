//! [`Raising`]: the function that raising writes, and the matcher over the equations that define
//! its values.

use crate::array::{Array, Scalar, Wide};
use crate::error::{Loc, Result};
use crate::ir::{Builder, Def, Emit, Eqn, Function, Op, Session, Val, Vals};
use crate::ops::{Binary, Comparison, Unary, Value};
use crate::rewrite::pass::Writer;
use crate::rewrite::uses::UseCounts;
use crate::shape::{Env, Type};
use rustc_hash::FxHashMap;
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

/// The function that raising writes, with facts about its values.
///
/// Until a rule writes, it is the source: raising a function that has no pattern copies nothing.
/// The first write copies the equations before the visited one, which keep their values.
pub(super) struct Raising<'f> {
    source: &'f Function,
    /// The visited equation of the source, and the number of values before it.
    at: Cell<(usize, usize)>,
    b: OnceCell<Builder>,
    facts: RefCell<Facts>,
    /// Results of operations that several patterns read, by a value of the source program.
    written: RefCell<FxHashMap<Val, Vals>>,
}

#[derive(Default)]
struct Facts {
    /// For each value the element that all of its elements equal, if it is constant.
    splats: Vec<Option<Scalar>>,
    uses: UseCounts,
    /// Operands of the values that were raised to `softplus`.
    softplus: FxHashMap<Val, Val>,
}

impl<'f> Raising<'f> {
    /// The function before a rule applies. Its parameters are its first values.
    pub(super) fn new(source: &'f Function) -> Raising<'f> {
        let params = source.params();
        let r = Raising {
            source,
            at: Cell::new((0, params.len())),
            b: OnceCell::new(),
            facts: RefCell::default(),
            written: RefCell::default(),
        };
        if params.iter().enumerate().any(|(i, p)| p.index() != i) {
            r.writer();
        }
        r
    }

    /// Visits an equation: of the source, or of a function that is copied in place of a call.
    pub(super) fn visit(&self, index: usize, e: &Eqn) {
        match self.b.get() {
            Some(b) => b.set_loc(e.loc),
            None => {
                let (_, values) = self.at.get();
                let before = e.results().next().map_or(values, Val::index);
                self.at.set((index, before));
            }
        }
    }

    /// The equation of the source that defines a value.
    fn eqn(&self, v: Val) -> Option<&'f Eqn> {
        match self.source.def(v) {
            Def::Eqn(i) => Some(&self.source.eqns()[i]),
            Def::Param(_) => None,
        }
    }

    /// Names a value, if it has no name.
    pub(super) fn set_name(&self, v: Val, name: &Arc<str>) {
        if let Some(b) = self.b.get() {
            b.set_name(v, name.clone());
        }
    }

    /// Whether the function differs from the source.
    pub(super) fn writes(&self) -> bool {
        self.b.get().is_some()
    }

    /// The function under construction.
    pub(super) fn writer(&self) -> &Builder {
        self.b.get_or_init(|| {
            let f = self.source;
            let b = Builder::deriving(&f.name, &Session::default(), &[f]);
            let seen: Vec<bool> = (0..f.eqns().len()).map(|k| k < self.at.get().0).collect();
            b.begin_with(f.with_equations(&seen).0);
            b.reserve(f);
            b.set_loc(
                f.eqns()
                    .get(self.at.get().0)
                    .map_or(Loc::default(), |e| e.loc),
            );
            b
        })
    }

    /// The function with these results; `None` if nothing was written.
    pub(super) fn finish(self, results: &[Val]) -> Option<Result<Function>> {
        self.b.into_inner().map(|b| b.finish(results))
    }

    /// The emitter of the function. A rule asks for it after its pattern matches.
    pub(super) fn cx(&self) -> &dyn Emit {
        self.writer()
    }

    pub(super) fn ty(&self, v: Val) -> Type {
        match self.b.get() {
            Some(b) => b.ty(v),
            None => self.source.ty(v).clone(),
        }
    }

    /// Calls `look` on the operation that defines a value and on its operands. Returns `None` for a
    /// parameter.
    pub(super) fn with_def<R>(&self, v: Val, look: impl FnOnce(&Op, &[Val]) -> R) -> Option<R> {
        match self.b.get() {
            Some(b) => b.with_def(v, look),
            None => self.eqn(v).map(|e| look(&e.op, self.source.operands(e))),
        }
    }

    /// The values that the equation of `v` defines, `v` among them. None for a parameter.
    pub(super) fn defined_with(&self, v: Val) -> Vals {
        match self.b.get() {
            Some(b) => b.defined_with(v).collect(),
            None => self.eqn(v).into_iter().flat_map(Eqn::results).collect(),
        }
    }

    /// The number of values so far.
    fn values(&self) -> usize {
        self.b.get().map_or(self.at.get().1, Builder::values)
    }

    /// Computes the facts about new values.
    pub(super) fn update(&self) {
        let mut facts = self.facts.borrow_mut();
        for i in facts.splats.len()..self.values() {
            let splat = self.splat(&facts, Val::from_index(i));
            facts.splats.push(splat);
        }
    }

    /// The element that all elements of `v` equal, from those of its operands.
    fn splat(&self, facts: &Facts, v: Val) -> Option<Scalar> {
        let of = |x: &Val| facts.splats[x.index()];
        self.with_def(v, |op, x| match op {
            Op::Constant(c) => match &c.value {
                Value::Dense(a) if a.len() == 1 => Some(element(a)),
                _ => c.as_splat(),
            },
            Op::BroadcastInDim(_) | Op::Reshape(_) | Op::Slice(_) | Op::Transpose(_) => of(&x[0]),
            op if !x.is_empty() && x.iter().all(|x| of(x).is_some()) => {
                let types: Vec<Type> = x.iter().map(|&x| self.ty(x)).collect();
                if !op.is_elementwise(&types) {
                    return None;
                }
                let elements: Vec<Array> = x
                    .iter()
                    .zip(&types)
                    .map(|(x, ty)| Some(of(x)?.array(ty.dtype)))
                    .collect::<Option<_>>()?;
                let y = op.eval(&elements, &Env::default()).ok()?.pop()?;
                Some(element(&y))
            }
            _ => None,
        })?
    }

    /// Records the number of uses of a value in the source program.
    pub(super) fn set_uses(&self, v: Val, n: usize) {
        self.facts.borrow_mut().uses.add(v, n);
    }

    /// Whether the source program uses a value `n` times: a pattern that computes it again is
    /// replaced only if nothing else uses it.
    pub(super) fn is_used(&self, v: Val, n: usize) -> bool {
        self.facts.borrow().uses.of(v) == n
    }

    /// Whether two values are one value, or equal constants: programs repeat these.
    pub(super) fn same(&self, a: Val, b: Val) -> bool {
        let constants = || self.number(a).zip(self.number(b));
        a == b || constants().is_some_and(|(m, n)| m == n && self.ty(a) == self.ty(b))
    }

    /// The results of `write`, which is called once for each `key`.
    pub(super) fn written_once(&self, key: Val, write: impl FnOnce(&dyn Emit) -> Vals) -> Vals {
        let mut written = self.written.borrow_mut();
        written
            .entry(key)
            .or_insert_with(|| write(self.cx()))
            .clone()
    }

    /// The element that all elements of a value equal, if it is constant.
    pub(super) fn number(&self, v: Val) -> Option<Scalar> {
        *self.facts.borrow().splats.get(v.index())?
    }

    /// Whether all elements of a value equal `c`, rounded to its element type.
    pub(super) fn is_number(&self, v: Val, c: f64) -> bool {
        let rounded = |c: f64, v: Val| match Scalar::F(c).array(self.ty(v).dtype).wide() {
            Wide::F(x) => x.first().copied(),
            _ => None,
        };
        match self.number(v) {
            Some(Scalar::F(x)) => rounded(c, v) == Some(x),
            _ => false,
        }
    }

    /// The operand of a unary function.
    pub(super) fn unary(&self, v: Val, f: Unary) -> Option<Val> {
        let is = |op: &Op, x: &[Val]| matches!(op, Op::Unary(g) if *g == f).then(|| x[0]);
        self.with_def(v, is)?
    }

    /// The operands of a binary function.
    pub(super) fn binary(&self, v: Val, f: Binary) -> Option<[Val; 2]> {
        let is = |op: &Op, x: &[Val]| matches!(op, Op::Binary(g) if *g == f).then(|| [x[0], x[1]]);
        self.with_def(v, is)?
    }

    /// The operand whose NaN a condition tests: `is_nan(x)`, or `x != x`.
    pub(super) fn nan_tested(&self, condition: Val) -> Option<Val> {
        let compared = |op: &Op, x: &[Val]| match op {
            Op::Unary(Unary::IsNan) => Some([x[0], x[0]]),
            Op::Compare(c) if c.0 == Comparison::Ne => Some([x[0], x[1]]),
            _ => None,
        };
        let [a, b] = self.with_def(condition, compared)??;
        self.same(a, b).then_some(a)
    }

    /// Records that `y` is `softplus(x)`.
    pub(super) fn set_softplus(&self, y: Val, x: Val) {
        self.facts.borrow_mut().softplus.insert(y, x);
    }

    /// The operand of a value that was raised to `softplus`.
    pub(super) fn softplus_operand(&self, v: Val) -> Option<Val> {
        self.facts.borrow().softplus.get(&v).copied()
    }
}

impl Writer for &Raising<'_> {
    fn ty(&self, v: Val) -> Type {
        Raising::ty(self, v)
    }

    fn definition(&self, v: Val) -> Option<(Op, Vals)> {
        self.with_def(v, |op, x| (op.clone(), Vals::from_slice(x)))
    }

    fn number(&self, v: Val) -> Option<Scalar> {
        Raising::number(self, v)
    }

    fn emit_one(&mut self, op: Op, x: &[Val]) -> Val {
        self.cx().emit(op, x)[0]
    }
}

/// The first element of an array.
fn element(a: &Array) -> Scalar {
    match a.wide() {
        Wide::F(v) => Scalar::F(v[0]),
        Wide::I(v) => Scalar::I(v[0]),
        Wide::C(v) => Scalar::C(v[0]),
    }
}

/// The result of a pattern in two operands, tried in both orders.
pub(super) fn in_either_order<R>([a, b]: [Val; 2], f: impl Fn(Val, Val) -> Option<R>) -> Option<R> {
    f(a, b).or_else(|| f(b, a))
}

/// The results of an operation with one result.
pub(super) fn one(v: Val) -> Option<Vals> {
    Some(Vals::from_slice(&[v]))
}
