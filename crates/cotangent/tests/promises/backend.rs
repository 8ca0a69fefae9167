//! The promise that plain tensors compute on a backend: with the bits of eager tensors, by the
//! kernels of the backend, without a tape.

use super::kinds::{all_plain, operands};
use super::rows::ROWS;
use super::spellings::of_composite;
use cotangent::cpu::Results;
use cotangent::extend::{Arg, Batched, Cost, Env, Lin, Linearized, Lv, Primitive};
use cotangent::ops::{composites, entries};
use cotangent::{
    Array, Code, CpuBackend, Dim, EagerRuntime, Emit, Function, Op, Tensor, TensorOpsExt, Type, Val,
};

/// Asserts that what `f` emits has one result on a backend and on eager tensors: the same bits in
/// the same memory order, or an error.
fn agree(
    what: &str,
    x: &[&Tensor],
    ctx: &mut CpuBackend,
    f: impl Fn(&dyn Emit, &[Val]) -> Vec<Val>,
) {
    let rt = EagerRuntime::new();
    let eager: Vec<_> = x
        .iter()
        .map(|&t| rt.constant_from(t.clone()).unwrap())
        .collect();
    // The second occurrence is compiled.
    for _ in 0..3 {
        let want = rt.write(&eager.iter().collect::<Vec<_>>(), &f);
        let want = all_plain(want.map_err(|e| e.to_string()));
        match (ctx.emit(x, &f), want) {
            (Ok(got), Ok(want)) => {
                assert_eq!(got.len(), want.len(), "{what}");
                for (got, want) in got.iter().zip(&want) {
                    assert!(got.same_bits(want), "{what}: {got} is not {want}");
                    assert_eq!(got.order(), want.order(), "{what}");
                }
            }
            (Err(_), Err(_)) => {}
            (got, want) => panic!("{what}: {got:?}, eager: {want:?}"),
        }
    }
}

#[test]
fn plain_tensors_compute_on_a_backend() {
    let mut ctx = CpuBackend::with_threads(2).unwrap();
    let rt = EagerRuntime::new();
    let (plain, eager) = (operands(|t| t), operands(|t| rt.constant_from(t).unwrap()));
    for row in ROWS {
        let got = (row.with_backend)(&plain, &mut ctx).unwrap();
        let want = all_plain((row.eager)(&eager)).unwrap();
        assert_eq!(got.len(), want.len(), "{}", row.name);
        for (got, want) in got.iter().zip(&want) {
            assert!(got.same_bits(want), "{}: {got} is not {want}", row.name);
        }
    }
    let tensors = |arrays: &[Array]| -> Vec<Tensor> { arrays.iter().map(Tensor::from).collect() };
    for entry in entries() {
        for s in (entry.samples)(entry.name) {
            if !s.operands.is_empty() {
                let (x, op): (_, Op) = (tensors(&s.operands), s.op.clone());
                let f = |cx: &dyn Emit, x: &[Val]| cx.emit(op.clone(), x).to_vec();
                agree(entry.name, &x.iter().collect::<Vec<_>>(), &mut ctx, f);
            }
        }
    }
    for c in composites() {
        for s in of_composite(c) {
            if !s.operands.is_empty() {
                let (x, function): (_, Function) = (tensors(&s.operands), s.function);
                let f = |cx: &dyn Emit, x: &[Val]| cx.inline(&function, x);
                agree(c.name, &x.iter().collect::<Vec<_>>(), &mut ctx, f);
            }
        }
    }
}

