//! Samples of composites: functions, for operand types and attributes that they accept.

use cotangent_core::check::Rng;
use cotangent_core::ops::{Composite, Spelled};
use cotangent_core::transform::Session;
use cotangent_core::{
    Array, Attr, Attrs, Builder, DType, Dim, Emit, Env, Function, Scalar, Type, Val,
};

/// A composite of operands that it accepts.
pub(crate) struct CompositeSample {
    pub operands: Vec<Array>,
    /// The composite of these operand types, or the sums of its results if their extents are
    /// data-dependent.
    pub function: Function,
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
        none().with("shift", number(1)),
        none().with("count", Attr::Dim(Dim::Const(2))),
        none().with("counts", Attr::List(vec![number(2)])),
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

/// The composite for all operand types and attributes that it accepts.
pub(crate) fn of_composite(c: &Composite) -> Vec<CompositeSample> {
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
        out.push(CompositeSample {
            operands: types.iter().enumerate().map(operand).collect(),
            function: b.finish(&y).unwrap(),
        });
    }
    out
}
