//! A cache with a limit: what was not used for longest goes first.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// What a cache holds and did.
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
    /// Programs that are kept.
    pub entries: usize,
    /// How many may be kept.
    pub limit: usize,
    /// Requests that were answered from the cache.
    pub hits: u64,
    /// Requests that were not.
    pub misses: u64,
    /// Programs that had to go.
    pub evictions: u64,
}

pub(crate) struct Cache<K, V> {
    map: FxHashMap<K, (u64, V)>,
    clock: u64,
    stats: CacheStats,
}

impl<K: Hash + Eq + Clone, V: Clone> Cache<K, V> {
    pub fn new(limit: usize) -> Cache<K, V> {
        Cache { map: FxHashMap::default(), clock: 0, stats: CacheStats { limit, ..CacheStats::default() } }
    }

    pub fn get(&mut self, key: &K) -> Option<V> {
        self.clock += 1;
        match self.map.get_mut(key) {
            Some((used, v)) => {
                *used = self.clock;
                self.stats.hits += 1;
                Some(v.clone())
            }
            None => {
                self.stats.misses += 1;
                None
            }
        }
    }

    pub fn insert(&mut self, key: K, value: V) {
        if self.stats.limit > 0 {
            self.map.insert(key, (self.clock, value));
            self.shrink();
        }
    }

    pub fn set_limit(&mut self, limit: usize) {
        self.stats.limit = limit;
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.map.len() > self.stats.limit {
            let oldest = self.map.iter().min_by_key(|(_, (used, _))| *used).map(|(k, _)| k.clone());
            oldest.and_then(|k| self.map.remove(&k));
            self.stats.evictions += 1;
        }
    }

    pub fn clear(&mut self) {
        self.map.clear();
    }

    pub fn stats(&self) -> CacheStats {
        CacheStats { entries: self.map.len(), ..self.stats }
    }
}
