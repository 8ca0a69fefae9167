//! Every law on every sample of every operation and composite, in every float and complex type that
//! it accepts.
//!
//! One of them: `OP=name cargo test -p cotangent-core --test laws`.

use cotangent_core::check::{Rng, check_op, is_elementwise, retype};
use cotangent_core::ops::{Call, Composite, Entry, Spelled, composites, entries};
use cotangent_core::primitive::OpClass;
use cotangent_core::transform::{Numerics, Session};
use cotangent_core::{
    AdContext, Array, Attr, Attrs, Builder, DType, Dim, Emit, Env, Sample, Scalar, Type, Val,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// Samples in their own types and in all other types that the operation accepts.
fn in_every_type(own: Vec<Sample>) -> Vec<Sample> {
    let key = |s: &Sample| {
        format!(
            "{} {:?} {:?}",
            s.op.name(),
            s.op.attrs(),
            s.operands.iter().map(Array::ty).collect::<Vec<_>>()
        )
    };
    let mut seen: Vec<String> = own.iter().map(key).collect();
    let mut all = own.clone();
    for s in &own {
        for to in DType::ALL.into_iter().filter(|d| d.has_tangent()) {
            if let Some(s) = retype(s, to).filter(|s| !seen.contains(&key(s))) {
                seen.push(key(&s));
                all.push(s);
            }
        }
    }
    all
}

/// The laws that this sample violates.
fn failures(ad: &AdContext, sample: &Sample) -> Option<String> {
    match catch_unwind(AssertUnwindSafe(|| check_op(ad, sample))) {
        Ok(Ok(())) => None,
        Ok(Err(e)) => Some(e.to_string()),
        Err(_) => Some(format!(
            "`{}` on {:?} panics",
            sample.op.name(),
            sample.operands
        )),
    }
}

/// Checks the laws on the samples of each name, on two threads.
fn assert_laws(
    ad: &AdContext,
    names: Vec<&'static str>,
    samples: impl Fn(&'static str) -> Vec<Sample> + Sync,
) {
    let only = std::env::var("OP").ok();
    if let Some(name) = &only {
        let known =
            entries().iter().any(|e| e.name == name) || composites().iter().any(|c| c.name == name);
        assert!(known, "OP={name} is no operation or composite");
    }
    let work: Vec<_> = names
        .into_iter()
        .filter(|n| only.as_deref().is_none_or(|o| o == *n))
        .collect();
    let (next, found) = (Mutex::new(work.iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some(name) = next.lock().unwrap().next() else {
                        break;
                    };
                    let cases = samples(name);
                    if cases.is_empty() {
                        found
                            .lock()
                            .unwrap()
                            .push(format!("`{name}` has no samples"));
                    }
                    let broken: Vec<String> = cases
                        .iter()
                        .filter_map(|s| failures(ad, s))
                        .map(|f| format!("{name}: {f}"))
                        .collect();
                    found.lock().unwrap().extend(broken);
                }
            });
        }
    });
    let found = found.into_inner().unwrap();
    assert!(
        found.is_empty(),
        "{} samples break laws:\n{}",
        found.len(),
        found.join("\n")
    );
}

#[test]
fn every_operation_keeps_every_law() {
    let all: Vec<Entry> = entries();
    let find = |name: &str| {
        all.iter()
            .find(|e| e.name == name)
            .expect("a name of the list")
    };
    let names: Vec<&str> = all.iter().map(|e| e.name).collect();
    assert_laws(&AdContext::default(), names.clone(), |name| {
        in_every_type((find(name).samples)(name))
    });
    // Other numerics are checked at smooth points only, where zero times infinity and divisions by
    // zero do not occur.
    let smooth = |name| {
        (find(name).samples)(name)
            .into_iter()
            .filter(|s| s.smooth)
            .collect()
    };
    for numerics in [
        Numerics {
            strong_zero: true,
            ..Numerics::default()
        },
        Numerics {
            stable: true,
            ..Numerics::default()
        },
        Numerics {
            zero_division_nan: true,
            ..Numerics::default()
        },
    ] {
        let ad = AdContext::builder()
            .with_numerics(numerics)
            .build()
            .unwrap();
        let names = names
            .iter()
            .copied()
            .filter(|n| (find(n).samples)(n).iter().any(|s| s.smooth))
            .collect();
        assert_laws(&ad, names, smooth);
    }
}

/// Operand types and attributes for composites.
fn spellings() -> Vec<(Vec<Type>, Attrs)> {
    let f = |shape: &[usize]| Type::new(DType::F64, shape);
    let (square, row) = (f(&[3, 3]), f(&[3]));
    let key = || Type::new(DType::U32, [2]);
    let operands = [
        vec![],
        vec![square.clone()],
        vec![square.clone(); 2],
        vec![square.clone(); 3],
        vec![square.clone(), square.with_dtype(DType::Bool)],
        vec![square.clone(), row.with_dtype(DType::I64)],
        vec![square, row.clone(), row.clone()],
        vec![row; 2],
        vec![f(&[]); 2],
        vec![key()],
        vec![key(), f(&[3])],
        vec![key(), Type::scalar(DType::U32)],
        vec![key(), f(&[]), f(&[])],
        vec![key(), Type::scalar(DType::I64), Type::scalar(DType::I64)],
        vec![Type::new(DType::I64, [3])],
        vec![Type::new(DType::C128, [3, 3])],
    ];
    let none = Attrs::default;
    let number = |n: i128| Attr::Num(Scalar::I(n));
    let attrs = [
        none(),
        none().with("axis", number(1)),
        none().with("axis", number(0)).with("k", number(2)),
        none().with("k", number(2)),
        none().with("n", number(3)),
        none().with("n", number(-2)),
        none().with("ord", "nuc"),
        none().with("ord", "1"),
        none().with("axes", Attr::List(vec![number(1)])),
        none().with("op", "mean"),
        none().with("length", number(4)),
        none().with("num", Attr::Dim(Dim::Const(4))),
        none().with("depth", number(4)).with("dtype", DType::F64),
        none().with("size", number(4)).with("dtype", DType::F64),
        none().with("stop", number(4)).with("dtype", DType::F64),
        none().with("value", number(2)),
        none().with("seed", number(4)),
        none().with("rate", Attr::Num(Scalar::F(0.5))),
        none()
            .with("shape", Attr::List(vec![number(3)]))
            .with("dtype", DType::F64),
        none()
            .with("shape", Attr::List(vec![number(3)]))
            .with("dtype", DType::U32),
    ];
    operands
        .iter()
        .flat_map(|o| attrs.iter().map(|a| (o.clone(), a.clone())))
        .collect()
}

