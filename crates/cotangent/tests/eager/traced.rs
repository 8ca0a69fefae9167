//! Methods, operations and random programs agree with traced ones to the bit.

use super::*;
use cotangent::check::random::{Case, graph};
use cotangent::transform::Session;
use cotangent::{Array, Builder, DType, Emit, Op, Sample, Val, ops};

/// Methods of both kinds of tensors return the same bits, and are differentiable with eager
/// tensors.
#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn methods_agree_with_traced_ones() {
    use cotangent::TracedTensor;
    let tensor = || {
        Tensor::from_vec_row_major(
            [3, 3],
            vec![0.5, -1.5, 2.0, 0.25, 3.0, -0.75, 1.0, 0.125, -2.5],
        )
        .unwrap()
    };
    let rt = EagerRuntime::new();
    let (x, t) = (
        &rt.variable_from(tensor()).unwrap(),
        &TracedTensor::from_tensor(tensor()),
    );
    macro_rules! agree {
        ($($method:ident($($arg:expr),*);)*) => {$(
            let eager = x.$method($($arg),*).unwrap();
            let traced = t.$method($($arg),*).to_tensor().unwrap();
            assert!(eager.to_tensor().unwrap().same_bits(&traced), stringify!($method));
        )*};
    }
    agree! {
        argmax(1); argmin(0); median(1); softmax(0); log_softmax(1); sort(0, true); cumulative_sum(1); cumulative_prod(0);
        round_ties_even(); round_half_away(); angle(); sinc(); gelu_tanh(); diagonal(); trace(); imag(); relu();
        mean(&[1]); var(&[1, 0], 1.0); std(&[0], 0.0); norm(&[1]); logsumexp(&[0]); layer_norm(&[1], 1e-5);
        powf(2.0); powf(0.5); clip(-1.0, 1.0); full_like(2.5); flip(&[0]); slice(1, 0..2); index(0, 2);
    }
    macro_rules! agree_with {
        ($($method:ident of $a:expr, $b:expr $(, $arg:expr)*;)*) => {$(
            let (a, b): (Tensor, Tensor) = ($a, $b);
            let eager = |t: &Tensor| rt.constant_from(t.clone()).unwrap();
            let of = |t: &Tensor| TracedTensor::from_tensor(t.clone());
            let y = eager(&a).$method(&eager(&b) $(, $arg)*).unwrap().to_tensor().unwrap();
            assert!(y.same_bits(&of(&a).$method(&of(&b) $(, $arg)*).to_tensor().unwrap()), stringify!($method));
        )*};
    }
    let (truth, bits) = (
        || Tensor::vector(vec![true, false, true]),
        || Tensor::vector(vec![6u32, 1, 12]),
    );
    agree_with! {
        and of truth(), Tensor::scalar(true); or of truth(), truth(); xor of bits(), bits();
        shift_left of bits(), Tensor::scalar(2u32); equal of bits(), Tensor::scalar(1u32); not_equal of truth(), truth();
        logaddexp of tensor(), Tensor::scalar(1.0); complex of tensor(), tensor();
        take of tensor(), Tensor::vector(vec![2i64, 0]), 1, ops::Bounds::Clip;
        cross_entropy of tensor(), Tensor::vector(vec![0i64, 2, 1]), 1;
    }
    let any = rt.constant_from(truth()).unwrap();
    let chosen = any.select(x, &(2.0 * x)).unwrap();
    let traced = TracedTensor::from_tensor(truth()).select(t, &t.mul(&t.full_like(2.0)));
    assert!(
        chosen
            .to_tensor()
            .unwrap()
            .same_bits(&traced.to_tensor().unwrap())
    );
    chosen.sum(..).unwrap().backward().unwrap();
    assert_eq!(grad(x), [1.0, 2.0, 1.0].repeat(3));
    rt.clear_grads().unwrap();
    let number = |x: f64| rt.constant_from(Tensor::scalar(x)).unwrap();
    let ones = x
        .greater(&number(0.0))
        .unwrap()
        .select(&number(1.0), &number(-1.0))
        .unwrap();
    assert_eq!(
        ones.to_tensor().unwrap().to_vec::<f64>().unwrap(),
        [1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0, 1.0, -1.0]
    );
    for (p, code) in [
        (Tensor::vector(vec![true; 4]), Code::ShapeMismatch),
        (tensor(), Code::DTypeMismatch),
    ] {
        let e = rt
            .constant_from(p.clone())
            .unwrap()
            .select(x, &number(0.0))
            .unwrap_err();
        assert_eq!(e.code(), code, "{e}");
        let e = TracedTensor::from_tensor(p)
            .select(t, &t.full_like(0.0))
            .to_tensor()
            .unwrap_err();
        assert_eq!(e.code(), code, "{e}");
    }
    let item = |x: EagerTensor| x.item::<bool>().unwrap();
    assert!(item(any.reduce_any(&[0]).unwrap()) && !item(any.reduce_all(&[0]).unwrap()));
    let stacked = EagerTensor::stack(&[x, x], 1).unwrap();
    assert_eq!(stacked.shape(), [3, 2, 3]);
    assert_eq!(EagerTensor::stack(&[], 0).unwrap_err().code(), Code::Arity);
    stacked
        .index(1, 0)
        .unwrap()
        .sort(1, false)
        .unwrap()
        .cumulative_sum(1)
        .unwrap()
        .sum(..)
        .unwrap()
        .backward()
        .unwrap();
    assert_eq!(grad(x), [2.0, 3.0, 1.0, 2.0, 1.0, 3.0, 1.0, 2.0, 3.0]);
    // Errors name the line of the call.
    let e = x.softmax(5).unwrap_err();
    assert!(
        e.code() == Code::Attribute && e.to_string().contains("traced.rs:"),
        "{e}"
    );
}

