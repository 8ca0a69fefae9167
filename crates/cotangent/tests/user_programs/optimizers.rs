//! `optim`: update rules against loops over numbers, and against the numbers of other libraries.

use super::{T, at, vals, vector};
use cotangent::closures::{Tree, grad, jit, load, save, value_and_grad_of};
use cotangent::optim::{Adam, AdamState, Sgd, SgdState};
use cotangent::{C128, DType};

/// Rosenbrock's function of two numbers.
fn valley(x: T) -> T {
    let (x, y) = (x.index(0, 0), x.index(0, 1));
    (1.0 - &x).square() + (y - x.square()).square() * 100.0
}

fn close(got: &[f64], want: &[f64], tolerance: f64) {
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance * (1.0 + b.abs());
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(near),
        "{got:?} is not {want:?}"
    );
}

/// The numbers of PyTorch 2.15 and of JAX 0.10.2 (`jax.example_libraries.optimizers`), which agree
/// to 15 digits.
#[test]
fn adam_takes_the_steps_of_pytorch_and_jax() {
    let adam = Adam::new(0.05);
    let mut x = vector(&[-1.5, 2.0]);
    let mut state = adam.init(&x);
    let step = jit(|(x, state): (T, AdamState<T>)| {
        let g = grad(valley)(x.clone())?;
        adam.update(&x, &g, &state)
    });
    for k in 1..=100 {
        (x, state) = step((x, state)).unwrap();
        let want = match k {
            1 => [-1.4500000000032258, 2.04999999999],
            10 => [-1.456196136578357, 2.012379848113389],
            100 => [-1.267307111330517, 1.612510221818241],
            _ => continue,
        };
        close(&vals(&x), &want, 1e-13);
    }
    assert_eq!(state.count.item::<i64>().unwrap(), 100);
}

/// The numbers of PyTorch 2.15.
#[test]
fn gradient_descent_with_momentum_takes_the_steps_of_pytorch() {
    let sgd = Sgd::new(1e-4).with_momentum(0.9);
    let mut x = vector(&[-1.5, 2.0]);
    let mut state = sgd.init(&x);
    let step = jit(|(x, state): (T, SgdState<T>)| {
        let g = grad(valley)(x.clone())?;
        sgd.update(&x, &g, &state)
    });
    for k in 1..=100 {
        (x, state) = step((x, state)).unwrap();
        let want = match k {
            1 => [-1.4845, 2.005],
            10 => [-1.405297939038078, 2.021319255578601],
            100 => [-1.367044100755255, 1.8755793730704315],
            _ => continue,
        };
        close(&vals(&x), &want, 1e-13);
    }
}

#[derive(Clone, Debug, Tree)]
struct Model {
    w: T,
    parts: (T, Vec<T>),
}

/// A tree of vectors, with fixed gradients, so that the loop over numbers is the definition.
#[test]
fn update_rules_over_a_tree_are_the_loops_over_its_numbers() {
    let model = |x: &[f64]| Model {
        w: vector(&x[..2]),
        parts: (at(x[2]), vec![vector(&x[3..])]),
    };
    let all = |m: &Model| -> Vec<f64> { m.named().iter().flat_map(|n| vals(n.1)).collect() };
    let start = [0.5, -1.0, 2.0, 3.0, -4.0, 0.0];
    let gradient = |k: i32| start.map(|x| (x + f64::from(k)).sin() * 10f64.powi(k % 4 - 2));
    let adam = Adam {
        rate: 0.03,
        beta1: 0.8,
        beta2: 0.95,
        epsilon: 1e-3,
    };
    let sgd = Sgd::new(0.2).with_momentum(0.7);
    let plain = Sgd::new(0.2);
    let (mut by_adam, mut by_sgd, mut by_plain) = (model(&start), model(&start), model(&start));
    let mut state = adam.init(&by_adam);
    let mut velocity = sgd.init(&by_sgd);
    let mut nothing = plain.init(&by_plain);
    let (mut p, mut m, mut v) = (start, [0.0; 6], [0.0; 6]);
    let (mut q, mut u, mut r) = (start, [0.0; 6], start);
    for k in 1..=20 {
        let g = gradient(k);
        let tree = model(&g);
        (by_adam, state) = adam.update(&by_adam, &tree, &state).unwrap();
        (by_sgd, velocity) = sgd.update(&by_sgd, &tree, &velocity).unwrap();
        (by_plain, nothing) = plain.update(&by_plain, &tree, &nothing).unwrap();
        for (i, g) in g.into_iter().enumerate() {
            m[i] = adam.beta1 * m[i] + (1.0 - adam.beta1) * g;
            v[i] = adam.beta2 * v[i] + (1.0 - adam.beta2) * g * g;
            let mean = m[i] / (1.0 - adam.beta1.powi(k));
            let square = v[i] / (1.0 - adam.beta2.powi(k));
            p[i] -= adam.rate * mean / (square.sqrt() + adam.epsilon);
            u[i] = sgd.momentum * u[i] + g;
            q[i] -= sgd.rate * u[i];
            r[i] -= plain.rate * g;
        }
    }
    close(&all(&by_adam), &p, 1e-13);
    close(&all(&state.mean), &m, 1e-13);
    close(&all(&state.square), &v, 1e-13);
    close(&all(&by_sgd), &q, 1e-13);
    close(&all(&velocity.velocity.unwrap()), &u, 1e-13);
    close(&all(&by_plain), &r, 1e-13);
    assert!(nothing.velocity.is_none());
}

