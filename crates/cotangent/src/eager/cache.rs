//! Caches of extensions in a runtime, with limits: plans, tables, compiled kernels.

use crate::lru::Lru;
use std::any::Any;
use std::sync::Arc;

/// The key of a cached value: the extension, the kind of value, and an id.
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

/// Limits of the extension caches. The least recently used values are evicted first.
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
    /// Maximum number of values.
    pub entries: usize,
    /// Maximum size in bytes, as reported by the extensions.
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

/// Statistics of the extension caches.
///
/// ```
/// let rt = cotangent::EagerRuntime::new();
/// let stats = rt.cache_stats()?.extensions;
/// assert_eq!((stats.entries, stats.retained_bytes, stats.hits, stats.misses, stats.evictions), (0, 0, 0, 0, 0));
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtensionCacheStats {
    /// Number of cached values.
    pub entries: usize,
    /// Size of cached values in bytes, as reported by the extensions.
    pub retained_bytes: usize,
    /// Number of requests that found their value.
    pub hits: u64,
    /// Number of requests that did not.
    pub misses: u64,
    /// Number of values removed because of the limits.
    pub evictions: u64,
}

/// Statistics of the caches of a runtime.
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
pub struct EagerRuntimeCacheStats {
    /// The caches of extensions.
    pub extensions: ExtensionCacheStats,
    /// Number of compiled operations, each with its derivative.
    pub operations: usize,
    /// Number of compiled tapes: small tapes whose reverse pass is one program.
    pub tapes: usize,
}

/// A cached value of an extension.
pub(super) type CachedValue = Arc<dyn Any + Send + Sync>;

/// Cached values of extensions. A value larger than the limit is not cached, and evicts no other.
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
    /// Caches a value of this size in bytes, if that is within the limits. It replaces a value
    /// under the same key.
    pub fn put<T: Any + Send + Sync>(&mut self, key: ExtensionCacheKey, value: T, bytes: usize) {
        if bytes > self.limits.bytes || self.limits.entries == 0 {
            drop(self.values.remove(&key));
            return;
        }
        // Values are evicted first, so the sum of sizes cannot overflow.
        drop(self.values.remove(&key));
        drop(self.shrink(self.limits.entries - 1, self.limits.bytes - bytes));
        drop(self.values.insert(key, Arc::new(value), bytes));
    }

    /// The value under a key; `None` if it is absent or of another type.
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

    /// Removes a value. Returns whether it was present.
    pub fn remove(&mut self, key: &ExtensionCacheKey) -> bool {
        self.values.remove(key).is_some()
    }

    /// Removes all values. The counts of hits, misses and evictions are unchanged.
    pub fn clear(&mut self) {
        drop(self.take());
    }

    /// Removes and returns all values.
    pub(super) fn take(&mut self) -> Lru<ExtensionCacheKey, CachedValue> {
        std::mem::take(&mut self.values)
    }

    /// Statistics of the caches.
    pub fn stats(&self) -> ExtensionCacheStats {
        ExtensionCacheStats {
            entries: self.values.len(),
            retained_bytes: self.values.weight(),
            ..self.stats
        }
    }

    /// The limits.
    pub fn limits(&self) -> ExtensionCacheLimits {
        self.limits
    }

    /// Sets the limits.
    pub fn set_limits(&mut self, limits: ExtensionCacheLimits) {
        drop(self.limit(limits));
    }

    /// Sets the limits. Returns the evicted values.
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
