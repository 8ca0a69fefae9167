//! Intervals of affine forms, from the extents of a space and from bounds that hold.

use super::access::{Bound, Start, limits};
use super::affine::{Affine, Term, Var};
use super::quantity::Quantity;
use cotangent_core::Dim;

/// An interval; an end is `None` if it is unknown.
#[derive(Clone, Debug)]
pub(crate) struct Interval {
    pub low: Option<Quantity>,
    /// Inclusive.
    pub high: Option<Quantity>,
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

/// The greater (`sign` 1) or smaller (-1) of two known numbers. If their order is unknown, the
/// second.
fn tighter(a: Option<Quantity>, b: Option<Quantity>, sign: i64) -> Option<Quantity> {
    let (Some(x), Some(y)) = (&a, &b) else {
        return a.or(b);
    };
    let (greater, less) = if sign > 0 { (y, x) } else { (x, y) };
    match greater.at_least(less) {
        Some(false) => a,
        _ => b,
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
        Interval {
            low: Some(low),
            high: Some(high),
        }
    }

    fn and(self, other: Interval) -> Interval {
        Interval {
            low: tighter(self.low, other.low, 1),
            high: tighter(self.high, other.high, -1),
        }
    }

    fn map(&self, f: impl Fn(&Quantity) -> Option<Quantity>) -> Interval {
        Interval {
            low: self.low.as_ref().and_then(&f),
            high: self.high.as_ref().and_then(&f),
        }
    }

    fn plus(&self, other: &Interval) -> Interval {
        let sum = |a: &Option<Quantity>, b: &Option<Quantity>| Some(a.as_ref()?.plus(b.as_ref()?));
        Interval {
            low: sum(&self.low, &other.low),
            high: sum(&self.high, &other.high),
        }
    }

    fn times(&self, factor: &Quantity) -> Interval {
        let zero = Quantity::Number(0);
        let scaled = self.map(|q| Some(q.times(factor)));
        if factor.surely_at_least(&zero) {
            scaled
        } else if zero.surely_at_least(factor) {
            Interval {
                low: scaled.high,
                high: scaled.low,
            }
        } else {
            Interval {
                low: None,
                high: None,
            }
        }
    }

    /// Whether it is known to be empty.
    fn is_empty(&self) -> bool {
        match (&self.low, &self.high) {
            (Some(low), Some(high)) => high.at_least(low) == Some(false),
            _ => false,
        }
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
        let mut range = Interval {
            low: None,
            high: None,
        };
        if b.step != 1 {
            return out;
        } else if always(self.lows(&b.form), &|low| low.surely_at_least(&b.low)) {
            range.low = Some(b.high.clone());
        } else if always(self.highs(&b.form), &|high| {
            b.high.offset(-1).surely_at_least(high)
        }) {
            range.high = Some(b.low.offset(-1));
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
        let low = Some(0.into());
        let high = t.count(&limits).map(|n| n.offset(-1));
        Interval { low, high }
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
                None => Interval {
                    low: range
                        .low
                        .and_then(|q| q.divided(&t.divisor))
                        .or(Some(0.into())),
                    high: range
                        .high
                        .and_then(|q| q.offset(1).divided(&t.divisor))
                        .map(|q| q.offset(-1)),
                },
            };
        }
        if let Some(m) = &t.modulus {
            let below = |q: &Quantity| m.offset(-1).surely_at_least(q);
            let zero = |q: &Quantity| q.surely_at_least(&0.into());
            if !(range.high.as_ref().is_some_and(below) && range.low.as_ref().is_some_and(zero)) {
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
        let mut out = Interval {
            low: None,
            high: None,
        };
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
                Some(c) if c > 0 => Interval {
                    low: scaled.low.and_then(|q| {
                        let less = Quantity::Number(0).minus(&q).floor_div(c)?;
                        Some(Quantity::Number(0).minus(&less))
                    }),
                    high: scaled.high.and_then(|q| q.floor_div(c)),
                },
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
        let equal = self.by_equal_forms(form).filter_map(|r| r.low);
        sum.low.into_iter().chain(equal).collect()
    }

    /// Numbers that a form is never above.
    pub(crate) fn highs(&self, form: &Affine) -> Vec<Quantity> {
        let sum = self.sum(form, &|t| self.term(t));
        let equal = self.by_equal_forms(form).filter_map(|r| r.high);
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
