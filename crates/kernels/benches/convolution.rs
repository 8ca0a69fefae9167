//! How fast are convolutions, compared with products of copied columns? How fast is pooling?
//!
//! `cargo bench -p cotangent-kernels --bench convolution [filter]` prints the fastest run and the
//! median of interleaved runs. It uses one thread unless `COTANGENT_THREADS` is set. Results are
//! compared first. Columns are copied in every run, one image at a time, as a convolution by matrix
//! products must.

use cotangent_kernels::convolution::{Channels, convolve};
use cotangent_kernels::gemm::gemm;
use cotangent_kernels::sliding::{Axis, WindowRun};
use cotangent_kernels::window::{self, Terms};
use cotangent_kernels::{Ordered, View};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The fastest and the median of interleaved runs, in microseconds.
fn times<const N: usize>(mut contenders: [&mut dyn FnMut(); N]) -> [[f64; 2]; N] {
    let mut runs: [Vec<f64>; N] = std::array::from_fn(|_| Vec::new());
    let start = Instant::now();
    while runs[0].len() < 5 || (start.elapsed() < Duration::from_millis(400) && runs[0].len() < 500)
    {
        for (runs, run) in runs.iter_mut().zip(&mut contenders) {
            let t = Instant::now();
            run();
            runs.push(t.elapsed().as_secs_f64() * 1e6);
        }
    }
    runs.map(|mut runs| {
        runs.sort_by(f64::total_cmp);
        [runs[0], runs[runs.len() / 2]]
    })
}

fn numbers(n: usize) -> Vec<f32> {
    let mut state = 1u64;
    let next = |_| {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 33) as f32 / (1u64 << 30) as f32 - 1.0
    };
    (0..n).map(next).collect()
}

fn wanted(name: &str) -> bool {
    std::env::args()
        .skip(1)
        .find(|a| !a.starts_with("--"))
        .is_none_or(|filter| name.contains(&filter))
}

fn square(len: usize, window: usize, count: usize, stride: i64, low: i64) -> [Axis; 2] {
    [Axis {
        len,
        window,
        count,
        stride,
        dilation: 1,
        x_dilation: 1,
        low,
    }; 2]
}

fn convolution(name: &str, batch: usize, features: usize, outputs: usize, axes: [Axis; 2]) {
    if !wanted(name) {
        return;
    }
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
        numbers(batch * features * n),
        numbers(outputs * features * m),
    );
    let (mut y, mut z) = (
        vec![0.0; batch * outputs * count],
        vec![0.0; batch * outputs * count],
    );
    let mut columns = vec![0.0f32; features * m * count];
    let runs: [Vec<WindowRun>; 2] = axes.map(|a| (0..a.window).map(|k| a.run(k)).collect());
    let mut by_columns = || {
        for (x, z) in x
            .chunks_exact(features * n)
            .zip(z.chunks_exact_mut(outputs * count))
        {
            for (r, row) in columns.chunks_exact_mut(count).enumerate() {
                let (x, k) = (&x[r / m * n..][..n], r % m);
                let (outer, run) = (runs[0][k / axes[1].window], runs[1][k % axes[1].window]);
                row.fill(0.0);
                for (p, i) in
                    (0..outer.count).map(|t| (outer.p + t, outer.i + t * outer.i_step as usize))
                {
                    let (line, x) = (
                        &mut row[p * axes[1].count + run.p..],
                        &x[i * axes[1].len + run.i..],
                    );
                    match run.i_step {
                        1 => line[..run.count].copy_from_slice(&x[..run.count]),
                        step => (0..run.count).for_each(|t| line[t] = x[t * step as usize]),
                    }
                }
            }
            let (a, b) = ([outputs, features * m], [features * m, count]);
            gemm(black_box(z), View::dense(&w, &a), View::dense(&columns, &b)).unwrap();
        }
    };
    let mut ours = || {
        convolve(
            black_box(&mut y),
            View::dense(&x, &c.operand(n)),
            &w,
            c,
            &axes,
        )
        .unwrap()
    };
    by_columns();
    ours();
    let [ours, columns] = times([&mut ours, &mut by_columns]);
    assert!(
        y.iter()
            .zip(&z)
            .all(|(y, z)| (y - z).abs() <= 1e-5 * (features * m) as f32),
        "{name}: results differ"
    );
    let work = 2e-3 * (batch * outputs * count * features * m) as f64;
    println!(
        "{name:40} {:9.1} us, median {:9.1}, {:6.1} GFLOP/s   by columns {:9.1}, {:9.1}   ratio {:.2}, median {:.2}",
        ours[0],
        ours[1],
        work / ours[0],
        columns[0],
        columns[1],
        ours[0] / columns[0],
        ours[1] / columns[1]
    );
}

