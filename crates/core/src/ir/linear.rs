//! Linear values and linear programs: tangents are values of a separate type.
//!
//! A linear equation takes ordinary values (`R`) and linear values (`L`), and is checked with
//! [`Primitive::linear_in`](crate::Primitive::linear_in). A rule that multiplies two tangents is an
//! error. A tangent of one transform is never a value of another one (no perturbation confusion).

use super::{Emit, Linearized, Op, Val, Vals};
use crate::error::{Code, Error, Loc};
use crate::shape::Type;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::ops::Deref;

/// A linear value: a tangent, by its index in a linear program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Lv(pub(crate) u32);

impl Lv {
    /// The tangent that a failed equation returns.
    pub const POISON: Lv = Lv(u32::MAX);

    /// Index in its program.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The tangent with this index, for programs outside this crate.
    pub fn from_index(i: usize) -> Lv {
        Lv(u32::try_from(i).expect("fewer than 2^32 values"))
    }
}

/// An operand of a linear equation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Operand {
    /// An ordinary value: a residual.
    R(Val),
    /// A linear value.
    L(Lv),
}

impl From<Val> for Operand {
    fn from(v: Val) -> Operand {
        Operand::R(v)
    }
}

impl From<Lv> for Operand {
    fn from(v: Lv) -> Operand {
        Operand::L(v)
    }
}

/// The dependence of a value on the linear parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Does not depend on the linear parameters.
    Ordinary,
    /// Linear in them.
    Linear,
    /// Zero, which is also linear.
    Zero,
}

impl Class {
    /// The class of a value that has either class; `None`: neither ordinary nor linear.
    pub fn join(self, other: Class) -> Option<Class> {
        match (self, other) {
            (a, b) if a == b => Some(a),
            (Class::Zero, c) | (c, Class::Zero) => Some(c),
            _ => None,
        }
    }

    /// [`Class::join`] of each pair of elements.
    pub fn join_all(a: &[Class], b: &[Class]) -> Option<Vec<Class>> {
        a.iter().zip(b).map(|(a, b)| a.join(*b)).collect()
    }
}

/// One linear equation.
#[derive(Clone, Debug)]
pub struct LinEqn {
    /// The operation, linear in its `L` operands together.
    pub op: Op,
    /// Ordinary and linear operands.
    pub operands: SmallVec<[Operand; 2]>,
    /// Source location of the original equation.
    pub loc: Loc,
    first: u32,
    count: u32,
}

impl LinEqn {
    /// The linear values it defines.
    pub fn results(&self) -> impl DoubleEndedIterator<Item = Lv> + Clone + use<> {
        (self.first..self.first + self.count).map(Lv)
    }
}

/// A linear program over ordinary values of one function under construction.
#[derive(Clone, Default)]
pub struct LinearProgram {
    types: Vec<Type>,
    eqns: Vec<LinEqn>,
}

impl LinearProgram {
    /// A new linear input.
    pub fn input(&mut self, ty: Type) -> Lv {
        self.types.push(ty);
        Lv(self.types.len() as u32 - 1)
    }

    /// The type of a linear value.
    pub fn ty(&self, v: Lv) -> &Type {
        &self.types[v.index()]
    }

    /// Equations in order.
    pub fn eqns(&self) -> &[LinEqn] {
        &self.eqns
    }

    pub(crate) fn eqns_mut(&mut self) -> &mut [LinEqn] {
        &mut self.eqns
    }

    /// Number of linear values.
    pub fn len(&self) -> usize {
        self.types.len()
    }

    /// Whether it has no values.
    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    /// The program without its emitter's identity, for another emitter with the same indices of
    /// ordinary values.
    pub fn for_any_emitter(mut self) -> LinearProgram {
        for x in self.eqns.iter_mut().flat_map(|e| &mut e.operands) {
            if let Operand::R(v) = x {
                *v = v.of_any();
            }
        }
        self
    }
}

/// The emitter of linearization rules: ordinary values through the emitter it dereferences to,
/// linear ones through [`Lin::apply`] and its shorthands.
pub struct Lin<'a> {
    emit: &'a dyn Emit,
    program: &'a RefCell<LinearProgram>,
}

impl<'a> Deref for Lin<'a> {
    type Target = dyn Emit + 'a;
    fn deref(&self) -> &(dyn Emit + 'a) {
        self.emit
    }
}

