//! Linearity analysis: which values of a function are linear in some of its parameters. Splits a
//! linear function accordingly.
//!
//! ```text
//! ordinary  does not depend on the linear parameters
//! linear    linear in them jointly
//! zero      linear, and zero whatever they are: a constant zero, or something linear of zeros
//! ```
//! A zero operand counts as linear where the operation requires it: `select(p, t, 0)` is linear in
//! `t`.

use crate::error::{Code, Error, Result};
use crate::ir::{Class, Eqn, Function, Lin, Lv, Operand, Val, Visit, Walk};
use smallvec::SmallVec;

impl Function {
    /// Whether each result is linear in the marked parameters together, or zero, with the other
    /// parameters held constant.
    pub fn linear_in(&self, mask: &[bool]) -> bool {
        let lock = || self.linear_memo().lock().unwrap_or_else(|e| e.into_inner());
        let known = lock().get(mask).copied();
        known.unwrap_or_else(|| {
            let r = is_linear(self, mask);
            lock().insert(mask.to_vec(), r);
            r
        })
    }

    /// The classes of its results for parameters of these classes. `None` if one of its values is
    /// neither ordinary nor linear.
    pub fn classes(&self, params: &[Class]) -> Option<Vec<Class>> {
        let class = classify(self, params, None).ok()?;
        Some(self.results().iter().map(|r| class[r.index()]).collect())
    }

    /// The classes of the carries (the first results of this loop body) and other results of a
    /// loop. `carry` are the classes before the first step; the other parameters have the classes
    /// `before` and `after`.
    pub fn loop_classes(
        &self,
        before: &[Class],
        carry: &[Class],
        after: &[Class],
    ) -> Option<Vec<Class>> {
        let mut carry = carry.to_vec();
        loop {
            let y = self.classes(&[before, &carry, after].concat())?;
            let next = Class::join_all(&carry, &y)?;
            if next == carry {
                return Some([&next, &y[next.len()..]].concat());
            }
            carry = next;
        }
    }
}

/// The class of each result of an equation whose results depend on different operands. `None` if it
/// is unknown.
fn results_apart(f: &Function, e: &Eqn, class: &[Class]) -> Option<Vec<Class>> {
    let x: SmallVec<[Class; 8]> = f.operands(e).iter().map(|v| class[v.index()]).collect();
    e.op.classes(&x)
}

type Mask = SmallVec<[bool; 8]>;

/// Mask of the operands in which `e` is linear, given their classes. `None` if it is not linear.
fn linear_operands(f: &Function, e: &Eqn, class: &[Class]) -> Option<Mask> {
    let mask = |zeros| -> Mask {
        let linear = |c: Class| c == Class::Linear || (zeros && c == Class::Zero);
        f.operands(e)
            .iter()
            .map(|v| linear(class[v.index()]))
            .collect()
    };
    [mask(false), mask(true)]
        .into_iter()
        .find(|m| m.contains(&true) && e.op.linear_in(m))
}

/// Classifies every value of `f`, given the classes of its parameters. Returns an error at the
/// first nonlinear equation among those that the `wanted` results need (all equations if `None`).
fn classify(f: &Function, params: &[Class], wanted: Option<&[bool]>) -> Result<Vec<Class>> {
    let needed = f.needed(wanted);
    let mut class = vec![Class::Ordinary; f.len()];
    for (p, &c) in f.params().iter().zip(params) {
        class[p.index()] = c;
    }
    for e in f
        .eqns()
        .iter()
        .filter(|e| e.results().any(|r| needed[r.index()]))
    {
        let has = |c: Class| f.operands(e).iter().any(|v| class[v.index()] == c);
        let y = if has(Class::Linear) {
            if linear_operands(f, e, &class).is_none() {
                if let Some(y) = results_apart(f, e, &class) {
                    e.results().zip(y).for_each(|(r, y)| class[r.index()] = y);
                    continue;
                }
                let which: Vec<usize> = (0..f.operands(e).len())
                    .filter(|&i| class[f.operands(e)[i].index()] == Class::Linear)
                    .collect();
                let text = format!("`{}` is not linear in operands {which:?}", e.op.name());
                return Err(Error::new(Code::NotLinear, text).at(e.loc));
            }
            Class::Linear
        } else if e.op.is_zeros() || (has(Class::Zero) && linear_operands(f, e, &class).is_some()) {
            Class::Zero
        } else if has(Class::Zero)
            && let Some(y) = results_apart(f, e, &class)
        {
            e.results().zip(y).for_each(|(r, y)| class[r.index()] = y);
            continue;
        } else {
            Class::Ordinary
        };
        for r in e.results() {
            class[r.index()] = if f.ty(r).dtype.has_tangent() {
                y
            } else {
                Class::Ordinary
            };
        }
    }
    Ok(class)
}

