//! Accesses: the element of a value that a nest reads at each of its indices.
//!
//! Broadcast, reshape, transpose, slice, reverse, pad, concatenate and dynamic slice move elements
//! without computing any. Each is an [`IndexMap`] or a [`Choice`], and a read of its result is a
//! read of its operand: [`Read::through`].

use super::affine::{Affine, Limits, Term, Var, ceil_div};
use super::quantity::Quantity;
use super::shared::Shared;
use cotangent_core::{Dim, Env, Scalar, Val};
use std::ops::{Deref, DerefMut};

/// Maximum number of elements that one read chooses from, starts included, unless it is all that a
/// nest computes.
pub(crate) const MAX_READ_LEAVES: usize = 4;

/// The index along each axis of a value.
pub(crate) type Indices = Shared<Affine>;

/// One element of a computed value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Access {
    pub of: Val,
    pub at: Indices,
}

/// The condition `low <= form < high` and `form ≡ low (mod step)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bound {
    pub form: Affine,
    pub low: Quantity,
    pub high: Quantity,
    /// Positive.
    pub step: i64,
}

impl Bound {
    /// Whether the form has a start.
    pub(crate) fn mentions_starts(&self) -> bool {
        let is_start = |t: &Term| matches!(t.var, Var::Start(_));
        self.form.terms.iter().any(is_start)
    }

    /// Whether it holds, if its form is a number.
    fn decided(&self) -> Option<bool> {
        if !self.form.terms.is_empty() {
            return None;
        }
        let form = self.form.offset.as_number()?;
        let (low, high) = (self.low.as_number()?, self.high.as_number()?);
        Some((low..high).contains(&form) && (form - low) % self.step == 0)
    }

    /// The same condition on the term with the largest coefficient, if the others never decide:
    /// `2 * i + j < 6` with `0 <= j < 2` is `i < 3`.
    fn on_one_term(self, limits: Limits<'_>) -> Bound {
        self.largest_term(limits).unwrap_or(self)
    }

    fn largest_term(&self, limits: Limits<'_>) -> Option<Bound> {
        let terms = &self.form.terms;
        if terms.len() < 2 || self.step != 1 {
            return None;
        }
        let scale = |t: &Term| t.coefficient.as_number();
        let scales: Vec<i64> = terms.iter().map(scale).collect::<Option<_>>()?;
        let largest = (0..terms.len()).max_by_key(|&k| scales[k].unsigned_abs())?;
        let by = scales[largest].checked_abs()?;
        // The range of the rest of the form.
        let offset = self.form.offset.as_number()?;
        let (mut least, mut most) = (offset, offset);
        for (k, t) in terms.iter().enumerate().filter(|(k, _)| *k != largest) {
            let last = t.count(limits)?.as_number()?.checked_sub(1)?;
            let last = scales[k].checked_mul(last)?;
            least = least.checked_add(last.min(0))?;
            most = most.checked_add(last.max(0))?;
        }
        // The least number `x` with `by * x + rest >= end`, the same for all values of the rest.
        let first = |end: &Quantity| {
            let end = end.as_number()?;
            let of = |rest: i64| Some(ceil_div(end.checked_sub(rest)?, by));
            let (low, high) = (of(most)?, of(least)?);
            (low == high).then_some(low)
        };
        let (low, high) = (first(&self.low)?, first(&self.high)?);
        let coefficient = scales[largest].signum().into();
        Some(Bound {
            form: Affine::from(Term {
                coefficient,
                ..terms[largest].clone()
            }),
            low: low.into(),
            high: high.into(),
            step: 1,
        })
    }

    /// Whether the indices at which it holds are at distances from each other.
    fn interleaves(&self) -> bool {
        self.step > 1 || self.form.terms.iter().any(|t| !t.is_plain())
    }

    /// The axis of which the bound is a range, and the least indices in and after the range.
    pub(crate) fn range(&self, env: &Env) -> Option<(usize, [i64; 2])> {
        let [t] = self.form.terms.as_slice() else {
            return None;
        };
        let Var::Axis(k) = t.var else {
            return None;
        };
        let number = |q: &Quantity| q.eval(env).ok();
        let (low, high) = (number(&self.low)?, number(&self.high)?);
        let offset = number(&self.form.offset)?;
        let ends = match t.coefficient.as_number().filter(|_| t.is_plain())? {
            1 => [low - offset, high - offset],
            -1 => [offset - high + 1, offset - low + 1],
            _ => return None,
        };
        Some((k, ends))
    }
}

/// One of two sources, by conditions on indices.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub bounds: Vec<Bound>,
    /// Where all bounds hold.
    pub inside: Source,
    pub outside: Source,
}

/// The source of an element. Choices form a decision tree, so there is a source for every index.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Source {
    /// The same number for every index.
    Number(Box<Scalar>),
    Element(Access),
    Choice(Box<Choice>),
}

/// A start of a window that is itself read: `clamp(read, 0, last)`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Start {
    pub read: Read,
    pub last: Quantity,
}

/// The starts of a read. One pointer, because few reads have any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Starts(Option<Box<StartList>>);

