//! Tensors: orders, views, constructors, printing, files.

use cotangent::tensor::{Order, Tensor, Typed, TypedTensor};
use cotangent::{
    Array, C64, C128, Code, DType, Dim, EagerRuntime, EagerTensor, TracedTensor, Tree, bf16, f16,
};

fn grid() -> Tensor {
    Tensor::from_vec_row_major(vec![2, 3], (1..=6).map(f64::from).collect()).unwrap()
}

#[test]
fn both_orders_come_in_without_a_copy() {
    let data = vec![1.0f64, 2.0, 3.0, 4.0, 5.0, 6.0];
    let at = data.as_ptr();
    let c = Tensor::from_vec_col_major(vec![2, 3], data).unwrap();
    assert_eq!(c.as_slice::<f64>().unwrap().as_ptr(), at);
    assert_eq!((c.order(), c.strides()), (Order::ColumnMajor, &[1, 2][..]));
    assert_eq!(
        c.to_vec_row_major::<f64>().unwrap(),
        [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]
    );
    assert_eq!(c.index(1, 0).unwrap().to_vec::<f64>().unwrap(), [1.0, 2.0]);
    assert_eq!(c.index(1, 1).unwrap().to_vec::<f64>().unwrap(), [3.0, 4.0]);
    assert_eq!(
        c.to_array().unwrap(),
        Array::from_vec([2, 3], vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0]).unwrap()
    );
    assert_eq!(c.to_order(Order::RowMajor).unwrap(), c);
    // Reshapes read elements in row-major order for every memory order, and keep the memory order.
    let tall = c.reshape([3, 2]).unwrap();
    assert_eq!(
        tall.to_vec_row_major::<f64>().unwrap(),
        c.to_vec_row_major::<f64>().unwrap()
    );
    assert_eq!(
        (tall.order(), tall.as_slice::<f64>().unwrap()),
        (Order::ColumnMajor, &[1.0, 5.0, 4.0, 3.0, 2.0, 6.0][..])
    );
    // A view if the strides allow it.
    assert_eq!(
        c.reshape([2, 1, 3])
            .unwrap()
            .as_slice::<f64>()
            .unwrap()
            .as_ptr(),
        at
    );
}

#[test]
fn views_share_the_buffer() {
    let x = grid();
    let first = x.as_slice::<f64>().unwrap().as_ptr();
    let t = x.t().unwrap();
    assert_eq!(
        (t.shape(), t.to_vec::<f64>().unwrap()),
        (&[3, 2][..], vec![1.0, 4.0, 2.0, 5.0, 3.0, 6.0])
    );
    assert_eq!(t.as_slice::<f64>().unwrap_err().code(), Code::Input);
    assert_eq!(t.t().unwrap().as_slice::<f64>().unwrap().as_ptr(), first);
    assert_eq!(
        x.slice(0, 1..2).unwrap().as_slice::<f64>().unwrap(),
        [4.0, 5.0, 6.0]
    );
    assert_eq!(
        x.slice_step(1, 0..3, 2).unwrap().to_vec::<f64>().unwrap(),
        [1.0, 3.0, 4.0, 6.0]
    );
    assert_eq!(
        x.flip(1)
            .unwrap()
            .index(0, 0)
            .unwrap()
            .to_vec::<f64>()
            .unwrap(),
        [3.0, 2.0, 1.0]
    );
    let wide = x
        .index(0, 0)
        .unwrap()
        .broadcast_to([1000, 1000, 3])
        .unwrap();
    assert_eq!((wide.len(), wide.strides()), (3_000_000, &[0, 0, 1][..]));
    assert_eq!(
        x.reshape([3, 2])
            .unwrap()
            .as_slice::<f64>()
            .unwrap()
            .as_ptr(),
        first
    );
}

#[test]
fn misuse_is_an_error() {
    let x = grid();
    let codes = [
        Tensor::from_vec_row_major(vec![2, 2], vec![1.0])
            .unwrap_err()
            .code(),
        Tensor::from_vec_col_major(vec![2, 2], vec![1.0])
            .unwrap_err()
            .code(),
        x.as_slice::<f32>().unwrap_err().code(),
        x.slice(0, 1..3).unwrap_err().code(),
        x.slice(2, 0..1).unwrap_err().code(),
        x.index(1, 3).unwrap_err().code(),
        x.permute_dims([0, 0]).unwrap_err().code(),
        x.broadcast_to([3, 3]).unwrap_err().code(),
        x.reshape([4]).unwrap_err().code(),
        Tensor::zeros(DType::F64, vec![usize::MAX, 2])
            .unwrap_err()
            .code(),
        Tensor::arange(DType::F64, 0.0, 1.0, 0.0)
            .unwrap_err()
            .code(),
        x.item::<f64>().unwrap_err().code(),
        TypedTensor::<i32>::new(&x).unwrap_err().code(),
    ];
    use Code::*;
    let want = [
        ShapeMismatch,
        ShapeMismatch,
        DTypeMismatch,
        OutOfBounds,
        Attribute,
        OutOfBounds,
        Attribute,
        ShapeMismatch,
        ShapeMismatch,
        Limit,
        Attribute,
        ShapeMismatch,
        DTypeMismatch,
    ];
    assert_eq!(codes, want);
}

