//! Injected faults: the checks must find every wrong rule. Also operations defined outside the
//! crate.
//!
//! The operation is `y = sin(x) w` with `x`, `w` of one square type. Every injected fault is one
//! change of a correct rule.

use cotangent_core::check::{LawResult, Options, Verdict, check_function, check_op};
use cotangent_core::ops::{Binary, BinaryTranspose, Unary};
use cotangent_core::primitive::{Linearized, callback, no_rule};
use cotangent_core::transform::{
    AdContext, Lin, Lv, Rule, RuleSet, Session, batch, grad, jvp, vjp,
};
use cotangent_core::{
    Arg, Array, Batched, Builder, Code, Cost, DType, Dim, Emit, Env, Error, Function, Op,
    Primitive, Result, Sample, Type, Val, reference,
};

/// The fault injected into an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    Nothing,
    /// A type rule that returns a scalar type.
    Type,
    /// `-cos` instead of `cos`.
    Sign,
    /// `0.99 cos`.
    Factor,
    /// No tangent of `w`.
    Dropped,
    /// The tangent of `x` transposed, with a consistent adjoint.
    Axis,
    /// The derivative at `w` instead of `x`: correct where both are equal.
    Point,
    /// A tangent plus one: not linear.
    Affine,
    /// The batch axis of the result last.
    BatchAxis,
    /// `w` of the first batch element for all elements.
    BatchFirst,
    /// A result that is marked as the same for every batch element.
    BatchUnmapped,
    /// Negative costs.
    Cost,
}

#[derive(Clone, Copy, Debug)]
struct SinTimes(Fault);

impl Primitive for SinTimes {
    fn name(&self) -> &str {
        "sin_times"
    }

    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![if self.0 == Fault::Type {
            Type::scalar(x[0].dtype)
        } else {
            Binary::Mul.infer(x)?.remove(0)
        }])
    }

    fn eval(&self, x: &[Array], env: &Env) -> Result<Vec<Array>> {
        let s = Unary::Sin.eval(&x[..1], env)?.remove(0);
        Binary::Mul.eval(&[s, x[1].clone()], env)
    }

    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(Op::extension(*self), x);
        let c = match self.0 {
            Fault::Sign => cx.neg(cx.cos(x[0])),
            Fault::Factor => cx.mul(cx.full_like(x[0], 0.99), cx.cos(x[0])),
            Fault::Point => cx.cos(x[1]),
            _ => cx.cos(x[0]),
        };
        let by_x = t[0].map(|t| match self.0 {
            Fault::Axis => cx.scale(cx.mul(c, x[1]), cx.apply1(transposition(), &[t.into()])),
            _ => cx.scale(cx.mul(c, x[1]), t),
        });
        let by_w = t[1]
            .filter(|_| self.0 != Fault::Dropped)
            .map(|t| cx.scale(cx.sin(x[0]), t));
        let dy = cx.sum_opt(by_x, by_w);
        if self.0 == Fault::Affine {
            let one = cx.apply1(Op::extension(One(cx.ty(y))), &[]);
            return Ok(cx.one(y, cx.sum_opt(dy, Some(one))));
        }
        Ok(cx.one(y, dy))
    }

    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }

    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let w = match self.0 {
            // Every element uses the same w: a mean over the batch.
            Fault::BatchFirst if x[1].mapped => {
                let n = cx.extent(&cx.ty(x[1].val).unbatched(), size);
                let mean = cx.div(cx.reduce_sum(x[1].val, &[0]), n);
                Batched {
                    val: mean,
                    mapped: false,
                }
            }
            _ => x[1],
        };
        let args = [cx.replicate(x[0], size).val, cx.replicate(w, size).val];
        let y = cx.op(Op::extension(*self), &args);
        Ok(vec![match self.0 {
            Fault::BatchAxis => Batched {
                val: cx.transpose(y, &[1, 2, 0]),
                mapped: true,
            },
            Fault::BatchUnmapped => Batched {
                val: cx.reduce_sum(y, &[0]),
                mapped: false,
            },
            _ => Batched {
                val: y,
                mapped: true,
            },
        }])
    }

    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost {
            flops: if self.0 == Fault::Cost { -1.0 } else { 11.0 },
            bytes: 0.0,
        }
    }
}