/// A real scalar that depends on every float result.
fn loss(cx: &dyn Emit, y: &[Val]) -> Val {
    let mut total = cx.constant(Array::scalar(0.5f64));
    for &v in y {
        let ty = cx.ty(v);
        if ty.dtype.has_tangent() {
            let axes: Vec<usize> = (0..ty.rank()).collect();
            let part = if ty.dtype.is_complex() {
                cx.add(cx.real(v), cx.imag(v))
            } else {
                v
            };
            let sum = cx.reduce_sum(cx.mul(part, part), &axes);
            total = cx.add(total, cx.convert(sum, DType::F64));
        }
    }
    total
}

/// The loss of an operation as a function.
fn traced(op: &Op, x: &[Array]) -> cotangent::Result<cotangent::Function> {
    let b = Builder::new("f", Session::default());
    let params: Vec<Val> = x.iter().map(|a| b.param(a.ty(), None)).collect();
    let cx: &dyn Emit = &b;
    let y = cx.emit(op.clone(), &params);
    let l = loss(cx, &y);
    b.finish(&[l])
}

/// Whether an eager error corresponds to NaN in the traced program.
fn refused(e: &Error, traced: &[Array]) -> bool {
    use Code::{DegenerateSpectrum, NotPositiveDefinite, RankDeficient, Singular};
    let nan = |a: &Array| a.to_c128().iter().any(|z| z.re.is_nan() || z.im.is_nan());
    matches!(
        e.code(),
        DegenerateSpectrum | NotPositiveDefinite | RankDeficient | Singular
    ) && traced.iter().any(nan)
}

/// Counts of compared arrays.
#[derive(Default)]
struct Compared {
    values: usize,
    gradients: usize,
}

impl Compared {
    /// Compares the results of a sample. Returns whether both runs have results.
    fn values(&mut self, rt: &Arc<EagerRuntime>, s: &Sample, x: &[EagerTensor], at: &str) -> bool {
        let b = Builder::new("f", Session::default());
        let params: Vec<Val> = s.operands.iter().map(|a| b.param(a.ty(), None)).collect();
        let y = b.emit(s.op.clone(), &params);
        let compiled = cotangent_cpu::compile(&b.finish(&y).unwrap().into()).unwrap();
        let Ok(want) = cotangent_cpu::run(&compiled, &s.operands) else {
            return false;
        };
        let constants: Vec<EagerTensor> = x.iter().map(EagerTensor::detach).collect();
        let got = match rt.apply(s.op.clone(), &constants.iter().collect::<Vec<_>>()) {
            Ok(got) => got,
            Err(e) => {
                assert!(refused(&e, &want), "{at}: {e}");
                return false;
            }
        };
        for (g, w) in got.iter().zip(&want) {
            assert!(
                g.to_tensor().unwrap().to_array().unwrap().same_bits(w),
                "{at}"
            );
            self.values += 1;
        }
        true
    }

    /// Compares the loss of a sample and its gradient, if there is one.
    fn gradients(&mut self, rt: &Arc<EagerRuntime>, s: &Sample, x: &[EagerTensor], at: &str) {
        let Ok(f) = traced(&s.op, &s.operands) else {
            return;
        };
        let wrt: Vec<Val> = f
            .params()
            .iter()
            .zip(x)
            .filter(|(_, x)| x.tracks_grad())
            .map(|(&p, _)| p)
            .collect();
        let Ok(g) = cotangent::ad::value_and_grad(&Default::default(), &f, &wrt) else {
            return;
        };
        let run =
            cotangent_cpu::compile(&g.into()).and_then(|p| cotangent_cpu::run(&p, &s.operands));
        let Ok(want) = run else { return };
        let op = s.op.clone();
        let refs: Vec<&EagerTensor> = x.iter().collect();
        let done = rt
            .write(&refs, |cx, v| vec![loss(cx, &cx.emit(op, v))])
            .and_then(|y| {
                if y[0].tracks_grad() {
                    y[0].backward()?;
                }
                Ok(y)
            });
        let y = match done {
            Ok(y) => y,
            Err(e) => {
                assert!(refused(&e, &want), "{at}: {e}");
                return;
            }
        };
        assert!(
            y[0].to_tensor()
                .unwrap()
                .to_array()
                .unwrap()
                .same_bits(&want[0]),
            "{at}"
        );
        for (x, w) in x.iter().filter(|x| x.tracks_grad()).zip(&want[1..]) {
            // A leaf that is not reached has no gradient; the function returns zeros for it.
            match x.grad().unwrap() {
                Some(g) => assert!(g.to_array().unwrap().same_bits(w), "{at}: {g} {w:?}"),
                None => assert!(w.to_c128().iter().all(|z| z.norm() == 0.0), "{at}"),
            }
            self.gradients += 1;
        }
    }
}

