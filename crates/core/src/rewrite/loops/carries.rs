//! The carries of a loop that are needed, and the loop without the others.

use super::form::LoopForm;
use super::hoist::hoisted;
use super::total::is_total;
use crate::error::Result;
use crate::ir::{Builder, Emit, Function, Op, Val, Visit, Walk};
use crate::ops::{Constant, Scan, Value, While};
use crate::rewrite::cse::ExpressionTable;
use crate::rewrite::fold::{as_constant, number_everywhere};
use crate::rewrite::pass::Pass;
use std::sync::Arc;

/// The form of a carry in the simpler loop.
#[derive(Clone, Copy, PartialEq)]
enum Carry {
    Kept,
    /// It equals its first value in every step.
    Fixed,
    /// It equals an earlier carry in every step.
    Same(usize),
    /// It is needed by neither a result nor another carry.
    Dead,
}

/// The carries of a loop, and its stacked results that are used.
pub(super) struct Carries {
    carries: Vec<Carry>,
    stacked: Vec<bool>,
}

/// A result of the original loop.
pub(super) enum ResultSource {
    /// A value before the loop.
    Given(Val),
    /// A result of the new loop.
    Of(usize),
    Unused,
}

/// A loop with its operands, and the results of the original loop.
type NewLoop = (Op, Vec<Val>, Vec<ResultSource>);

impl Carries {
    /// The carries of a loop whose results are used as `used` marks.
    pub(super) fn of(form: &LoopForm<'_>, used: &[bool]) -> Option<Carries> {
        let n = form.init.len();
        let fixed = |k: usize| form.body.results()[k] == form.carry(k);
        // Such a `while` never ends once it begins.
        if form.cond.is_some() && (0..n).all(fixed) {
            return None;
        }
        let saves = matches!(form.op, Op::While(w) if w.saves.is_some());
        let images = images(form);
        let image = |v: Val| images[v.index()];
        let mut carries: Vec<Carry> = (0..n)
            .map(|k| {
                let (own, next) = (image(form.carry(k)), image(form.body.results()[k]));
                match (0..k).find(|&j| image(form.carry(j)) == own) {
                    Some(j) => Carry::Same(j),
                    None if next == own => Carry::Fixed,
                    None => Carry::Kept,
                }
            })
            .collect();
        // A carry that equals a fixed one is fixed, too.
        for k in 0..n {
            if let Carry::Same(j) = carries[k]
                && carries[j] == Carry::Fixed
            {
                carries[k] = Carry::Fixed;
            }
        }
        let stacked = match saves {
            true => vec![true; form.stacked().len()],
            false => used[n..].to_vec(),
        };
        let mut out = Carries { carries, stacked };
        let needed = out.needed(form, used);
        // What may fail must still run.
        let runs = |needed: &[bool]| {
            let all = form.body.needed(None);
            let gone = form.body.eqns().iter().filter(|e| {
                let any = |mask: &[bool]| e.results().any(|r| mask[r.index()]);
                any(&all) && !any(needed)
            });
            gone.into_iter().all(|e| is_total(form.body, e))
        };
        if runs(&out.values(form, &needed)) {
            for (c, needed) in out.carries.iter_mut().zip(needed) {
                if !needed && *c == Carry::Kept {
                    *c = Carry::Dead;
                }
            }
        } else {
            out.stacked.fill(true);
        }
        Some(out)
    }

    /// The carries that results, stacks and the condition need, by their values in earlier steps.
    fn needed(&self, form: &LoopForm<'_>, used: &[bool]) -> Vec<bool> {
        let own = |k: usize| match self.carries[k] {
            Carry::Same(j) => j,
            Carry::Kept | Carry::Fixed | Carry::Dead => k,
        };
        let mut needed = vec![false; form.init.len()];
        for k in 0..needed.len() {
            needed[own(k)] |= used[k];
        }
        if let Some((cond, consts)) = form.cond {
            let values = cond.needed(None);
            let params = &cond.params()[consts.len()..];
            for (k, p) in params.iter().enumerate() {
                needed[own(k)] |= values[p.index()];
            }
        }
        loop {
            let values = self.values(form, &needed);
            let late: Vec<usize> = (0..needed.len())
                .filter(|&k| values[form.carry(k).index()] && !needed[own(k)])
                .collect();
            if late.is_empty() {
                return needed;
            }
            late.into_iter().for_each(|k| needed[own(k)] = true);
        }
    }

