//! Elementwise operations of other crates with a scalar function run in the loops of their
//! neighbors, with the bits of their evaluation.

use cotangent_core::check::check_op;
use cotangent_core::primitive::{Linearized, OpClass, ScalarFn, no_rule};
use cotangent_core::transform::{AdContext, Lin, Lv, grad};
use cotangent_core::{
    Arg, Array, Batched, Cost, DType, Dim, Emit, Env, Function, Op, Primitive, Result, Sample,
    Type, Val, Wide, reference,
};
use cotangent_cpu::profile::steps;
use cotangent_cpu::{Executor, Tensor};
use std::sync::Arc;

mod common;

/// `sum x_k^(k+1)` over its operands, times a factor.
#[derive(Clone, Debug)]
struct Powers {
    factor: f64,
    scalar: ScalarKind,
}

/// The scalar function that the operation returns.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ScalarKind {
    Missing,
    Right,
    Wrong,
}

impl Powers {
    fn value(&self, x: &[f64]) -> f64 {
        let powers = x.iter().zip(1..).map(|(x, n)| x.powi(n));
        self.factor * powers.sum::<f64>()
    }

    fn op(scalar: ScalarKind) -> Op {
        Op::extension(Powers {
            factor: 0.75,
            scalar,
        })
    }
}