/// See [`Function::linear_in`].
fn is_linear(f: &Function, mask: &[bool]) -> bool {
    let params: Vec<Class> = mask
        .iter()
        .map(|&m| if m { Class::Linear } else { Class::Ordinary })
        .collect();
    classify(f, &params, None).is_ok_and(|class| {
        f.results()
            .iter()
            .all(|r| class[r.index()] != Class::Ordinary)
    })
}

/// Writes a linear function. Equations that depend on its linear arguments become linear equations,
/// the others ordinary ones. An argument is a value, a linear value, or zero (`None`). Returns the
/// tangent of each wanted result (`None`: zero).
pub(crate) fn trace_linear(
    lin: &Lin<'_>,
    f: &Function,
    args: &[Option<Operand>],
    wanted: &[bool],
) -> Result<Vec<Option<Lv>>> {
    let params: Vec<Class> = args
        .iter()
        .map(|a| match a {
            Some(Operand::R(_)) => Class::Ordinary,
            Some(Operand::L(_)) => Class::Linear,
            None => Class::Zero,
        })
        .collect();
    let class = classify(f, &params, Some(wanted))?;
    for (i, v) in f.results().iter().enumerate().filter(|(i, _)| wanted[*i]) {
        if class[v.index()] == Class::Ordinary {
            let text = format!(
                "result {i} of `{}` does not depend on its linear arguments: not linear",
                f.name
            );
            return Err(Error::new(Code::NotLinear, text));
        }
    }
    let needed = f.needed(Some(wanted));
    // The image of a value that is zero is `None`.
    let mut walk = Walk::new(f, None).only(f.computing(&needed)).renaming();
    walk.set_params(args.iter().copied());
    while let Some(Visit { eqn: e, op, x, .. }) = walk.next(lin.emit()) {
        let has = |c: Class| f.operands(e).iter().any(|v| class[v.index()] == c);
        let linear = e.results().any(|r| class[r.index()] == Class::Linear);
        let mask = if linear || has(Class::Linear) {
            linear_operands(f, e, &class)
        } else {
            None
        };
        if mask.is_none() && has(Class::Linear) {
            // A linear result equals its own derivative, here taken where the linear operands are
            // zero.
            let at: SmallVec<[Val; 4]> = (f.operands(e).iter().zip(&x))
                .map(|(v, x)| match x {
                    Some(Operand::R(x)) => *x,
                    _ => lin.emit().zeros(f.ty(*v)),
                })
                .collect();
            let t: SmallVec<[Option<Lv>; 4]> = x.iter().map(|x| as_linear(*x)).collect();
            let (y, dy) = lin.session().linearize(&op, lin, &at, &t)?;
            for ((r, y), dy) in e.results().zip(y).zip(dy) {
                let image = match class[r.index()] {
                    Class::Ordinary => Some(y.into()),
                    _ => dy.map(Operand::L),
                };
                walk.set(r, image);
            }
            continue;
        }
        let mask = mask.unwrap_or_default();
        let operand = |(i, (v, x)): (usize, (&Val, &Option<Operand>))| match x
            .unwrap_or_else(|| lin.emit().zeros(f.ty(*v)).into())
        {
            // A zero that the operation requires to be linear.
            Operand::R(v) if linear && mask[i] => lin.zeros(&lin.ty(v)).into(),
            o => o,
        };
        let x: SmallVec<[Operand; 4]> = (f.operands(e).iter().zip(&x).enumerate())
            .map(operand)
            .collect();
        let op = op.into_owned();
        if linear {
            let y = lin.apply(op, &x);
            walk.set_results(e, y.into_iter().map(|l| Some(l.into())));
        } else {
            let x: SmallVec<[Val; 4]> = x.iter().filter_map(|o| as_ordinary(*o)).collect();
            let y = lin.emit().emit(op, &x);
            walk.set_results(e, y.into_iter().map(|v| Some(v.into())));
        }
    }
    let tangents = walk.results().into_iter().zip(wanted);
    Ok(tangents
        .map(|(image, w)| as_linear(image).filter(|_| *w))
        .collect())
}

/// The linear value of an image, if it is one.
fn as_linear(image: Option<Operand>) -> Option<Lv> {
    match image {
        Some(Operand::L(l)) => Some(l),
        _ => None,
    }
}

/// The ordinary value of an operand, if it is one.
fn as_ordinary(o: Operand) -> Option<Val> {
    match o {
        Operand::R(v) => Some(v),
        Operand::L(_) => None,
    }
}