fn pooling(name: &str, images: usize, axes: [Axis; 2]) {
    if !wanted(name) {
        return;
    }
    let axes = [Axis::still(images), axes[0], axes[1]];
    let volume = |f: fn(&Axis) -> usize| axes.iter().map(f).product::<usize>();
    let (x, t) = (numbers(volume(|a| a.len)), numbers(volume(|a| a.count)));
    let (mut y, mut r) = (vec![0.0; t.len()], vec![0.0; x.len()]);
    let mut greatest = || {
        let y = black_box(&mut y);
        window::reduce(
            y,
            &x,
            &axes,
            f32::NEG_INFINITY,
            |x| x,
            Ordered::maximum,
            |x| x,
        )
        .unwrap();
    };
    greatest();
    let [greatest] = times([&mut greatest]);
    let equal = window::equal(&x, &y);
    let [scattered] = times([&mut || {
        window::select(
            black_box(&mut r),
            Terms::Each(&t),
            &axes,
            [false, false],
            &equal,
        )
        .unwrap()
    }]);
    println!(
        "{name:40} {:9.1} us, median {:9.1}; derivative {:9.1}, median {:9.1}",
        greatest[0], greatest[1], scattered[0], scattered[1]
    );
}

#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn main() {
    if std::env::var_os("COTANGENT_THREADS").is_none() {
        // SAFETY: no other thread runs yet.
        unsafe { std::env::set_var("COTANGENT_THREADS", "1") };
    }
    convolution(
        "3 features, 32x32, 3x3, 32 outputs",
        32,
        3,
        32,
        square(32, 3, 32, 1, 1),
    );
    convolution(
        "32 features, 16x16, 3x3, 64 outputs",
        32,
        32,
        64,
        square(16, 3, 16, 1, 1),
    );
    convolution(
        "64 features, 16x16, 3x3, 32 outputs",
        32,
        64,
        32,
        square(16, 3, 16, 1, 1),
    );
    convolution(
        "weights: 32 images of 16x16, 64 outputs",
        32,
        32,
        64,
        square(16, 16, 3, 1, 1),
    );
    convolution(
        "weights: 32 images of 32x32, 32 outputs",
        3,
        32,
        32,
        square(32, 32, 3, 1, 1),
    );
    convolution(
        "64 features, 56x56, 3x3, 64 outputs",
        1,
        64,
        64,
        square(56, 3, 56, 1, 1),
    );
    convolution(
        "256 features, 14x14, 3x3, 256 outputs",
        1,
        256,
        256,
        square(14, 3, 14, 1, 1),
    );
    convolution(
        "512 features, 7x7, 3x3, 512 outputs",
        1,
        512,
        512,
        square(7, 3, 7, 1, 1),
    );
    convolution(
        "3 features, 224x224, 7x7 by 2, 64 outputs",
        1,
        3,
        64,
        square(224, 7, 112, 2, 3),
    );
    convolution(
        "128 features, 28x28, 3x3 by 2, 128 outputs",
        4,
        128,
        128,
        square(28, 3, 14, 2, 1),
    );
    convolution(
        "64 features, 32x32, 3x3, 3 outputs",
        8,
        64,
        3,
        square(32, 3, 32, 1, 1),
    );
    pooling(
        "maximum of 2x2, 1024 images of 32x32",
        1024,
        square(32, 2, 16, 2, 0),
    );
    pooling(
        "maximum of 3x3 by 2, 64 images of 56x56",
        64,
        square(56, 3, 28, 2, 1),
    );
    pooling(
        "maximum of 3x3, 64 images of 56x56",
        64,
        square(56, 3, 56, 1, 1),
    );
}
