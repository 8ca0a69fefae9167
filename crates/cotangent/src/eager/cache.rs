//! Caches that extensions keep in a runtime: plans, tables, compiled kernels, within limits.

use crate::lru::Lru;
use std::any::Any;
use std::sync::Arc;

/// What an extension keeps a value under: who it is, what kind of value, and which one.
///
/// ```
/// use cotangent::ad::EagerRuntime;
/// use cotangent::runtime::ExtensionCacheKey;
/// let rt = EagerRuntime::new();
/// let key = ExtensionCacheKey::new("name.v1", "plans", 1);
/// rt.with_extension_caches_mut(|caches| caches.put(key.clone(), vec![1u8, 2], 2))?;
/// let plan = rt.with_extension_caches_mut(|caches| caches.get::<Vec<u8>>(&key))?;
/// assert_eq!(*plan.unwrap(), [1, 2]);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExtensionCacheKey {
    extension: String,
    kind: String,
    id: u64,
}

impl ExtensionCacheKey {
    /// The value `id` of a kind (`"plans"`) of an extension (`"name.v1"`).
    pub fn new(
        extension: impl Into<String>,
        kind: impl Into<String>,
        id: u64,
    ) -> ExtensionCacheKey {
        ExtensionCacheKey {
            extension: extension.into(),
            kind: kind.into(),
            id,
        }
    }
}

/// How much extensions may keep. What was not used for longest goes first.
///
/// ```
/// use cotangent::ad::EagerRuntime;
/// let rt = EagerRuntime::new();
/// let mut limits = rt.extension_cache_limits()?;
/// limits.bytes = 1 << 20;
/// rt.set_extension_cache_limits(limits)?;
/// assert_eq!(rt.extension_cache_limits()?.bytes, 1 << 20);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionCacheLimits {
    /// Number of values.
    pub entries: usize,
    /// Bytes, as the extensions count them.
    pub bytes: usize,
}

impl Default for ExtensionCacheLimits {
    /// 1024 values, 256 MiB.
    fn default() -> ExtensionCacheLimits {
        ExtensionCacheLimits {
            entries: 1024,
            bytes: 256 << 20,
        }
    }
}

/// What extensions keep, and how often it served.
///
/// ```
/// let rt = cotangent::EagerRuntime::new();
/// let stats = rt.cache_stats()?.extensions;
/// assert_eq!((stats.entries, stats.retained_bytes, stats.hits, stats.misses, stats.evictions), (0, 0, 0, 0, 0));
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtensionCacheStats {
    /// Values kept.
    pub entries: usize,
    /// Bytes kept, as the extensions count them.
    pub retained_bytes: usize,
    /// Requests that found their value.
    pub hits: u64,
    /// Requests that did not.
    pub misses: u64,
    /// Values that had to go.
    pub evictions: u64,
}

/// What a runtime's caches hold.
///
/// ```
/// let rt = cotangent::EagerRuntime::new();
/// let x = rt.variable_from(cotangent::Tensor::scalar(2.0))?;
/// for _ in 0..4 {
///     x.mul(&x)?.backward()?;
/// }
/// // The product, and the sum of its gradients.
/// let stats = rt.cache_stats()?;
/// assert_eq!((stats.operations, stats.tapes), (2, 1));
/// rt.clear_caches()?;
/// assert_eq!(rt.cache_stats()?.operations, 0);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EagerCacheStats {
    /// The caches of extensions.
    pub extensions: ExtensionCacheStats,
    /// Operations that are ready to run, with their derivatives.
    pub operations: usize,
    /// Tapes of few elements that are pulled back by one program when they are recorded again.
    pub tapes: usize,
}

/// A value that an extension keeps.
pub(super) type CachedValue = Arc<dyn Any + Send + Sync>;

/// Values that extensions keep. One that is larger than the limit is not kept, and the others stay.
///
/// ```
/// use cotangent::ad::ExtensionCaches;
/// use cotangent::runtime::ExtensionCacheKey;
/// let key = |id| ExtensionCacheKey::new("name.v1", "tables", id);
/// let mut caches = ExtensionCaches::default();
/// caches.put(key(1), 0.5f64, 8);
/// assert_eq!((caches.get::<f64>(&key(1)).as_deref(), caches.get::<f64>(&key(2))), (Some(&0.5), None));
/// assert_eq!((caches.stats().hits, caches.stats().misses), (1, 1));
/// assert!(caches.remove(&key(1)));
/// caches.clear();
/// ```
#[derive(Default)]
pub struct ExtensionCaches {
    values: Lru<ExtensionCacheKey, CachedValue>,
    limits: ExtensionCacheLimits,
    stats: ExtensionCacheStats,
}

impl ExtensionCaches {
    /// Keeps a value of this size, if that is within the limits; it replaces one under the same
    /// key.
    pub fn put<T: Any + Send + Sync>(&mut self, key: ExtensionCacheKey, value: T, bytes: usize) {
        if bytes > self.limits.bytes || self.limits.entries == 0 {
            drop(self.values.remove(&key));
            return;
        }
        // Room is made first, so the sum of sizes cannot go over what a size can say.
        drop(self.values.remove(&key));
        drop(self.shrink(self.limits.entries - 1, self.limits.bytes - bytes));
        drop(self.values.insert(key, Arc::new(value), bytes));
    }

    /// The value under a key, if it is there and of this type.
    pub fn get<T: Any + Send + Sync>(&mut self, key: &ExtensionCacheKey) -> Option<Arc<T>> {
        let found = self
            .values
            .get(key)
            .and_then(|v| v.clone().downcast::<T>().ok());
        match found {
            Some(_) => self.stats.hits += 1,
            None => self.stats.misses += 1,
        }
        found
    }

    /// Forgets a value; whether it was there.
    pub fn remove(&mut self, key: &ExtensionCacheKey) -> bool {
        self.values.remove(key).is_some()
    }

    /// Forgets everything; counts of hits, misses and evictions stay.
    pub fn clear(&mut self) {
        drop(self.take());
    }

    /// Everything, taken out.
    pub(super) fn take(&mut self) -> Lru<ExtensionCacheKey, CachedValue> {
        std::mem::take(&mut self.values)
    }

    /// What is kept.
    pub fn stats(&self) -> ExtensionCacheStats {
        ExtensionCacheStats {
            entries: self.values.len(),
            retained_bytes: self.values.weight(),
            ..self.stats
        }
    }

    /// How much may be kept.
    pub fn limits(&self) -> ExtensionCacheLimits {
        self.limits
    }

    /// Sets how much may be kept.
    pub fn set_limits(&mut self, limits: ExtensionCacheLimits) {
        drop(self.limit(limits));
    }

    /// Sets how much may be kept; what had to go.
    pub(super) fn limit(&mut self, limits: ExtensionCacheLimits) -> Vec<CachedValue> {
        self.limits = limits;
        self.shrink(limits.entries, limits.bytes)
    }

    fn shrink(&mut self, entries: usize, bytes: usize) -> Vec<CachedValue> {
        let mut gone = Vec::new();
        while self.values.len() > entries || self.values.weight() > bytes {
            let Some(value) = self.values.pop() else {
                break;
            };
            gone.push(value);
            self.stats.evictions += 1;
        }
        gone
    }
}