#[test]
fn constructors() {
    assert_eq!(
        Tensor::eye(DType::I32, 2).unwrap().to_vec::<i32>().unwrap(),
        [1, 0, 0, 1]
    );
    assert_eq!(
        Tensor::ones(DType::BF16, [2])
            .unwrap()
            .to_vec::<bf16>()
            .unwrap(),
        [bf16::ONE; 2]
    );
    assert_eq!(
        Tensor::full(DType::C64, [1], 2.5)
            .unwrap()
            .item::<C64>()
            .unwrap(),
        C64::new(2.5, 0.0)
    );
    assert_eq!(
        TypedTensor::<i64>::arange(2.0, 9.0, 3.0)
            .unwrap()
            .as_slice(),
        [2, 5, 8]
    );
    assert_eq!(
        TypedTensor::<f64>::arange(1.0, 0.0, -0.5)
            .unwrap()
            .as_slice(),
        [1.0, 0.5]
    );
    assert_eq!(
        TypedTensor::<f32>::linspace(0.0, 1.0, 5)
            .unwrap()
            .as_slice(),
        [0.0, 0.25, 0.5, 0.75, 1.0]
    );
    let far = TypedTensor::<f64>::linspace(-1e308, 1e308, 5).unwrap();
    assert_eq!(far.as_slice(), [-1e308, -5e307, 0.0, 5e307, 1e308]);
    assert_eq!(
        TypedTensor::<f32>::linspace(0.0, 1.0, 1)
            .unwrap()
            .as_slice(),
        [0.0]
    );
    for dtype in DType::ALL {
        let z = Tensor::zeros(dtype, [2, 0, 3]).unwrap();
        assert!(z.is_empty() && z.dtype() == dtype && z.t().unwrap().shape() == [3, 0, 2]);
    }
}

#[test]
fn printing() {
    let x = TypedTensor::from_vec_row_major([2, 2], vec![1.0, 2.5, 3.0, -4.0]).unwrap();
    assert_eq!(x.to_string(), "[[ 1., 2.5],\n [ 3., -4.]] f64[2, 2]");
    assert_eq!(
        format!("{:.2}", x.t().unwrap()),
        "[[ 1.00,  3.00],\n [ 2.50, -4.00]] f64[2, 2]"
    );
    assert_eq!(Tensor::scalar(7i32).to_string(), "7 i32[]");
    assert_eq!(
        Tensor::vector(vec![true, false]).to_string(),
        "[ true, false] i1[2]"
    );
    assert_eq!(
        Tensor::zeros(DType::F32, [0]).unwrap().to_string(),
        "[] f32[0]"
    );
    assert_eq!(
        Tensor::vector(vec![f64::NAN, 1e-9]).to_string(),
        "[ NaN, 1e-9] f64[2]"
    );
    let long = Tensor::arange(DType::I64, 0.0, 2000.0, 1.0)
        .unwrap()
        .to_string();
    assert_eq!(long, "[   0,    1,    2, ..., 1997, 1998, 1999] i64[2000]");
    let cube = Tensor::zeros(DType::I8, [2, 1, 2]).unwrap().to_string();
    assert_eq!(cube, "[[[0, 0]],\n\n [[0, 0]]] i8[2, 1, 2]");
}

