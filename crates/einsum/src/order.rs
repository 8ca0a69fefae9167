//! Contraction orders: by dynamic programming over connected subsets, or greedily.
//!
//! ```text
//! cost(S) = min over S = A + B of  cost(A) + cost(B) + Π extents of the indices of A and B
//! ```
//! The search is restricted to connected subsets, so it finds the cheapest order without outer
//! products. A chain of n tensors has n(n+1)/2 connected subsets; a dense network has up to 2^n.
//! The search therefore has a budget, above which the best of three greedy orders is used.

use crate::set::Set;
use crate::{Error, Result};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};

/// Search strategy for a contraction order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Exhaustive within a budget, else greedy.
    #[default]
    Auto,
    /// Repeatedly contracts the pair that reduces the total size most. The best of three such
    /// orders.
    Greedy,
    /// The cheapest order without needless outer products. An error if the search exceeds its
    /// budget.
    Exhaustive,
    /// From left to right, as in the specification.
    InOrder,
}

/// Maximum number of pairs of subsets that an exhaustive search examines, for [`Strategy::Auto`].
const MAX_AUTO_PAIRS: usize = 1_000_000;
/// Maximum number of pairs of subsets that an exhaustive search examines, for
/// [`Strategy::Exhaustive`].
const MAX_EXHAUSTIVE_PAIRS: usize = 5_000_000;

/// An ordering problem: tensors as sets of labels, the labels of the result, and the extents of
/// labels.
pub(crate) struct OrderProblem<'a> {
    pub tensors: &'a [Set],
    pub keep: &'a Set,
    pub extents: &'a [f64],
}

/// Pairs of positions to contract, in order. Tensors have the first positions, then results.
pub(crate) type ContractionPairs = Vec<(usize, usize)>;

