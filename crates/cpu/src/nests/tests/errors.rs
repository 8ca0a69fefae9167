//! The verifier refuses every kind of wrong nest, and names it.

use crate::nests::access::{Choice, IndexMap, Read, Source, Start};
use crate::nests::affine::{Affine, Var};
use crate::nests::lower::lower;
use crate::nests::nest::{AxisKind, Expr, ExprOp, Nest, Nests, Order, SpaceAxis, What};
use crate::nests::quantity::Quantity;
use crate::nests::verify::verify;
use cotangent_core::ops::Reduction;
use cotangent_core::{Array, DType, Dim, Emit, Function, Scalar, Type, Val};

/// `y = exp(x) * x[i]`, a sum, a slice at a start, a factorization, and given elements.
fn program() -> Function {
    let params = [
        Type::new(DType::F64, [3, 3]),
        Type::new(DType::F64, [5]),
        Type::scalar(DType::I32),
    ];
    super::function(&params, |cx: &dyn Emit, x| {
        let sum = cx.reduce_sum(cx.exp(x[0]), &[1]);
        let window = cx.exp(cx.dynamic_slice(x[1], &[x[2]], &[3.into()]));
        let factor = cx.cholesky(x[0]);
        let given = cx.constant(Array::vector(vec![1.0f64, 2.0, 3.0]));
        vec![sum, window, factor, given]
    })
}

/// The expression of a nest.
fn expr(n: &mut Nest) -> &mut Expr {
    match &mut n.what {
        What::Map(e) | What::Fold { expr: e, .. } => e,
        other => panic!("{other:?} has no expression"),
    }
}

/// The first read of a nest.
fn read(n: &mut Nest) -> &mut Read {
    match &mut expr(n).nodes[0].op {
        ExprOp::Read(r) => r,
        other => panic!("{other:?} is no read"),
    }
}

/// The indices at which a nest reads first.
fn at(n: &mut Nest) -> &mut [Affine] {
    match &mut read(n).source {
        Source::Element(a) => &mut a.at,
        other => panic!("{other:?} is no element"),
    }
}

