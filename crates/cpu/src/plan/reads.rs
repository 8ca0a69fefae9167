//! Reads at given extents: forms of indices in numbers, and offsets of elements.

use super::code::bytes_of;
use crate::groups::cost::{MIN_UPDATE_SHARE, MIN_UPDATED_ELEMENTS};
use crate::nests::access::{Read, Source, Start};
use crate::nests::affine::{Affine, Term, Var};
use crate::tensor::{Extents, Strides};
use cotangent_core::{DType, Env, Result, Val};
use smallvec::SmallVec;
use std::ops::Range;

/// Where the elements of a value are.
#[derive(Clone, Debug)]
pub(crate) struct ValueLayout {
    pub(crate) place: u32,
    pub(crate) dtype: DType,
    pub(crate) shape: Extents,
    /// In elements.
    pub(crate) strides: Strides,
}

/// `scale * (floor(var / divisor) mod modulus)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NumTerm {
    pub(crate) scale: i64,
    pub(crate) var: Var,
    pub(crate) divisor: i64,
    pub(crate) modulus: Option<i64>,
}

/// `Σ terms + offset`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct NumForm {
    pub(crate) terms: SmallVec<[NumTerm; 1]>,
    pub(crate) offset: i64,
}

/// The condition `low <= form < high` and `form ≡ low (mod step)`.
#[derive(Clone, Debug)]
pub(crate) struct NumBound {
    pub(crate) form: NumForm,
    pub(crate) low: i64,
    pub(crate) high: i64,
    pub(crate) step: i64,
}

/// An element of a value.
#[derive(Clone, Debug)]
pub(crate) struct NumElement {
    pub(crate) place: u32,
    /// The index along each axis of the value, and the extent of the axis.
    pub(crate) at: Vec<(NumForm, usize)>,
    /// The offset from the first element, in elements.
    pub(crate) offset: NumForm,
    /// Lowest and highest offset of an element of the value.
    pub(crate) span: (i64, i64),
}

#[derive(Clone, Debug)]
pub(crate) struct NumChoice {
    pub(crate) bounds: Vec<NumBound>,
    pub(crate) inside: NumSource,
    pub(crate) outside: NumSource,
}

#[derive(Clone, Debug)]
pub(crate) enum NumSource {
    /// The bytes of a number.
    Number(Vec<u8>),
    Element(NumElement),
    Choice(Box<NumChoice>),
}

/// A start that is read: `clamp(read, 0, last)`.
#[derive(Clone, Debug)]
pub(crate) struct NumStart {
    pub(crate) read: NumRead,
    pub(crate) last: i64,
}

/// A read of an element of this type at each index of a space.
#[derive(Clone, Debug)]
pub(crate) struct NumRead {
    pub(crate) dtype: DType,
    pub(crate) starts: Vec<NumStart>,
    pub(crate) source: NumSource,
}

impl NumRead {
    /// Whether it is one element of an operand outside of a window, and of another value inside of
    /// it: at a start that is read, or a small window.
    pub(crate) fn updates_few(&self, space: &[usize]) -> bool {
        let NumSource::Choice(c) = &self.source else {
            return false;
        };
        let elements =
            [&c.inside, &c.outside].map(|source| matches!(source, NumSource::Element(_)));
        let is_start = |t: &NumTerm| matches!(t.var, Var::Start(_));
        let starts = c.bounds.iter().any(|b| b.form.terms.iter().any(is_start));
        let all: usize = space.iter().product();
        let window = c.bounds.iter().fold(all, |n, b| {
            let axis = b.form.terms.iter().find_map(|t| match t.var {
                Var::Axis(k) => Some(space[k].max(1)),
                Var::Start(_) => None,
            });
            let extent = usize::try_from(b.high - b.low).unwrap_or_default();
            axis.map_or(n, |axis| n / axis * extent.min(axis))
        });
        let small = all >= MIN_UPDATED_ELEMENTS && window.saturating_mul(MIN_UPDATE_SHARE) <= all;
        elements == [true; 2] && (starts || small)
    }

