//! Trees of tensors: the arguments and results of closures.

use crate::here::here;
use crate::{Code, Error, Result, TracedTensor};
use std::collections::{BTreeMap, HashMap};
use std::fmt::{Debug, Write};
use std::hash::{BuildHasher, Hash};

#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tree of tensors",
    label = "not a tree",
    note = "a field that holds no tensor is marked `#[tree(fixed)]`",
    note = "trees are `TracedTensor`, structs with `#[derive(Tree)]`, and tuples, arrays, `Vec`, `BTreeMap`, `HashMap`, \
            `Option` and `Box` of trees"
)]
/// A tensor, or a structure of trees: tuples of up to 12 trees, arrays, vectors, maps, options.
/// A `HashMap` is a tree in the order of its keys.
///
/// ```
/// use cotangent::{TracedTensor, closures::grad};
/// use std::collections::BTreeMap;
/// let g = grad(|p: BTreeMap<&str, TracedTensor>| (&p["w"] * &p["w"] * &p["b"]).sum(..));
/// let at = BTreeMap::from([("b", TracedTensor::scalar(2.0)), ("w", TracedTensor::scalar(3.0))]);
/// let g = g(at)?;
/// assert_eq!(g["w"].item::<f64>()?, 12.0);
/// assert_eq!(g["b"].item::<f64>()?, 9.0);
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
/// assert_eq!(g.slope.item::<f64>()?, 12.0);
/// assert_eq!(g.offset.item::<f64>()?, 4.0);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait Tree: Sized {
    /// The tensors, in order.
    fn leaves<'a>(&'a self, out: &mut Vec<&'a TracedTensor>);

    /// The same structure of other tensors, taken in order.
    fn rebuild(&self, leaves: &mut dyn Iterator<Item = TracedTensor>) -> Self;

    /// The structure as text, equal for trees that differ in tensors only.
    fn structure(&self, out: &mut String);

    /// Appends the path of each tensor, in order: `path`, then a dot and a name for each field,
    /// index or key that leads to the tensor. The default implementation numbers the tensors.
    fn paths(&self, path: &str, out: &mut Vec<String>) {
        out.extend((0..leaves(self).len()).map(|k| format!("{path}.{k}")));
    }

    /// The tensors with their names: fields, indices and keys, separated by dots. The name of a
    /// tensor that is a tree itself is empty.
    ///
    /// ```
    /// use cotangent::{TracedTensor, Tree};
    /// #[derive(Tree)]
    /// struct Dense { w: TracedTensor, b: TracedTensor }
    /// let layer = |x: f64| Dense { w: TracedTensor::scalar(x), b: TracedTensor::scalar(0.0) };
    /// let model = (vec![layer(1.0), layer(2.0)], TracedTensor::scalar(3.0));
    /// let names: Vec<String> = model.named().into_iter().map(|(name, _)| name).collect();
    /// assert_eq!(names, ["0.0.w", "0.0.b", "0.1.w", "0.1.b", "1"]);
    /// ```
    fn named(&self) -> Vec<(String, &TracedTensor)> {
        let mut paths = Vec::new();
        self.paths("", &mut paths);
        let names = paths
            .iter()
            .map(|p| p.strip_prefix('.').unwrap_or(p).to_owned());
        names.zip(leaves(self)).collect()
    }

    /// The tree of the results of `f` for each tensor, in order.
    ///
    /// ```
    /// use cotangent::{TracedTensor, Tree};
    /// let x = (TracedTensor::scalar(1.0), vec![TracedTensor::scalar(2.0)]);
    /// let y = x.map(|t| t * 10.0);
    /// assert_eq!((y.0.item::<f64>()?, y.1[0].item::<f64>()?), (10.0, 20.0));
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    fn map(&self, f: impl FnMut(&TracedTensor) -> TracedTensor) -> Self {
        self.rebuild(&mut leaves(self).into_iter().map(f))
    }

    /// The tree of the results of `f` for each tensor and the tensor of `other` at the same
    /// position.
    ///
    /// ```
    /// use cotangent::{TracedTensor, Tree};
    /// let x = |a: f64, b: f64| vec![TracedTensor::scalar(a), TracedTensor::scalar(b)];
    /// let step = x(1.0, 2.0).zip_map(&x(0.5, 1.0), |x, g| x - g * 0.1)?;
    /// assert_eq!(step[1].item::<f64>()?, 1.9);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// The trees have different structures.
    #[track_caller]
    fn zip_map(
        &self,
        other: &Self,
        mut f: impl FnMut(&TracedTensor, &TracedTensor) -> TracedTensor,
    ) -> Result<Self> {
        let (a, b) = (structure(self), structure(other));
        if a != b {
            let text = format!("`zip_map` of trees of different structures: {a} and {b}");
            return Err(Error::new(Code::Arity, text).at(here()));
        }
        let pairs = leaves(self).into_iter().zip(leaves(other));
        Ok(self.rebuild(&mut pairs.map(|(x, y)| f(x, y))))
    }
}

/// The entries of a map in the order of its keys.
fn sorted<K: Ord, T, S>(map: &HashMap<K, T, S>) -> Vec<(&K, &T)> {
    let mut entries: Vec<(&K, &T)> = map.iter().collect();
    entries.sort_by_key(|(k, _)| *k);
    entries
}