#[test]
fn typed_matches_every_element_type_and_shares_the_elements() {
    for dtype in DType::ALL {
        let t = Tensor::ones(dtype, [2, 3]).unwrap();
        let typed = t.typed();
        macro_rules! shared {
            ($($variant:ident $t:ty),*) => {
                match (&typed, dtype) {
                    $((Typed::$variant(x), DType::$variant) => {
                        let (own, of) = (x.as_slice(), t.as_slice::<$t>().unwrap());
                        assert!(std::ptr::eq(own, of), "{dtype} is copied");
                        assert_eq!((x.n_elements(), x.len()), (6, 6));
                        assert_eq!(*TypedTensor::<$t>::zeros([2]).unwrap(), Tensor::zeros(dtype, [2]).unwrap());
                    })*
                    _ => panic!("{dtype} is {typed:?}"),
                }
            };
        }
        shared!(Bool bool, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64,
            F16 f16, BF16 bf16, F32 f32, F64 f64, C64 C64, C128 C128);
        assert_eq!(Tensor::from(typed), t);
    }
    // In the tensor's own order; a view that is not contiguous is copied.
    let x = Tensor::from_vec_col_major([2, 2], vec![1, 2, 3, 4]).unwrap();
    let Typed::I32(columns) = x.typed() else {
        panic!()
    };
    assert_eq!(columns.as_slice(), [1, 2, 3, 4]);
    let Typed::I32(rows) = x.slice(0, 0..1).unwrap().typed() else {
        panic!()
    };
    assert_eq!(rows.as_slice(), [1, 3]);
}

