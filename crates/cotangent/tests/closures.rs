//! Closures: the promised names, nesting, control flow and custom rules.

use cotangent::ad::TracedTensorAdExt;
use cotangent::closures::*;
use cotangent::{Code, DType, Result, TracedTensor};
use std::cell::Cell;
use std::collections::BTreeMap;

type T = TracedTensor;

fn at(x: f64) -> T {
    T::scalar(x)
}

fn vec(x: &[f64]) -> T {
    T::from_vec_row_major(vec![x.len()], x.to_vec())
}

fn vals(t: Result<T>) -> Vec<f64> {
    t.unwrap().to_tensor().unwrap().to_vec().unwrap()
}

fn close(t: Result<T>, want: &[f64]) {
    let got = vals(t);
    let near = |a: f64, b: f64| {
        (a - b).abs() <= 1e-12 * (1.0 + b.abs()) || a == b || (a.is_nan() && b.is_nan())
    };
    assert!(
        got.len() == want.len() && got.iter().zip(want).all(|(a, b)| near(*a, *b)),
        "{got:?} is not {want:?}"
    );
}

fn code<X>(r: Result<X>) -> Code {
    r.err().expect("an error").code()
}

#[test]
fn trees_of_every_kind() {
    type Arguments = (T, [T; 2], Vec<T>, BTreeMap<String, T>, Option<T>);
    let f = |(a, [b, c], v, m, o): Arguments| a * b + c * &v[0] * &v[1] + &m["k"] * &o.unwrap();
    let x = (
        at(2.0),
        [at(3.0), at(5.0)],
        vec![at(7.0), at(11.0)],
        BTreeMap::from([("k".to_owned(), at(13.0))]),
        Some(at(17.0)),
    );
    let (y, (a, [b, c], v, m, o)) = value_and_grad(f)(x).unwrap();
    let all = [
        y,
        a,
        b,
        c,
        v[0].clone(),
        v[1].clone(),
        m["k"].clone(),
        o.unwrap(),
    ];
    let got: Vec<f64> = all
        .iter()
        .map(|t| t.to_tensor().unwrap().item().unwrap())
        .collect();
    assert_eq!(got, [612.0, 3.0, 2.0, 77.0, 55.0, 35.0, 17.0, 13.0]);
}

#[test]
fn unused_integer_and_non_scalar() {
    let (a, b) = grad(|(a, _): (T, T)| a)((at(1.0), vec(&[1.0, 2.0]))).unwrap();
    close(Ok(a), &[1.0]);
    close(Ok(b), &[0.0, 0.0]);
    assert_eq!(
        code(grad(|x: T| x.astype(DType::F64))(T::scalar(1i64))),
        Code::IntegerInput
    );
    assert_eq!(code(grad(|x: T| x)(vec(&[1.0]))), Code::NonScalarOutput);
    assert_eq!(
        code(grad(|x: T| x.astype(DType::I64))(at(1.0))),
        Code::IntegerOutput
    );
    // An error of a tensor computed inside is the transform's error, with its line.
    let line = line!() + 1;
    let e = grad(|x: T| (x + vec(&[1.0, 2.0, 3.0])).sum(..))(vec(&[1.0, 2.0]))
        .err()
        .unwrap();
    assert_eq!(e.code(), Code::ShapeMismatch);
    assert!(
        e.to_string().contains(&format!("closures.rs:{line}")),
        "{e}"
    );
    // vjp and jvp pass integers by.
    let (y, back) = vjp(
        |(x, i): (T, T)| x * i.astype(DType::F64),
        (at(2.0), T::scalar(3i64)),
    )
    .unwrap();
    close(Ok(y), &[6.0]);
    let (dx, di) = back(at(1.0)).unwrap();
    close(Ok(dx), &[3.0]);
    assert_eq!(di.dtype().unwrap(), DType::I64);
    assert_eq!(code(back(vec(&[1.0]))), Code::SeedMismatch);
    assert_eq!(
        code(jvp(|x: T| x, at(1.0), vec(&[1.0]))),
        Code::TangentMismatch
    );
}

