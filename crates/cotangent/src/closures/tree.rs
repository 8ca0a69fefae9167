//! Trees of tensors: the arguments and results of closures.

use crate::{Error, Result, TracedTensor};
use std::collections::BTreeMap;
use std::fmt::{Debug, Write};

/// A tensor, or a structure of trees: tuples, arrays, vectors, maps, options.
///
/// ```
/// use cotangent::{TracedTensor, closures::grad};
/// use std::collections::BTreeMap;
/// let g = grad(|p: BTreeMap<&str, TracedTensor>| (&p["w"] * &p["w"] * &p["b"]).sum(..));
/// let at = BTreeMap::from([("b", TracedTensor::scalar(2.0)), ("w", TracedTensor::scalar(3.0))]);
/// let g = g(at)?;
/// assert_eq!(g["w"].to_tensor()?.item::<f64>()?, 12.0);
/// assert_eq!(g["b"].to_tensor()?.item::<f64>()?, 9.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// A struct of trees becomes a tree by `#[derive(Tree)]`. Fields that are not trees are marked
/// `fixed`:
///
/// ```
/// use cotangent::{TracedTensor, Tree, closures::grad};
/// #[derive(Tree)]
/// struct Line { slope: TracedTensor, offset: TracedTensor, #[tree(fixed)] power: i64 }
/// let g = grad(|l: Line| (l.slope * 3.0 + l.offset).powi(l.power));
/// let g = g(Line { slope: TracedTensor::scalar(1.0), offset: TracedTensor::scalar(-1.0), power: 2 })?;
/// assert_eq!(g.slope.to_tensor()?.item::<f64>()?, 12.0);
/// assert_eq!(g.offset.to_tensor()?.item::<f64>()?, 4.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait Tree: Sized {
    /// The tensors, in order.
    fn leaves<'a>(&'a self, out: &mut Vec<&'a TracedTensor>);

    /// The same structure of other tensors, taken in order.
    fn rebuild(&self, leaves: &mut dyn Iterator<Item = TracedTensor>) -> Self;

    /// The structure as text, equal for trees that differ in tensors only.
    fn structure(&self, out: &mut String);
}

/// A tree with a `B` in place of every tensor. The [`hessian`](super::hessian) of a closure over
/// trees has this form, with trees for `B`. Derived for structs by `#[derive(Tree)]`, where it is a
/// vector of one `B` for each tensor, in order.
///
/// ```
/// use cotangent::{TracedTensor, closures::Nest};
/// let pair = (TracedTensor::scalar(1.0), vec![TracedTensor::scalar(2.0)]);
/// let mut next = 0;
/// let count = Nest::<i32>::nest(&pair, &mut || { next += 1; next });
/// assert_eq!(count, (1, vec![2]));
/// ```
pub trait Nest<B>: Tree {
    /// The structure.
    type Of;

    /// The structure filled in order.
    fn nest(&self, next: &mut dyn FnMut() -> B) -> Self::Of;
}

impl<B> Nest<B> for TracedTensor {
    type Of = B;

    fn nest(&self, next: &mut dyn FnMut() -> B) -> B {
        next()
    }
}

impl<B, T: Nest<B>> Nest<B> for Vec<T> {
    type Of = Vec<T::Of>;

    fn nest(&self, next: &mut dyn FnMut() -> B) -> Vec<T::Of> {
        self.iter().map(|t| t.nest(next)).collect()
    }
}

impl<B, T: Nest<B>, const N: usize> Nest<B> for [T; N] {
    type Of = [T::Of; N];

    fn nest(&self, next: &mut dyn FnMut() -> B) -> [T::Of; N] {
        self.each_ref().map(|t| t.nest(next))
    }
}

impl<B, K: Ord + Clone + Debug, T: Nest<B>> Nest<B> for BTreeMap<K, T> {
    type Of = BTreeMap<K, T::Of>;

    fn nest(&self, next: &mut dyn FnMut() -> B) -> BTreeMap<K, T::Of> {
        self.iter()
            .map(|(k, t)| (k.clone(), t.nest(next)))
            .collect()
    }
}

impl<B, T: Nest<B>> Nest<B> for Option<T> {
    type Of = Option<T::Of>;

    fn nest(&self, next: &mut dyn FnMut() -> B) -> Option<T::Of> {
        self.as_ref().map(|t| t.nest(next))
    }
}

impl<B, T: Nest<B>> Nest<B> for Box<T> {
    type Of = Box<T::Of>;

    fn nest(&self, next: &mut dyn FnMut() -> B) -> Box<T::Of> {
        Box::new((**self).nest(next))
    }
}

impl<B> Nest<B> for () {
    type Of = ();

    fn nest(&self, _: &mut dyn FnMut() -> B) {}
}

impl Tree for TracedTensor {
    fn leaves<'a>(&'a self, out: &mut Vec<&'a TracedTensor>) {
        out.push(self);
    }

    fn rebuild(&self, leaves: &mut dyn Iterator<Item = TracedTensor>) -> TracedTensor {
        leaves.next().expect("as many tensors as the structure has")
    }

    fn structure(&self, out: &mut String) {
        out.push('*');
    }
}

impl<T: Tree> Tree for Vec<T> {
    fn leaves<'a>(&'a self, out: &mut Vec<&'a TracedTensor>) {
        self.iter().for_each(|t| t.leaves(out));
    }

    fn rebuild(&self, leaves: &mut dyn Iterator<Item = TracedTensor>) -> Vec<T> {
        self.iter().map(|t| t.rebuild(leaves)).collect()
    }

    fn structure(&self, out: &mut String) {
        out.push('[');
        self.iter().for_each(|t| t.structure(out));
        out.push(']');
    }
}

