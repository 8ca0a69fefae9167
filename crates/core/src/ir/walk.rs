//! [`Walk`]: one pass over the equations of a function, in order, which gives every value an image:
//! usually its copy in the function that the pass writes.
//!
//! ```text
//! images of the parameters;  for each visited equation  y = op(x) :  images of x -> images of y
//! ```
//! The walk maps operands, sets the source location, and renames symbols that the new function uses
//! already. A pass decides what it does with one equation.

use super::{Builder, Emit, Eqn, Function, Op, Rename, Session, Val};
use crate::error::Result;
use crate::shape::Type;
use smallvec::SmallVec;
use std::borrow::Cow;

/// A pass over the equations of a function.
pub(crate) struct Walk<'f, T> {
    f: &'f Function,
    images: Vec<T>,
    /// Mask of the equations that are visited (all if `None`).
    only: Option<Vec<bool>>,
    rename: Option<Rename>,
    next: usize,
}

/// An equation that a walk visits.
pub(crate) struct Visit<'f, T> {
    /// Its position.
    pub index: usize,
    /// The equation of the original function.
    pub eqn: &'f Eqn,
    /// Its operation, with the symbols of the new function.
    pub op: Cow<'f, Op>,
    /// The images of its operands.
    pub x: SmallVec<[T; 4]>,
}

impl<'f, T: Copy> Walk<'f, T> {
    /// A walk over all equations. Values have the image `none` until they get another one.
    pub(crate) fn new(f: &'f Function, none: T) -> Walk<'f, T> {
        Walk {
            f,
            images: vec![none; f.len()],
            only: None,
            rename: None,
            next: 0,
        }
    }

    /// Visits only the equations of this mask.
    pub(crate) fn only(self, equations: Vec<bool>) -> Walk<'f, T> {
        Walk {
            only: Some(equations),
            ..self
        }
    }

    /// Renames symbols that visited equations bind and the new function uses already.
    pub(crate) fn renaming(self) -> Walk<'f, T> {
        Walk {
            rename: Some(Rename::default()),
            ..self
        }
    }

    /// Sets the images of the parameters, in order.
    pub(crate) fn set_params(&mut self, images: impl IntoIterator<Item = T>) {
        for (&p, image) in self.f.params().iter().zip(images) {
            self.set(p, image);
        }
    }

    /// Sets the image of a value.
    pub(crate) fn set(&mut self, v: Val, image: T) {
        self.images[v.index()] = image;
    }

    /// The image of a value.
    pub(crate) fn image(&self, v: Val) -> T {
        self.images[v.index()]
    }

    /// The next equation, for a pass that writes to `cx`. The source location is that of the
    /// equation.
    #[inline(always)] // so that the visit is not copied
    pub(crate) fn next(&mut self, cx: &dyn Emit) -> Option<Visit<'f, T>> {
        let eqns = self.f.eqns();
        let visited = |i: &usize| self.only.as_ref().is_none_or(|only| only[*i]);
        let index = (self.next..eqns.len()).find(visited)?;
        let eqn = &eqns[index];
        self.next = index + 1;
        cx.set_loc(eqn.loc);
        let op = match &mut self.rename {
            Some(rename) => rename.op(cx, &eqn.op),
            None => Cow::Borrowed(&eqn.op),
        };
        let mut x = SmallVec::new();
        for v in self.f.operands(eqn) {
            x.push(self.images[v.index()]);
        }
        Some(Visit { index, eqn, op, x })
    }

    /// Sets the images of an equation's results, in order.
    pub(crate) fn set_results(&mut self, eqn: &Eqn, images: impl IntoIterator<Item = T>) {
        for (r, image) in eqn.results().zip(images) {
            self.set(r, image);
        }
    }

    /// The images of the function's results.
    pub(crate) fn results(&self) -> Vec<T> {
        self.f.results().iter().map(|r| self.image(*r)).collect()
    }
}

impl<'f> Walk<'f, Val> {
    /// A walk that copies equations: an image is a value of the new function, poison if it has
    /// none.
    pub(crate) fn copying(f: &'f Function) -> Walk<'f, Val> {
        Walk::new(f, Val::POISON)
    }

    /// The copy of each value, by index; `None` if it has none.
    pub(crate) fn into_copies(self) -> Vec<Option<Val>> {
        let copy = |v: Val| (v != Val::POISON).then_some(v);
        self.images.into_iter().map(copy).collect()
    }

    /// Adds the parameters to `b`, with their types and names.
    pub(crate) fn copy_params(&mut self, b: &Builder) {
        self.copy_params_as(b, Type::clone);
    }

    /// Adds the parameters to `b`, with the types that `to` gives and their names.
    pub(crate) fn copy_params_as(&mut self, b: &Builder, to: impl Fn(&Type) -> Type) {
        let param = |&p: &Val| b.param_like(to(self.f.ty(p)), self.f, p);
        let images: Vec<Val> = self.f.params().iter().map(param).collect();
        self.set_params(images);
    }

    /// Writes the remaining equations unchanged.
    pub(crate) fn copy(&mut self, cx: &dyn Emit) {
        while let Some(Visit { eqn, op, x, .. }) = self.next(cx) {
            self.set_results(eqn, cx.emit(op.into_owned(), &x));
        }
    }

    /// Sets the image of a value, and gives it the name of the value.
    pub(crate) fn set_named(&mut self, b: &Builder, v: Val, image: Val) {
        self.set(v, image);
        if let Some(name) = self.f.name_of(v) {
            b.set_name(image, name.clone());
        }
    }

    /// Writes the remaining equations unchanged. Their results keep their names.
    pub(crate) fn copy_named(&mut self, b: &Builder) {
        while let Some(Visit { eqn, op, x, .. }) = self.next(b) {
            for (r, y) in eqn.results().zip(b.emit(op.into_owned(), &x)) {
                self.set_named(b, r, y);
            }
        }
    }
}

/// Writes an equation for the copies of its operands. Returns the copies of its results.
pub type WriteEquation<'a> = dyn FnMut(&dyn Emit, &Eqn, &[Val]) -> Result<Vec<Val>> + 'a;

impl Function {
    /// A copy of the function in which `write` writes each equation.
    ///
    /// ```
    /// use cotangent_core::{Builder, DType, Emit, Type};
    /// let b = Builder::new("f", Default::default());
    /// let x = b.param(Type::scalar(DType::F64), Some("x"));
    /// let y = (&b as &dyn Emit).exp(x);
    /// let f = b.finish(&[y])?;
    /// // Every result is doubled.
    /// let g = f.map_equations(&mut |cx, e, x| {
    ///     let y = cx.emit(e.op.clone(), x);
    ///     Ok(y.iter().map(|&y| cx.add(y, y)).collect())
    /// })?;
    /// assert_eq!((f.eqns().len(), g.eqns().len()), (1, 2));
    /// # Ok::<(), cotangent_core::Error>(())
    /// ```
    pub fn map_equations(&self, write: &mut WriteEquation<'_>) -> Result<Function> {
        let b = Builder::deriving(&self.name, &Session::default(), &[self]);
        let mut walk = Walk::copying(self);
        walk.copy_params(&b);
        while let Some(Visit { eqn, x, .. }) = walk.next(&b) {
            walk.set_results(eqn, write(&b, eqn, &x)?);
        }
        b.finish(&walk.results())
    }
}
