//! Einstein summation over eager tensors, traced tensors, and the values of any emitter.
//!
//! ```
//! use cotangent::{Tensor, TracedTensor, ad::EagerRuntime, einsum::{EagerEinsumExt, einsum}};
//! let rt = EagerRuntime::new();
//! let a = rt.variable_from(Tensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?)?;
//! let b = rt.constant_from(Tensor::vector(vec![1.0, 10.0]))?;
//! let y = [&a, &b].einsum("ij,j->i")?;
//! assert_eq!(y.to_tensor()?.as_slice::<f64>()?, [21.0, 43.0]);
//!
//! let t = TracedTensor::from_vec_row_major(vec![2, 2], vec![1.0, 2.0, 3.0, 4.0]);
//! assert_eq!(einsum("ii", &[&t])?.to_tensor()?.item::<f64>()?, 5.0);
//! # Ok::<(), cotangent::ad::Error>(())
//! ```
//!
//! The notation is NumPy's: explicit and implicit results, `...`, and repeated letters. Parentheses
//! fix a contraction order, `"(ij,jk),kl->il"`. Otherwise a cheap one is searched for, and
//! [`einsum_path`] reports it. The emitted operations are products, sums and permutations of the
//! core, so every transform applies, to any order.

use crate::here::here;
use crate::ops::DotGeneral;
use crate::traced::record_in;
use crate::{
    Code, CpuBackend, DType, Dim, EagerTensor, Emit, Error, GraphCompiler, Result, TracedTensor,
    Val, ad,
};
use cotangent_core::transform::Session;
use cotangent_einsum::{Extents, Label, Network, Spec};
pub use cotangent_einsum::{Path, Strategy};
use std::collections::BTreeMap;
use std::sync::Arc;

fn wrong(e: cotangent_einsum::Error) -> Error {
    Error::new(Code::ShapeMismatch, e.to_string())
}

fn plan(
    spec: &str,
    shapes: &[Vec<Option<usize>>],
    strategy: Strategy,
) -> Result<(Network, Extents, Path)> {
    let ranks: Vec<usize> = shapes.iter().map(Vec::len).collect();
    let network = Spec::parse(spec)
        .and_then(|s| s.network(&ranks))
        .and_then(|n| n.bind(shapes));
    let (network, extents) = network.map_err(wrong)?;
    let path = network.path(&extents, strategy).map_err(wrong)?;
    Ok((network, extents, path))
}

/// Registers the kernels of einsum with a backend. Every backend includes them already, so nothing
/// is added.
///
/// ```
/// use cotangent::{CpuBackend, GraphExecutor, einsum};
/// GraphExecutor::new(CpuBackend::new()).register_extension(einsum::register_runtime)?;
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn register_runtime(_: &mut CpuBackend) -> Result<()> {
    Ok(())
}

/// The contraction order for operands of these shapes, and its cost.
///
/// ```
/// use cotangent::einsum::{Strategy, einsum_path};
/// let path = einsum_path("ij,jk,kl->il", &[&[10, 1000], &[1000, 1000], &[1000, 1]], Strategy::Auto)?;
/// assert_eq!(path.steps[0].operands, [1, 2]);
/// assert_eq!(path.flops, 2.0 * (1e6 + 1e4));
/// println!("{path}");
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn einsum_path(spec: &str, shapes: &[&[usize]], strategy: Strategy) -> Result<Path> {
    let shapes: Vec<Vec<Option<usize>>> = shapes
        .iter()
        .map(|s| s.iter().map(|&n| Some(n)).collect())
        .collect();
    Ok(plan(spec, &shapes, strategy)?.2)
}