    /// The values of the body that these carries and the stacked results need.
    fn values(&self, form: &LoopForm<'_>, needed: &[bool]) -> Vec<bool> {
        let carries = needed.iter().zip(&self.carries);
        let carries = carries.map(|(needed, c)| *needed && *c == Carry::Kept);
        let mask: Vec<bool> = carries.chain(self.stacked.iter().copied()).collect();
        form.body.needed(Some(&mask))
    }

    /// The loop of the carries that are kept, without equations of constants; `None` if the loop
    /// stays as it is.
    pub(super) fn write(&self, pass: &mut Pass, form: &LoopForm<'_>) -> Option<NewLoop> {
        let kept: Vec<usize> = self.carries_that(Carry::Kept);
        let results = |carries: &[usize]| -> Vec<Val> {
            let own = carries.iter().map(|&k| form.body.results()[k]);
            let all = form.stacked().iter().zip(&self.stacked);
            own.chain(all.filter(|(_, used)| **used).map(|(v, _)| *v))
                .collect()
        };
        let results = results(&kept);
        let given = |consts: &[Val]| -> Vec<Option<Val>> {
            let fixed = |k: usize| (self.carries[k] == Carry::Fixed).then(|| form.init[k]);
            let consts = consts.iter().map(|&v| Some(v));
            consts.chain((0..form.init.len()).map(fixed)).collect()
        };
        let of_body = {
            let mut given = given(form.consts);
            given.resize(form.body.params().len(), None);
            let out = hoisted(pass, form.body, &given, &results);
            Constants { given, out }
        };
        let of_cond = form.cond.map(|(cond, consts)| {
            let given = given(consts);
            let out = hoisted(pass, cond, &given, cond.results());
            Constants { given, out }
        });
        let unchanged = kept.len() == form.init.len()
            && self.stacked.iter().all(|used| *used)
            && of_cond
                .iter()
                .chain([&of_body])
                .all(|c| c.out.is_empty() && !c.has_number(&pass.b) && !c.has_same());
        if unchanged {
            return None;
        }
        let new = self.new_loop(&pass.b, form, &kept, &results, &of_body, of_cond.as_ref());
        let (op, x) = new.ok()?;
        Some((op, x, self.sources(form, &kept)))
    }

    fn carries_that(&self, are: Carry) -> Vec<usize> {
        let all = 0..self.carries.len();
        all.filter(|&k| self.carries[k] == are).collect()
    }

    /// The new operation and its operands.
    fn new_loop(
        &self,
        before: &Builder,
        form: &LoopForm<'_>,
        kept: &[usize],
        results: &[Val],
        of_body: &Constants,
        of_cond: Option<&Constants>,
    ) -> Result<(Op, Vec<Val>)> {
        let first = form.consts.len();
        let same = |first: usize, f: &Function| -> Vec<(Val, Val)> {
            let pair = |(k, c): (usize, &Carry)| match c {
                Carry::Same(j) => Some((f.params()[first + k], f.params()[first + j])),
                Carry::Kept | Carry::Fixed | Carry::Dead => None,
            };
            self.carries.iter().enumerate().filter_map(pair).collect()
        };
        let rows = form.body.params()[first + form.init.len()..].iter();
        let rest: Vec<Val> = kept
            .iter()
            .map(|&k| form.carry(k))
            .chain(rows.copied())
            .collect();
        let region = Region {
            before,
            f: form.body,
            constants: of_body,
            rest: &rest,
            same: &same(first, form.body),
        };
        let (body, consts) = region.with_results(results)?;
        let init = kept.iter().map(|&k| form.init[k]);
        Ok(match form.op {
            Op::Scan(s) => {
                let x = consts.iter().copied().chain(init);
                let x = x.chain(form.rows.iter().copied()).collect();
                let scan = Scan {
                    body,
                    consts: consts.len(),
                    carry: kept.len(),
                    ..s.clone()
                };
                (scan.into(), x)
            }
            Op::While(w) => {
                let (cond, own) = form.cond.expect("a condition");
                let params: Vec<Val> = kept.iter().map(|&k| cond.params()[own.len() + k]).collect();
                let region = Region {
                    before,
                    f: cond,
                    constants: of_cond.expect("those of the condition"),
                    rest: &params,
                    same: &same(own.len(), cond),
                };
                let (cond, of_cond) = region.with_results(cond.results())?;
                let x = of_cond.iter().chain(&consts).copied().chain(init).collect();
                let new = While {
                    cond,
                    body,
                    cond_consts: of_cond.len(),
                    body_consts: consts.len(),
                    ..w.clone()
                };
                (new.into(), x)
            }
            _ => unreachable!("a loop"),
        })
    }

