//! Contexts of transforms: an [`AdContext`] holds additional rules, a [`Session`] the state of one
//! transform.

use super::{Arg, Batched, Emit, Jvp, Lin, Linearized, Lv, Op, Val};
use crate::bail;
use crate::dtype::OpaqueType;
use crate::error::Result;
use crate::shape::{Dim, Type};
use rustc_hash::FxHashMap;
use std::any::{Any, TypeId};
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard};

/// Choices of arithmetic in derivatives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numerics {
    /// A derivative is NaN at a pole (for example, of a division by zero) instead of the result of
    /// IEEE division. Implies strong zeros.
    pub zero_division_nan: bool,
    /// Sums inside derivatives are compensated.
    pub stable: bool,
    /// Zero times anything is zero in derivatives, infinity and NaN included.
    pub strong_zero: bool,
}

impl Numerics {
    /// Whether zero times anything is zero in derivatives: a cotangent that a guard sets to zero
    /// stays zero at a pole.
    pub fn zeros_are_strong(&self) -> bool {
        self.strong_zero || self.zero_division_nan
    }
}

/// Rules that replace those of an operation. A method that returns `None` keeps the operation's own
/// rule.
#[allow(unused_variables)]
pub trait Rule: Send + Sync {
    /// See [`Primitive::linearize`](crate::Primitive::linearize).
    fn linearize(
        &self,
        op: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Option<Result<Linearized>> {
        None
    }

    /// See [`Primitive::transpose`](crate::Primitive::transpose).
    fn transpose(
        &self,
        op: &Op,
        cx: &dyn Emit,
        x: &[Arg],
        ct: &[Option<Val>],
    ) -> Option<Result<Vec<Option<Val>>>> {
        None
    }

    /// See [`Primitive::batch`](crate::Primitive::batch).
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
    /// Adds the rule of an operation (builder style). A later rule replaces an earlier one. Names
    /// are not checked: extension operations are unknown until they are differentiated.
    pub fn with(mut self, op: &str, rule: impl Rule + 'static) -> RuleSet {
        self.0.insert(op.to_owned(), Arc::new(rule));
        self
    }
}

/// An operation for each type: see [`AdContextBuilder::with_zeros`].
type ConstantOf = Arc<dyn Fn(&Type) -> Op + Send + Sync>;

/// The operations that transforms add themselves. `None`: the built-in one.
#[derive(Clone, Default)]
struct OwnOps {
    sum: Option<Op>,
    zeros: Option<ConstantOf>,
    ones: Option<ConstantOf>,
}

/// The rules that transforms use: those of the operations, and added ones. There is no global
/// state.
#[derive(Clone, Default)]
pub struct AdContext {
    rules: Arc<RuleSet>,
    own: Arc<OwnOps>,
    /// Arithmetic of the derivatives.
    pub numerics: Numerics,
}

impl AdContext {
    /// Starts an empty context.
    pub fn builder() -> AdContextBuilder {
        AdContextBuilder::default()
    }

    /// This context with additional rules. A new rule replaces an existing one for the same
    /// operation.
    pub fn with_rules(&self, rules: RuleSet) -> AdContext {
        let mut all = (*self.rules).clone();
        all.0.extend(rules.0);
        AdContext {
            rules: Arc::new(all),
            ..self.clone()
        }
    }

    /// A session for one transform.
    pub fn session(&self) -> Session {
        self.session_with(usize::MAX)
    }

    /// A session for any number of consecutive transforms. It memoises a limited number of regions.
    pub fn session_of_many(&self) -> Session {
        self.session_with(MAX_MEMOIZED_TRANSFORMS)
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
    own: OwnOps,
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

    /// Sets the operation that adds two cotangents, or two tangents, of one array type. It has two
    /// operands and one result of their type, and is linear in both together. Opaque types have
    /// sums, zeros and ones of their own ([`Opaque`](crate::Opaque)), which a context does not
    /// replace.
    pub fn with_sum(mut self, op: impl Into<Op>) -> Self {
        self.own.sum = Some(op.into());
        self
    }

    /// Sets the operation without operands whose result is the zero of an array type.
    pub fn with_zeros(mut self, op: impl Fn(&Type) -> Op + Send + Sync + 'static) -> Self {
        self.own.zeros = Some(Arc::new(op));
        self
    }

    /// Sets the operation without operands whose result is one: the cotangent that a gradient
    /// starts from.
    pub fn with_ones(mut self, op: impl Fn(&Type) -> Op + Send + Sync + 'static) -> Self {
        self.own.ones = Some(Arc::new(op));
        self
    }

    /// The context. Returns an error for a sum that is not linear in two operands together.
    pub fn build(self) -> Result<AdContext> {
        if let Some(sum) = &self.own.sum {
            sum.check_sum()?;
        }
        Ok(AdContext {
            rules: Arc::new(self.rules),
            own: Arc::new(self.own),
            numerics: self.numerics,
        })
    }
}

/// The state of a transform: the context, and memoised transforms of regions, so that nested
/// regions take linear time.
#[derive(Clone)]
pub struct Session {
    inner: Arc<Inner>,
    one_sided: bool,
}

struct Inner {
    context: AdContext,
    memo: Mutex<Memo>,
    /// Maximum number of memoised transforms. When it is exceeded, all are dropped.
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

/// Maximum number of memoised transforms of a session for many transforms.
const MAX_MEMOIZED_TRANSFORMS: usize = 64;

impl Default for Session {
    fn default() -> Session {
        AdContext::default().session()
    }
}

impl Session {
    /// The context.
    pub fn context(&self) -> &AdContext {
        &self.inner.context
    }

