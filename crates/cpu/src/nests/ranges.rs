//! Intervals of affine forms, from the extents of a space and from bounds that hold.

use super::access::{Bound, Start, limits};
use super::affine::{Affine, Term, Var};
use super::quantity::Quantity;
use cotangent_core::Dim;
use smallvec::SmallVec;

/// Greatest number of bounds at an end of an interval; others are left out.
const MAX_BOUNDS: usize = 4;

/// Numbers that all bound the same values from one side. None is known to follow from another;
/// their order depends on extents.
type Bounds = SmallVec<[Quantity; 1]>;

/// An interval; an end without bounds is unknown.
#[derive(Clone, Debug, Default)]
struct Interval {
    low: Bounds,
    /// Inclusive.
    high: Bounds,
}

/// A form with the interval in which its values are known to be.
#[derive(Clone, Debug)]
struct Fact {
    form: Affine,
    range: Interval,
}

/// Ranges of the indices of a space, and facts about them.
#[derive(Clone, Debug)]
pub(crate) struct Ranges<'a> {
    space: &'a [Dim],
    starts: &'a [Start],
    facts: Vec<Fact>,
}

/// Adds a bound, unless it follows from the others. `tighter(a, b)` says whether `b` is known to
/// follow from `a`.
fn add(bounds: &mut Bounds, new: Quantity, tighter: impl Fn(&Quantity, &Quantity) -> bool) {
    if !bounds.iter().any(|b| tighter(b, &new)) {
        bounds.retain(|b| !tighter(&new, b));
        if bounds.len() < MAX_BOUNDS {
            bounds.push(new);
        }
    }
}

/// The number by which the index of `finer` is divided to give that of `t`.
fn quotient_of(t: &Term, finer: &Term) -> Option<i64> {
    let d = t.divisor.divided(&finer.divisor)?;
    let modulus = match (&t.modulus, &finer.modulus) {
        (None, None) => true,
        (Some(m), Some(n)) => n.divided(&d).as_ref() == Some(m),
        _ => false,
    };
    let d = d.as_number().filter(|&d| d > 1);
    d.filter(|_| modulus && t.var == finer.var)
}

impl Interval {
    fn new(low: Quantity, high: Quantity) -> Interval {
        Interval::of([low], [high])
    }

    /// The interval with these bounds.
    fn of(
        low: impl IntoIterator<Item = Quantity>,
        high: impl IntoIterator<Item = Quantity>,
    ) -> Interval {
        let mut out = Interval::default();
        for q in low {
            add(&mut out.low, q, |a, b| a.surely_at_least(b));
        }
        for q in high {
            add(&mut out.high, q, |a, b| b.surely_at_least(a));
        }
        out
    }

    fn and(self, other: Interval) -> Interval {
        let (low, high) = (self.low.into_iter(), self.high.into_iter());
        Interval::of(low.chain(other.low), high.chain(other.high))
    }

    fn map(&self, f: impl Fn(&Quantity) -> Option<Quantity>) -> Interval {
        let (low, high) = (self.low.iter(), self.high.iter());
        Interval::of(low.filter_map(&f), high.filter_map(&f))
    }

    fn plus(&self, other: &Interval) -> Interval {
        let sums = |a: &Bounds, b: &Bounds| -> Bounds {
            a.iter().flat_map(|x| b.iter().map(|y| x.plus(y))).collect()
        };
        Interval::of(sums(&self.low, &other.low), sums(&self.high, &other.high))
    }

    fn times(&self, factor: &Quantity) -> Interval {
        let zero = Quantity::Number(0);
        let scaled = |q: &Bounds| q.iter().map(|q| q.times(factor)).collect::<Bounds>();
        let (low, high) = (scaled(&self.low), scaled(&self.high));
        if factor.surely_at_least(&zero) {
            Interval::of(low, high)
        } else if zero.surely_at_least(factor) {
            Interval::of(high, low)
        } else {
            Interval::default()
        }
    }

    /// Whether it is known to be empty.
    fn is_empty(&self) -> bool {
        let below = |low: &Quantity| self.high.iter().any(|h| h.at_least(low) == Some(false));
        self.low.iter().any(below)
    }
}