    /// The results of the original loop.
    fn sources(&self, form: &LoopForm<'_>, kept: &[usize]) -> Vec<ResultSource> {
        let at = |k: usize| kept.iter().position(|&j| j == k);
        let carry = |(k, c): (usize, &Carry)| {
            let own = match *c {
                Carry::Same(j) => j,
                Carry::Kept | Carry::Fixed | Carry::Dead => k,
            };
            // The last value of a carry that nothing needs is not used.
            at(own).map_or(ResultSource::Given(form.init[k]), ResultSource::Of)
        };
        let mut out: Vec<ResultSource> = self.carries.iter().enumerate().map(carry).collect();
        let mut next = kept.len();
        for used in &self.stacked {
            out.push(match used {
                true => ResultSource::Of(next),
                false => ResultSource::Unused,
            });
            next += usize::from(*used);
        }
        if matches!(form.op, Op::While(w) if w.saves.is_some()) {
            out.push(ResultSource::Of(next));
        }
        out
    }
}

/// The parameters of a region that are the same in every step, and its values that are computed
/// before the loop; each with its value there.
struct Constants {
    given: Vec<Option<Val>>,
    out: Vec<(Val, Val)>,
}

impl Constants {
    /// Whether one of them is a number, which is then part of the code of a step.
    fn has_number(&self, before: &Builder) -> bool {
        let mut given = self.given.iter().flatten();
        given.any(|&v| number(before, v).is_some())
    }

    /// Whether two of them are one value.
    fn has_same(&self) -> bool {
        let mut given: Vec<Val> = self.given.iter().flatten().copied().collect();
        given.sort_unstable();
        given.windows(2).any(|w| w[0] == w[1])
    }
}

/// Largest number of integers of a constant that is part of a step: they may be indices.
const MAX_STEP_INTEGERS: usize = 16;

/// The number that is every element of a value, or the few integers that it is.
fn number(before: &Builder, v: Val) -> Option<Constant> {
    if let Some(s) = number_everywhere(before, v) {
        return Some(Constant::splat(before.ty(v), s));
    }
    let few = |c: &Constant| match &c.value {
        Value::Dense(a) => c.ty.dtype.is_int() && a.len() <= MAX_STEP_INTEGERS,
        Value::Splat(_) | Value::Extent(_) => false,
    };
    as_constant(before, v).filter(few)
}

/// A region of the new loop.
struct Region<'a> {
    /// The function before the loop.
    before: &'a Builder,
    f: &'a Function,
    constants: &'a Constants,
    /// The parameters that follow the constants.
    rest: &'a [Val],
    /// Parameters that equal others.
    same: &'a [(Val, Val)],
}