/// Sums of products of traced tensors. Shapes may be symbolic: the search for an order assumes a
/// moderate value for an unknown extent.
///
/// ```
/// use cotangent::{TracedTensor, closures::{grad, vmap}, einsum::einsum};
/// let w = TracedTensor::from_vec_row_major(vec![2, 2], vec![2.0, 1.0, 1.0, 3.0]);
/// let quadratic = |x: TracedTensor| einsum("i,ij,j->", &[&x, &w, &x]);
/// let xs = TracedTensor::from_vec_row_major(vec![2, 2], vec![1.0, 0.0, 0.0, 1.0]);
/// assert_eq!(vmap(grad(quadratic))(xs)?.to_tensor()?.to_vec::<f64>()?, [4.0, 2.0, 2.0, 6.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[track_caller]
pub fn einsum(spec: &str, operands: &[&TracedTensor]) -> Result<TracedTensor> {
    einsum_by(spec, operands, Strategy::Auto)
}

/// As [`einsum`], with another strategy for the contraction order.
#[track_caller]
pub fn einsum_by(
    spec: &str,
    operands: &[&TracedTensor],
    strategy: Strategy,
) -> Result<TracedTensor> {
    let loc = here();
    let y = record_in(Session::default(), loc, operands, |cx, x| {
        vec![write(cx, spec, x, strategy)]
    });
    Ok(y.map_err(|e| e.at(loc))?.remove(0))
}

/// `[&a, &b].einsum("ij,jk->ik")` on eager tensors.
///
/// ```
/// use cotangent::einsum::EagerEinsumExt;
/// use cotangent::{EagerRuntime, Tensor};
/// let rt = EagerRuntime::new();
/// let a = rt.variable_from(Tensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0])?)?;
/// let trace = [&a].einsum("ii->")?;
/// trace.backward()?;
/// assert_eq!(a.grad()?.unwrap().to_vec::<f64>()?, [1.0, 0.0, 0.0, 1.0]);
/// # Ok::<(), cotangent::ad::Error>(())
/// ```
pub trait EagerEinsumExt {
    /// The sum of products that `spec` specifies.
    #[track_caller]
    fn einsum(&self, spec: &str) -> ad::Result<EagerTensor>;
}

impl EagerEinsumExt for [&EagerTensor] {
    #[track_caller]
    fn einsum(&self, spec: &str) -> ad::Result<EagerTensor> {
        let Some(first) = self.first() else {
            return Err(empty(spec).into());
        };
        let rt = first.runtime();
        if self.len() < 3 {
            return Ok(rt
                .write(self, |cx, x| vec![write(cx, spec, x, Strategy::Auto)])?
                .remove(0));
        }
        // The search for an order takes longer than small products, so the runtime caches it.
        let shapes: Vec<Vec<Option<usize>>> = self
            .iter()
            .map(|x| x.shape().iter().map(|&n| Some(n)).collect())
            .collect();
        let key = crate::runtime::ExtensionCacheKey::new(
            "cotangent.einsum",
            format!("{spec} {shapes:?}"),
            0,
        );
        type Plan = (Network, Extents, Path);
        let known: Option<Arc<Plan>> = rt.with_extension_caches_mut(|caches| caches.get(&key))?;
        let plan = match known {
            Some(p) => p,
            None => {
                let p = plan(spec, &shapes, Strategy::Auto)?;
                let bytes = 64 * p.2.steps.len();
                rt.with_extension_caches_mut(|caches| caches.put(key, p.clone(), bytes))?;
                Arc::new(p)
            }
        };
        Ok(rt
            .write(self, |cx, x| vec![follow(cx, &plan.0, &plan.2, x)])?
            .remove(0))
    }
}

impl EagerEinsumExt for [EagerTensor] {
    #[track_caller]
    fn einsum(&self, spec: &str) -> ad::Result<EagerTensor> {
        self.iter().collect::<Vec<_>>().as_slice().einsum(spec)
    }
}