/// The correction of the first steps is computed in f64, so that 1 - 0.999^t has its digits.
#[test]
fn parameters_keep_their_element_type() {
    let adam = Adam::new(0.1);
    let p = (T::vector(vec![1f32, 2.0]), at(1.0));
    let g = (T::vector(vec![0.5f32, -0.25]), at(-2.0));
    let (next, state) = adam.update(&p, &g, &adam.init(&p)).unwrap();
    assert_eq!(next.0.dtype().unwrap(), DType::F32);
    let got: Vec<f32> = next.0.to_tensor().unwrap().to_vec().unwrap();
    assert!(
        got.iter()
            .zip([0.9f32, 2.1])
            .all(|(a, b)| (a - b).abs() < 1e-6),
        "{got:?}"
    );
    let (next, _) = adam.update(&next, &g, &state).unwrap();
    close(&vals(&next.1), &[1.2], 1e-8);
}

/// A complex parameter moves along its gradient, by the rate in the first step.
#[test]
fn complex_parameters_step_along_their_gradient() {
    let z = T::scalar(C128::new(3.0, -4.0));
    let g = grad(|z: T| z.abs2())(z.clone()).unwrap();
    let adam = Adam::new(0.5);
    let (next, state) = adam.update(&z, &g, &adam.init(&z)).unwrap();
    let got: C128 = next.item().unwrap();
    assert!((got - C128::new(2.7, -3.6)).norm() < 1e-8, "{got}");
    assert_eq!(state.square.dtype().unwrap(), DType::F64);
}

#[test]
fn a_gradient_of_another_structure_is_an_error() {
    let p = vec![at(1.0), at(2.0)];
    let g = vec![at(1.0)];
    let adam = Adam::new(0.1);
    assert!(adam.update(&p, &g, &adam.init(&p)).is_err());
    let sgd = Sgd::new(0.1);
    assert!(sgd.update(&p, &g, &sgd.init(&p)).is_err());
}

/// Training continues from a file as if it had not stopped.
#[test]
fn a_saved_optimizer_continues_with_the_same_bits() {
    let loss = |w: T, (x, y): (T, T)| Ok((x.matmul(&w)? - y).square().mean(..));
    let adam = Adam::new(0.05);
    let step = jit(move |(w, state, data): (T, AdamState<T>, (T, T))| {
        let (_, g) = value_and_grad_of(loss)(w.clone(), data)?;
        adam.update(&w, &g, &state)
    });
    let x = T::from_vec_row_major([3, 2], vec![1.0, 2.0, -1.0, 0.5, 0.0, 3.0]);
    let data = (x, vector(&[1.0, -1.0, 2.0]));
    let run = |mut at: (T, AdamState<T>), steps: usize| {
        for _ in 0..steps {
            at = step((at.0, at.1, data.clone())).unwrap();
        }
        at
    };
    let w = vector(&[0.0, 0.0]);
    let start = || (w.clone(), adam.init(&w));
    let straight = run(start(), 10);
    let path = std::env::temp_dir().join(format!("cotangent_optimizer_{}.npz", std::process::id()));
    save(&path, &run(start(), 4)).unwrap();
    let resumed = run(load(&path, &start()).unwrap(), 6);
    std::fs::remove_file(&path).unwrap();
    for ((name, a), (_, b)) in straight.named().into_iter().zip(resumed.named()) {
        assert!(
            a.to_tensor().unwrap().same_bits(&b.to_tensor().unwrap()),
            "{name}"
        );
    }
}