/// The path of the tree under a key of a map. Text is written without quotes.
fn under_key(path: &str, key: &impl Debug) -> String {
    let text = format!("{key:?}");
    let bare = text
        .strip_prefix('"')
        .and_then(|t| t.strip_suffix('"'))
        .filter(|t| !t.contains('\\'));
    format!("{path}.{}", bare.unwrap_or(&text))
}

/// Appends the structure of a list of trees.
fn structure_of_list<T: Tree>(items: &[T], out: &mut String) {
    out.push('[');
    items.iter().for_each(|t| t.structure(out));
    out.push(']');
}

/// Appends the paths of the tensors in a list of trees.
fn paths_in_list<T: Tree>(items: &[T], path: &str, out: &mut Vec<String>) {
    for (k, t) in items.iter().enumerate() {
        t.paths(&format!("{path}.{k}"), out);
    }
}

/// Appends the structure of a map of trees, given in the order of its keys.
fn structure_of_map<'m, K: Debug + 'm, T: Tree + 'm>(
    entries: impl IntoIterator<Item = (&'m K, &'m T)>,
    out: &mut String,
) {
    out.push('{');
    for (k, t) in entries {
        write!(out, "{k:?}:").expect("writing to a string");
        t.structure(out);
    }
    out.push('}');
}

/// Appends the paths of the tensors in a map of trees, given in the order of its keys.
fn paths_in_map<'m, K: Debug + 'm, T: Tree + 'm>(
    entries: impl IntoIterator<Item = (&'m K, &'m T)>,
    path: &str,
    out: &mut Vec<String>,
) {
    for (k, t) in entries {
        t.paths(&under_key(path, k), out);
    }
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

impl<B, K, T, S> Nest<B> for HashMap<K, T, S>
where
    K: Ord + Hash + Clone + Debug,
    T: Nest<B>,
    S: BuildHasher + Clone,
{
    type Of = HashMap<K, T::Of, S>;

    fn nest(&self, next: &mut dyn FnMut() -> B) -> HashMap<K, T::Of, S> {
        let mut nested = HashMap::with_capacity_and_hasher(self.len(), self.hasher().clone());
        nested.extend(
            sorted(self)
                .into_iter()
                .map(|(k, t)| (k.clone(), t.nest(next))),
        );
        nested
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

    fn paths(&self, path: &str, out: &mut Vec<String>) {
        out.push(path.to_owned());
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
        structure_of_list(self, out);
    }

    fn paths(&self, path: &str, out: &mut Vec<String>) {
        paths_in_list(self, path, out);
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
        structure_of_list(self, out);
    }

    fn paths(&self, path: &str, out: &mut Vec<String>) {
        paths_in_list(self, path, out);
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
        structure_of_map(self, out);
    }

    fn paths(&self, path: &str, out: &mut Vec<String>) {
        paths_in_map(self, path, out);
    }
}

impl<K, T, S> Tree for HashMap<K, T, S>
where
    K: Ord + Hash + Clone + Debug,
    T: Tree,
    S: BuildHasher + Clone,
{
    fn leaves<'a>(&'a self, out: &mut Vec<&'a TracedTensor>) {
        sorted(self).into_iter().for_each(|(_, t)| t.leaves(out));
    }

    fn rebuild(&self, leaves: &mut dyn Iterator<Item = TracedTensor>) -> HashMap<K, T, S> {
        let mut built = HashMap::with_capacity_and_hasher(self.len(), self.hasher().clone());
        built.extend(
            sorted(self)
                .into_iter()
                .map(|(k, t)| (k.clone(), t.rebuild(leaves))),
        );
        built
    }

    fn structure(&self, out: &mut String) {
        structure_of_map(sorted(self), out);
    }

    fn paths(&self, path: &str, out: &mut Vec<String>) {
        paths_in_map(sorted(self), path, out);
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

    fn paths(&self, path: &str, out: &mut Vec<String>) {
        self.iter().for_each(|t| t.paths(path, out));
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

    fn paths(&self, path: &str, out: &mut Vec<String>) {
        (**self).paths(path, out);
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

            fn paths(&self, path: &str, out: &mut Vec<String>) {
                $(self.$i.paths(&format!("{path}.{}", $i), out);)*
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
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11)
}

/// The type that a closure returns: a tree, or a result of one.
///
/// ```
/// use cotangent::{Result, TracedTensor, closures::grad};
/// // A closure may fail, or not.
/// let g = grad(|x: TracedTensor| x.square())(TracedTensor::scalar(3.0))?;
/// let h = grad(|x: TracedTensor| -> Result<TracedTensor> { x.matmul(&x) })(TracedTensor::from_vec_row_major([1], vec![3.0]))?;
/// assert_eq!((g.item::<f64>()?, h.to_vec::<f64>()?), (6.0, vec![6.0]));
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
    let name = t.named().into_iter().nth(k)?.0;
    let index = name.starts_with(|c: char| c.is_ascii_digit());
    let dot = if index { "." } else { "" };
    (!name.is_empty()).then(|| format!("`{dot}{name}`"))
}
