//! Runtimes and formats of arrays refuse values of opaque types by an error that names the type.

use cotangent::ad::EagerRuntime;
use cotangent::extend::{
    Arg, Batched, Cost, Cotangent, Emit, Env, Lin, Linearized, Lv, Opaque, OpaqueType, Primitive,
    Val, no_rule,
};
use cotangent::{
    Array, Builder, DType, Dim, Error, Function, Op, Result, Tensor, TracedTensor, Type, stablehlo,
};
use std::sync::Arc;

#[derive(Debug)]
struct Element;

impl Opaque for Element {
    fn name(&self) -> &str {
        "ring.element"
    }
    fn cotangent(&self) -> Cotangent {
        Cotangent::Other(Type::scalar(DType::F64))
    }
}

fn element() -> DType {
    DType::Opaque(OpaqueType::declare(Element).unwrap())
}

/// A number as an element, or back.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ring {
    Wrap,
    Unwrap,
}

impl Primitive for Ring {
    fn name(&self) -> &str {
        match self {
            Ring::Wrap => "ring.wrap",
            Ring::Unwrap => "ring.unwrap",
        }
    }
    fn infer(&self, _: &[Type]) -> Result<Vec<Type>> {
        Ok(vec![Type::scalar(match self {
            Ring::Wrap => element(),
            Ring::Unwrap => DType::F64,
        })])
    }
    fn eval(&self, x: &[Array], _: &Env) -> Result<Vec<Array>> {
        // An array in place of an element, which no runtime may take for one.
        Ok(x.to_vec())
    }
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        Ok(cx.one(cx.op(Op::extension(*self), x), t[0]))
    }
    fn transpose(&self, _: &dyn Emit, _: &[Arg], _: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        Err(no_rule(self, "transpose"))
    }
    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

fn names_the_type<T>(what: &str, r: std::result::Result<T, impl Into<Error>>) {
    let e: Error = r
        .err()
        .unwrap_or_else(|| panic!("{what} is accepted"))
        .into();
    assert!(e.to_string().contains("!ring.element"), "{what}: {e}");
}

/// `unwrap(wrap(x))`.
fn there_and_back() -> Result<Arc<Function>> {
    let b = Builder::new("f", Default::default());
    let x = b.param(Type::scalar(DType::F64), Some("x"));
    let y = b.emit(Op::extension(Ring::Wrap), &[x])[0];
    let z = b.emit(Op::extension(Ring::Unwrap), &[y]);
    Ok(Arc::new(b.finish(&z)?))
}

#[test]
fn programs_with_opaque_values_run_on_no_runtime_of_arrays() -> Result<()> {
    let f = there_and_back()?;
    names_the_type("compile", cotangent::compile(&f).map(|_| ()));
    names_the_type("reference", cotangent::run(&f, &[Array::scalar(1.0)]));
    names_the_type("StableHLO", stablehlo::write(std::slice::from_ref(&f)));
    let x = TracedTensor::scalar(1.0);
    let y = TracedTensor::apply_one(Op::extension(Ring::Wrap), &[&x]);
    names_the_type("a traced element", y.to_tensor());
    let z = TracedTensor::apply_one(Op::extension(Ring::Unwrap), &[&y]);
    names_the_type("a traced program", z.to_tensor());
    names_the_type("a core operation", (&y + &y).to_tensor());
    let rt = EagerRuntime::new();
    for x in [
        rt.variable_from(Tensor::scalar(1.0))?,
        rt.constant_from(Tensor::scalar(1.0))?,
    ] {
        names_the_type(
            "an eager element",
            rt.apply(Op::extension(Ring::Wrap), &[&x]),
        );
    }
    Ok(())
}

#[test]
fn tensors_have_no_opaque_elements() -> Result<()> {
    let d = element();
    names_the_type("zeros", Tensor::zeros(d, [2]));
    names_the_type("ones", Tensor::ones(d, [2]));
    names_the_type("full", Tensor::full(d, [2], 1.0));
    names_the_type("eye", Tensor::eye(d, 2));
    names_the_type("arange", Tensor::arange(d, 0.0, 3.0, 1.0));
    names_the_type("iota", Tensor::iota(d, [2], 0));
    names_the_type("traced zeros", TracedTensor::zeros(d, [2]).to_tensor());
    names_the_type("traced eye", TracedTensor::eye(d, 2).to_tensor());
    names_the_type(
        "traced arange",
        TracedTensor::arange(d, 0.0, 3.0, 1.0).to_tensor(),
    );
    names_the_type("traced iota", TracedTensor::iota(d, [2], 0).to_tensor());
    let x = Tensor::vector(vec![1.0, 2.0]);
    let traced = TracedTensor::vector(vec![1.0, 2.0]);
    names_the_type("traced astype", traced.astype(d).to_tensor());
    let rt = EagerRuntime::new();
    names_the_type("eager astype", rt.constant_from(x.clone())?.astype(d));
    names_the_type("astype", cotangent::methods::Shapes::astype(&x, d));
    Ok(())
}