#[test]
fn perturbations_are_not_confused() {
    let one = || at(1.0);
    // D_x [x * D_y [x + y]] = 1 and D_x [x * D_y [x * y]] = 2 x, in every pairing of modes.
    let by_grad = |mul: bool| {
        move |x: T| {
            let inner = grad(|y: T| if mul { &x * &y } else { &x + &y })(x.clone())?;
            Ok::<_, cotangent::Error>(&x * &inner)
        }
    };
    let by_jvp = |mul: bool| {
        move |x: T| {
            let (_, inner) = jvp(
                |y: T| if mul { &x * &y } else { &x + &y },
                x.clone(),
                at(1.0),
            )?;
            Ok::<_, cotangent::Error>(&x * &inner)
        }
    };
    close(grad(by_grad(false))(one()), &[1.0]);
    close(grad(by_jvp(false))(one()), &[1.0]);
    close(jvp(by_grad(false), one(), one()).map(|r| r.1), &[1.0]);
    close(jvp(by_jvp(false), one(), one()).map(|r| r.1), &[1.0]);
    close(grad(by_grad(true))(at(3.0)), &[6.0]);
    close(grad(by_jvp(true))(at(3.0)), &[6.0]);
    close(jvp(by_grad(true), at(3.0), one()).map(|r| r.1), &[6.0]);
    close(by_jvp(true)(at(3.0)), &[9.0]);
    close(vmap(grad(by_grad(true)))(vec(&[3.0, -1.0])), &[6.0, -2.0]);
}

#[test]
fn higher_orders() {
    close(grad(grad(grad(|x: T| x.exp())))(at(1.0)), &[1f64.exp()]);
    close(
        grad(grad(|x: T| x.sin() * x.sin()))(at(0.3)),
        &[2.0 * 0.6f64.cos()],
    );
    close(hvp(|x: T| x.powi(3))(at(2.0), at(1.0)), &[12.0]);
    let f = |x: T| x.index(0, 0).powi(2) * x.index(0, 1);
    close(hessian(f)(vec(&[2.0, 3.0])), &[6.0, 4.0, 4.0, 0.0]);
    close(jacobian(grad(f))(vec(&[2.0, 3.0])), &[6.0, 4.0, 4.0, 0.0]);
    let (jx, jy) = jacobian(|(x, y): (T, T)| x * y)((vec(&[1.0, 2.0]), at(3.0))).unwrap();
    close(Ok(jx), &[3.0, 0.0, 0.0, 3.0]);
    close(Ok(jy), &[1.0, 2.0]);
}

#[test]
fn captured_tensors_are_differentiated_by_outer_transforms() {
    let w = at(2.0);
    let g = grad(|x: T| &w * &x * &x)(at(3.0)).unwrap();
    close(Ok(g.clone()), &[12.0]);
    close(cotangent::AdContext::default().grad(&g, &w), &[6.0]);
    let f = |w: T| grad(|x: T| &w * &x * &x)(at(3.0));
    close(grad(f)(at(2.0)), &[6.0]);
}

