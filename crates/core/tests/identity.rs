//! Identity of operations of other crates: state without a key is never lost. Integers have no
//! derivative in any transform.

use cotangent_core::check::check_ops;
use cotangent_core::primitive::Linearized;
use cotangent_core::rewrite::simplify;
use cotangent_core::text::Program;
use cotangent_core::transform::{self, AdContext, Direction, Lin, Lv, Session};
use cotangent_core::{
    Arg, Array, Batched, Builder, Code, Cost, DType, Dim, Emit, Env, Function, Op, Primitive,
    Result, Sample, Type, Val, reference,
};

/// The key that an operation returns for its state, a factor.
#[derive(Clone, Copy, Debug)]
enum StateKey {
    Nothing,
    Everything,
    /// An injected fault: a key without the factor.
    Wrong,
}

#[derive(Clone, Copy, Debug)]
struct ScaleBy(f64, StateKey);

impl Primitive for ScaleBy {
    fn name(&self) -> &str {
        "test.times"
    }
    fn key(&self) -> Option<String> {
        match self.1 {
            StateKey::Nothing => None,
            StateKey::Everything => Some(format!("{:x}", self.0.to_bits())),
            StateKey::Wrong => Some(String::new()),
        }
    }
    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(x.to_vec())
    }
    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        Ok(vec![Array::from_vec(
            x[0].shape(),
            x[0].to_f64().into_iter().map(|v| v * self.0).collect(),
        )?])
    }
    fn linear_in(&self, mask: &[bool]) -> bool {
        mask[0]
    }
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(Op::extension(*self), x);
        Ok(cx.one(
            y,
            t[0].map(|t| cx.apply1(Op::extension(*self), &[t.into()])),
        ))
    }
    fn transpose(&self, cx: &dyn Emit, _: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Ok(vec![ct[0].map(|ct| cx.op(Op::extension(*self), &[ct]))])
    }
    fn batch(&self, cx: &dyn Emit, _: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        Ok(vec![Batched {
            val: cx.op(Op::extension(*self), &[x[0].val]),
            mapped: x[0].mapped,
        }])
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

fn samples(says: StateKey) -> Vec<Sample> {
    let x = Array::vector(vec![0.5f64, -2.0]);
    [2.0, 3.0, -0.0, 0.0]
        .map(|c| Sample::new(Op::extension(ScaleBy(c, says)), vec![x.clone()]))
        .to_vec()
}

#[test]
fn operations_with_equal_names_and_different_state_are_not_merged() {
    let ad = AdContext::default();
    check_ops(&ad, &samples(StateKey::Nothing)).unwrap();
    check_ops(&ad, &samples(StateKey::Everything)).unwrap();
    let e =
        check_ops(&ad, &samples(StateKey::Wrong)).expect_err("a key that says nothing is found");
    assert!(e.to_string().contains("are merged"), "{e}");
}

/// Compares the samples of every built-in operation in pairs.
#[test]
fn samples_of_built_in_operations_are_not_merged() {
    let mut pairs = 0;
    for e in cotangent_core::ops::entries() {
        let samples = (e.samples)(e.name);
        for (k, a) in samples.iter().enumerate() {
            for b in &samples[k..] {
                let types = |s: &Sample| s.operands.iter().map(Array::ty).collect::<Vec<_>>();
                if types(a) != types(b) || !a.op.runs() {
                    continue;
                }
                pairs += 1;
                let b_op = b.op.clone();
                let builder = Builder::new("both", Session::default());
                let x: Vec<Val> = types(a)
                    .iter()
                    .map(|t| builder.param(t.clone(), None))
                    .collect();
                let y = [
                    builder.emit(a.op.clone(), &x),
                    builder.emit(b_op.clone(), &x),
                ]
                .concat();
                let Ok(f) = builder.finish(&y) else { continue };
                let (Ok(want), Ok(got)) = (
                    reference::run(&f, &a.operands),
                    reference::run(&simplify(&f), &a.operands),
                ) else {
                    continue;
                };
                let same = want.iter().zip(&got).all(|(w, g)| w.same_bits(g));
                assert!(same, "{:?} and {b_op:?}: {got:?} is not {want:?}", a.op);
            }
        }
    }
    assert!(pairs > 300, "{pairs}");
}

fn uses(f: &Function) -> usize {
    f.eqns()
        .iter()
        .filter(|e| e.op.name() == "test.times")
        .count()
}

#[test]
fn equal_operations_with_keys_are_merged() {
    let both = |first: Op, second: Op| {
        let b = Builder::new("f", Session::default());
        let x = b.param(Type::scalar(DType::F64), None);
        let cx: &dyn Emit = &b;
        let y = cx.add(cx.op(first, &[x]), cx.op(second, &[x]));
        simplify(&b.finish(&[y]).unwrap())
    };
    let times = |says| Op::extension(ScaleBy(2.0, says));
    let one = times(StateKey::Nothing);
    assert_eq!(
        uses(&both(one.clone(), one.clone())),
        1,
        "one operation used twice"
    );
    assert_eq!(
        uses(&both(one, times(StateKey::Nothing))),
        2,
        "two of which nothing is known"
    );
    assert_eq!(
        uses(&both(
            times(StateKey::Everything),
            times(StateKey::Everything)
        )),
        1,
        "two with equal keys"
    );
    let three = Op::extension(ScaleBy(3.0, StateKey::Everything));
    assert_eq!(
        uses(&both(times(StateKey::Everything), three)),
        2,
        "two with other keys"
    );
}

/// The second derivative of a product of two of them, and in a loop.
#[test]
fn derivatives_of_operations_with_different_state_differ() {
    let b = Builder::new("f", Session::default());
    let x = b.param(Type::scalar(DType::F64), None);
    let cx: &dyn Emit = &b;
    let times =
        |cx: &dyn Emit, c: f64, x: Val| cx.op(Op::extension(ScaleBy(c, StateKey::Nothing)), &[x]);
    let looped = cx.fori(
        0,
        cx.full(&Type::scalar(DType::I64), 2),
        &[],
        &[x],
        |cx, _, _, c| vec![times(cx, 5.0, c[0])],
    )[0];
    let y = cx.mul(cx.mul(times(cx, 2.0, x), times(cx, 3.0, x)), looped);
    let f = b.finish(&[y]).unwrap();
    let ad = AdContext::default();
    // 150 x³.
    let at = |f: &Function| reference::run(f, &[Array::scalar(2.0)]).unwrap()[0].to_f64()[0];
    let g = transform::grad(&ad, &f, f.params()).unwrap();
    let h = transform::grad(&ad, &g, g.params()).unwrap();
    for run in [|f: &Function| f.clone(), |f: &Function| simplify(f)] {
        assert_eq!(
            (at(&run(&f)), at(&run(&g)), at(&run(&h))),
            (1200.0, 1800.0, 1800.0)
        );
    }
}

/// Modules with integer and boolean results, in every transform of the library and every directive
/// of the text.
#[test]
fn integers_have_no_derivative() {
    let results = [
        ("i64", "%y = tgraph.argmax %x {axis = 0}"),
        ("i1", "%y = tgraph.gt %s, %s"),
    ];
    let ad = AdContext::default();
    for (ty, line) in results {
        let text = format!(
            "tgraph.module @f {{\n  %x = tgraph.arg : tensor<3xf64>\n  %s = tgraph.reduce_sum %x {{axes = [0]}}\n  {line}\n  \
             tgraph.return %y\n}}\n"
        );
        let program = Program::parse(&text, None).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let f = program.module("f").unwrap().as_ref().clone();
        let wrt = f.params().to_vec();
        let derived = [
            ("jvp", transform::jvp(&ad, &f, &wrt)),
            ("vjp", transform::vjp(&ad, &f, &wrt)),
            ("grad", transform::grad(&ad, &f, &wrt)),
            ("value_and_grad", transform::value_and_grad(&ad, &f, &wrt)),
            ("adjoint", transform::adjoint(&ad, &f, &wrt)),
            ("hvp", transform::hvp(&ad, &f, &wrt)),
            ("hvp_reverse", transform::hvp_reverse(&ad, &f, &wrt)),
            (
                "jacobian",
                transform::jacobian(&ad, &f, &wrt, Direction::Auto),
            ),
            ("hessian", transform::hessian(&ad, &f, &wrt)),
        ];
        for (name, derived) in derived {
            let e = derived.expect_err(name);
            let fine = matches!(e.code(), Code::IntegerOutput | Code::NonScalarOutput);
            assert!(fine, "{name} of {ty}: {e}");
        }
        for directive in ["adjoint @f wrt(%x)", "jvp @f wrt(%x)", "hvp @f wrt(%x)"] {
            let dir = if directive.starts_with("adjoint") {
                ""
            } else {
                " dir(%t)"
            };
            let all = format!("{text}tgraph.{directive}{dir} -> @g\n");
            match Program::parse(&all, None).and_then(|p| p.derive(&ad)) {
                Ok(_) => panic!("{directive} of {ty} is derived"),
                Err(e) => assert_eq!(e.code(), Code::IntegerOutput, "{directive}: {e}"),
            }
        }
    }
}
