//! Random numbers as functions of keys: the same in every program that uses them, and
//! differentiable.
//!
//! `cargo run -p cotangent --example random`

use cotangent::closures::grad;
use cotangent::{DType, EagerRuntime, Result, TracedTensor, random};

/// The program.
pub(crate) fn main() -> Result<()> {
    // Keys are values: one for each purpose, split from one seed. These are JAX's bits.
    let key = TracedTensor::from_tensor(random::key(42));
    let [noise, choice, order, gates] = &random::split(&key, 4)?[..] else {
        unreachable!("four keys")
    };
    let z = random::normal(noise, &[1000], DType::F64)?;

    // A pathwise derivative: d/ds of the mean of (m + s z)² is approximately 2 s.
    let second_moment = |s: TracedTensor| (&s * &z + 1.0).square().mean([0]);
    let d = grad(second_moment)(TracedTensor::scalar(2.0))?.item::<f64>()?;
    println!("d/ds E[(1 + s z)²] at s = 2: {d}");
    assert!((d - 4.0).abs() < 0.5);

    // Classes with given probabilities, a permutation, dropout of one half.
    let logits = TracedTensor::from_vec_row_major([1000, 2], [3f64.ln(), 0.0].repeat(1000));
    let classes = random::categorical(choice, &logits, 1)?.to_tensor()?;
    let ones = classes.to_f64()?.iter().sum::<f64>();
    assert!(
        (200.0..300.0).contains(&ones),
        "a quarter of 1000, about: {ones}"
    );
    let line = TracedTensor::from_vec_row_major([5], vec![0, 1, 2, 3, 4]);
    let mut shuffled = random::permutation(order, &line, 0)?.to_vec::<i32>()?;
    shuffled.sort_unstable();
    assert_eq!(shuffled, [0, 1, 2, 3, 4]);
    let half = random::dropout(gates, &z.full_like(1.0), 0.5)?.to_vec::<f64>()?;
    assert!(half.iter().all(|x| [0.0, 2.0].contains(x)));

    // Eager tensors give the same bits.
    let rt = EagerRuntime::new();
    let eager = random::split(&rt.constant_from(random::key(42))?, 4)?;
    let eager = random::normal(&eager[0], &[1000], DType::F64)?;
    assert!(eager.to_tensor()?.same_bits(&z.to_tensor()?));
    Ok(())
}
