//! [`Lru`]: a map with the order of last use and the total weight of its entries.

use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::hash::Hash;

struct Entry<V> {
    value: V,
    weight: usize,
    used: u64,
}

/// Values by key, with the order of their last use. The map drops no value: removed values are
/// returned, so that callers can drop them without holding a lock.
pub(crate) struct Lru<K, V> {
    map: FxHashMap<K, Entry<V>>,
    /// Keys by the time of their last use.
    by_use: BTreeMap<u64, K>,
    clock: u64,
    weight: usize,
}

impl<K, V> Default for Lru<K, V> {
    fn default() -> Lru<K, V> {
        Lru {
            map: FxHashMap::default(),
            by_use: BTreeMap::new(),
            clock: 0,
            weight: 0,
        }
    }
}

impl<K: Hash + Eq + Clone, V> Lru<K, V> {
    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    /// The sum of the weights; it saturates.
    pub(crate) fn weight(&self) -> usize {
        self.weight
    }

    /// The value under a key, marked as most recently used.
    pub(crate) fn get(&mut self, key: &K) -> Option<&V> {
        let e = self.map.get_mut(key)?;
        if e.used == self.clock {
            return Some(&e.value);
        }
        self.clock += 1;
        if let Some(key) = self.by_use.remove(&e.used) {
            self.by_use.insert(self.clock, key);
        }
        e.used = self.clock;
        Some(&e.value)
    }

    /// Inserts a value under a key. Returns the replaced value.
    #[must_use]
    pub(crate) fn insert(&mut self, key: K, value: V, weight: usize) -> Option<V> {
        let old = self.remove(&key);
        self.clock += 1;
        self.by_use.insert(self.clock, key.clone());
        self.map.insert(
            key,
            Entry {
                value,
                weight,
                used: self.clock,
            },
        );
        self.weight = self.weight.saturating_add(weight);
        old
    }

    #[must_use]
    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let e = self.map.remove(key)?;
        self.by_use.remove(&e.used);
        self.weight = self.weight.saturating_sub(e.weight);
        Some(e.value)
    }

    /// Removes and returns the least recently used value.
    #[must_use]
    pub(crate) fn pop(&mut self) -> Option<V> {
        let (_, key) = self.by_use.pop_first()?;
        let e = self.map.remove(&key)?;
        self.weight = self.weight.saturating_sub(e.weight);
        Some(e.value)
    }
}