impl OrderProblem<'_> {
    pub(crate) fn size(&self, labels: &Set) -> f64 {
        labels.iter().map(|l| self.extents[l]).product()
    }

    pub(crate) fn solve(&self, strategy: Strategy) -> Result<ContractionPairs> {
        let n = self.tensors.len();
        match strategy {
            Strategy::InOrder => Ok((1..n).map(|k| (if k == 1 { 0 } else { n + k - 2 }, k)).collect()),
            _ if n <= 2 => Ok((1..n).map(|_| (0, 1)).collect()),
            Strategy::Greedy => Ok(self.greedy()),
            Strategy::Auto => Ok(self.exhaustive(MAX_AUTO_PAIRS).unwrap_or_else(|| self.greedy())),
            Strategy::Exhaustive => self.exhaustive(MAX_EXHAUSTIVE_PAIRS).ok_or_else(|| {
                Error(format!("einsum of {n} operands: an exhaustive search would take too long; use a greedy path"))
            }),
        }
    }

    /// Number of tensors with each label, plus 1 for labels of the result.
    fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.extents.len()];
        self.tensors
            .iter()
            .chain([self.keep])
            .flat_map(Set::iter)
            .for_each(|l| uses[l] += 1);
        uses
    }

    /// Labels of the product of `x` and `y`: those that are used elsewhere. `uses` includes `x` and
    /// `y`.
    fn result(&self, x: &Set, y: &Set, uses: &[usize]) -> Set {
        let mut out = x.or(y);
        let is_local =
            |l: usize| uses[l] == usize::from(x.contains(l)) + usize::from(y.contains(l));
        let summed: Vec<usize> = out.iter().filter(|&l| is_local(l)).collect();
        out = out.minus(&Set::of(self.extents.len(), summed));
        out
    }

    /// The cost of an order.
    pub(crate) fn flops(&self, pairs: &ContractionPairs) -> f64 {
        let mut uses = self.uses();
        let mut sets: Vec<Set> = self.tensors.to_vec();
        let mut total = 0.0;
        for &(a, b) in pairs {
            total += self.size(&sets[a].or(&sets[b]));
            let product = self.result(&sets[a], &sets[b], &uses);
            self.replace(&mut uses, &sets[a], &sets[b], &product);
            sets.push(product);
        }
        total
    }

    fn replace(&self, uses: &mut [usize], a: &Set, b: &Set, product: &Set) {
        a.iter().chain(b.iter()).for_each(|l| uses[l] -= 1);
        product.iter().for_each(|l| uses[l] += 1);
    }

    fn greedy(&self) -> ContractionPairs {
        // Cost of a pair: the size of its product, minus a fraction of the sizes of its operands.
        let orders = [1.0, 0.5, 0.0].map(|part| self.greedy_by(part));
        let best = orders
            .into_iter()
            .min_by(|a, b| self.flops(a).total_cmp(&self.flops(b)));
        best.expect("several orders")
    }

    fn greedy_by(&self, part: f64) -> ContractionPairs {
        let mut uses = self.uses();
        let mut sets: Vec<Set> = self.tensors.to_vec();
        let mut alive: Vec<usize> = (0..sets.len()).collect();
        let mut queue = BinaryHeap::new();
        let mut pairs = ContractionPairs::new();
        let candidate = |sets: &[Set], uses: &[usize], a: usize, b: usize| {
            let product_size = self.size(&self.result(&sets[a], &sets[b], uses));
            Candidate {
                cost: product_size - part * (self.size(&sets[a]) + self.size(&sets[b])),
                a,
                b,
            }
        };
        for b in 1..sets.len() {
            queue.extend(
                (0..b)
                    .filter(|&a| sets[a].meets(&sets[b]))
                    .map(|a| candidate(&sets, &uses, a, b)),
            );
        }
        while alive.len() > 1 {
            let next = std::iter::from_fn(|| queue.pop())
                .find(|c| alive.contains(&c.a) && alive.contains(&c.b));
            let (a, b) = match next {
                Some(c) => (c.a, c.b),
                // No two tensors share a label: contract the smallest two.
                None => {
                    alive.sort_by(|&a, &b| {
                        self.size(&sets[a])
                            .total_cmp(&self.size(&sets[b]))
                            .then(a.cmp(&b))
                    });
                    (alive[0].min(alive[1]), alive[0].max(alive[1]))
                }
            };
            let product = self.result(&sets[a], &sets[b], &uses);
            self.replace(&mut uses, &sets[a], &sets[b], &product);
            alive.retain(|&k| k != a && k != b);
            sets.push(product);
            let new = sets.len() - 1;
            for &k in alive.iter().filter(|&&k| sets[k].meets(&sets[new])) {
                queue.push(candidate(&sets, &uses, k, new));
            }
            alive.push(new);
            pairs.push((a, b));
        }
        pairs
    }

    /// Connected components, each in ascending order.
    fn components(&self) -> Vec<Vec<usize>> {
        let mut left: Vec<usize> = (0..self.tensors.len()).collect();
        let mut all = Vec::new();
        while let Some(&start) = left.first() {
            let (mut part, mut labels) = (vec![start], self.tensors[start].clone());
            left.remove(0);
            while let Some(at) = left.iter().position(|&k| self.tensors[k].meets(&labels)) {
                let k = left.remove(at);
                labels = labels.or(&self.tensors[k]);
                part.push(k);
            }
            part.sort_unstable();
            all.push(part);
        }
        all
    }

    /// The cheapest order, if the search examines at most `budget` pairs of subsets.
    fn exhaustive(&self, budget: usize) -> Option<ContractionPairs> {
        if self.tensors.len() > 128 {
            return None;
        }
        let mut left = budget;
        let mut pairs = ContractionPairs::new();
        let mut parts: Vec<(usize, Set)> = Vec::new();
        for part in self.components() {
            let at = self.best(&part, &mut left, &mut pairs)?;
            let labels = part
                .iter()
                .fold(Set::new(self.extents.len()), |s, &k| s.or(&self.tensors[k]));
            let uses = self.uses();
            let inside = |l: usize| {
                part.iter()
                    .filter(|&&k| self.tensors[k].contains(l))
                    .count()
            };
            let kept = labels.iter().filter(|&l| uses[l] > inside(l));
            parts.push((at, Set::of(self.extents.len(), kept)));
        }
        // Components share no labels: outer products, smallest operands first.
        while parts.len() > 1 {
            parts.sort_by(|a, b| {
                self.size(&a.1)
                    .total_cmp(&self.size(&b.1))
                    .then(a.0.cmp(&b.0))
            });
            let (a, b) = (parts.remove(0), parts.remove(0));
            pairs.push((a.0, b.0));
            parts.push((self.tensors.len() + pairs.len() - 1, a.1.or(&b.1)));
        }
        Some(pairs)
    }

    /// Appends the cheapest order of connected tensors, and returns the position of its result.
    fn best(
        &self,
        part: &[usize],
        left: &mut usize,
        pairs: &mut ContractionPairs,
    ) -> Option<usize> {
        let n = part.len();
        let owners: Vec<u128> = (0..self.extents.len())
            .map(|l| {
                (0..n)
                    .filter(|&k| self.tensors[part[k]].contains(l))
                    .fold(0, |s, k| s | 1 << k)
            })
            .collect();
        let mut nodes: Vec<Subset> = (0..n)
            .map(|k| Subset {
                tensors: 1 << k,
                labels: self.tensors[part[k]].clone(),
                cost: 0.0,
                from: None,
            })
            .collect();
        let mut index: HashMap<u128, usize> = HashMap::new();
        let mut by_size: Vec<Vec<usize>> = vec![Vec::new(), (0..n).collect()];
        for m in 2..=n {
            let mut new_subsets: Vec<usize> = Vec::new();
            for k in 1..=m / 2 {
                *left = left.checked_sub(by_size[k].len() * by_size[m - k].len())?;
                for &a in &by_size[k] {
                    for &b in &by_size[m - k] {
                        let (x, y) = (&nodes[a], &nodes[b]);
                        if x.tensors & y.tensors != 0
                            || (2 * k == m && a > b)
                            || !x.labels.meets(&y.labels)
                        {
                            continue;
                        }
                        let tensors = x.tensors | y.tensors;
                        let both = x.labels.or(&y.labels);
                        let cost = x.cost + y.cost + self.size(&both);
                        match index.get(&tensors).copied() {
                            Some(at) if nodes[at].cost <= cost => {}
                            Some(at) => (nodes[at].cost, nodes[at].from) = (cost, Some((a, b))),
                            None => {
                                let summed = both.iter().filter(|&l| {
                                    !self.keep.contains(l) && owners[l] & !tensors == 0
                                });
                                let labels = both.minus(&Set::of(self.extents.len(), summed));
                                index.insert(tensors, nodes.len());
                                new_subsets.push(nodes.len());
                                nodes.push(Subset {
                                    tensors,
                                    labels,
                                    cost,
                                    from: Some((a, b)),
                                });
                            }
                        }
                    }
                }
            }
            by_size.push(new_subsets);
        }
        let root = *by_size[n].first()?;
        // A subset comes after the two subsets that it consists of.
        let mut needed = vec![root];
        let mut next = 0;
        while let Some(&k) = needed.get(next) {
            needed.extend(nodes[k].from.iter().flat_map(|&(a, b)| [a, b]));
            next += 1;
        }
        needed.sort_unstable();
        let mut position = vec![0; nodes.len()];
        for k in needed {
            position[k] = match nodes[k].from {
                None => part[k],
                Some((a, b)) => {
                    pairs.push((position[a], position[b]));
                    self.tensors.len() + pairs.len() - 1
                }
            };
        }
        Some(position[root])
    }
}

/// A connected subset, and its cheapest contraction.
struct Subset {
    tensors: u128,
    labels: Set,
    cost: f64,
    from: Option<(usize, usize)>,
}

/// A candidate for the next contraction. The greatest candidate is the cheapest.
struct Candidate {
    cost: f64,
    a: usize,
    b: usize,
}

impl Ord for Candidate {
    fn cmp(&self, o: &Candidate) -> Ordering {
        o.cost
            .total_cmp(&self.cost)
            .then(o.a.cmp(&self.a))
            .then(o.b.cmp(&self.b))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, o: &Candidate) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, o: &Candidate) -> bool {
        self.cmp(o).is_eq()
    }
}

impl Eq for Candidate {}