/// `compiler.einsum(spec, &[&a, &b])` on traced tensors.
///
/// ```
/// use cotangent::einsum::GraphCompilerEinsumExt;
/// use cotangent::{GraphCompiler, GraphExecutor, TracedTensor};
/// let a = TracedTensor::from_vec_row_major([2, 2], vec![1.0, 2.0, 3.0, 4.0]);
/// let compiler = GraphCompiler::new();
/// let y = compiler.einsum("ij,kj->ik", &[&a, &a])?;
/// let y = GraphExecutor::default().run(&compiler.compile(&y)?)?;
/// assert_eq!(y.to_vec::<f64>()?, [5.0, 11.0, 11.0, 25.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
pub trait GraphCompilerEinsumExt {
    /// The sum of products that `spec` specifies.
    ///
    /// ```
    /// use cotangent::{GraphCompiler, TracedTensor, einsum::GraphCompilerEinsumExt};
    /// let compiler = GraphCompiler::new();
    /// let a = TracedTensor::from_vec_row_major(vec![2], vec![1.0, 2.0]);
    /// let y = compiler.einsum("i,j->ij", &[&a, &a])?;
    /// assert_eq!(y.to_tensor()?.to_vec::<f64>()?, [1.0, 2.0, 2.0, 4.0]);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    fn einsum(&self, spec: &str, operands: &[&TracedTensor]) -> Result<TracedTensor>;
}

impl GraphCompilerEinsumExt for GraphCompiler {
    #[track_caller]
    fn einsum(&self, spec: &str, operands: &[&TracedTensor]) -> Result<TracedTensor> {
        einsum(spec, operands)
    }
}

fn empty(spec: &str) -> Error {
    Error::new(
        Code::Arity,
        format!("einsum `{spec}` needs at least one operand"),
    )
}

/// Emits a sum of products. For operations and rules of other crates.
pub fn write(cx: &dyn Emit, spec: &str, x: &[Val], strategy: Strategy) -> Val {
    let shapes: Vec<Vec<Option<usize>>> = x
        .iter()
        .map(|&v| cx.ty(v).shape.iter().map(Dim::as_const).collect())
        .collect();
    match if x.is_empty() {
        Err(empty(spec))
    } else {
        plan(spec, &shapes, strategy)
    } {
        Ok((network, _, path)) => follow(cx, &network, &path, x),
        Err(e) => {
            cx.fail(e.at(cx.loc()));
            Val::POISON
        }
    }
}

/// A value and the labels of its axes.
struct Labelled {
    val: Val,
    labels: Vec<Label>,
}

fn follow(cx: &dyn Emit, network: &Network, path: &Path, x: &[Val]) -> Val {
    let mut parts: Vec<Labelled> = Vec::with_capacity(x.len() + path.steps.len());
    for ((&v, labels), repeated) in x.iter().zip(&network.inputs).zip(&network.repeated) {
        let ty = cx.ty(v);
        let kept: Vec<Dim> = (0..ty.rank())
            .filter(|a| !repeated.contains(a))
            .map(|a| ty.shape[a].clone())
            .collect();
        let val = if repeated.is_empty() {
            v
        } else {
            cx.reshape(v, &kept)
        };
        parts.push(Labelled {
            val,
            labels: labels.clone(),
        });
    }
    for step in &path.steps {
        let result = match step.operands[..] {
            [a] => reduced(cx, &parts[a], &step.labels),
            [a, b] => product(cx, &parts[a], &parts[b], &step.labels),
            _ => unreachable!("a step has one or two operands"),
        };
        parts.push(result);
    }
    let last = parts.last().expect("at least one operand");
    permuted(cx, last, &network.output)
}

/// Permutes the axes of a value to this order of labels.
fn permuted(cx: &dyn Emit, x: &Labelled, order: &[Label]) -> Val {
    if x.labels == order {
        return x.val;
    }
    let at = |l: &Label| {
        x.labels
            .iter()
            .position(|m| m == l)
            .expect("the labels are those of the value")
    };
    cx.transpose(x.val, &order.iter().map(at).collect::<Vec<_>>())
}

