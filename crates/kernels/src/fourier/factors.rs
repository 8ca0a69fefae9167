//! How a length is split: radices of the passes, and about how many instructions an element costs.

use smallvec::SmallVec;

/// Radices of the passes of a transform, smallest first.
pub(super) type Radices = SmallVec<[usize; 16]>;

/// A way to transform a prime number of points.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
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

/// The radices of the passes for `n` points: 8 and 4 in place of 2, and prime numbers.
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

/// Instructions for a transform of `n` points, about.
pub(super) fn cost(n: usize) -> f64 {
    radices(n).iter().map(|&r| n as f64 * pass(r)).sum()
}

/// Instructions for each point of a pass.
fn pass(radix: usize) -> f64 {
    match radix {
        2 => 8.0,
        3 => 11.0,
        4 => 11.0,
        5 => 15.0,
        8 => 15.0,
        p => prime(p).1 / p as f64 + 4.0,
    }
}

/// The cheapest way for a prime number of points, and its instructions.
pub(super) fn prime(p: usize) -> (Way, f64) {
    let points = p as f64;
    if p <= 23 {
        return (Way::Pairs, points * (2.0 * points + 8.0));
    }
    let padded = convolved(2 * p - 1);
    let mut best = (Way::Chirp(padded), 2.0 * cost(padded) + 12.0 * padded as f64 + 12.0 * points);
    let rader = 2.0 * cost(p - 1) + 20.0 * points;
    if rader < best.1 {
        best = (Way::Rader, rader);
    }
    let pairs = points * (2.0 * points + 8.0);
    if p <= super::butterfly::MOST_ODD && pairs < best.1 {
        best = (Way::Pairs, pairs);
    }
    best
}

/// The cheapest length of a convolution of at least `n` points.
pub(super) fn convolved(n: usize) -> usize {
    let mut best = (n.next_power_of_two(), f64::INFINITY);
    for odd in [1, 3, 5, 9, 15, 25, 27, 45, 75] {
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
    (2..p).find(generates).expect("a prime number has a generator")
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
