//! Composites in programs: by name, for every extent, with axes that do not exist.

use super::*;

#[test]
#[expect(clippy::too_many_lines, reason = "a list of cases")]
fn by_name_with_attributes() {
    let x = matrix(2, &[1.0, 2.0, 3.0, 4.0, 5.0, 9.0]);
    let run = |name, attrs: Attributes<'_>, x: &[Array]| spelled(name, attrs, x).unwrap().1;
    let list = |v: &[i64]| Attr::List(v.iter().map(|&i| i.into()).collect());
    let mean = run(
        "reduce",
        &[
            ("op", "mean".into()),
            ("axes", list(&[-1])),
            ("keepdims", true.into()),
        ],
        from_ref(&x),
    );
    assert_eq!(
        (mean[0].shape(), mean[0].to_f64()),
        (&[2, 1][..], vec![2.0, 6.0])
    );
    assert_eq!(
        run("reduce", &[("op", "max".into())], from_ref(&x))[0].to_f64(),
        [9.0]
    );
    assert_eq!(
        run(
            "var",
            &[("axis", 1i64.into()), ("ddof", 1i64.into())],
            from_ref(&x)
        )[0]
        .to_f64(),
        [1.0, 7.0]
    );
    let median = run(
        "median",
        &[("axis", 0i64.into()), ("keepdims", true.into())],
        from_ref(&x),
    );
    assert_eq!(
        (median[0].shape(), median[0].to_f64()),
        (&[1, 3][..], vec![2.5, 3.5, 6.0])
    );
    let best = run("max_with_index", &[("axis", 0i64.into())], from_ref(&x));
    assert_eq!(
        (best[0].to_f64(), best[1].to_f64()),
        (vec![4.0, 5.0, 9.0], vec![1.0; 3])
    );
    let top = run("top_k", &[("k", 2usize.into())], from_ref(&x));
    assert_eq!(
        (top[0].to_f64(), top[1].to_f64()),
        (vec![3.0, 2.0, 9.0, 5.0], vec![2.0, 1.0, 2.0, 1.0])
    );
    assert_eq!(
        run("argsort", &[("descending", true.into())], from_ref(&x))[0].to_f64(),
        [2.0, 1.0, 0.0, 2.0, 1.0, 0.0]
    );
    let clip = run(
        "clip",
        &[("lo", 2i64.into()), ("hi", 4i64.into())],
        from_ref(&x),
    );
    assert_eq!(clip[0].to_f64(), [2.0, 2.0, 3.0, 4.0, 4.0, 4.0]);
    let hot = run(
        "one_hot",
        &[("depth", 3usize.into()), ("dtype", DType::F64.into())],
        &[Array::vector(vec![2u8, 0])],
    );
    assert_eq!(hot[0].to_f64(), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
    let fma = run("fma", &[], &[x.clone(), x.clone(), x.clone()]);
    assert_eq!(fma[0].to_f64(), [2.0, 6.0, 12.0, 20.0, 30.0, 90.0]);
    let ends = [Array::scalar(-1.0), Array::scalar(1.0)];
    assert_eq!(
        run("linspace", &[("num", 5usize.into())], &ends)[0].to_f64(),
        [-1.0, -0.5, 0.0, 0.5, 1.0]
    );
    assert_eq!(
        run(
            "arange",
            &[
                ("num", 3usize.into()),
                ("start", 5i64.into()),
                ("step", 2i64.into())
            ],
            &[]
        )[0]
        .to_f64(),
        [5.0, 7.0, 9.0]
    );
    assert_eq!(
        run(
            "outer",
            &[],
            &[vector(&[1.0, 2.0]), vector(&[3.0, 4.0, 5.0])]
        )[0]
        .to_f64(),
        [3.0, 4.0, 5.0, 6.0, 8.0, 10.0]
    );
    assert_eq!(run("diagonal", &[], from_ref(&x))[0].to_f64(), [1.0, 5.0]);
    assert_eq!(
        run("trace", &[], &[matrix(2, &[1.0, NAN, INF, 2.0])])[0].to_f64(),
        [3.0]
    );
    let norm = run(
        "layer_norm",
        &[("eps", 0i64.into())],
        &[
            matrix(1, &[1.0, 3.0]),
            vector(&[2.0, 2.0]),
            vector(&[1.0, 0.0]),
        ],
    );
    assert_eq!(norm[0].to_f64(), [-1.0, 2.0]);
    let mistakes: &[(&'static str, Attributes<'_>, Code)] = &[
        (
            "reduce",
            &[("op", Attr::Str("average".into()))],
            Code::Attribute,
        ),
        (
            "softmax",
            &[("axis", Attr::Num(7i64.into()))],
            Code::Attribute,
        ),
        (
            "softmax",
            &[("axes", Attr::Num(0i64.into()))],
            Code::Attribute,
        ),
        ("matmul", &[], Code::Arity),
        (
            "gelu",
            &[("approximate", Attr::Str("sigmoid".into()))],
            Code::Attribute,
        ),
    ];
    for (name, attrs, code) in mistakes {
        assert_eq!(
            spelled(name, attrs, from_ref(&x)).unwrap_err().code(),
            *code,
            "{name}"
        );
    }
}

/// A program with symbolic extents: value and gradient for extents 0, 1, 5, 1000 equal those of the
/// program with that extent.
#[test]
fn one_program_for_every_size() {
    let all: &[(&str, &UnaryOf<'_>)] = &[
        ("softmax", &|cx, x| cx.softmax(x, 0)),
        ("log_softmax", &|cx, x| cx.log_softmax(x, 0)),
        ("logsumexp", &|cx, x| cx.logsumexp(x, &[0])),
        ("mean", &|cx, x| cx.mean(x, &[0])),
        ("var", &|cx, x| cx.var(x, &[0], 1.0)),
        ("std", &|cx, x| cx.std(x, &[0], 1.0)),
        ("norm", &|cx, x| cx.norm(x, &[0])),
        ("prod", &|cx, x| cx.reduce_prod(x, &[0])),
        ("layer_norm", &|cx, x| {
            cx.layer_norm(x, Some(x), None, &[0], 1e-3)
        }),
        ("sort", &|cx, x| cx.sort(x, 0, true)),
        ("matmul", &|cx, x| cx.matmul(x, x)),
        ("cumprod", &|cx, x| {
            cx.cumulative(cotangent_core::ops::Running::Prod, x, 0)
        }),
        ("sinc", &|cx, x| cx.sinc(x)),
    ];
    let ad = AdContext::default();
    for (name, f) in all {
        let build = |n: Dim| {
            let b = Builder::new("f", Session::default());
            let cx: &dyn Emit = &b;
            let x = b.param(Type::new(DType::F64, vec![n]), Some("x"));
            let y = f(cx, x);
            let y = cx.mul(y, cx.exp(y));
            let axes: Vec<usize> = (0..cx.ty(y).rank()).collect();
            let y = cx.reduce_sum(y, &axes);
            let f = b.finish(&[y]).unwrap();
            cotangent_core::transform::value_and_grad(&ad, &f, f.params()).unwrap()
        };
        let open = build(Dim::sym("n"));
        for n in [0, 1, 5, 1000] {
            let x = [vector(&noise(n, 6))];
            let (got, want) = (
                reference::run(&open, &x).unwrap(),
                reference::run(&build(n.into()), &x).unwrap(),
            );
            assert_eq!(got[1].len(), n, "{name}");
            close(&got[0].to_f64(), &want[0].to_f64(), 1e-14);
            close(&got[1].to_f64(), &want[1].to_f64(), 1e-14);
        }
    }
}

#[test]
fn wrong_axes_are_errors_not_panics() {
    let x = vector(&[1.0, 2.0]);
    let bad: &[&UnaryOf<'_>] = &[
        &|cx, x| cx.softmax(x, 3),
        &|cx, x| cx.log_softmax(x, 3),
        &|cx, x| cx.mean(x, &[5]),
        &|cx, x| cx.norm(x, &[5]),
        &|cx, x| cx.std(x, &[1, 0], 0.0),
        &|cx, x| cx.median(x, 9),
        &|cx, x| cx.top_k(x, 9, &Dim::Const(1)).0,
        &|cx, x| cx.top_k(x, 0, &Dim::Const(5)).0,
        &|cx, x| cx.argsort(x, 9, false),
        &|cx, x| cx.pick_along(x, cx.argmax(x, 4), 4),
        &|cx, x| cx.layer_norm(x, Some(x), None, &[8], 0.1),
        &|cx, x| cx.cross_entropy(x, x, 6),
        &|cx, x| cx.diagonal(x),
        &|cx, x| cx.matmul(x, cx.index_axis(x, 0, 0)),
    ];
    for f in bad {
        let b = Builder::new("f", Session::default());
        let v = b.param(x.ty(), None);
        let y = f(&b, v);
        assert!(b.finish(&[y]).is_err());
    }
}