#[test]
fn npy_files() {
    let path = std::env::temp_dir().join(format!("cotangent-tensor-{}.npy", std::process::id()));
    let x = Tensor::from_vec_col_major([2, 3], vec![1.5f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    x.write_npy(&path).unwrap();
    let back = Tensor::read_npy(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(back, x);
    assert_eq!(Tensor::read_npy(&path).unwrap_err().code(), Code::Io);
}

/// Files keep the memory order of tensors, as NumPy's `fortran_order`.
#[test]
fn files_keep_orders() {
    let rows = Tensor::from_vec_row_major([2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    let columns = rows.to_order(Order::ColumnMajor).unwrap();
    let cube = Tensor::from_vec_col_major([2, 1, 2], vec![1i32, 2, 3, 4]).unwrap();
    let file = |ending: &str| {
        std::env::temp_dir().join(format!("cotangent_orders_{}.{ending}", std::process::id()))
    };
    let (one, all) = (file("npy"), file("npz"));
    Tensor::write_all(
        &all,
        &[("rows", &rows), ("columns", &columns), ("cube", &cube)],
    )
    .unwrap();
    let back = Tensor::read_all(&all).unwrap();
    for (want, (_, got)) in [&rows, &columns, &cube].into_iter().zip(&back) {
        assert!(
            got.same_bits(want) && got.order() == want.order(),
            "{got:?} is not {want:?}"
        );
        want.write_npy(&one).unwrap();
        let got = Tensor::read_npy(&one).unwrap();
        assert!(
            got.same_bits(want) && got.order() == want.order(),
            "{got:?} is not {want:?}"
        );
    }
    // Arrays are row-major.
    assert_eq!(
        cotangent::npz::read(&all).unwrap()[1].1,
        rows.to_array().unwrap()
    );
    std::fs::remove_file(one)
        .and(std::fs::remove_file(all))
        .unwrap();
}

#[test]
fn every_kind_of_tensor_prints_its_numbers() {
    let t = Tensor::from_vec_row_major([2, 2], vec![1.0, 2.5, 3.0, 4.0]).unwrap();
    let shown = "[[ 1., 2.5],\n [ 3.,  4.]] f64[2, 2]";
    assert_eq!(t.to_string(), shown);
    // A traced tensor is computed, wherever it came from.
    let x = TracedTensor::from(t.clone());
    assert_eq!(x.to_string(), shown);
    let y = x.square().sum(..);
    assert_eq!(
        (y.to_string(), format!("{y:.1}")),
        ("32.25 f64[]".into(), "32.2 f64[]".into())
    );
    // Placeholders and errors have no numbers.
    let p = TracedTensor::input_named("p", DType::F32, vec![Dim::sym("n")]);
    assert_eq!(p.to_string(), "TracedTensor(p: f32[n])");
    assert_eq!(p.exp().to_string(), "TracedTensor(exp -> f32[n])");
    let wrong = &x + &TracedTensor::from([1.0, 2.0, 3.0]);
    assert!(
        wrong.to_string().contains("`add` of f64[2,2] and f64[3]"),
        "{wrong}"
    );
    // Eager tensors, and their errors.
    let rt = EagerRuntime::new();
    let e = rt.variable_from(t).unwrap();
    assert_eq!(e.to_string(), shown);
    let wrong = &e + &rt.vector(vec![1.0, 2.0, 3.0]).unwrap();
    assert!(wrong.to_string().contains("f64[3]"), "{wrong}");
}

#[test]
fn debug_output_has_numbers_on_one_line() {
    let t = Tensor::from_vec_row_major([2, 2], vec![1.0, 2.5, 3.0, 4.0]).unwrap();
    assert_eq!(
        format!("{t:?}"),
        "Tensor([[1., 2.5], [3., 4.]] f64[2, 2], RowMajor)"
    );
    let x = TracedTensor::from(t.clone());
    assert_eq!(
        format!("{x:?}"),
        "TracedTensor([[1., 2.5], [3., 4.]] f64[2, 2])"
    );
    assert_eq!(format!("{:?}", x.sum(..)), "TracedTensor(10.5 f64[])");
    let p = TracedTensor::input(DType::F64, [2]);
    assert_eq!(format!("{p:?}"), "TracedTensor(f64[2])");
    let long = TracedTensor::arange(DType::I32, 0.0, 100.0, 1.0);
    let text = "TracedTensor([0, 1, 2, ..., 97, 98, 99] i32[100])";
    assert_eq!(format!("{long:?}"), text);

    // A struct of tensors is readable, on one line or on several.
    #[derive(Debug, Tree)]
    struct Affine {
        slope: TracedTensor,
        offset: TracedTensor,
    }
    let line = Affine {
        slope: x.mean([0]),
        offset: 0.5.into(),
    };
    assert_eq!(
        format!("{line:?}"),
        "Affine { slope: TracedTensor([2., 3.25] f64[2]), offset: TracedTensor(0.5 f64[]) }"
    );
    assert_eq!(
        format!("{line:#?}"),
        "Affine {\n    slope: TracedTensor([2., 3.25] f64[2]),\n    offset: TracedTensor(0.5 f64[]),\n}"
    );
}

#[test]
fn debug_output_of_eager_tensors_and_runtimes_names_their_state() {
    let rt = EagerRuntime::new();
    let x = rt.variable_from(vec![1.0, 2.0]).unwrap();
    let (y, c) = (x.exp().unwrap(), rt.constant_from([1i64, 2]).unwrap());
    let id = rt.id();
    let text = format!("{c:?}");
    let want = format!(
        "EagerTensor {{ dtype: i64, shape: [2], key: none, requires_grad: false, has_trace: false, \
         ctx_id: {id}, elements: [1, 2] }}"
    );
    assert_eq!(text, want);
    let text = format!("{x:?}");
    assert!(
        text.contains("requires_grad: true, has_trace: false"),
        "{text}"
    );
    assert!(text.ends_with("elements: [1., 2.] }"), "{text}");
    let text = format!("{y:?}");
    assert!(
        text.contains("requires_grad: true, has_trace: true"),
        "{text}"
    );
    // Two results have two keys.
    let key = |t: &EagerTensor| {
        let text = format!("{t:?}");
        text.split("key: ")
            .nth(1)
            .unwrap()
            .split(',')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_ne!(key(&x), key(&y));
    assert_eq!(key(&y), key(&y.clone()));
    let wrong = &x + &rt.vector(vec![1.0, 2.0, 3.0]).unwrap();
    assert!(format!("{wrong:?}").starts_with("EagerTensor("));

    let text = format!("{rt:?}");
    let start = format!(
        "EagerRuntime {{ id: {id}, backend: cpu, executor: Executor {{ threads: None, kernels: {{}} }}, rules: "
    );
    assert!(text.starts_with(&start), "{text}");
    assert!(text.ends_with("slots: 1 }"), "{text}");
    drop((x, y, wrong));
    assert!(format!("{rt:?}").ends_with("slots: 0 }"));

    // A call that changes the backend holds the executor.
    let inside = rt
        .with_backend_mut(|backend| {
            backend.register_kernel("filter.v1", |op, _| {
                cotangent::bail!(NoRule, "`{}` has no kernel", op.name())
            });
            format!("{rt:?}")
        })
        .unwrap();
    assert!(
        inside.contains("backend: cpu, executor: <locked>, rules: "),
        "{inside}"
    );
    let text = format!("{rt:?}");
    let want = "executor: Executor { threads: None, kernels: {\"filter.v1\"} }";
    assert!(text.contains(want), "{text}");
}

#[test]
fn every_kind_of_tensor_has_the_constructors() {
    let rt = EagerRuntime::new();
    let three = |t: cotangent::Result<Tensor>, x: TracedTensor, e: EagerTensor| {
        let (t, x, e) = (t.unwrap(), x.to_tensor().unwrap(), e.to_tensor().unwrap());
        assert!(t.same_bits(&x) && t.same_bits(&e), "{t} {x} {e}");
        assert_eq!((t.order(), t.order()), (x.order(), e.order()));
    };
    let (f, shape) = (DType::F32, [2usize, 3]);
    type T = TracedTensor;
    three(
        Tensor::zeros(f, shape),
        T::zeros(f, shape),
        rt.zeros(f, shape).unwrap(),
    );
    three(
        Tensor::ones(f, shape),
        T::ones(f, shape),
        rt.ones(f, shape).unwrap(),
    );
    three(
        Tensor::full(f, shape, 2.5),
        T::full(f, shape, 2.5),
        rt.full(f, shape, 2.5).unwrap(),
    );
    three(Tensor::eye(f, 3), T::eye(f, 3), rt.eye(f, 3).unwrap());
    three(
        Tensor::arange(f, 0.0, 2.0, 0.5),
        T::arange(f, 0.0, 2.0, 0.5),
        rt.arange(f, 0.0, 2.0, 0.5).unwrap(),
    );
    three(
        Tensor::linspace(f, 0.0, 1.0, 4),
        T::linspace(f, 0.0, 1.0, 4),
        rt.linspace(f, 0.0, 1.0, 4).unwrap(),
    );
    let v = || vec![1i64, -2, 3];
    three(
        Ok(Tensor::vector(v())),
        T::vector(v()),
        rt.vector(v()).unwrap(),
    );
    three(
        Ok(Tensor::scalar(true)),
        T::scalar(true),
        rt.scalar(true).unwrap(),
    );
    for t in [
        Tensor::vector(v()),
        Tensor::eye(DType::C64, 2).unwrap(),
        Tensor::scalar(true),
    ] {
        let (x, e) = (T::from(t.clone()), rt.constant_from(t.clone()).unwrap());
        three(t.zeros_like(), x.zeros_like(), e.zeros_like().unwrap());
        three(t.ones_like(), x.ones_like(), e.ones_like().unwrap());
    }
    // A constructor of traced tensors returns no result: its error is that of the program.
    let e = T::full(DType::U8, [2], 256i64)
        .exp()
        .to_tensor()
        .unwrap_err();
    assert_eq!(
        e.code(),
        Tensor::full(DType::U8, [2], 256i64).unwrap_err().code()
    );
}

#[test]
fn numbers_vectors_and_arrays_become_tensors() {
    fn both<X: Clone>(x: X) -> Tensor
    where
        Tensor: From<X>,
        TracedTensor: From<X>,
    {
        let t = Tensor::from(x.clone());
        assert!(TracedTensor::from(x).to_tensor().unwrap().same_bits(&t));
        t
    }
    assert!(both(1.5f32).same_bits(&Tensor::scalar(1.5f32)));
    assert!(both(1.5).same_bits(&Tensor::scalar(1.5f64)));
    assert!(both(2).same_bits(&Tensor::scalar(2i32)));
    assert!(both(2i64).same_bits(&Tensor::scalar(2i64)));
    assert!(both(vec![1.0f32, 2.0]).same_bits(&Tensor::vector(vec![1.0f32, 2.0])));
    assert!(both([true, false]).same_bits(&Tensor::vector(vec![true, false])));
    assert!(both([C64::new(1.0, 2.0)]).same_bits(&Tensor::vector(vec![C64::new(1.0, 2.0)])));
    assert_eq!(both([0.0f64; 0]).shape(), [0]);
    // Also where a runtime takes a tensor.
    let rt = EagerRuntime::new();
    let x = rt.variable_from([3.0, 4.0]).unwrap();
    assert_eq!(x.square().unwrap().to_vec::<f64>().unwrap(), [9.0, 16.0]);
    assert_eq!(rt.constant_from(2.0).unwrap().item::<f64>().unwrap(), 2.0);
}

#[test]
fn numbers_of_traced_and_eager_tensors_need_no_plain_tensor() {
    let x = TracedTensor::from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0]);
    assert_eq!(x.sum(..).item::<f64>().unwrap(), 10.0);
    assert_eq!((&x * 2.0).to_vec::<f64>().unwrap(), [2.0, 4.0, 6.0, 8.0]);
    let e = EagerRuntime::new()
        .from_vec_col_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])
        .unwrap();
    assert_eq!(e.to_vec::<f64>().unwrap(), x.to_vec::<f64>().unwrap());
    assert_eq!(e.sum(..).unwrap().item::<f64>().unwrap(), 10.0);
    // Another element type, more than one element, and a placeholder are errors.
    assert_eq!(x.to_vec::<f32>().unwrap_err().code(), Code::DTypeMismatch);
    assert_eq!(x.item::<f64>().unwrap_err().code(), Code::ShapeMismatch);
    let p = TracedTensor::input(DType::F64, [2]);
    assert_eq!(p.to_vec::<f64>().unwrap_err().code(), Code::Unbound);
}