impl Primitive for Powers {
    fn name(&self) -> &str {
        "test.powers"
    }
    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![x[0].clone()])
    }
    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        let operands: Vec<Vec<f64>> = x.iter().map(Array::to_f64).collect();
        let at = |i: usize| {
            self.value(
                &operands
                    .iter()
                    .map(|v| v[i % v.len()])
                    .collect::<Vec<f64>>(),
            )
        };
        let y = Wide::F((0..x[0].len()).map(at).collect());
        Ok(vec![y.narrow(x[0].dtype(), x[0].shape())?])
    }
    fn class(&self, _: &[DType]) -> OpClass {
        match self.scalar {
            ScalarKind::Missing => OpClass::Other,
            _ => OpClass::Elementwise,
        }
    }
    fn scalar(&self, _: &[DType]) -> Option<ScalarFn> {
        let this = self.clone();
        match self.scalar {
            ScalarKind::Missing => None,
            ScalarKind::Right => Some(Arc::new(move |x| this.value(x))),
            ScalarKind::Wrong => Some(Arc::new(|x| x[0])),
        }
    }
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(Op::extension(self.clone()), x);
        let term = |(n, (&x, t)): (i32, (&Val, &Option<Lv>))| {
            let power = match n {
                1 => cx.full_like(x, 1.0),
                2 => x,
                _ => cx.square(x),
            };
            let factor = cx.full_like(x, self.factor * f64::from(n));
            t.map(|t| cx.scale(cx.mul(factor, power), t))
        };
        let terms = (1..).zip(x.iter().zip(t)).map(term);
        let sum = terms.fold(None, |sum, t| cx.sum_opt(sum, t));
        Ok(cx.one(y, sum))
    }
    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }
    fn batch(&self, cx: &dyn Emit, size: &Dim, x: &[Batched]) -> Result<Vec<Batched>> {
        let x: Vec<Val> = x.iter().map(|b| cx.replicate(*b, size).val).collect();
        Ok(vec![Batched {
            val: cx.op(Op::extension(self.clone()), &x),
            mapped: true,
        }])
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

fn numbers(dtype: DType, shape: &[usize]) -> Array {
    let n = shape.iter().product();
    let at = |i: usize| (i as f64 * 0.7).sin() * 1.5;
    Wide::F((0..n).map(at).collect())
        .narrow(dtype, shape)
        .unwrap()
}

fn assert_same(got: &[Array], want: &[Array]) {
    let same = got.iter().zip(want).all(|(a, b)| a.same_bits(b));
    assert!(same && got.len() == want.len(), "{got:?}\n{want:?}");
}

/// The number of steps of a function.
fn count(f: &Function) -> usize {
    steps(f).len()
}

/// `op(-x, .., -x) * x`
fn chain(cx: &dyn Emit, op: &Op, operands: usize, x: Val) -> Val {
    let y = cx.emit(op.clone(), &vec![cx.neg(x); operands])[0];
    cx.mul(y, x)
}

#[test]
fn a_scalar_function_joins_the_loop_of_its_neighbors() {
    let ty = Type::new(DType::F32, vec![Dim::sym("n"), Dim::sym("m")]);
    let steps_with = |scalar| {
        let op = Powers::op(scalar);
        let f = common::build(std::slice::from_ref(&ty), |cx, x| {
            vec![chain(cx, &op, 2, x[0])]
        });
        count(&f)
    };
    assert_eq!(steps_with(ScalarKind::Right), 1);
    assert_eq!(steps_with(ScalarKind::Missing), 3);
}

#[test]
fn a_fused_extension_has_the_bits_of_its_evaluation() {
    let op = Powers::op(ScalarKind::Right);
    for dtype in [DType::F64, DType::F32, DType::F16, DType::BF16] {
        for operands in 1..=4 {
            for shape in [&[][..], &[7], &[0, 3], &[300, 40]] {
                let x = numbers(dtype, shape);
                let f = common::build(&[x.ty()], |cx, x| {
                    let once = cx.emit(op.clone(), &vec![x[0]; operands])[0];
                    let twice = cx.emit(op.clone(), &vec![once; operands])[0];
                    vec![cx.neg(twice), cx.transpose(once, &order(shape.len()))]
                });
                let args = [x];
                assert_same(&common::run(&f, &args), &reference::run(&f, &args).unwrap());
                assert_same(
                    &common::unfused(&f, &args),
                    &reference::run(&f, &args).unwrap(),
                );
            }
        }
    }
}

fn order(rank: usize) -> Vec<usize> {
    (0..rank).rev().collect()
}

#[test]
fn mixed_types_and_shapes_are_evaluated() {
    let op = Powers::op(ScalarKind::Right);
    let mixed = [numbers(DType::F64, &[6]), numbers(DType::F32, &[6])];
    // The type rule of this operation admits a second operand of another shape, so it is not fused
    // although it claims to be elementwise.
    let shapes = [numbers(DType::F64, &[6]), numbers(DType::F64, &[3])];
    for args in [&mixed[..], &shapes] {
        let f = common::single(&op, args);
        assert_same(&common::run(&f, args), &reference::run(&f, args).unwrap());
    }
}

#[test]
fn loops_and_gradients_with_an_extension() {
    let op = Powers::op(ScalarKind::Right);
    for n in [3, 5000] {
        let x = numbers(DType::F64, &[n]);
        let f = common::build(&[x.ty()], |cx, x| {
            let body = |cx: &dyn Emit, c: &[Val]| vec![cx.emit(op.clone(), &[c[0]])[0]];
            let y = cx.fori(0, 4, &[], x, |cx, _, _, c| body(cx, c))[0];
            vec![cx.reduce_sum(y, &[0])]
        });
        let g = Arc::new(grad(&AdContext::default(), &f, &[f.params()[0]]).unwrap());
        let args = [x];
        for f in [&f, &g] {
            let (got, want) = (common::run(f, &args), reference::run(f, &args).unwrap());
            cotangent_core::check::agree(&got, &want, 1e-12).unwrap();
        }
    }
}

#[test]
fn a_program_outlives_the_function_and_the_operation() {
    let args = [numbers(DType::F64, &[2000])];
    let (program, want) = {
        let op = Powers::op(ScalarKind::Right);
        let f = common::build(&[args[0].ty()], |cx, x| vec![chain(cx, &op, 3, x[0])]);
        (
            Executor::new().compile(&f).unwrap(),
            reference::run(&f, &args).unwrap(),
        )
    };
    assert_same(&program.run(&args).unwrap(), &want);
}

#[test]
fn a_registered_kernel_runs_where_the_operation_is_not_fused() {
    let executor = Executor::new().with_kernel("test.powers", |_, _| {
        Ok(Box::new(|_: &Env, x| Ok(x.into_iter().take(1).collect())))
    });
    let x = numbers(DType::F64, &[5]);
    let op = Powers::op(ScalarKind::Right);
    let y = executor.apply(
        &op,
        [Tensor::from(&x)].into_iter().collect(),
        &Env::default(),
    );
    assert_same(&[y.unwrap().remove(0).into_array().unwrap()], &[x]);
}

#[test]
fn laws_find_a_wrong_class_and_a_wrong_function() {
    let x = numbers(DType::F64, &[4]);
    let check =
        |op: Op, operands: Vec<Array>| check_op(&AdContext::default(), &Sample::new(op, operands));
    check(Powers::op(ScalarKind::Right), vec![x.clone(), x.clone()]).unwrap();
    let e = check(Powers::op(ScalarKind::Wrong), vec![x.clone(), x.clone()]).unwrap_err();
    assert!(e.to_string().contains("its scalar function gives"), "{e}");
    let y = numbers(DType::F64, &[2]);
    let e = check(Powers::op(ScalarKind::Right), vec![x, y]).unwrap_err();
    assert!(e.to_string().contains("do not have one shape"), "{e}");
}
