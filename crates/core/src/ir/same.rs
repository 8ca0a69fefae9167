//! Structural equality of functions, and a hash that agrees with it.

use super::{Attr, Function, Op};
use crate::array::Array;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

impl Function {
    /// A hash. Equal for functions that are [the same](Function::same).
    pub fn fingerprint(&self) -> u64 {
        let mut h = FxHasher::default();
        self.hash_into(&mut h);
        h.finish()
    }

    fn hash_into(&self, h: &mut FxHasher) {
        (
            &self.params,
            &self.results,
            &self.pool,
            &self.types,
            &self.names,
        )
            .hash(h);
        for e in &self.eqns {
            e.op.name().hash(h);
            e.op.key_without_text().hash(h);
            // Regions distinguish loops with equal types.
            e.op.regions().iter().for_each(|f| f.hash_into(h));
        }
    }

    /// Whether both have equal parameters, equations (with equal source locations) and results,
    /// including names, types, attributes and regions. Extension operations are equal if they are
    /// one object or have one name and [key](crate::Primitive::key).
    pub fn same(&self, other: &Function) -> bool {
        let mut eqns = self.eqns.iter().zip(&other.eqns);
        self.name == other.name
            && self.names == other.names
            && self.tangents == other.tangents
            && eqns.all(|(a, b)| a.loc == b.loc)
            && self.computes_same(other)
    }

    /// As [`same`](Function::same), except for names and source locations of its own equations and
    /// values: those of regions are compared.
    pub(crate) fn computes_same(&self, other: &Function) -> bool {
        let eqns = || self.eqns.iter().zip(&other.eqns);
        self.params == other.params
            && self.results == other.results
            && self.pool == other.pool
            && self.types == other.types
            && self.eqns.len() == other.eqns.len()
            && eqns().all(|(a, b)| (a.operands, a.first, a.count) == (b.operands, b.first, b.count))
            && eqns().all(|(a, b)| same_op(&a.op, &b.op))
    }
}

fn same_op(a: &Op, b: &Op) -> bool {
    if let (Op::Extension(a), Op::Extension(b)) = (a, b) {
        let keyed = || a.key().is_some() && a.name() == b.name() && a.key() == b.key();
        return Arc::ptr_eq(a, b) || keyed();
    }
    if a.key_without_text().is_some() || b.key_without_text().is_some() {
        return a.key_without_text() == b.key_without_text();
    }
    let (x, y) = (a.attrs().0, b.attrs().0);
    let attr = |((m, a), (n, b)): (&(_, Attr), &(_, Attr))| m == n && same_attr(a, b);
    let (f, g) = (a.regions(), b.regions());
    std::mem::discriminant(a) == std::mem::discriminant(b)
        && a.name() == b.name()
        && a.results() == b.results()
        && x.len() == y.len()
        && x.iter().zip(&y).all(attr)
        && f.len() == g.len()
        && f.iter().zip(&g).all(|(f, g)| same_body(f, g))
}

fn same_body(f: &Arc<Function>, g: &Arc<Function>) -> bool {
    Arc::ptr_eq(f, g) || f.same(g)
}

fn same_attr(a: &Attr, b: &Attr) -> bool {
    match (a, b) {
        (Attr::Array(a), Attr::Array(b)) => same_array(a, b),
        (Attr::List(a), Attr::List(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_attr(a, b))
        }
        (Attr::Fn(f), Attr::Fn(g)) => same_body(f, g),
        // Numbers are compared as printed: the shortest form, with the sign of zeros. All NaNs are
        // equal.
        (Attr::Array(_) | Attr::List(_) | Attr::Fn(_), _)
        | (_, Attr::Array(_) | Attr::List(_) | Attr::Fn(_)) => false,
        (a, b) => format!("{a:?}") == format!("{b:?}"),
    }
}

fn same_array(a: &Array, b: &Array) -> bool {
    a.ty() == b.ty() && a.same_bits(b)
}