impl<T: Tree, const N: usize> Tree for [T; N] {
    fn leaves<'a>(&'a self, out: &mut Vec<&'a TracedTensor>) {
        self.iter().for_each(|t| t.leaves(out));
    }

    fn rebuild(&self, leaves: &mut dyn Iterator<Item = TracedTensor>) -> [T; N] {
        self.each_ref().map(|t| t.rebuild(leaves))
    }

    fn structure(&self, out: &mut String) {
        out.push('[');
        self.iter().for_each(|t| t.structure(out));
        out.push(']');
    }
}

impl<K: Ord + Clone + Debug, T: Tree> Tree for BTreeMap<K, T> {
    fn leaves<'a>(&'a self, out: &mut Vec<&'a TracedTensor>) {
        self.values().for_each(|t| t.leaves(out));
    }

    fn rebuild(&self, leaves: &mut dyn Iterator<Item = TracedTensor>) -> BTreeMap<K, T> {
        self.iter()
            .map(|(k, t)| (k.clone(), t.rebuild(leaves)))
            .collect()
    }

    fn structure(&self, out: &mut String) {
        out.push('{');
        for (k, t) in self {
            write!(out, "{k:?}:").expect("writing to a string");
            t.structure(out);
        }
        out.push('}');
    }
}

impl<T: Tree> Tree for Option<T> {
    fn leaves<'a>(&'a self, out: &mut Vec<&'a TracedTensor>) {
        self.iter().for_each(|t| t.leaves(out));
    }

    fn rebuild(&self, leaves: &mut dyn Iterator<Item = TracedTensor>) -> Option<T> {
        self.as_ref().map(|t| t.rebuild(leaves))
    }

    fn structure(&self, out: &mut String) {
        out.push('?');
        self.iter().for_each(|t| t.structure(out));
    }
}

impl<T: Tree> Tree for Box<T> {
    fn leaves<'a>(&'a self, out: &mut Vec<&'a TracedTensor>) {
        (**self).leaves(out);
    }

    fn rebuild(&self, leaves: &mut dyn Iterator<Item = TracedTensor>) -> Box<T> {
        Box::new((**self).rebuild(leaves))
    }

    fn structure(&self, out: &mut String) {
        (**self).structure(out);
    }
}

impl Tree for () {
    fn leaves<'a>(&'a self, _: &mut Vec<&'a TracedTensor>) {}

    fn rebuild(&self, _: &mut dyn Iterator<Item = TracedTensor>) {}

    fn structure(&self, out: &mut String) {
        out.push_str("()");
    }
}

macro_rules! tuples {
    ($(($($T:ident $i:tt),*))*) => { $(
        impl<$($T: Tree),*> Tree for ($($T,)*) {
            fn leaves<'a>(&'a self, out: &mut Vec<&'a TracedTensor>) {
                $(self.$i.leaves(out);)*
            }

            fn rebuild(&self, leaves: &mut dyn Iterator<Item = TracedTensor>) -> Self {
                ($(self.$i.rebuild(leaves),)*)
            }

            fn structure(&self, out: &mut String) {
                out.push('(');
                $(self.$i.structure(out);)*
                out.push(')');
            }
        }

        impl<__Of, $($T: Nest<__Of>),*> Nest<__Of> for ($($T,)*) {
            type Of = ($($T::Of,)*);

            fn nest(&self, next: &mut dyn FnMut() -> __Of) -> Self::Of {
                ($(self.$i.nest(next),)*)
            }
        }
    )* };
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}

/// The type that a closure returns: a tree, or a result of one.
///
/// ```
/// use cotangent::{Result, TracedTensor, closures::grad};
/// // A closure may fail, or not.
/// let g = grad(|x: TracedTensor| x.square())(TracedTensor::scalar(3.0))?;
/// let h = grad(|x: TracedTensor| -> Result<TracedTensor> { x.matmul(&x) })(TracedTensor::from_vec_row_major([1], vec![3.0]))?;
/// assert_eq!((g.to_tensor()?.item::<f64>()?, h.to_tensor()?.to_vec::<f64>()?), (6.0, vec![6.0]));
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait Returns {
    /// The tree.
    type Out: Tree;

    /// The tree, or the error of the closure.
    fn done(self) -> Result<Self::Out>;
}

impl<T: Tree> Returns for T {
    type Out = T;

    fn done(self) -> Result<T> {
        Ok(self)
    }
}

impl<T: Tree> Returns for std::result::Result<T, Error> {
    type Out = T;

    fn done(self) -> Result<T> {
        self
    }
}

pub(super) fn leaves<T: Tree>(t: &T) -> Vec<&TracedTensor> {
    let mut out = Vec::new();
    t.leaves(&mut out);
    out
}

pub(super) fn owned<T: Tree>(t: &T) -> Vec<TracedTensor> {
    leaves(t).into_iter().cloned().collect()
}

pub(super) fn structure<T: Tree>(t: &T) -> String {
    let mut out = String::new();
    t.structure(&mut out);
    out
}

/// The name of the leaf at this position for messages; `None` for a tensor that is a tree itself.
pub(super) fn leaf_name<T: Tree>(t: &T, k: usize) -> Option<String> {
    (structure(t) != "*").then(|| format!("tensor #{k}"))
}