    /// Whether a start differs from index to index of an axis of the space.
    pub(crate) fn starts_depend_on(&self, axis: usize) -> bool {
        self.starts.iter().any(|s| s.read.depends_on(axis))
    }

    fn depends_on(&self, axis: usize) -> bool {
        let has_axis = |f: &NumForm| f.terms.iter().any(|t| t.var == Var::Axis(axis));
        let mut any = self.starts_depend_on(axis);
        self.source.elements(&mut |e| any |= has_axis(&e.offset));
        self.source.bounds(&mut |b| any |= has_axis(&b.form));
        any
    }
}

impl NumForm {
    /// The same form with a term more.
    fn add(&mut self, term: NumTerm) {
        let same =
            |t: &NumTerm| (t.var, t.divisor, t.modulus) == (term.var, term.divisor, term.modulus);
        match self.terms.iter_mut().find(|t| same(t)) {
            Some(t) => t.scale += term.scale,
            None => self.terms.push(term),
        }
        self.terms.retain(|t| t.scale != 0);
    }

    /// Adds another form times a factor.
    fn add_scaled(&mut self, other: &NumForm, factor: i64) {
        for t in &other.terms {
            self.add(NumTerm {
                scale: t.scale * factor,
                ..*t
            });
        }
        self.offset += other.offset * factor;
    }

    /// Lowest and highest value where each index is in its range. Lower ends are at least 0.
    pub(crate) fn interval(&self, range: &dyn Fn(Var) -> Range<i64>) -> (i64, i64) {
        let (mut low, mut high) = (self.offset, self.offset);
        for t in &self.terms {
            let Range { start, end } = range(t.var);
            let (mut a, mut b) = (start / t.divisor, (end - 1).max(start) / t.divisor);
            if let Some(m) = t.modulus {
                (a, b) = if a / m == b / m {
                    (a % m, b % m)
                } else {
                    (0, m - 1)
                };
            }
            let ends = (a * t.scale, b * t.scale);
            low += ends.0.min(ends.1);
            high += ends.0.max(ends.1);
        }
        (low, high)
    }

    fn has_axis(&self) -> bool {
        self.terms.iter().any(|t| matches!(t.var, Var::Axis(_)))
    }
}

impl NumSource {
    fn has_axis(&self) -> bool {
        match self {
            NumSource::Number(_) => false,
            NumSource::Element(e) => e.offset.has_axis(),
            NumSource::Choice(c) => {
                c.bounds.iter().any(|b| b.form.has_axis())
                    || c.inside.has_axis()
                    || c.outside.has_axis()
            }
        }
    }

    /// Calls `f` for each bound of the choices.
    pub(crate) fn bounds(&self, f: &mut dyn FnMut(&NumBound)) {
        if let NumSource::Choice(c) = self {
            c.bounds.iter().for_each(&mut *f);
            c.inside.bounds(f);
            c.outside.bounds(f);
        }
    }

    /// Calls `f` for each element that may be read.
    pub(crate) fn elements(&self, f: &mut dyn FnMut(&NumElement)) {
        match self {
            NumSource::Number(_) => {}
            NumSource::Element(e) => f(e),
            NumSource::Choice(c) => {
                c.inside.elements(f);
                c.outside.elements(f);
            }
        }
    }
}

impl NumRead {
    /// Calls `f` for each place that it may read.
    pub(crate) fn places(&self, f: &mut dyn FnMut(u32)) {
        self.starts.iter().for_each(|s| s.read.places(f));
        self.source.elements(&mut |e| f(e.place));
    }

    /// Whether it is the same at every index of the space.
    pub(crate) fn is_fixed(&self) -> bool {
        !self.source.has_axis() && self.starts.iter().all(|s| s.read.is_fixed())
    }
}

/// The extents of symbols and the layouts of values, by which forms become numbers.
pub(crate) struct Numbers<'a> {
    pub(crate) env: &'a Env,
    pub(crate) layout: &'a dyn Fn(Val) -> ValueLayout,
}

