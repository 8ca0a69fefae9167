//! Sets of small integers, as bit vectors.

/// A set of integers below a limit, which all sets of one problem share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Set(Box<[u64]>);

impl Set {
    pub(crate) fn new(limit: usize) -> Set {
        Set(vec![0; limit.div_ceil(64)].into())
    }

    pub(crate) fn of(limit: usize, items: impl IntoIterator<Item = usize>) -> Set {
        let mut s = Set::new(limit);
        items.into_iter().for_each(|i| s.insert(i));
        s
    }

    pub(crate) fn insert(&mut self, i: usize) {
        self.0[i / 64] |= 1 << (i % 64);
    }

    pub(crate) fn contains(&self, i: usize) -> bool {
        self.0[i / 64] >> (i % 64) & 1 == 1
    }

    fn zip(&self, other: &Set, f: impl Fn(u64, u64) -> u64) -> Set {
        Set(self
            .0
            .iter()
            .zip(&other.0)
            .map(|(a, b)| f(*a, *b))
            .collect())
    }

    pub(crate) fn or(&self, other: &Set) -> Set {
        self.zip(other, |a, b| a | b)
    }

    pub(crate) fn minus(&self, other: &Set) -> Set {
        self.zip(other, |a, b| a & !b)
    }

    pub(crate) fn meets(&self, other: &Set) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    pub(crate) fn within(&self, other: &Set) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    /// Elements in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(k, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let i = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(64 * k + i)
            })
        })
    }
}
