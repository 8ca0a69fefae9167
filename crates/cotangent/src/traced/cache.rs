//! A cache with a limit, which evicts the least recently used entry.

use crate::lru::Lru;
use smallvec::SmallVec;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard};

/// Statistics of a cache of programs.
///
/// ```
/// use cotangent::{GraphCompiler, TracedTensor};
/// let (compiler, x) = (GraphCompiler::new(), TracedTensor::scalar(1.0));
/// let y = x.exp();
/// (compiler.compile(&y)?, compiler.compile(&y)?);
/// let stats = compiler.cache_stats();
/// assert_eq!((stats.hits, stats.misses), (1, 1));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheStats {
    /// Number of cached programs.
    pub entries: usize,
    /// Maximum number of cached programs.
    pub limit: usize,
    /// Number of requests that were answered from the cache.
    pub hits: u64,
    /// Number of requests that were not.
    pub misses: u64,
    /// Number of programs removed because of the limit.
    pub evictions: u64,
}

/// A thread-safe cache of the most recently used values, by key. Nothing is dropped while the lock
/// is held: an evicted value may hold the last reference to a user's operation.
pub(crate) struct Cache<K, V>(Mutex<Inner<K, V>>);

struct Inner<K, V> {
    values: Lru<K, V>,
    stats: CacheStats,
}

impl<K: Hash + Eq + Clone, V: Clone> Cache<K, V> {
    pub(crate) fn new(limit: usize) -> Cache<K, V> {
        Cache(Mutex::new(Inner {
            values: Lru::default(),
            stats: CacheStats {
                limit,
                ..CacheStats::default()
            },
        }))
    }

    fn inner(&self) -> MutexGuard<'_, Inner<K, V>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// The value under a key, counted as a hit or a miss.
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        let found = self.peek(key);
        self.count(found.is_some());
        found
    }

    /// As [`Cache::get`], without counting.
    pub(crate) fn peek(&self, key: &K) -> Option<V> {
        self.inner().values.get(key).cloned()
    }

    /// Counts a hit or a miss.
    pub(crate) fn count(&self, hit: bool) {
        let stats = &mut self.inner().stats;
        *(if hit {
            &mut stats.hits
        } else {
            &mut stats.misses
        }) += 1;
    }

    pub(crate) fn insert(&self, key: K, value: V) {
        let mut gone = SmallVec::<[V; 1]>::new();
        let mut inner = self.inner();
        if inner.stats.limit > 0 {
            gone.extend(inner.values.insert(key, value, 1));
            inner.shrink(&mut gone);
        }
        drop(inner);
        drop(gone);
    }

    pub(crate) fn set_limit(&self, limit: usize) {
        let mut gone = SmallVec::new();
        let mut inner = self.inner();
        inner.stats.limit = limit;
        inner.shrink(&mut gone);
        drop(inner);
        drop(gone);
    }

    pub(crate) fn clear(&self) {
        let old = std::mem::take(&mut self.inner().values);
        drop(old);
    }

    pub(crate) fn stats(&self) -> CacheStats {
        let inner = self.inner();
        CacheStats {
            entries: inner.values.len(),
            ..inner.stats
        }
    }
}

impl<K: Hash + Eq + Clone, V> Inner<K, V> {
    fn shrink(&mut self, gone: &mut SmallVec<[V; 1]>) {
        while self.values.len() > self.stats.limit {
            gone.extend(self.values.pop());
            self.stats.evictions += 1;
        }
    }
}