#[test]
fn vmap_shapes_and_errors() {
    let x = T::from_vec_row_major(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    close(vmap(|x: T| x.sum(..))(x.clone()), &[6.0, 15.0]);
    close(
        vmap_axes(|x: T| x.sum(..), &[Some(1)])(x.clone()),
        &[5.0, 7.0, 9.0],
    );
    close(vmap(|_: T| at(7.0))(x.clone()), &[7.0, 7.0]);
    close(
        vmap(vmap(|x: T| &x * &x))(x.clone()),
        &[1.0, 4.0, 9.0, 16.0, 25.0, 36.0],
    );
    assert_eq!(
        code(vmap(|(a, b): (T, T)| a + b)((
            x.clone(),
            vec(&[1.0, 2.0, 3.0])
        ))),
        Code::ShapeMismatch
    );
    assert_eq!(code(vmap(|a: T| a)(at(1.0))), Code::ShapeMismatch);
}

#[test]
fn jit_traces_once_per_type() {
    let traced = Cell::new(0);
    let w = vec(&[1.0, 2.0]);
    let f = jit(|x: T| {
        traced.set(traced.get() + 1);
        (&x * &w).sum(..)
    });
    for _ in 0..3 {
        let y = f(vec(&[3.0, 4.0])).unwrap();
        assert!(y.is_concrete());
        close(Ok(y), &[11.0]);
    }
    assert_eq!(traced.get(), 1);
    close(f(at(2.0)), &[6.0]);
    assert_eq!(traced.get(), 2);
    // Inside other transforms it is a call.
    close(grad(&f)(vec(&[3.0, 4.0])), &[1.0, 2.0]);
    close(
        vmap(&f)(T::from_vec_row_major(vec![2, 2], vec![1.0, 0.0, 0.0, 1.0])),
        &[1.0, 2.0],
    );
    assert_eq!(traced.get(), 2);
    close(jit(grad(grad(|x: T| x.powi(3))))(at(2.0)), &[12.0]);
}

#[test]
fn the_same_closure_gives_the_same_program() {
    let f = |x: T| (x.sin() * &x).sum(..);
    let program = || {
        let x = T::input(DType::F64, [3]);
        let p = cotangent::GraphCompiler::new()
            .compile(&grad(f)(x).unwrap())
            .unwrap();
        cotangent::text::print_function(p.function())
    };
    assert_eq!(program(), program());
}

#[test]
fn loops() {
    let w = at(2.0);
    // w^4, by a scan whose body captures w.
    let power = |w: T| {
        let (c, _) = scan(|c: T, _: T| (&c * &w, ()), at(1.0), vec(&[0.0; 4]))?;
        Ok::<_, cotangent::Error>(c)
    };
    close(power(w.clone()), &[16.0]);
    close(grad(power)(w.clone()), &[32.0]);
    close(grad(grad(power))(w.clone()), &[48.0]);
    // 81: three trips of c *= x.
    let cube = |x: T| {
        let (_, c) = while_loop(
            |(i, _): (T, T)| i.less(&at(3.0)),
            |(i, c): (T, T)| (i + 1.0, c * &x),
            (at(0.0), at(1.0)),
        )?;
        Ok::<_, cotangent::Error>(c)
    };
    close(grad(cube)(at(2.0)), &[12.0]);
    close(grad(grad(cube))(at(2.0)), &[12.0]);
    close(jvp(cube, at(2.0), at(1.0)).map(|r| r.1), &[12.0]);
    // The same by a derivative of the trace, which already contains the loop.
    let x = at(2.0);
    let y = cube(x.clone()).unwrap();
    let g = y.grad(&x).unwrap();
    close(Ok(g.clone()), &[12.0]);
    close(g.grad(&x), &[12.0]);
    close((&y * &g).grad(&x), &[240.0]);
    close((&y * &y).grad(&y), &[16.0]);
    // 82: no trips.
    let none = |x: T| while_loop(|c: T| c.greater(&at(100.0)), |c: T| &c * &c, x);
    close(grad(none)(at(2.0)), &[1.0]);
    // 84, 97: data-dependent bounds; batches with different trip counts.
    let times = |n: T| fori_loop(0, &n, |_, c: T| c * 2.0, at(1.0));
    close(
        vmap(times)(T::from_vec_row_major(vec![3], vec![0i64, 3, 1])),
        &[1.0, 8.0, 2.0],
    );
    close(
        fori_loop(0, 4, |i, c: T| c + i.astype(DType::F64), at(0.0)),
        &[6.0],
    );
    // Rows from the last to the first, several carries.
    let ((a, n), y) = scan_reverse(
        |(a, n): (T, T), x: T| ((&a + &x, n + 1.0), &a * &x),
        (at(0.0), at(0.0)),
        vec(&[1.0, 2.0, 3.0]),
    )
    .unwrap();
    close(Ok(a), &[6.0]);
    close(Ok(n), &[3.0]);
    close(Ok(y), &[5.0, 6.0, 0.0]);
    assert_eq!(
        code(scan(
            |c: T, _: T| (c.astype(DType::F32), ()),
            at(0.0),
            vec(&[1.0])
        )),
        Code::CarryMismatch
    );
    let grow = fori_loop(
        0,
        2,
        |_, mut c: Vec<T>| {
            c.push(at(0.0));
            c
        },
        vec![at(0.0)],
    );
    assert_eq!(code(grow), Code::CarryMismatch);
}

#[test]
fn branches() {
    let f = |x: T| cond(&x.greater(&at(0.0)), x, |x: T| x.sqrt(), |x: T| x * 0.0);
    // 93: no NaN from the branch that is not taken.
    close(vmap(grad(f))(vec(&[4.0, 0.0, -1.0])), &[0.25, 0.0, 0.0]);
    let c = at(5.0);
    let g = |x: T| {
        cond(
            &x.greater(&at(0.0)),
            x.clone(),
            |x: T| &x * &x,
            |_| c.clone(),
        )
    };
    close(grad(g)(at(3.0)), &[6.0]);
    close(grad(g)(at(-3.0)), &[0.0]);
    let p = at(1.0).greater(&at(0.0));
    assert_eq!(
        code(cond(&p, at(1.0), |x: T| x, |x: T| x.astype(DType::F32))),
        Code::BranchMismatch
    );
    assert_eq!(
        code(cond(&p, at(1.0), |x: T| vec![x.clone(), x], |x: T| vec![x])),
        Code::BranchMismatch
    );
}

#[test]
fn custom_rules() {
    let f = custom_jvp(|x: T| &x * &x, |x: T, t: T| (&x * &x, &x * &t * 100.0));
    close(f(at(3.0)), &[9.0]);
    close(grad(&f)(at(3.0)), &[300.0]);
    close(grad(grad(&f))(at(3.0)), &[100.0]);
    let k = at(10.0);
    let f = custom_vjp(
        |x: T| x.sin(),
        |x: T| (x.sin(), x),
        |x: T, ct: T| ct * x.cos() * &k,
    );
    close(grad(&f)(at(1.0)), &[10.0 * 1f64.cos()]);
    close(grad(grad(&f))(at(1.0)), &[-10.0 * 1f64.sin()]);
    close(jvp(&f, at(1.0), at(1.0)).map(|r| r.1), &[10.0 * 1f64.cos()]);
    close(vmap(grad(&f))(vec(&[0.0, 1.0])), &[10.0, 10.0 * 1f64.cos()]);
    // A rule that clips has no forward form.
    let clipped = custom_vjp(|x: T| x, |x: T| (x, ()), |(), ct: T| ct.clip(-1.0, 1.0));
    close(
        grad(|x: T| Ok::<_, cotangent::Error>(clipped(x)? * 5.0))(at(1.0)),
        &[1.0],
    );
    assert_eq!(
        code(jvp(&clipped, at(1.0), at(1.0)).and_then(|r| r.1.to_tensor())),
        Code::CustomVjpForward
    );
    let wrong = custom_vjp(|x: T| x, |x: T| (x, ()), |(), _: T| vec(&[1.0, 2.0]));
    assert!(grad(&wrong)(at(1.0)).and_then(|g| g.to_tensor()).is_err());
}

#[test]
fn checkpoints_change_nothing() {
    let f = |x: T| x.sin().sin();
    let bits = |t: Result<T>| t.unwrap().to_tensor().unwrap();
    for x in [1.0, -0.3] {
        assert!(bits(grad(f)(at(x))).same_bits(&bits(grad(checkpoint(f))(at(x)))));
        assert!(
            bits(grad(grad(f))(at(x)))
                .same_bits(&bits(grad(grad(checkpoint(checkpoint(f))))(at(x))))
        );
    }
}

#[test]
fn loops_save_by_their_policy() {
    let rows = T::from_vec_row_major(
        vec![37, 2],
        (0..74).map(|k| f64::from(k % 9) * 0.2 - 0.8).collect(),
    );
    let policies = [
        Checkpoint::Every(5),
        Checkpoint::Sqrt,
        Checkpoint::Snapshots(2),
        Checkpoint::Snapshots(40),
    ];
    for reverse in [false, true] {
        // The weight is captured: its gradient is a sum over steps.
        let loss = |policy: Checkpoint| {
            move |(w, c, rows): (T, T, T)| {
                let step = |c: T, x: T| {
                    let h = (&c * &w + x).tanh();
                    (h.clone(), h.square())
                };
                let loops = checkpointing(policy);
                let (c, y) = if reverse {
                    loops.scan_reverse(step, c, rows)?
                } else {
                    loops.scan(step, c, rows)?
                };
                Ok::<_, cotangent::Error>((c * 2.0).sum(..) + y.sum(..))
            }
        };
        let x = (vec(&[0.4, -0.7]), vec(&[0.1, 0.9]), rows.clone());
        let of = |policy| value_and_grad(loss(policy))(x.clone()).unwrap();
        let bits = |t: &T| t.to_tensor().unwrap();
        let (y, (w, c, r)) = of(Checkpoint::Never);
        for policy in policies {
            let (y1, (w1, c1, r1)) = of(policy);
            assert!(
                bits(&y).same_bits(&bits(&y1))
                    && bits(&c).same_bits(&bits(&c1))
                    && bits(&r).same_bits(&bits(&r1))
            );
            close(Ok(w1), &vals(Ok(w.clone())));
            let second = |policy| {
                vals(hvp(move |w: T| {
                    loss(policy)((w, vec(&[0.1, 0.9]), vec_rows()))
                })(vec(&[0.4, -0.7]), vec(&[1.0, 2.0])))
            };
            let (a, b) = (second(policy), second(Checkpoint::Never));
            assert!(
                a.iter()
                    .zip(&b)
                    .all(|(a, b)| (a - b).abs() < 1e-11 * (1.0 + b.abs())),
                "{a:?} is not {b:?}"
            );
        }
    }
    let n = T::scalar(10i64);
    let power = |policy| {
        let n = n.clone();
        move |x: T| checkpointing(policy).fori_loop(0, &n, |_, c: T| &c * &x, at(1.0))
    };
    close(grad(power(Checkpoint::Every(3)))(at(2.0)), &[5120.0]);
    assert_eq!(code(power(Checkpoint::Sqrt)(at(2.0))), Code::ReverseWhile);
}

fn vec_rows() -> T {
    T::from_vec_row_major(vec![3, 2], vec![0.3, -0.2, 0.5, 0.1, -0.6, 0.7])
}

#[derive(cotangent::Tree)]
struct Layer<W> {
    weights: W,
    bias: T,
}

#[derive(cotangent::Tree)]
struct PairTree(T, [T; 1]);

#[derive(cotangent::Tree)]
struct Nothing;

#[derive(cotangent::Tree)]
struct Power<W> {
    base: Box<W>,
    #[tree(fixed)]
    times: usize,
}

/// A field that is not a tensor is a part of the structure: `jit` traces again for another value.
#[test]
fn fixed_fields_of_trees() {
    let f = |p: Power<T>| (1..p.times).fold((*p.base).clone(), |y, _| y * &*p.base);
    let of = |times: usize| Power {
        base: Box::new(at(3.0)),
        times,
    };
    let g = grad(f)(of(4)).unwrap();
    assert_eq!(g.times, 4);
    close(Ok(*g.base), &[108.0]);
    let jitted = jit(f);
    close(jitted(of(2)), &[9.0]);
    close(jitted(of(3)), &[27.0]);
}

#[test]
fn derived_trees() {
    let f = |(l, p, _): (Layer<Vec<T>>, PairTree, Nothing)| {
        &l.weights[0] * &l.weights[1] + l.bias * p.0 * &p.1[0]
    };
    let l = Layer {
        weights: vec![at(2.0), at(3.0)],
        bias: at(5.0),
    };
    let (l, p, Nothing) = grad(f)((l, PairTree(at(7.0), [at(11.0)]), Nothing)).unwrap();
    close(Ok(l.weights[0].clone()), &[3.0]);
    close(Ok(l.weights[1].clone()), &[2.0]);
    close(Ok(l.bias), &[77.0]);
    close(Ok(p.0), &[55.0]);
    close(Ok(p.1[0].clone()), &[35.0]);
}

/// A network of 128 rows and a scan of 200 steps: the reference would take minutes.
#[test]
fn checks_run_compiled_programs() {
    let wave = |m: usize, n: usize| {
        let data = (0..m * n)
            .map(|k| (0.7 * k as f64).sin())
            .collect::<Vec<_>>();
        T::from_vec_row_major([m, n], data)
    };
    let x = wave(128, 64);
    let loss = |(w, v): (T, T)| Ok(x.matmul(&w)?.tanh().matmul(&v)?.square().mean(..));
    let report = check(loss, (wave(64, 32), wave(32, 4))).unwrap();
    assert!(report.passed(), "{report}");
    let walk = |a: T| {
        let step = |x: T, _: T| {
            let next = (&x * &a).sin() + 0.1;
            Ok((next.clone(), next))
        };
        Ok(scan(step, vec(&[0.3; 16]), wave(200, 1))?
            .1
            .square()
            .mean(..))
    };
    let report = check(walk, vec(&[0.9; 16])).unwrap();
    assert!(report.passed(), "{report}");
}

#[path = "../examples/closures.rs"]
mod example;

#[test]
fn the_example_runs() {
    example::main().unwrap();
}