/// Applies a change to the nests of the program, and checks that the verifier's error names the
/// nest and the defect.
#[track_caller]
fn refused(want: &str, change: impl Fn(&mut Nests<'_>)) {
    let f = program();
    let mut nests = lower(&f);
    assert!(verify(&nests).unwrap().is_empty(), "{nests}");
    change(&mut nests);
    let error = verify(&nests).expect_err(want).message().to_owned();
    assert_eq!(error, want);
}

const SUM: usize = 0;
const WINDOW: usize = 1;
const FACTOR: usize = 2;

#[test]
fn accesses_outside_of_a_value_are_refused() {
    let outside = |axis| format!("nest %4: axis {axis} of %x0 is read outside of its extent 3");
    refused(&outside(0), |n| {
        let i = &mut at(&mut n.nests[SUM])[0];
        *i = i.clone().offset(&1.into());
    });
    refused(&outside(1), |n| {
        let j = &mut at(&mut n.nests[SUM])[1];
        *j = j.clone().offset(&(-1).into());
    });
    refused(&outside(1), |n| {
        let j = &mut at(&mut n.nests[SUM])[1];
        *j = j.clone().times(&2.into());
    });
    let window = "nest %6: axis 0 of %x1 is read outside of its extent 5";
    refused(window, |n| {
        read(&mut n.nests[WINDOW]).starts[0].last = 3.into();
    });
    let rank = "nest %4: it reads %x0 of f64[3,3] at 1 indices";
    refused(rank, |n| {
        if let Source::Element(a) = &mut read(&mut n.nests[SUM]).source {
            a.at = a.at[..1].to_vec().into();
        }
    });
    refused(
        "result 0: axis 0 of %4 is read outside of its extent 3",
        |n| {
            let map = IndexMap::of(vec![Affine::axis(0).offset(&1.into())]);
            n.results[0] = n.results[0].through(&map, &[3.into()]).unwrap();
        },
    );
}

#[test]
fn windows_that_do_not_fit_and_wrong_starts_are_refused() {
    refused("nest %6: a window fits: not so", |n| {
        read(&mut n.nests[WINDOW]).starts[0].last = (-1).into();
    });
    refused("nest %6: a start is f64, not an integer", |n| {
        let read = read(&mut n.nests[WINDOW]);
        read.starts[0].read = Read::number(Scalar::F(1.0));
    });
    refused(
        "nest %6: a start reads a value that no nest before computes",
        |n| {
            let later = Read::identity(Val::from_index(8), 0);
            read(&mut n.nests[WINDOW]).starts[0].read = later;
        },
    );
    refused("nest %6: a form has start 0 of 0", |n| {
        read(&mut n.nests[WINDOW]).starts = Vec::new().into();
    });
    refused("nest %6: a form has axis 1 of 1", |n| {
        at(&mut n.nests[WINDOW])[0] = Affine::axis(1);
    });
}

#[test]
fn choices_without_bounds_are_refused() {
    refused(
        "nest %4: a choice without bounds, or with a step below 1",
        |n| {
            let read = read(&mut n.nests[SUM]);
            let choice = Choice {
                bounds: Vec::new(),
                inside: read.source.clone(),
                outside: read.source.clone(),
            };
            read.source = Source::Choice(Box::new(choice));
        },
    );
}

#[test]
fn nests_out_of_order_are_refused() {
    refused("nest %4: it reads %6, which no nest before computes", |n| {
        *read(&mut n.nests[SUM]) = Read::identity(Val::from_index(6), 1);
    });
    refused("nest %4: its value is computed twice", |n| {
        n.nests.insert(1, n.nests[0].clone());
    });
    refused("nest %4: equation 0 does not define it", |n| {
        n.nests[SUM].eqn = 0;
    });
    refused("3 results of nests for the 4 of `f`", |n| {
        n.results.pop();
    });
    refused(
        "result 3: it reads %12, which no nest before computes",
        |n| {
            n.nests.pop();
        },
    );
}

#[test]
fn wrong_spaces_are_refused() {
    let space = |text: &str| format!("nest %4: the space {text} is not that of f64[3]");
    refused(&space("[4, 3] with 1 folded axes"), |n| {
        let mut axes = n.nests[SUM].space.to_vec();
        axes[0].extent = Dim::from(4);
        n.nests[SUM].space = axes.into();
    });
    refused(&space("[3, 3] with 0 folded axes"), |n| {
        let mut axes = n.nests[SUM].space.to_vec();
        axes[1].kind = AxisKind::Par;
        n.nests[SUM].space = axes.into();
    });
    let map = "nest %6: the space [3, 3] with 0 folded axes is not that of f64[3]";
    refused(map, |n| {
        let mut axes = n.nests[WINDOW].space.to_vec();
        axes.push(SpaceAxis {
            extent: 3.into(),
            kind: AxisKind::Fold,
        });
        n.nests[WINDOW].space = axes.into();
    });
}

#[test]
fn wrong_types_are_refused() {
    refused("nest %4: it reads %x0 of f64[3,3] as f32", |n| {
        expr(&mut n.nests[SUM]).nodes[0].dtype = DType::F32;
    });
    refused("nest %4: `exp` gives [f64[]], not f32", |n| {
        expr(&mut n.nests[SUM]).nodes[1].dtype = DType::F32;
    });
    refused("nest %4: the number I(1) is no f64", |n| {
        expr(&mut n.nests[SUM]).nodes[0].op = ExprOp::Number(Box::new(Scalar::I(1)));
    });
    refused("nest %4: the index of axis 2 in a space of 2 axes", |n| {
        expr(&mut n.nests[SUM]).nodes[0].op = ExprOp::Index(2);
    });
    refused(
        "nest %4: operation 1 reads operation 1, which follows it",
        |n| {
            if let ExprOp::Apply { operands, .. } = &mut expr(&mut n.nests[SUM]).nodes[1].op {
                operands[0] = 1;
            }
        },
    );
    refused("nest %4: an expression of no operations", |n| {
        expr(&mut n.nests[SUM]).nodes.clear();
    });
    refused("nest %6: the expression is i64, the value f64", |n| {
        let mut index = Expr::default();
        index.push(ExprOp::Index(0), DType::I64);
        n.nests[WINDOW].what = What::Map(index);
    });
}

#[test]
fn wrong_folds_calls_and_literals_are_refused() {
    refused("nest %4: a fold by `reduce_and` of f64", |n| {
        if let What::Fold { how, .. } = &mut n.nests[SUM].what {
            *how = Reduction::And;
        }
    });
    refused("nest %4: a chain of products folds no product", |n| {
        if let What::Fold { order, .. } = &mut n.nests[SUM].what {
            *order = Order::Chain;
        }
    });
    refused("nest %7: 2 results of `cholesky`, not 1", |n| {
        if let What::Call(c) = &mut n.nests[FACTOR].what {
            c.results = 2;
        }
    });
    refused(
        "nest %7: result 0 of `cholesky` is f64[2,3,3], not f64[3,3]",
        |n| {
            if let What::Call(c) = &mut n.nests[FACTOR].what {
                let x = &mut c.operands[0];
                x.ty = x.ty.batched(&2.into());
                let map = IndexMap::of(vec![Affine::axis(1), Affine::axis(2)]);
                x.read = x.read.through(&map, &x.ty.shape).unwrap();
            }
        },
    );
    refused("nest %12: the literal is f32[3], not f64[3]", |n| {
        let given = Array::vector(vec![1.0f32, 2.0, 3.0]);
        n.nests.last_mut().unwrap().what = What::Literal(Box::new(given));
    });
}

/// A bound that extents decide is a condition, not an error.
#[test]
fn symbolic_extents_that_cannot_be_ordered_are_conditions() {
    let ty = |n: &str| Type::new(DType::F64, vec![Dim::sym(n)]);
    let f = super::function(&[ty("n"), ty("m")], |cx, x| {
        vec![cx.add(x[0], x[1]), cx.exp(cx.slice_axis(x[0], 0, 2, 4))]
    });
    let nests = lower(&f);
    let conditions: Vec<String> = verify(&nests)
        .unwrap()
        .iter()
        .map(|c| c.to_string())
        .collect();
    let want = [
        "nest %2: an index is less than its extent: m-n >= 0 or n = 0",
        "nest %4: an index is less than its extent: n-4 >= 0",
    ];
    assert_eq!(conditions, want, "{nests}");
}

#[test]
fn starts_are_numbers() {
    let start = Start {
        read: Read::number(Scalar::I(1)),
        last: Quantity::Number(2),
    };
    refused(
        "result 0: axis 0 of %4 is read outside of its extent 3",
        |n| {
            let map = IndexMap {
                at: vec![Affine::axis(0).plus(&Var::Start(0).into())].into(),
                starts: vec![start.clone()],
            };
            n.results[0] = n.results[0].through(&map, &[3.into()]).unwrap();
        },
    );
}