fn transposition() -> Op {
    cotangent_core::ops::Transpose { perm: vec![1, 0] }.into()
}

/// A constant one that a wrong rule returns as a linear value.
#[derive(Debug)]
struct One(Type);

impl Primitive for One {
    fn name(&self) -> &str {
        "one"
    }
    fn infer(&self, _: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![self.0.clone()])
    }
    fn eval(&self, _: &[Array], env: &Env) -> Result<Vec<Array>> {
        Ok(vec![
            cotangent_core::Scalar::F(1.0).full(self.0.dtype, self.0.shape.eval(env)?)?,
        ])
    }
    fn linear_in(&self, _: &[bool]) -> bool {
        true
    }
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], _: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.one(cx.op(Op::extension(One(self.0.clone())), x), None))
    }
    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Ok(vec![])
    }
    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

fn sample(op: impl Into<Op>) -> Sample {
    let x = |k: f64| Array::from_vec([2, 2], vec![0.3 * k, -0.7 + k, 1.1, 0.4 - k]).unwrap();
    Sample::new(op, vec![x(1.0), x(0.5)])
}

fn outcome(plant: Fault) -> Option<String> {
    check_op(
        &AdContext::default(),
        &sample(Op::extension(SinTimes(plant))),
    )
    .err()
    .map(|e| e.to_string())
}

#[test]
fn a_correct_operation_passes() {
    assert_eq!(outcome(Fault::Nothing), None);
    let mut single = sample(Op::extension(SinTimes(Fault::Nothing)));
    for x in &mut single.operands {
        *x = Array::from_vec([2, 2], x.to_f64().iter().map(|&v| v as f32).collect()).unwrap();
    }
    assert_eq!(
        check_op(&AdContext::default(), &single)
            .err()
            .map(|e| e.to_string()),
        None,
        "in single precision"
    );
}

#[test]
fn every_injected_fault_is_found_by_the_law_that_it_violates() {
    let differences = "jvp against differences";
    for (plant, law) in [
        (Fault::Type, "the type rule returns"),
        (Fault::Sign, differences),
        (Fault::Factor, differences),
        (Fault::Dropped, differences),
        (Fault::Axis, differences),
        (Fault::Point, differences),
        (Fault::Affine, " linear "),
        (Fault::BatchAxis, "batch: operands"),
        (Fault::BatchFirst, "batch: operands [1], 3 elements"),
        (Fault::BatchUnmapped, "batch:"),
        (Fault::Cost, "cost:"),
    ] {
        let found = outcome(plant).unwrap_or_else(|| panic!("{plant:?} is not found"));
        assert!(found.contains(law), "{plant:?} should break {law}: {found}");
        assert!(
            found.contains("`sin_times` on [f64[2,2], f64[2,2]]"),
            "{found}"
        );
    }
}