#[derive(Clone, Debug, Default, PartialEq)]
struct StartList {
    all: Vec<Start>,
}

impl From<Vec<Start>> for Starts {
    fn from(all: Vec<Start>) -> Starts {
        Starts((!all.is_empty()).then(|| Box::new(StartList { all })))
    }
}

impl Deref for Starts {
    type Target = [Start];

    fn deref(&self) -> &[Start] {
        self.0.as_ref().map_or(&[], |list| &list.all)
    }
}

impl DerefMut for Starts {
    fn deref_mut(&mut self) -> &mut [Start] {
        self.0.as_mut().map_or(&mut [], |list| &mut list.all)
    }
}

impl<'a> IntoIterator for &'a Starts {
    type Item = &'a Start;
    type IntoIter = std::slice::Iter<'a, Start>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// A read of an element at each index of a space.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Read {
    /// The starts that the forms of the source mention as [`Var::Start`].
    pub starts: Starts,
    pub source: Source,
}

/// The index of an operand for each index of a result.
#[derive(Clone, Debug, Default)]
pub(crate) struct IndexMap {
    /// The index along each axis of the operand.
    pub at: Indices,
    /// Starts that `at` mentions.
    pub starts: Vec<Start>,
}

impl IndexMap {
    /// A map without starts.
    pub(crate) fn of(at: impl Into<Indices>) -> IndexMap {
        let (at, starts) = (at.into(), Vec::new());
        IndexMap { at, starts }
    }

    /// The map of a space of this rank to itself.
    pub(crate) fn identity(rank: usize) -> IndexMap {
        IndexMap::of((0..rank).map(Affine::axis).collect::<Indices>())
    }

    /// Whether it maps every index to itself.
    pub(crate) fn is_identity(&self) -> bool {
        self.starts.is_empty() && are_own(&self.at)
    }
}

/// Whether these are the indices themselves, in order.
pub(crate) fn are_own(at: &[Affine]) -> bool {
    at.iter().enumerate().all(|(k, a)| a.is_axis(k))
}

/// Limits of the indices of a space and of starts.
pub(crate) fn limits<'a>(
    space: &'a [Dim],
    starts: &'a [Start],
) -> impl Fn(Var) -> Quantity + use<'a> {
    move |v| match v {
        Var::Axis(k) => Quantity::from(&space[k]),
        Var::Start(k) => starts[k].last.offset(1),
    }
}

impl Source {
    /// Number of leaves.
    pub(crate) fn leaves(&self) -> usize {
        match self {
            Source::Number(_) | Source::Element(_) => 1,
            Source::Choice(c) => c.inside.leaves() + c.outside.leaves(),
        }
    }

    fn substituted(&self, f: &dyn Fn(Var) -> Affine, limits: Limits<'_>) -> Option<Source> {
        let form = |a: &Affine| a.substituted(f, limits);
        Some(match self {
            Source::Number(s) => Source::Number(s.clone()),
            Source::Element(a) => Source::Element(Access {
                of: a.of,
                at: a.at.iter().map(form).collect::<Option<_>>()?,
            }),
            Source::Choice(c) => {
                let bound = |b: &Bound| {
                    let form = form(&b.form)?;
                    Some(Bound { form, ..b.clone() }.on_one_term(limits))
                };
                let bounds: Vec<Bound> = c.bounds.iter().map(bound).collect::<Option<_>>()?;
                let decided: Option<Vec<bool>> = bounds.iter().map(Bound::decided).collect();
                if let Some(decided) = decided {
                    let side = match decided.iter().all(|holds| *holds) {
                        true => &c.inside,
                        false => &c.outside,
                    };
                    return side.substituted(f, limits);
                }
                Source::Choice(Box::new(Choice {
                    bounds,
                    inside: c.inside.substituted(f, limits)?,
                    outside: c.outside.substituted(f, limits)?,
                }))
            }
        })
    }

    /// Visits the elements of all leaves.
    pub(crate) fn elements(&self, visit: &mut dyn FnMut(&Access)) {
        match self {
            Source::Number(_) => {}
            Source::Element(a) => visit(a),
            Source::Choice(c) => {
                c.inside.elements(visit);
                c.outside.elements(visit);
            }
        }
    }

    /// Whether elements of several values take turns.
    fn interleaves(&self) -> bool {
        match self {
            Source::Number(_) | Source::Element(_) => false,
            Source::Choice(c) => {
                let own = c.bounds.iter().any(Bound::interleaves);
                own || c.inside.interleaves() || c.outside.interleaves()
            }
        }
    }

    fn elements_mut(&mut self, visit: &mut dyn FnMut(&mut Access)) {
        match self {
            Source::Number(_) => {}
            Source::Element(a) => visit(a),
            Source::Choice(c) => {
                c.inside.elements_mut(visit);
                c.outside.elements_mut(visit);
            }
        }
    }

    /// The source with numbers of starts increased by `by`.
    fn shifted(&self, by: usize) -> Source {
        let f = |v| match v {
            Var::Start(k) => Var::Start(k + by).into(),
            axis => axis.into(),
        };
        if by == 0 {
            return self.clone();
        }
        // A renamed index has no new limit, and a form of renamed indices is affine.
        let unlimited = |_| Quantity::Number(i64::MAX);
        self.substituted(&f, &unlimited)
            .expect("starts are renamed only")
    }
}

