//! Convolutions with more rows than one run: every path adds blocks of 256 rows in runs of 16, and
//! runs in pairs.

use cotangent_kernels::View;
use cotangent_kernels::convolution::{Channels, convolve};
use cotangent_kernels::sliding::Axis;

/// The specified order of a product.
fn ordered(terms: &[(f32, f32)]) -> f32 {
    const RUN: usize = 4096;
    if terms.len() > RUN {
        let half = RUN * terms.len().div_ceil(RUN).next_power_of_two() / 2;
        return ordered(&terms[..half]) + ordered(&terms[half..]);
    }
    let chain = |terms: &[(f32, f32)]| {
        terms
            .iter()
            .fold(0.0, |sum: f32, &(x, w)| x.mul_add(w, sum))
    };
    terms
        .chunks(256)
        .map(chain)
        .reduce(|a, b| a + b)
        .unwrap_or(0.0)
}

fn numbers(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / 8_388_608.0 - 1.0
    };
    (0..n).map(|_| next()).collect()
}

/// Rows of three to seven runs, where lanes are windows (long lines), outputs (short ones), and
/// where windows are few.
#[test]
fn runs_of_blocks_are_added_in_pairs() {
    let window = |len: usize, window: usize, count: usize| Axis {
        len,
        window,
        count,
        stride: 1,
        dilation: 1,
        x_dilation: 1,
        low: 1,
    };
    for (batch, features, outputs, axes) in [
        (1, 3000, 5, vec![window(140, 3, 140)]),
        (2, 5500, 4, vec![window(75, 5, 73)]),
        (33, 600, 8, vec![window(5, 4, 2), window(5, 4, 2)]),
        (40, 1700, 35, vec![window(4, 4, 2), window(4, 4, 2)]),
        (1, 3000, 7, vec![window(9, 3, 9)]),
    ] {
        let c = Channels {
            groups: 1,
            batch,
            features,
            outputs,
            batch_first: false,
        };
        let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
        let (n, m, count) = (volume(|a| a.len), volume(|a| a.window), volume(|a| a.count));
        let (x, w) = (
            numbers(batch * features * n, 1),
            numbers(outputs * features * m, 2),
        );
        let mut y = vec![7.0; batch * outputs * count];
        convolve(&mut y, View::dense(&x, &c.operand(n)), &w, c, &axes).unwrap();
        let components = |mut i: usize, f: fn(&Axis) -> usize| {
            let mut out = vec![0; axes.len()];
            for (o, a) in out.iter_mut().zip(&axes).rev() {
                (*o, i) = (i % f(a), i / f(a));
            }
            out
        };
        for (at, &got) in y.iter().enumerate().step_by(7) {
            let (b, o, p) = (
                at / count / outputs,
                at / count % outputs,
                components(at % count, |a| a.count),
            );
            let term = |r: usize| {
                let (f, k) = (r / m, components(r % m, |a| a.window));
                let element = |s: usize, a: usize| {
                    let i = (p[a] + k[a]).checked_sub(1).filter(|&i| i < axes[a].len)?;
                    Some(s * axes[a].len + i)
                };
                let i = (0..axes.len()).try_fold(0, element)?;
                Some((
                    x[(b * features + f) * n + i],
                    w[(o * features + f) * m + r % m],
                ))
            };
            // Padding adds nothing, but keeps its place in the order.
            let terms: Vec<(f32, f32)> = (0..features * m)
                .map(|r| term(r).unwrap_or((0.0, 0.0)))
                .collect();
            assert_eq!(got, ordered(&terms), "element {at} of {c:?} {axes:?}");
        }
    }
}
