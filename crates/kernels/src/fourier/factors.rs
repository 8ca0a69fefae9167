//! Factorisation of a length: radices of the passes, and estimated instructions per element.

use smallvec::SmallVec;

/// Radices of the passes of a transform, smallest first.
pub(super) type Radices = SmallVec<[usize; 16]>;

/// Maximum number of points of a butterfly of symmetric pairs. It decides the bits of a transform.
pub(super) const MAX_PAIR_POINTS: usize = 251;

/// Method of transforming a prime number of points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PrimeMethod {
    /// A butterfly of symmetric pairs.
    Pairs,
    /// A cyclic convolution of `p - 1` points, in the order of powers of a generator.
    Rader,
    /// A convolution with a chirp, of this many points.
    Chirp(usize),
}

/// The prime factors of `n`, smallest first.
pub(super) fn primes(mut n: usize) -> SmallVec<[usize; 16]> {
    let mut out = SmallVec::new();
    let mut factor = 2;
    while factor * factor <= n {
        while n.is_multiple_of(factor) {
            out.push(factor);
            n /= factor;
        }
        factor += if factor == 2 { 1 } else { 2 };
    }
    if n > 1 {
        out.push(n);
    }
    out
}

/// Radices of the passes for `n` points: 8, 4 and 2 for powers of two, and odd primes.
pub(super) fn radices(n: usize) -> Radices {
    let twos = n.trailing_zeros();
    let mut out: Radices = primes(n >> twos);
    let (fours, mut rest) = match twos % 3 {
        1 if twos > 1 => (2, twos - 4),
        2 => (1, twos - 2),
        _ => (0, twos),
    };
    out.extend((0..fours).map(|_| 4));
    while rest > 0 {
        let bits = rest.min(3);
        out.push(1 << bits);
        rest -= bits;
    }
    out.sort_unstable();
    out
}

/// Estimated number of instructions of a transform of `n` points.
pub(super) fn cost(n: usize) -> f64 {
    radices(n).iter().map(|&r| n as f64 * pass(r)).sum()
}

/// Instructions per point of a pass, counted with vectors of eight lanes.
fn pass(radix: usize) -> f64 {
    match radix {
        2 => 14.0,
        3 => 15.0,
        4 => 12.0,
        5 => 20.0,
        7 => 26.0,
        8 => 19.0,
        11 => 37.0,
        13 => 41.0,
        p => prime(p).1 / p as f64,
    }
}

/// The cheapest method for an odd prime number of points, and its instructions.
pub(super) fn prime(p: usize) -> (PrimeMethod, f64) {
    let points = p as f64;
    let pairs = points * (1.5 * points + 45.0);
    if p <= 13 {
        return (PrimeMethod::Pairs, pairs);
    }
    let padded = convolved(2 * p - 1);
    let ways = [
        (
            PrimeMethod::Rader,
            600.0 + 2.0 * cost(p - 1) + 22.0 * points,
        ),
        (
            PrimeMethod::Chirp(padded),
            600.0 + 2.0 * cost(padded) + 10.0 * padded as f64 + 16.0 * points,
        ),
    ];
    let mut best = (
        PrimeMethod::Pairs,
        if p <= MAX_PAIR_POINTS {
            pairs
        } else {
            f64::INFINITY
        },
    );
    for way in ways {
        if way.1 < best.1 {
            best = way;
        }
    }
    best
}

/// Number of points of the cheapest real convolution for an odd prime number of reals. `None` if
/// pairs are cheaper.
pub(super) fn real_prime(p: usize) -> Option<usize> {
    let convolution = |points: usize| {
        let n = points as f64;
        (
            points,
            600.0 + 2.0 * (cost(points / 2) + 8.0 * n) + 6.0 * n + 8.0 * p as f64,
        )
    };
    let (cyclic, padded) = (convolution(p - 1), convolution(2 * convolved(p - 1)));
    let best = if cyclic.1 <= padded.1 { cyclic } else { padded };
    (p > MAX_PAIR_POINTS || best.1 < p as f64 * (0.85 * p as f64 + 25.0)).then_some(best.0)
}

/// The cheapest length of a convolution of at least `n` points, without prime factors above 7.
pub(super) fn convolved(n: usize) -> usize {
    let most = n.next_power_of_two();
    let mut best = (most, cost(most));
    let mut odd: SmallVec<[usize; 64]> = SmallVec::from_slice(&[1]);
    for p in [3, 5, 7] {
        let mut i = 0;
        while i < odd.len() {
            if odd[i] * p < most {
                let more = odd[i] * p;
                odd.push(more);
            }
            i += 1;
        }
    }
    for odd in odd {
        let length = odd * n.div_ceil(odd).next_power_of_two();
        let cost = cost(length);
        if cost < best.1 {
            best = (length, cost);
        }
    }
    best.0
}

/// A generator of the numbers 1 to p - 1 under multiplication modulo a prime `p > 2`.
pub(super) fn generator(p: usize) -> usize {
    let mut factors = primes(p - 1);
    factors.dedup();
    let generates = |g: &usize| factors.iter().all(|f| power(*g, (p - 1) / f, p) != 1);
    (2..p)
        .find(generates)
        .expect("a prime number has a generator")
}

/// `a^e` modulo `p`.
fn power(a: usize, mut e: usize, p: usize) -> usize {
    let (mut base, mut out) = (a as u128, 1u128);
    while e > 0 {
        if e & 1 == 1 {
            out = out * base % p as u128;
        }
        base = base * base % p as u128;
        e >>= 1;
    }
    out as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ratio of the cost of a length to the mean cost of lengths at most 16 away. Copies to and
    /// from a panel are included.
    fn beside_neighbours(n: usize) -> f64 {
        let of = |n: usize| 28.0 + cost(n) / n as f64;
        of(n) / ((n - 16..=n + 16).map(of).sum::<f64>() / 33.0)
    }

    #[test]
    fn no_length_costs_much_more_than_its_neighbours() {
        for n in 64..=2048 {
            let largest = primes(n).last().copied().unwrap_or(1);
            let bound = match largest {
                0..=13 => 1.0,
                14..=61 => 1.4,
                _ => 2.25,
            };
            let times = beside_neighbours(n);
            assert!(
                times <= bound,
                "{n} costs {times} times what its neighbours do"
            );
        }
    }

    #[test]
    fn convolutions_have_cheap_lengths() {
        for n in (1..3000).chain([100_003, 1 << 20, (1 << 20) + 1]) {
            let length = convolved(n);
            assert!(
                length >= n && primes(length).iter().all(|&p| p <= 7),
                "{n}: {length}"
            );
            assert!(cost(length) <= cost(n.next_power_of_two()), "{n}: {length}");
        }
    }

    #[test]
    fn convolutions_of_reals_are_cyclic_or_long_enough() {
        for p in (3..3000).filter(|&p| primes(p).len() == 1) {
            match real_prime(p) {
                Some(points) => assert!(
                    points == p - 1 || points % 2 == 0 && points >= 2 * p - 3,
                    "{p}: {points}"
                ),
                None => assert!(p <= MAX_PAIR_POINTS, "{p} points are too many for pairs"),
            }
        }
    }
}