impl Read {
    /// The read of the element at the index of the space, of a value of this rank.
    pub(crate) fn identity(of: Val, rank: usize) -> Read {
        let at = IndexMap::identity(rank).at;
        Read::plain(Source::Element(Access { of, at }))
    }

    /// A read without starts.
    pub(crate) fn plain(source: Source) -> Read {
        let starts = Starts::default();
        Read { starts, source }
    }

    /// The read of a number.
    pub(crate) fn number(s: Scalar) -> Read {
        Read::plain(Source::Number(Box::new(s)))
    }

    /// Visits the elements that it chooses from, and those of its starts.
    pub(crate) fn elements(&self, visit: &mut dyn FnMut(&Access)) {
        self.source.elements(visit);
        for s in &self.starts {
            s.read.elements(visit);
        }
    }

    /// Whether elements of several values take turns.
    pub(crate) fn interleaves(&self) -> bool {
        self.source.interleaves()
    }

    /// Whether it chooses from more elements than a read that is part of an expression may.
    pub(crate) fn is_joined(&self) -> bool {
        self.size() > MAX_READ_LEAVES
    }

    /// Whether different indices of the space may have different elements.
    pub(crate) fn has_axis(&self) -> bool {
        let is_axis = |t: &Term| matches!(t.var, Var::Axis(_));
        let mut any = false;
        self.elements(&mut |a| any |= a.at.iter().any(|f| f.terms.iter().any(is_axis)));
        any
    }

    /// Whether it may read an element of a value.
    pub(crate) fn mentions(&self, v: Val) -> bool {
        if let Source::Element(a) = &self.source
            && self.starts.is_empty()
        {
            return a.of == v;
        }
        let mut any = false;
        self.elements(&mut |a| any |= a.of == v);
        any
    }

    /// Visits all elements, to change them.
    pub(crate) fn elements_mut(&mut self, visit: &mut dyn FnMut(&mut Access)) {
        self.source.elements_mut(visit);
        for s in &mut *self.starts {
            s.read.elements_mut(visit);
        }
    }

    /// The number, if the same one is read everywhere.
    pub(crate) fn as_number(&self) -> Option<Scalar> {
        match &self.source {
            Source::Number(s) => Some(**s),
            _ => None,
        }
    }

    /// Number of leaves of the source and of all starts: the size of the read.
    pub(crate) fn size(&self) -> usize {
        let starts: usize = self.starts.iter().map(|s| s.read.size()).sum();
        self.source.leaves() + starts
    }

    /// Whether it is an access of one value whose axes are strided: a view without a computation.
    pub(crate) fn is_strided(&self) -> bool {
        let plain = |a: &Affine| a.terms.iter().all(|t| t.is_plain());
        self.starts.is_empty()
            && matches!(&self.source, Source::Element(a) if a.at.iter().all(plain))
    }

    /// The read at mapped indices: `space` are the extents of the new indices. `None` if an index
    /// would not be affine.
    pub(crate) fn through(&self, map: &IndexMap, space: &[Dim]) -> Option<Read> {
        if map.is_identity() {
            return Some(self.clone());
        }
        if let Source::Element(a) = &self.source
            && self.starts.is_empty()
            && a.at.len() == map.at.len()
            && are_own(&a.at)
        {
            let (of, at) = (a.of, map.at.clone());
            let source = Source::Element(Access { of, at });
            let starts = map.starts.clone().into();
            return Some(Read { starts, source });
        }
        let mut starts = map.starts.clone();
        for s in &self.starts {
            starts.push(Start {
                read: s.read.through(map, space)?,
                last: s.last.clone(),
            });
        }
        let limits = limits(space, &starts);
        let f = |v| match v {
            Var::Axis(k) => map.at[k].clone(),
            Var::Start(k) => Var::Start(k + map.starts.len()).into(),
        };
        let source = self.source.substituted(&f, &limits)?;
        drop(limits);
        let starts = starts.into();
        Some(Read { starts, source })
    }

    /// The read at indices at which all of these bounds hold, or not all of them.
    pub(crate) fn known(mut self, bounds: &[Bound], hold: bool) -> Read {
        match self.source {
            Source::Choice(c) if c.bounds == bounds => {
                self.source = if hold { c.inside } else { c.outside };
                self
            }
            _ => self,
        }
    }

    /// A choice between two reads. The bounds mention the starts of `inside`.
    pub(crate) fn choice(bounds: Vec<Bound>, inside: Read, outside: &Read) -> Read {
        if inside.as_number().is_some() && inside == *outside {
            return inside;
        }
        let mut starts = inside.starts.to_vec();
        let (inside, other) = (inside.source, outside.source.shifted(starts.len()));
        starts.extend(outside.starts.iter().cloned());
        let choice = Choice {
            bounds,
            inside,
            outside: other,
        };
        Read {
            starts: starts.into(),
            source: Source::Choice(Box::new(choice)),
        }
    }
}