impl Numbers<'_> {
    /// A read over a space of these extents, none of which is 0.
    pub(crate) fn read(&self, r: &Read, dtype: DType, space: &[usize]) -> Result<NumRead> {
        let starts: Vec<NumStart> = r
            .starts
            .iter()
            .map(|s| self.start(s, space))
            .collect::<Result<_>>()?;
        let source = self.source(&r.source, dtype, space, &starts)?;
        Ok(NumRead {
            dtype,
            starts,
            source,
        })
    }

    fn start(&self, s: &Start, space: &[usize]) -> Result<NumStart> {
        let dtype = self.start_type(&s.read.source).unwrap_or(DType::I64);
        Ok(NumStart {
            read: self.read(&s.read, dtype, space)?,
            last: s.last.eval(self.env)?,
        })
    }

    /// The element type of a start, if it is not the same number everywhere.
    fn start_type(&self, s: &Source) -> Option<DType> {
        match s {
            Source::Number(_) => None,
            Source::Element(a) => Some((self.layout)(a.of).dtype),
            Source::Choice(c) => self
                .start_type(&c.inside)
                .or_else(|| self.start_type(&c.outside)),
        }
    }

    /// A form in numbers. Terms that are always 0 go, and so do divisions that change nothing.
    fn form(&self, a: &Affine, space: &[usize], starts: &[NumStart]) -> Result<NumForm> {
        let mut out = NumForm {
            offset: a.offset.eval(self.env)?,
            ..NumForm::default()
        };
        for Term {
            coefficient,
            var,
            divisor,
            modulus,
        } in &a.terms
        {
            let limit = match var {
                Var::Axis(k) => space[*k] as i64,
                Var::Start(k) => starts[*k].last + 1,
            };
            let divisor = divisor.eval(self.env)?.max(1);
            let count = (limit + divisor - 1) / divisor;
            let modulus = match modulus {
                Some(m) => Some(m.eval(self.env)?.max(1)).filter(|&m| m < count),
                None => None,
            };
            if count > 1 && modulus != Some(1) {
                out.add(NumTerm {
                    scale: coefficient.eval(self.env)?,
                    var: *var,
                    divisor,
                    modulus,
                });
            }
        }
        Ok(out)
    }

    fn source(
        &self,
        s: &Source,
        dtype: DType,
        space: &[usize],
        starts: &[NumStart],
    ) -> Result<NumSource> {
        Ok(match s {
            Source::Number(s) => NumSource::Number(bytes_of(&s.array(dtype))),
            Source::Element(a) => {
                let ValueLayout {
                    place,
                    shape,
                    strides,
                    ..
                } = (self.layout)(a.of);
                let (mut at, mut offset, mut span) =
                    (Vec::with_capacity(a.at.len()), NumForm::default(), (0, 0));
                for ((form, &n), &stride) in a.at.iter().zip(&shape).zip(&strides) {
                    let form = self.form(form, space, starts)?;
                    let last = (n.max(1) - 1) as i64 * stride as i64;
                    span = (span.0 + last.min(0), span.1 + last.max(0));
                    offset.add_scaled(&form, stride as i64);
                    at.push((form, n));
                }
                NumSource::Element(NumElement {
                    place,
                    at,
                    offset,
                    span,
                })
            }
            Source::Choice(c) => {
                let mut bounds = Vec::with_capacity(c.bounds.len());
                for b in &c.bounds {
                    bounds.push(NumBound {
                        form: self.form(&b.form, space, starts)?,
                        low: b.low.eval(self.env)?,
                        high: b.high.eval(self.env)?,
                        step: b.step,
                    });
                }
                NumSource::Choice(Box::new(NumChoice {
                    bounds,
                    inside: self.source(&c.inside, dtype, space, starts)?,
                    outside: self.source(&c.outside, dtype, space, starts)?,
                }))
            }
        })
    }
}