/// A 3×3 matrix whose Hermitian part is positive definite.
fn definite(a: &Array) -> Array {
    let more = |k: usize| if k.is_multiple_of(4) { 9.0 } else { 0.0 };
    let y = match a.dtype() {
        DType::C128 => Array::from_vec(
            [3, 3],
            a.to_c128()
                .iter()
                .enumerate()
                .map(|(k, z)| z + more(k))
                .collect(),
        ),
        _ => Array::from_vec(
            [3, 3],
            a.to_f64()
                .iter()
                .enumerate()
                .map(|(k, x)| x + more(k))
                .collect(),
        ),
    };
    y.unwrap()
}

/// Numbers of at least a half, for logarithms.
fn positive(a: &Array) -> Array {
    let y = a.to_f64().iter().map(|x| x.abs() + 0.5).collect();
    Array::from_vec(a.shape(), y).unwrap()
}

/// The composite as a call, for all operand types and attributes that it accepts.
fn calls(c: &Composite) -> Vec<Sample> {
    let (mut rng, mut out) = (Rng::new(17), Vec::new());
    for (types, attrs) in spellings() {
        let b = Builder::new(c.name, Session::default());
        let x: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
        let mut s = Spelled {
            name: c.name,
            attrs,
            operands: &types,
            results: None,
        };
        let Ok(y) = (c.build)(&b, &mut s, &x) else {
            continue;
        };
        if b.failed() || s.attrs.finish(c.name).is_err() {
            continue;
        }
        // A symbol bound inside cannot be in a result type, so only the sum is returned.
        let open = |v: &Val| b.ty(*v).shape.as_const().is_none();
        let all = |v: Val| (0..b.ty(v).rank()).collect::<Vec<_>>();
        let y: Vec<Val> = match y.iter().any(open) {
            true => y
                .iter()
                .map(|&v| (&b as &dyn Emit).reduce_sum(v, &all(v)))
                .collect(),
            false => y,
        };
        let callee = Arc::new(b.finish(&y).unwrap());
        // Integers are labels or indices below 3. Scalars after a key are the bounds of a nonempty
        // range: in an empty one a truncated normal number is a bound by `next_after`, which has no
        // derivative.
        let labels = Array::vector(vec![2i64, 0, 1]);
        let bounds = types.len() == 3 && types[0] == Type::new(DType::U32, [2]);
        let operand = |(k, t): (usize, &Type)| match t.dtype {
            DType::I64 if t.rank() == 0 => Array::scalar(3 * k as i64),
            DType::I64 => labels.clone(),
            DType::F64 if bounds => Array::scalar(k as f64 - 1.7),
            _ if c.name == "cholesky_ex" => definite(&rng.array(t, &Env::default()).unwrap()),
            DType::F64 if c.name == "log10" => positive(&rng.array(t, &Env::default()).unwrap()),
            _ => rng.array(t, &Env::default()).unwrap(),
        };
        let operands = types.iter().enumerate().map(operand).collect();
        let Ok(op) = callee.apply_types(&types).map(|_| Call {
            callee,
            checkpoint: false,
        }) else {
            continue;
        };
        out.push(Sample::new(op, operands));
    }
    out
}

#[test]
fn every_composite_keeps_every_law() {
    let find = |name: &str| {
        composites()
            .iter()
            .find(|c| c.name == name)
            .expect("a name of the table")
    };
    let names = composites().iter().map(|c| c.name).collect();
    assert_laws(&AdContext::default(), names, |name| {
        in_every_type(calls(find(name)))
    });
}

/// Operations without regions whose samples all act on single elements, but whose class is another.
#[test]
fn operations_that_act_on_single_elements_say_so() {
    let mut missing = Vec::new();
    for entry in entries() {
        let acts = |s: &Sample| {
            let y = s.op.eval(&s.operands, &Env::default()).ok()?;
            let types: Vec<DType> = s.operands.iter().map(Array::dtype).collect();
            let known = s.op.class(&types) != OpClass::Other || !s.op.regions().is_empty();
            let many = y.first().is_some_and(|y| y.len() > 1);
            is_elementwise(&s.op, &s.operands, &y)
                .unwrap()
                .filter(|_| many && !known)
        };
        let found: Vec<bool> = (entry.samples)(entry.name)
            .iter()
            .filter_map(acts)
            .collect();
        if !found.is_empty() && found.iter().all(|&acts| acts) {
            missing.push(entry.name);
        }
    }
    assert_eq!(missing, [] as [&str; 0]);
}