/// Programs as they were promised.
#[test]
fn promised_calls_of_operations_on_a_backend_compile() -> cotangent::Result<()> {
    let mut ctx = CpuBackend::new();
    let a = Tensor::from_vec_col_major(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let b = Tensor::from_vec_col_major(vec![3, 2], vec![0.5, -1.0, 2.0, 1.5, -0.25, 3.0])?;
    let y = a.matmul(&b, &mut ctx)?;
    assert_eq!(y.as_slice::<f64>()?, &[7.5, 9.0, 15.75, 20.0]);
    let axes = [0];
    assert_eq!(
        y.reduce_sum(&axes, &mut ctx)?.as_slice::<f64>()?,
        &[16.5, 35.75]
    );
    let perm = [1, 0];
    assert_eq!(
        y.transpose(&perm, &mut ctx)?.as_slice::<f64>()?,
        &[7.5, 15.75, 9.0, 20.0]
    );
    let row = Tensor::vector(vec![1.0, 2.0]);
    assert_eq!(
        row.broadcast_in_dim([2, 2], &[1], &mut ctx)?.shape(),
        [2, 2]
    );
    assert_eq!(a.add(&a, &mut ctx)?, a.mul(&Tensor::scalar(2.0), &mut ctx)?);
    assert_eq!(a.maximum(2.5, &mut ctx)?.as_slice::<f64>()?[0], 2.5);
    let two = a.split(-1, &[1, 2], &mut ctx)?;
    assert_eq!(Tensor::concat(&[&two[0], &two[1]], 1, &mut ctx)?, a);
    let (q, r) = y.qr(&mut ctx)?;
    assert_eq!((q.shape(), r.shape()), (&[2, 2][..], &[2, 2][..]));

    let mut backend = CpuBackend::new();
    let c = backend.add(&a, &a)?;
    assert_eq!(backend.exp(&c)?, c.exp(&mut ctx)?);
    assert_eq!(
        backend.reshape(&a, [6])?.to_vec::<f64>()?,
        [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]
    );
    assert_eq!(backend.broadcast_to(&row, [2, 2])?.shape(), [2, 2]);
    let error = backend.cholesky(&backend.clone().neg(&y)?).unwrap_err();
    assert!(matches!(error.code(), Code::NotPositiveDefinite), "{error}");
    Ok(())
}

/// An extension operation whose reference evaluation returns its operand.
#[derive(Debug)]
struct Filter;

impl Primitive for Filter {
    fn name(&self) -> &str {
        "filter.v1"
    }
    fn infer(&self, x: &[Type]) -> cotangent::Result<Vec<Type>> {
        Ok(x.to_vec())
    }
    fn eval(&self, x: &[Array], _: &Env) -> cotangent::Result<Vec<Array>> {
        Ok(x.to_vec())
    }
    fn linear_in(&self, _: &[bool]) -> bool {
        true
    }
    fn linearize(
        &self,
        cx: &Lin<'_>,
        x: &[Val],
        t: &[Option<Lv>],
    ) -> cotangent::Result<Linearized> {
        Ok(cx.itself(&Op::extension(Filter), x, t))
    }
    fn transpose(
        &self,
        _: &dyn Emit,
        _: &[Arg],
        ct: &[Option<Val>],
    ) -> cotangent::Result<Vec<Option<Val>>> {
        Ok(ct.to_vec())
    }
    fn batch(&self, _: &dyn Emit, _: &Dim, x: &[Batched]) -> cotangent::Result<Vec<Batched>> {
        Ok(x.to_vec())
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

/// The compiled operations of a backend use its kernels. A clone shares them until it gets other
/// kernels.
#[test]
fn operations_on_a_backend_run_its_kernels() {
    let op = Op::extension(Filter);
    let x = Tensor::vector(vec![1.0, 2.0]);
    let run = |ctx: &mut CpuBackend| {
        // The second occurrence is compiled.
        for _ in 0..2 {
            ctx.emit(&[&x], |cx, x| cx.emit(op.clone(), x).to_vec())
                .unwrap();
        }
        let y = ctx.emit(&[&x], |cx, x| cx.emit(op.clone(), x).to_vec());
        y.unwrap()[0].to_vec::<f64>().unwrap()
    };
    let mut plain = CpuBackend::new();
    assert_eq!(run(&mut plain), [1.0, 2.0]);
    let mut reversed = plain.clone();
    reversed.register_kernel("filter.v1", |_, _| {
        Ok(Box::new(|_, x| {
            Ok(x.into_iter().map(|t| t.reverse(0)).collect::<Results>())
        }))
    });
    assert_eq!(run(&mut reversed), [2.0, 1.0]);
    assert_eq!(run(&mut plain), [1.0, 2.0]);
    let mut repeated = reversed.clone();
    repeated.replace_kernel("filter.v1", |_, _| {
        Ok(Box::new(|_, x| {
            let first = x.into_iter().map(|t| t.slice(0, 0, 1, 1));
            first
                .map(|t| t.reshape(&[])?.broadcast(&[2], &[]))
                .collect()
        }))
    });
    assert_eq!(run(&mut repeated), [1.0, 1.0]);
    assert_eq!(run(&mut reversed), [2.0, 1.0]);
}
