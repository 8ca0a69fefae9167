//! Rules owned explicitly: [`AdContext`] holds what a crate adds, a [`Session`] is one transform at
//! work.

use super::{Arg, Batched, Emit, Jvp, Lin, Linearized, Lv, Op, Val};
use crate::error::Result;
use crate::shape::{Dim, Type};
use rustc_hash::FxHashMap;
use std::any::{Any, TypeId};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard};

/// Choices of arithmetic that a derivative is derived with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numerics {
    /// A derivative that has a pole at the point is NaN there, as that of a division by zero, not
    /// what IEEE division gives; zeros are strong.
    pub zero_division_nan: bool,
    /// Sums inside derivatives are compensated.
    pub stable: bool,
    /// Zero times anything is zero in derivatives, infinity and NaN included.
    pub strong_zero: bool,
}

impl Numerics {
    /// Whether zero times anything is zero in derivatives: a cotangent that a guard made zero stays
    /// zero at a pole.
    pub fn zeros_are_strong(&self) -> bool {
        self.strong_zero || self.zero_division_nan
    }
}

/// Rules for an operation that come from outside it. A method that returns `None` leaves the
/// operation's own rule.
#[allow(unused_variables)]
pub trait Rule: Send + Sync {
    /// See [`Primitive::linearize`].
    fn linearize(
        &self,
        op: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Option<Result<Linearized>> {
        None
    }

    /// See [`Primitive::transpose`].
    fn transpose(
        &self,
        op: &Op,
        cx: &dyn Emit,
        x: &[Arg],
        ct: &[Option<Val>],
    ) -> Option<Result<Vec<Option<Val>>>> {
        None
    }

    /// See [`Primitive::batch`].
    fn batch(
        &self,
        op: &Op,
        cx: &dyn Emit,
        size: &Dim,
        x: &[Batched],
    ) -> Option<Result<Vec<Batched>>> {
        None
    }
}

/// Rules by operation name.
#[derive(Clone, Default)]
pub struct RuleSet(FxHashMap<String, Arc<dyn Rule>>);

impl RuleSet {
    /// Adds the rule of an operation (builder style); a later one replaces an earlier one. Any name
    /// may be that of an operation of another crate, which is known when it is differentiated and
    /// not before: no name is refused here.
    pub fn with(mut self, op: &str, rule: impl Rule + 'static) -> RuleSet {
        self.0.insert(op.to_owned(), Arc::new(rule));
        self
    }
}

/// The rules that transforms use: those of the operations themselves, and what was added here.
/// There is no global.
#[derive(Clone, Default)]
pub struct AdContext {
    rules: Arc<RuleSet>,
    /// Arithmetic of the derivatives.
    pub numerics: Numerics,
}

impl AdContext {
    /// Starts an empty context.
    pub fn builder() -> AdContextBuilder {
        AdContextBuilder::default()
    }

    /// The same with more rules; one for an operation that has one replaces it.
    pub fn with_rules(&self, rules: RuleSet) -> AdContext {
        let mut all = (*self.rules).clone();
        all.0.extend(rules.0);
        AdContext {
            rules: Arc::new(all),
            numerics: self.numerics,
        }
    }

    /// A session for one transform.
    pub fn session(&self) -> Session {
        self.session_with(usize::MAX)
    }

    /// A session for any number of transforms, one after another: it remembers a limited number of
    /// bodies.
    pub fn session_of_many(&self) -> Session {
        self.session_with(MANY)
    }

    fn session_with(&self, limit: usize) -> Session {
        let inner = Inner {
            context: self.clone(),
            memo: Mutex::default(),
            limit,
        };
        Session {
            inner: Arc::new(inner),
            one_sided: false,
        }
    }
}

/// Builds an [`AdContext`].
#[derive(Default)]
pub struct AdContextBuilder {
    rules: RuleSet,
    numerics: Numerics,
}

impl AdContextBuilder {
    /// Adds rules of extension operations, or of operations that the caller does not own.
    pub fn with_extension_rules(mut self, rules: RuleSet) -> Self {
        self.rules.0.extend(rules.0);
        self
    }

    /// Sets the arithmetic of derivatives.
    pub fn with_numerics(mut self, numerics: Numerics) -> Self {
        self.numerics = numerics;
        self
    }

    /// The context.
    pub fn build(self) -> Result<AdContext> {
        Ok(AdContext {
            rules: Arc::new(self.rules),
            numerics: self.numerics,
        })
    }
}

/// One transform at work: the context, and transforms of bodies done so far, so that nesting stays
/// linear.
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
    one_sided: bool,
}

struct Inner {
    context: AdContext,
    memo: Mutex<Memo>,
    /// More transforms of bodies than this are forgotten together.
    limit: usize,
}