/// Takes diagonals of repeated labels, and sums over labels that are not in `left`.
fn reduced(cx: &dyn Emit, x: &Labelled, left: &[Label]) -> Labelled {
    let &Labelled {
        mut val,
        ref labels,
    } = x;
    let mut labels = labels.clone();
    while let Some((j, i)) = (0..labels.len()).find_map(|j| {
        labels[..j]
            .iter()
            .position(|l| *l == labels[j])
            .map(|i| (j, i))
    }) {
        let twice = labels[j];
        let mut perm: Vec<usize> = (0..labels.len()).filter(|&a| a != i && a != j).collect();
        labels = perm.iter().map(|&a| labels[a]).chain([twice]).collect();
        perm.extend([i, j]);
        val = cx.diagonal(cx.transpose(val, &perm));
    }
    let summed: Vec<usize> = (0..labels.len())
        .filter(|&a| !left.contains(&labels[a]))
        .collect();
    if !summed.is_empty() {
        val = cx.reduce_sum(val, &summed);
        labels.retain(|l| left.contains(l));
    }
    Labelled { val, labels }
}

/// The product, summed over the labels that both operands have and `left` does not.
fn product(cx: &dyn Emit, x: &Labelled, y: &Labelled, left: &[Label]) -> Labelled {
    let at = |t: &Labelled, l: &Label| t.labels.iter().position(|m| m == l);
    let both: Vec<(usize, usize, Label)> = x
        .labels
        .iter()
        .enumerate()
        .filter_map(|(i, l)| at(y, l).map(|j| (i, j, *l)))
        .collect();
    let free = |t: &Labelled, o: &Labelled| {
        t.labels
            .iter()
            .filter(|l| at(o, l).is_none())
            .copied()
            .collect::<Vec<_>>()
    };
    let (batch, contract): (Vec<_>, Vec<_>) =
        both.into_iter().partition(|(.., l)| left.contains(l));
    let labels: Vec<Label> = batch
        .iter()
        .map(|(.., l)| *l)
        .chain(free(x, y))
        .chain(free(y, x))
        .collect();
    if contract.is_empty() {
        // Without summed labels the product is elementwise, so it fuses with its neighbors.
        let mut extents: BTreeMap<Label, Dim> = BTreeMap::new();
        for t in [x, y] {
            for (l, d) in t.labels.iter().zip(cx.ty(t.val).shape.iter()) {
                let known = extents.entry(*l).or_insert_with(|| d.clone());
                if known.as_const().is_none() {
                    *known = d.clone();
                }
            }
        }
        let shape: Vec<Dim> = labels.iter().map(|l| extents[l].clone()).collect();
        let spread = |t: &Labelled| {
            let position_of = |l: &Label| {
                labels
                    .iter()
                    .position(|m| m == l)
                    .expect("all labels are there")
            };
            let mut order: Vec<usize> = (0..t.labels.len()).collect();
            order.sort_by_key(|&a| position_of(&t.labels[a]));
            let dims: Vec<usize> = order.iter().map(|&a| position_of(&t.labels[a])).collect();
            let permuted_operand = permuted(
                cx,
                t,
                &order.iter().map(|&a| t.labels[a]).collect::<Vec<_>>(),
            );
            if dims.len() == shape.len() {
                permuted_operand
            } else {
                cx.broadcast_in_dim(permuted_operand, &shape, &dims)
            }
        };
        let (a, b) = (spread(x), spread(y));
        let val = if cx.ty(a).dtype == DType::Bool {
            cx.and(a, b)
        } else {
            cx.mul(a, b)
        };
        return Labelled { val, labels };
    }
    let pick = |of: &[(usize, usize, Label)], left: bool| {
        of.iter().map(|p| if left { p.0 } else { p.1 }).collect()
    };
    let d = DotGeneral {
        lhs_batch: pick(&batch, true),
        rhs_batch: pick(&batch, false),
        lhs_contract: pick(&contract, true),
        rhs_contract: pick(&contract, false),
        ..DotGeneral::default()
    };
    Labelled {
        val: cx.dot_general(x.val, y.val, d),
        labels,
    }
}