type Linearize = fn(&Lin<'_>, &[Val], &[Option<Lv>]) -> Linearized;

/// Wrong rules for operations of this crate, defined outside.
struct Wrong {
    linearize: Option<Linearize>,
    transpose: Option<BinaryTranspose>,
}

impl Rule for Wrong {
    fn linearize(
        &self,
        _: &Op,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> Option<Result<Linearized>> {
        self.linearize.map(|f| Ok(f(cx, x, t)))
    }
    fn transpose(
        &self,
        _: &Op,
        cx: &dyn Emit,
        x: &[Arg],
        ct: &[Option<Val>],
    ) -> Option<Result<Vec<Option<Val>>>> {
        self.transpose
            .map(|f| Ok(f(cx, x, ct[0].expect("one result"))))
    }
}

fn with_rule(op: &str, rule: impl Rule + 'static) -> AdContext {
    AdContext::builder()
        .with_extension_rules(RuleSet::default().with(op, rule))
        .build()
        .unwrap()
}

fn found_with(op: &str, rule: Wrong, sample: &Sample) -> String {
    check_op(&with_rule(op, rule), sample)
        .err()
        .unwrap_or_else(|| panic!("a wrong rule of {op} is not found"))
        .to_string()
}

#[test]
fn wrong_transposes_are_found() {
    let x = Array::vector(vec![0.3, -0.7, 1.9]);
    let mul = Sample::new(Binary::Mul, vec![x.clone(), x.clone()]);
    // Only one operand's cotangent is wrong, by a sign.
    let sign: BinaryTranspose = |cx, x, ct| {
        vec![
            x[1].val().map(|v| cx.mul(v, ct)),
            x[0].val().map(|v| cx.neg(cx.mul(v, ct))),
        ]
    };
    assert!(
        found_with(
            "mul",
            Wrong {
                linearize: None,
                transpose: Some(sign)
            },
            &mul
        )
        .contains("adjoint")
    );
    // Correct shape, wrong axes: not a type error because the sample is square.
    let square = Array::from_vec([2, 2], vec![1.0, 2.0, 3.0, 5.0]).unwrap();
    let t = Sample::new(
        cotangent_core::ops::Transpose { perm: vec![1, 0] },
        vec![square],
    );
    let axis: BinaryTranspose = |_, _, ct| vec![Some(ct)];
    assert!(
        found_with(
            "transpose",
            Wrong {
                linearize: None,
                transpose: Some(axis)
            },
            &t
        )
        .contains("adjoint")
    );
    // A product without conjugation is correct for real numbers only.
    let plain: BinaryTranspose = |cx, x, ct| {
        vec![
            x[1].val().map(|v| cx.mul(v, ct)),
            x[0].val().map(|v| cx.mul(v, ct)),
        ]
    };
    let ad = with_rule(
        "mul",
        Wrong {
            linearize: None,
            transpose: Some(plain),
        },
    );
    assert!(check_op(&ad, &mul).is_ok());
    let z = cotangent_core::check::retype(&mul, DType::C128).unwrap();
    assert!(
        check_op(&ad, &z)
            .unwrap_err()
            .to_string()
            .contains("adjoint")
    );
}

#[test]
fn a_matched_wrong_pair_keeps_the_adjoint_law_and_is_found_by_differences() {
    // d neg(x) = +dx with the adjoint +: they are consistent with each other, but wrong.
    let pair = Wrong {
        linearize: Some(|cx, x, t| cx.one(cx.op(Unary::Neg, x), t[0])),
        transpose: Some(|_, _, ct| vec![Some(ct)]),
    };
    let found = found_with(
        "neg",
        pair,
        &Sample::new(Unary::Neg, vec![Array::vector(vec![0.5, 2.0])]),
    );
    assert!(
        found.contains("jvp against differences") && !found.contains("adjoint  "),
        "{found}"
    );
}

#[test]
fn second_derivatives_are_checked_where_the_first_are_correct() {
    // The derivative of exp with `stop_gradient`: the first derivative is correct, the second is
    // zero.
    let stopped = Wrong {
        linearize: Some(|cx, x, t| {
            let y = cx.exp(x[0]);
            cx.one(y, t[0].map(|t| cx.scale(cx.stop_gradient(y), t)))
        }),
        transpose: None,
    };
    let found = found_with(
        "exp",
        stopped,
        &Sample::new(Unary::Exp, vec![Array::vector(vec![0.5, 1.0])]),
    );
    assert!(
        found.contains("hvp against differences") && !found.contains("jvp against"),
        "{found}"
    );
}

fn function(op: Op) -> Function {
    let b = Builder::new("f", Session::default());
    let cx: &dyn Emit = &b;
    let ty = Type::new(DType::F64, [2, 2]);
    let (x, w) = (b.param(ty.clone(), Some("x")), b.param(ty, Some("w")));
    let y = cx.exp(cx.op(op, &[cx.tanh(x), w]));
    let sum = cx.reduce_sum(y, &[0, 1]);
    b.finish(&[sum]).unwrap()
}

#[test]
fn reports_name_the_wrong_value() {
    let args = sample(Binary::Mul).operands;
    let ad = AdContext::default();
    let good = check_function(
        &ad,
        &function(Op::extension(SinTimes(Fault::Nothing))),
        &args,
        &Options::default(),
    )
    .unwrap();
    assert!(
        good.passed() && good.rows.iter().all(|r| r.verdict == Verdict::Pass),
        "{good}"
    );
    let bad = check_function(
        &ad,
        &function(Op::extension(SinTimes(Fault::Dropped))),
        &args,
        &Options::default(),
    );
    let bad = bad.unwrap();
    assert!(!bad.passed());
    let wrong = |value: &str| {
        bad.rows
            .iter()
            .any(|r| r.value == value && r.verdict == Verdict::Fail)
    };
    assert!(!wrong("%x") && wrong("%w") && wrong("%x %w"), "{bad}");
    assert!(
        bad.to_string().contains("FAILED") && bad.to_string().contains("WRONG"),
        "{bad}"
    );
}

#[test]
fn kinks_and_integers_do_not_fail_a_function() {
    let b = Builder::new("f", Session::default());
    let cx: &dyn Emit = &b;
    let x = b.param(Type::scalar(DType::F64), Some("x"));
    let n = b.param(Type::scalar(DType::I32), Some("n"));
    // sqrt(x²) by exp and log: at its kink 0 the derivative is NaN, and there is no finite
    // difference.
    let y = cx.exp(cx.mul(cx.full_like(x, 0.5), cx.log(cx.mul(x, x))));
    let f = b.finish(&[y, n]).unwrap();
    let ad = AdContext::default();
    let args = [Array::scalar(0.0), Array::scalar(3i32)];
    let report = check_function(&ad, &f, &args, &Options::default()).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn extension_operations_differentiate_batch_and_nest() {
    let f = function(Op::extension(SinTimes(Fault::Nothing)));
    let ad = AdContext::default();
    let args = sample(Binary::Mul).operands;
    let g = grad(&ad, &f, f.params()).unwrap();
    let got = reference::run(&g, &args).unwrap();
    for i in 0..4 {
        let (x, w) = (args[0].to_f64()[i], args[1].to_f64()[i]);
        let (s, y) = (x.tanh().sin(), (x.tanh().sin() * w).exp());
        assert!(
            (got[0].to_f64()[i] - y * w * x.tanh().cos() * (1.0 - x.tanh().powi(2))).abs() < 1e-12
        );
        assert!((got[1].to_f64()[i] - y * s).abs() < 1e-12);
    }
    let (many, _) = batch(&ad.session(), &g, &[true, false], &[true, true], &2.into()).unwrap();
    let twice = [args[0].to_f64(), args[0].to_f64()].concat();
    let y = reference::run(
        &many,
        &[Array::from_vec([2, 2, 2], twice).unwrap(), args[1].clone()],
    )
    .unwrap();
    assert_eq!(y[0].to_f64()[..4], y[0].to_f64()[4..]);
    assert_eq!(y[0].to_f64()[..4], got[0].to_f64());
}

/// An operation without a derivative.
fn median_filter() -> Op {
    callback("median_filter", |x| Ok(x.to_vec()), |x| Ok(x.to_vec()))
}

/// `sum(median_filter(exp(x)) * w)`, and the line of the filter.
fn filtered() -> (Function, Val, Val, u32) {
    let b = Builder::new("f", Session::default());
    let cx: &dyn Emit = &b;
    let ty = Type::new(DType::F64, [3]);
    let (x, w) = (b.param(ty.clone(), Some("x")), b.param(ty, Some("w")));
    let e = cx.exp(x);
    let here = std::panic::Location::caller();
    cx.set_loc(cotangent_core::Loc::Rust(here));
    let m = cx.op(median_filter(), &[e]);
    cx.set_loc(cotangent_core::Loc::None);
    let sum = cx.reduce_sum(cx.mul(m, w), &[0]);
    (b.finish(&[sum]).unwrap(), x, w, here.line())
}

#[test]
fn a_missing_rule_is_an_error_when_deriving_that_says_where_and_what_to_do() {
    let (f, x, _, line) = filtered();
    let ad = AdContext::default();
    for (e, mode) in [
        (grad(&ad, &f, &[x]).unwrap_err(), "linearize"),
        (jvp(&ad, &f, &[x]).unwrap_err(), "linearize"),
    ] {
        assert_eq!(e.code(), Code::NoRule);
        let text = e.to_string();
        for part in [
            "`median_filter`",
            mode,
            "custom_vjp",
            "stop_gradient",
            "planted.rs",
            &line.to_string(),
            "%x -> exp -> median_filter",
        ] {
            assert!(text.contains(part), "`{part}` is missing in: {text}");
        }
    }
    let e = batch(&ad.session(), &f, &[true, false], &[true], &2.into()).unwrap_err();
    assert!(
        e.code() == Code::NoRule && e.to_string().contains("batch"),
        "{e}"
    );
    let args = [
        Array::vector(vec![0.0, 1.0, 2.0]),
        Array::vector(vec![1.0; 3]),
    ];
    let report = check_function(&ad, &f, &args, &Options::default()).unwrap();
    let skipped = |r: &LawResult| matches!(&r.verdict, Verdict::Skipped(why) if why.contains("median_filter"));
    assert!(
        report.rows.iter().filter(|r| r.value == "%x").all(skipped)
            && report.violated() == 0
            && !report.passed(),
        "{report}"
    );
}

#[test]
fn a_missing_rule_off_the_active_path_is_no_error() {
    let (f, _, w, _) = filtered();
    let ad = AdContext::default();
    let args = [
        Array::vector(vec![0.0, 1.0, 2.0]),
        Array::vector(vec![1.0; 3]),
    ];
    let g = reference::run(&grad(&ad, &f, &[w]).unwrap(), &args).unwrap();
    let want: Vec<f64> = [0.0f64, 1.0, 2.0].map(f64::exp).to_vec();
    assert!(
        g[0].to_f64()
            .iter()
            .zip(want)
            .all(|(a, b)| (a - b).abs() < 1e-12)
    );
    let (many, _) = batch(&ad.session(), &f, &[false, true], &[true], &1.into()).unwrap();
    assert_eq!(many.result_types()[0].rank(), 1);
}

#[test]
fn the_rule_of_an_operation_may_come_from_another_crate() {
    struct Identity;
    impl Rule for Identity {
        fn linearize(
            &self,
            op: &Op,
            cx: &Lin<'_>,
            x: &[Val],
            t: &[Option<Lv>],
        ) -> Option<Result<Linearized>> {
            Some(Ok(cx.one(cx.op(op.clone(), x), t[0])))
        }
        fn batch(
            &self,
            op: &Op,
            cx: &dyn Emit,
            _: &Dim,
            x: &[Batched],
        ) -> Option<Result<Vec<Batched>>> {
            Some(Ok(vec![Batched {
                val: cx.op(op.clone(), &[x[0].val]),
                mapped: true,
            }]))
        }
    }
    let (f, x, w, _) = filtered();
    let ad = with_rule("median_filter", Identity);
    let args = [
        Array::vector(vec![0.0, 1.0, 2.0]),
        Array::vector(vec![2.0; 3]),
    ];
    let report = check_function(&ad, &f, &args, &Options::default()).unwrap();
    assert!(
        report.passed() && report.rows.iter().all(|r| r.verdict == Verdict::Pass),
        "{report}"
    );
    assert!(check_op(&ad, &Sample::new(median_filter(), vec![args[0].clone()])).is_ok());
    // Another context does not have the rule: there is no global state.
    assert_eq!(
        grad(&AdContext::default(), &f, &[x, w]).unwrap_err().code(),
        Code::NoRule
    );
}

#[test]
fn rules_that_return_the_wrong_count_or_type_are_named() {
    let f = {
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::new(DType::F64, [3]), Some("x"));
        let y = (&b as &dyn Emit).neg(x);
        b.finish(&[y]).unwrap()
    };
    let code = |rule: Wrong| -> Error { vjp(&with_rule("neg", rule), &f, f.params()).unwrap_err() };
    let e = code(Wrong {
        linearize: None,
        transpose: Some(|_, _, _| vec![]),
    });
    assert!(
        e.code() == Code::RuleArity && e.message().contains("`neg`"),
        "{e}"
    );
    let e = code(Wrong {
        linearize: None,
        transpose: Some(|cx, _, ct| vec![Some(cx.reduce_sum(ct, &[0]))]),
    });
    assert!(
        e.code() == Code::RuleType && e.message().contains("f64[] for operand 0 of type f64[3]"),
        "{e}"
    );
    let e = code(Wrong {
        linearize: Some(|cx, x, _| (cx.vals(cx.neg(x[0])), vec![])),
        transpose: None,
    });
    assert_eq!(e.code(), Code::RuleArity);
    let e = code(Wrong {
        linearize: Some(|cx, x, t| {
            let t = t[0].unwrap();
            cx.one(
                cx.neg(x[0]),
                Some(cx.apply1(Binary::Mul, &[t.into(), t.into()])),
            )
        }),
        transpose: None,
    });
    assert!(
        e.code() == Code::NotLinear
            && e.message()
                .contains("`mul` is not linear in operands [0, 1]"),
        "{e}"
    );
}