impl<'a> Ranges<'a> {
    pub(crate) fn new(space: &'a [Dim], starts: &'a [Start]) -> Ranges<'a> {
        Ranges {
            space,
            starts,
            facts: Vec::new(),
        }
    }

    /// Number of starts.
    pub(crate) fn starts(&self) -> usize {
        self.starts.len()
    }

    /// The ranges where these bounds hold.
    pub(crate) fn inside(&self, bounds: &[Bound]) -> Ranges<'a> {
        let mut out = self.clone();
        out.facts.extend(bounds.iter().map(|b| Fact {
            form: b.form.clone(),
            range: Interval::new(b.low.clone(), b.high.offset(-1)),
        }));
        out
    }

    /// The ranges where not all of these bounds hold. That gives a fact if one side of a single
    /// bound always holds.
    pub(crate) fn outside(&self, bounds: &[Bound]) -> Ranges<'a> {
        let mut out = self.clone();
        let [b] = bounds else {
            return out;
        };
        let always = |ends: Vec<Quantity>, f: &dyn Fn(&Quantity) -> bool| ends.iter().any(f);
        let mut range = Interval::default();
        if b.step != 1 {
            return out;
        } else if always(self.lows(&b.form), &|low| low.surely_at_least(&b.low)) {
            range.low.push(b.high.clone());
        } else if always(self.highs(&b.form), &|high| {
            b.high.offset(-1).surely_at_least(high)
        }) {
            range.high.push(b.low.offset(-1));
        } else {
            return out;
        }
        let form = b.form.clone();
        out.facts.push(Fact { form, range });
        out
    }

    /// Whether no index is known to be in all facts.
    pub(crate) fn is_empty(&self) -> bool {
        self.facts.iter().any(|f| {
            let low = self.lows(&f.form);
            let ends = |low: &Quantity| {
                let high = self.highs(&f.form);
                high.iter().any(|high| high.at_least(low) == Some(false))
            };
            f.range.is_empty() || low.iter().any(ends)
        })
    }

    /// The interval of a term without its coefficient, from extents alone.
    fn extent(&self, t: &Term) -> Interval {
        let limits = limits(self.space, self.starts);
        let high = t.count(&limits).map(|n| n.offset(-1));
        Interval::of([0.into()], high)
    }

    /// The interval of a term without its coefficient.
    fn term(&self, t: &Term) -> Interval {
        let plain = Term {
            coefficient: 1.into(),
            divisor: 1.into(),
            modulus: None,
            ..t.clone()
        };
        let mut range = self.extent(&plain).and(self.by_facts(&plain));
        if !t.divisor.is(1) {
            range = match t.divisor.as_number() {
                Some(d) => range.map(|q| q.floor_div(d)),
                // floor((m * d - 1) / d) = m - 1
                None => {
                    let low = range.low.iter().filter_map(|q| q.divided(&t.divisor));
                    let above = |q: &Quantity| q.offset(1).divided(&t.divisor);
                    let high = range.high.iter().filter_map(above).map(|q| q.offset(-1));
                    Interval::of(low.chain([0.into()]), high)
                }
            };
        }
        if let Some(m) = &t.modulus {
            let below = |q: &Quantity| m.offset(-1).surely_at_least(q);
            let zero = |q: &Quantity| q.surely_at_least(&0.into());
            if !(range.high.iter().any(below) && range.low.iter().any(zero)) {
                range = Interval::new(0.into(), m.offset(-1));
            }
        }
        if t.is_plain() {
            return range;
        }
        self.extent(t).and(range).and(self.by_facts(t))
    }

    /// The interval of a term without its coefficient, by facts about forms that have it.
    fn by_facts(&self, t: &Term) -> Interval {
        let mut out = Interval::default();
        for fact in &self.facts {
            if let [u] = fact.form.terms.as_slice()
                && u.coefficient.is(1)
                && let Some(d) = quotient_of(t, u)
            {
                let offset = Quantity::Number(0).minus(&fact.form.offset);
                let index = fact.range.map(|q: &Quantity| q.plus(&offset).floor_div(d));
                out = out.and(index);
            }
            let Some(own) = fact.form.terms.iter().find(|u| u.same_index(t)) else {
                continue;
            };
            let mut rest = fact.form.clone();
            rest.terms.retain(|u| !u.same_index(t));
            let others = self.sum(&rest, &|t| self.extent(t)).times(&(-1).into());
            let scaled = fact.range.plus(&others);
            let by_fact = match own.coefficient.as_number() {
                Some(1) => scaled,
                Some(-1) => scaled.times(&(-1).into()),
                // Rounded towards the inside of the interval.
                Some(c) if c > 0 => {
                    let negative = |q: Quantity| Quantity::Number(0).minus(&q);
                    let above = |q| negative(q).floor_div(c).map(negative);
                    let high = scaled.high.iter().filter_map(|q| q.floor_div(c));
                    Interval::of(scaled.low.into_iter().filter_map(above), high)
                }
                _ => continue,
            };
            out = out.and(by_fact);
        }
        out
    }

    fn sum(&self, form: &Affine, term: &dyn Fn(&Term) -> Interval) -> Interval {
        let offset = Interval::new(form.offset.clone(), form.offset.clone());
        form.terms
            .iter()
            .fold(offset, |sum, t| sum.plus(&term(t).times(&t.coefficient)))
    }

    /// The interval of a form by each fact about a form of equal terms.
    fn by_equal_forms(&self, form: &Affine) -> impl Iterator<Item = Interval> {
        self.facts.iter().filter_map(|fact| {
            let more = form.distance(&fact.form)?;
            Some(fact.range.plus(&Interval::new(more.clone(), more)))
        })
    }

    /// Numbers that a form is never below.
    pub(crate) fn lows(&self, form: &Affine) -> Vec<Quantity> {
        let sum = self.sum(form, &|t| self.term(t));
        let equal = self.by_equal_forms(form).flat_map(|r| r.low);
        sum.low.into_iter().chain(equal).collect()
    }

    /// Numbers that a form is never above.
    pub(crate) fn highs(&self, form: &Affine) -> Vec<Quantity> {
        let sum = self.sum(form, &|t| self.term(t));
        let equal = self.by_equal_forms(form).flat_map(|r| r.high);
        sum.high.into_iter().chain(equal).collect()
    }

    /// Numbers of which one is at least 0 if the form is less than `limit` at every index.
    pub(crate) fn room(&self, form: &Affine, limit: &Quantity) -> Vec<Quantity> {
        let highs = self.highs(form).into_iter();
        let mut out: Vec<Quantity> = highs.map(|h| limit.minus(&h).offset(-1)).collect();
        // c * floor(i / d) + offset < limit where i < d * ceil((limit - offset) / c).
        if let [t] = form.terms.as_slice()
            && t.modulus.is_none()
            && let Var::Axis(k) = t.var
            && let Some(c) = t.coefficient.as_number().filter(|&c| c > 0)
            && let Some(most) = limit.minus(&form.offset).offset(c - 1).floor_div(c)
        {
            let all = most.times(&t.divisor);
            out.push(all.minus(&(&self.space[k]).into()));
        }
        out
    }
}