impl<'a> Lin<'a> {
    /// An emitter that writes values to `emit` and tangents to `program`.
    pub fn new(emit: &'a dyn Emit, program: &'a RefCell<LinearProgram>) -> Lin<'a> {
        Lin { emit, program }
    }

    /// The emitter of ordinary values.
    pub fn emit(&self) -> &'a dyn Emit {
        self.emit
    }

    /// The program of tangents.
    pub(crate) fn program(&self) -> &'a RefCell<LinearProgram> {
        self.program
    }

    /// The type of a linear value.
    pub fn lty(&self, v: Lv) -> Type {
        let p = self.program.borrow();
        p.types
            .get(v.index())
            .cloned()
            .unwrap_or_else(|| Type::scalar(crate::DType::F64))
    }

    /// Writes a linear equation: `op` must be linear in the `L` operands together.
    pub fn apply(&self, op: impl Into<Op>, operands: &[Operand]) -> SmallVec<[Lv; 2]> {
        let op = op.into();
        let count = op.results();
        match self.try_apply(op, operands) {
            Some(r) => r,
            None => {
                debug_assert!(self.emit.failed());
                smallvec::smallvec![Lv::POISON; count]
            }
        }
    }

    fn try_apply(&self, op: Op, operands: &[Operand]) -> Option<SmallVec<[Lv; 2]>> {
        let poison = |o: &Operand| match o {
            Operand::R(v) => *v == Val::POISON,
            Operand::L(l) => *l == Lv::POISON,
        };
        if operands.iter().any(poison) {
            return None;
        }
        let mask: SmallVec<[bool; 4]> = operands
            .iter()
            .map(|o| matches!(o, Operand::L(_)))
            .collect();
        if !operands.is_empty() && !op.linear_in(&mask) {
            let which: Vec<usize> = (0..mask.len()).filter(|&i| mask[i]).collect();
            self.emit.fail(
                Error::new(
                    Code::NotLinear,
                    format!(
                        "`{}` is not linear in operands {which:?}: the rule is not linear",
                        op.name()
                    ),
                )
                .at(self.emit.loc()),
            );
            return None;
        }
        let types: SmallVec<[Type; 4]> = operands
            .iter()
            .map(|o| match o {
                Operand::R(v) => self.emit.ty(*v),
                Operand::L(v) => self.lty(*v),
            })
            .collect();
        match op.infer(&types) {
            Ok(results) => {
                let mut p = self.program.borrow_mut();
                let (first, count) = (p.types.len() as u32, results.len() as u32);
                p.types.extend(results);
                p.eqns.push(LinEqn {
                    op,
                    operands: operands.into(),
                    loc: self.emit.loc(),
                    first,
                    count,
                });
                Some((first..first + count).map(Lv).collect())
            }
            Err(e) => {
                self.emit.fail(
                    e.at(self.emit.loc())
                        .note("in a linear equation written by a rule"),
                );
                None
            }
        }
    }

    /// Writes a linear equation with one result.
    pub fn apply1(&self, op: impl Into<Op>, operands: &[Operand]) -> Lv {
        self.apply(op, operands)[0]
    }

    /// The sum of two tangents.
    pub fn sum(&self, a: Lv, b: Lv) -> Lv {
        let sum = self.emit.session().sum(&self.lty(a));
        self.apply1(sum, &[a.into(), b.into()])
    }

    /// The sum of two tangents (`None`: zero).
    pub fn sum_opt(&self, a: Option<Lv>, b: Option<Lv>) -> Option<Lv> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.sum(a, b)),
            (a, b) => a.or(b),
        }
    }

    /// An explicit zero tangent of this type.
    pub fn zeros(&self, ty: &Type) -> Lv {
        self.apply1(self.emit.session().zeros(ty), &[])
    }

    /// The tangent, or an explicit zero of the type of tangents of `x`.
    pub fn or_zeros(&self, t: Option<Lv>, x: Val) -> Lv {
        t.unwrap_or_else(|| self.zeros(&self.emit.ty(x).tangent()))
    }

    /// The rule of an operation that is linear in the operands with tangents: the tangent is the
    /// operation applied to tangents.
    pub fn itself(&self, op: &Op, x: &[Val], t: &[Option<Lv>]) -> Linearized {
        let y = self.emit.emit(op.clone(), x);
        let operands: SmallVec<[Operand; 4]> = x
            .iter()
            .zip(t)
            .map(|(&x, t)| t.map_or(Operand::R(x), Operand::L))
            .collect();
        (
            y,
            self.apply(op.clone(), &operands)
                .into_iter()
                .map(Some)
                .collect(),
        )
    }

    /// The return value of a rule with one result: the result and its tangent.
    pub fn one(&self, y: Val, t: Option<Lv>) -> Linearized {
        (Vals::from_slice(&[y]), vec![t])
    }
}