impl Region<'_> {
    /// The region that computes these values, and its constants. Constants that it does not read
    /// are no parameters, and neither are numbers.
    fn with_results(&self, results: &[Val]) -> Result<(Arc<Function>, Vec<Val>)> {
        let f = self.f;
        let [needed, computing] = self.needed(results);
        let mut pass = Pass::without_folding(&f.name, f.eqns().len());
        let mut walk = Walk::copying(f).only(computing);
        // A value that is given twice is one parameter.
        let (mut consts, mut numbers) = (Vec::<(Val, Val)>::new(), Vec::new());
        let given = f.params().iter().zip(&self.constants.given);
        let given = given.filter_map(|(&p, v)| Some((p, (*v)?)));
        let given = given.filter(|(p, _)| needed[p.index()]);
        for (inside, v) in given.chain(self.constants.out.iter().copied()) {
            match number(self.before, v) {
                Some(c) => numbers.push((inside, c)),
                None => {
                    let own = match consts.iter().find(|c| c.0 == v) {
                        Some(&(_, own)) => own,
                        None => {
                            let own = pass.b.param_like(f.ty(inside).clone(), f, inside);
                            consts.push((v, own));
                            own
                        }
                    };
                    walk.set(inside, own);
                }
            }
        }
        for &p in self.rest {
            walk.set(p, pass.b.param_like(f.ty(p).clone(), f, p));
        }
        for (inside, number) in numbers {
            walk.set(inside, pass.one(number, &[]));
        }
        for &(p, other) in self.same {
            walk.set(p, walk.image(other));
        }
        while let Some(Visit { eqn, op, x, .. }) = walk.next(&pass.b) {
            for (r, y) in eqn.results().zip(pass.write(op.into_owned(), &x)) {
                walk.set_named(&pass.b, r, y);
            }
        }
        let y: Vec<Val> = results.iter().map(|&r| walk.image(r)).collect();
        let consts = consts.into_iter().map(|c| c.0).collect();
        Ok((Arc::new(pass.b.finish(&y)?), consts))
    }

    /// Mask of the values that the results and effects need, up to those that are computed before
    /// the loop, and of the equations that compute them in the steps.
    fn needed(&self, results: &[Val]) -> [Vec<bool>; 2] {
        let mut before = vec![false; self.f.len()];
        for (v, _) in &self.constants.out {
            before[v.index()] = true;
        }
        let mut needed = vec![false; self.f.len()];
        results.iter().for_each(|r| needed[r.index()] = true);
        let mut computing = vec![false; self.f.eqns().len()];
        for (k, e) in self.f.eqns().iter().enumerate().rev() {
            let in_steps = |r: Val| needed[r.index()] && !before[r.index()];
            if e.op.must_run() || e.results().any(in_steps) {
                computing[k] = true;
                let x = self.f.operands(e);
                x.iter().for_each(|v| needed[v.index()] = true);
            }
        }
        [needed, computing]
    }
}

/// For each value of the body an earlier one that equals it in every step, or itself. Carries are
/// assumed to be equal if they begin with one value; an assumption that the results of a step
/// contradict is dropped, until none is.
fn images(form: &LoopForm<'_>) -> Vec<Val> {
    let (f, n) = (form.body, form.init.len());
    let mut class: Vec<usize> = (0..n)
        .map(|k| {
            let same = |j: &usize| {
                form.init[*j] == form.init[k] && f.ty(form.carry(*j)) == f.ty(form.carry(k))
            };
            (0..k).find(same).unwrap_or(k)
        })
        .collect();
    loop {
        let mut images: Vec<Val> = f.vals().collect();
        if class.iter().enumerate().all(|(k, &c)| k == c) {
            return images;
        }
        for k in 0..n {
            images[form.carry(k).index()] = form.carry(class[k]);
        }
        for (k, v) in form.consts.iter().enumerate() {
            if let Some(j) = form.consts[..k].iter().position(|w| w == v) {
                images[f.params()[k].index()] = f.params()[j];
            }
        }
        let mut table = ExpressionTable::for_equations(f.eqns().len());
        for e in f.eqns() {
            let x: Vec<Val> = f.operands(e).iter().map(|v| images[v.index()]).collect();
            // Effects happen as often as before.
            let key = table.key(&e.op, &x).filter(|_| !e.op.has_effect());
            let Some(key) = key else { continue };
            match table.get(&key).cloned() {
                Some(old) => {
                    for (r, old) in e.results().zip(old) {
                        images[r.index()] = old;
                    }
                }
                None => table.insert(key, e.results().collect()),
            }
        }
        let next = |k: usize| images[f.results()[k].index()];
        let refined: Vec<usize> = (0..n)
            .map(|k| {
                let same = |j: &usize| class[*j] == class[k] && next(*j) == next(k);
                (0..k).find(same).unwrap_or(k)
            })
            .collect();
        if refined == class {
            return images;
        }
        class = refined;
    }
}