/// Convention 140: every operation's samples, value and gradient, eager and traced, to the bit.
#[test]
fn eager_equals_traced() {
    let mut compared = Compared::default();
    for entry in ops::entries() {
        for (k, s) in (entry.samples)(entry.name).into_iter().enumerate() {
            let at = format!("{} sample {k}: {:?} {:?}", entry.name, s.op, s.operands);
            let rt = EagerRuntime::new();
            let tensor = |a: &Array| match a.dtype().has_tangent() {
                true => rt.variable_from(a).unwrap(),
                false => rt.constant_from(a).unwrap(),
            };
            let x: Vec<EagerTensor> = s.operands.iter().map(tensor).collect();
            if compared.values(&rt, &s, &x, &at) {
                compared.gradients(&rt, &s, &x, &at);
            }
        }
    }
    let Compared { values, gradients } = compared;
    assert!(
        values > 300 && gradients > 300,
        "{values} values, {gradients} gradients"
    );
}

/// Convention 140 on whole programs: random graphs with control flow, value and gradients, eager
/// and traced, to the bit.
#[test]
fn eager_equals_traced_on_random_graphs() {
    let (mut gradients, mut programs, mut tapes) = (0, 0, 0);
    for seed in 0..120 {
        let Ok(Case { function: f, args }) = graph(seed, 4 + seed as usize % 20) else {
            continue;
        };
        // Symbolic extents are replaced by the extents of the arguments.
        let f = Session::default().specialize(
            &Arc::new(f),
            &args.iter().map(Array::ty).collect::<Vec<_>>(),
        );
        let b = Builder::new("f", Session::default());
        let params: Vec<Val> = args.iter().map(|a| b.param(a.ty(), None)).collect();
        let cx: &dyn Emit = &b;
        let l = loss(cx, &cx.inline(&f, &params));
        let Ok(g) = b.finish(&[l]) else { continue };
        let wrt: Vec<Val> = g
            .params()
            .iter()
            .copied()
            .filter(|&p| g.ty(p).dtype.has_tangent())
            .collect();
        let Ok(g) = cotangent::ad::value_and_grad(&Default::default(), &g, &wrt) else {
            continue;
        };
        let run = cotangent_cpu::compile(&g.into()).and_then(|p| cotangent_cpu::run(&p, &args));
        let Ok(want) = run else { continue };
        let rt = EagerRuntime::new();
        let variable = |a: &Array| {
            if a.dtype().has_tangent() {
                rt.variable_from(a)
            } else {
                rt.constant_from(a)
            }
        };
        let x: Vec<EagerTensor> = args.iter().map(|a| variable(a).unwrap()).collect();
        // The second occurrence is compiled: first the operations, then the tape.
        for pass in 0..4 {
            rt.clear_grads().unwrap();
            let y = rt.write(&x.iter().collect::<Vec<_>>(), |cx, v| {
                vec![loss(cx, &cx.inline(&f, v))]
            });
            let y = y.unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            assert!(
                y[0].to_tensor()
                    .unwrap()
                    .to_array()
                    .unwrap()
                    .same_bits(&want[0]),
                "seed {seed}: the value"
            );
            if y[0].tracks_grad() {
                y[0].backward()
                    .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            }
            for (k, (x, w)) in x
                .iter()
                .filter(|x| x.tracks_grad())
                .zip(&want[1..])
                .enumerate()
            {
                match x.grad().unwrap() {
                    Some(g) => {
                        let same = g.to_array().unwrap().same_bits(w);
                        assert!(same, "seed {seed}, pass {pass}, gradient {k}: {g} {w:?}");
                    }
                    None => assert!(
                        w.to_c128().iter().all(|z| z.norm() == 0.0),
                        "seed {seed}, gradient {k}"
                    ),
                }
                gradients += 1;
            }
        }
        tapes += rt.cache_stats().unwrap().tapes;
        programs += 1;
    }
    assert!(
        programs > 60 && gradients > 400,
        "{programs} programs, {gradients} gradients"
    );
    assert!(tapes > 10, "{tapes} tapes were pulled back by one program");
}