/// The key of a memoized transform: one table for each type of key.
pub(crate) trait MemoKey: Eq + Hash + Send + 'static {
    /// The result for one key.
    type Value: Clone + Send + 'static;
}

/// Results of transforms, by type of key.
#[derive(Default)]
struct Memo {
    tables: FxHashMap<TypeId, Box<dyn Any + Send>>,
    len: usize,
}

impl Memo {
    fn get<K: MemoKey>(&self, key: &K) -> Option<K::Value> {
        let table = self.tables.get(&TypeId::of::<K>())?;
        let table: &FxHashMap<K, K::Value> = table.downcast_ref()?;
        table.get(key).cloned()
    }

    /// Returns the value that the key had before.
    fn insert<K: MemoKey>(&mut self, key: K, value: K::Value) -> Option<K::Value> {
        let table = self
            .tables
            .entry(TypeId::of::<K>())
            .or_insert_with(|| Box::new(FxHashMap::<K, K::Value>::default()));
        let table: &mut FxHashMap<K, K::Value> = table
            .downcast_mut()
            .expect("the table of a type of key has this type");
        let old = table.insert(key, value);
        self.len += usize::from(old.is_none());
        old
    }
}

/// The limit of a session that serves many transforms.
const MANY: usize = 64;

impl Default for Session {
    fn default() -> Session {
        AdContext::default().session()
    }
}

impl Session {
    /// The rules in force.
    pub fn context(&self) -> &AdContext {
        &self.inner.context
    }

    /// The same session for what is a derivative already: kinks are differentiated on one side.
    pub fn on_one_side(&self) -> Session {
        Session {
            one_sided: true,
            ..self.clone()
        }
    }

    /// Whether kinks are differentiated on one side, not by the mean of both: what is
    /// differentiated is a derivative already.
    pub fn is_one_sided(&self) -> bool {
        self.one_sided
    }

    /// Arithmetic of the derivatives.
    pub fn numerics(&self) -> Numerics {
        self.inner.context.numerics
    }

    /// The memoized result for this key.
    pub(crate) fn memoized<K: MemoKey>(&self, key: &K) -> Option<K::Value> {
        self.memo().get(key)
    }

    /// Memoizes a result.
    pub(crate) fn memoize<K: MemoKey>(&self, key: K, value: K::Value) {
        let (old, full) = {
            let mut memo = self.memo();
            let old = memo.insert(key, value);
            let full = memo.len > self.inner.limit;
            (old, full.then(|| std::mem::take(&mut *memo)))
        };
        // Operations of others go when nothing is locked.
        drop((old, full));
    }

    fn memo(&self) -> MutexGuard<'_, Memo> {
        self.inner.memo.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Forgets the transforms of bodies that were done so far.
    pub fn forget(&self) {
        let old = std::mem::take(&mut *self.memo());
        drop(old);
    }

    fn rule(&self, op: &Op) -> Option<&Arc<dyn Rule>> {
        // The common case is no added rules at all: no name is hashed then.
        if self.inner.context.rules.0.is_empty() {
            None
        } else {
            self.inner.context.rules.0.get(op.name())
        }
    }

    /// Linearizes one operation by the rule in force.
    pub fn linearize(
        &self,
        op: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Result<Linearized> {
        self.rule(op)
            .and_then(|r| r.linearize(op, cx, x, t))
            .unwrap_or_else(|| op.linearize(cx, x, t))
    }

    /// Runs one operation in forward mode, if it has its own and no rule was added for it.
    pub fn jvp(&self, op: &Op, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Option<Result<Jvp>> {
        if self.rule(op).is_some() {
            None
        } else {
            op.jvp(cx, x, t)
        }
    }

    /// Transposes one operation by the rule in force.
    pub fn transpose(
        &self,
        op: &Op,
        cx: &dyn Emit,
        x: &[Arg],
        ct: &[Option<Val>],
    ) -> Result<Vec<Option<Val>>> {
        self.rule(op)
            .and_then(|r| r.transpose(op, cx, x, ct))
            .unwrap_or_else(|| op.transpose(cx, x, ct))
    }

    /// Batches one operation by the rule in force.
    pub fn batch(&self, op: &Op, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        self.rule(op)
            .and_then(|r| r.batch(op, cx, size, x))
            .unwrap_or_else(|| op.batch(cx, size, x))
    }

    /// The operation that merges cotangents where a value is used more than once.
    pub fn sum(&self) -> Op {
        Op::sum()
    }

    /// The zero of a type.
    pub fn zeros(&self, ty: &Type) -> Op {
        Op::zeros(ty)
    }
}