    /// This session for differentiating a derivative: kinks are differentiated on one side.
    pub fn on_one_side(&self) -> Session {
        Session {
            one_sided: true,
            ..self.clone()
        }
    }

    /// Whether kinks are differentiated on one side instead of by the mean of both sides: the
    /// function is a derivative already.
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
        // Extension operations are dropped after the lock is released.
        drop((old, full));
    }

    fn memo(&self) -> MutexGuard<'_, Memo> {
        self.inner.memo.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Drops the memoised transforms of regions.
    pub fn forget(&self) {
        let old = std::mem::take(&mut *self.memo());
        drop(old);
    }

    fn rule(&self, op: &Op) -> Option<&Arc<dyn Rule>> {
        // Fast path without added rules: names are not hashed.
        if self.inner.context.rules.0.is_empty() {
            None
        } else {
            self.inner.context.rules.0.get(op.name())
        }
    }

    /// Linearizes one operation, by an added rule or its own. A rule that returns another number of
    /// results or tangents is an error.
    pub fn linearize(
        &self,
        op: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Result<Linearized> {
        let (y, dy) = self
            .rule(op)
            .and_then(|r| r.linearize(op, cx, x, t))
            .unwrap_or_else(|| op.linearize(cx, x, t))?;
        let n = op.results();
        if y.len() != n || dy.len() != n {
            bail!(
                RuleArity,
                "linearize rule of `{}` produced {} results and {} tangents for {n} results",
                op.name(),
                y.len(),
                dy.len()
            );
        }
        Ok((y, dy))
    }

    /// Applies the operation's `jvp`, if it has one and no rule was added for it.
    pub fn jvp(&self, op: &Op, cx: &dyn Emit, x: &[Val], t: &[Option<Val>]) -> Option<Result<Jvp>> {
        if self.rule(op).is_some() {
            None
        } else {
            op.jvp(cx, x, t)
        }
    }

    /// Transposes one operation, by an added rule or its own. A rule that returns another number of
    /// cotangents is an error.
    pub fn transpose(
        &self,
        op: &Op,
        cx: &dyn Emit,
        x: &[Arg],
        ct: &[Option<Val>],
    ) -> Result<Vec<Option<Val>>> {
        let back = self
            .rule(op)
            .and_then(|r| r.transpose(op, cx, x, ct))
            .unwrap_or_else(|| op.transpose(cx, x, ct))?;
        if back.len() != x.len() {
            bail!(
                RuleArity,
                "transpose rule of `{}` produced {} cotangents for {} operands",
                op.name(),
                back.len(),
                x.len()
            );
        }
        Ok(back)
    }

    /// Batches one operation, by an added rule or its own. A rule that returns another number of
    /// results is an error.
    pub fn batch(&self, op: &Op, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let y = self
            .rule(op)
            .and_then(|r| r.batch(op, cx, size, x))
            .unwrap_or_else(|| op.batch(cx, size, x))?;
        if y.len() != op.results() {
            bail!(
                RuleArity,
                "batch rule of `{}` produced {} results",
                op.name(),
                y.len()
            );
        }
        Ok(y)
    }

    /// The operation that adds the cotangents of several uses of a value. `ty` is their type: an
    /// opaque type has a sum of its own.
    pub fn sum(&self, ty: &Type) -> Op {
        let opaque = || ty.dtype.opaque()?.sum();
        match opaque().or(self.inner.context.own.sum.as_ref()) {
            Some(op) => op.clone(),
            None => Op::sum(),
        }
    }

    /// Whether the context has a sum of its own, in place of `add`.
    pub fn has_own_sum(&self) -> bool {
        self.inner.context.own.sum.is_some()
    }

    /// The zero of a type.
    pub fn zeros(&self, ty: &Type) -> Op {
        if let Some(zero) = ty.dtype.opaque().and_then(OpaqueType::zero) {
            return zero.clone();
        }
        match &self.inner.context.own.zeros {
            Some(zeros) => zeros(ty),
            None => Op::splat(ty, 0),
        }
    }

    /// The one of a type.
    pub fn ones(&self, ty: &Type) -> Op {
        if let Some(one) = ty.dtype.opaque().and_then(OpaqueType::one) {
            return one.clone();
        }
        match &self.inner.context.own.ones {
            Some(ones) => ones(ty),
            None => Op::splat(ty, 1),
        }
    }
}
