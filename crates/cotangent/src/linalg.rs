//! Linear algebra on traced tensors ([`TracedTensorLinalgExt`]), eager tensors (methods), plain
//! tensors ([`TensorLinalgExt`], and [`LinalgBackend`] on a backend), and in closures.
//!
//! Matrices are in the last two axes, and leading axes are batches. Element types are real and
//! complex, in single and double precision. Derivatives exist to any order.
//!
//! ```
//! use cotangent::{TracedTensor, ad::TracedTensorAdExt, linalg::TracedTensorLinalgExt};
//! let a = TracedTensor::from_vec_row_major(vec![2, 2], vec![4.0, 0.0, 0.0, 9.0]);
//! let g = a.cholesky()?.sum(..).grad(&a)?.to_tensor()?;
//! assert_eq!(g.shape(), [2, 2]);
//! assert_eq!(g.to_vec::<f64>()?[0], 0.25);
//! # Ok::<(), cotangent::Error>(())
//! ```
//!
//! **Undefined results.** Examples are a matrix without Cholesky factor, a singular system, and a
//! derivative of eigenvectors where eigenvalues coincide. There a program returns NaN, and an eager
//! runtime and [`LinalgBackend`] return an error that names the cause. No result is a wrong finite
//! number. Functions that do not depend on the choice of vectors ([`svdvals`], [`eigvalsh`],
//! [`spectral_function`], [`low_rank_approximation`], [`det`]) keep correct derivatives there.
//!
//! [`svdvals`]: TracedTensorLinalgExt::svdvals
//! [`eigvalsh`]: TracedTensorLinalgExt::eigvalsh
//! [`spectral_function`]: TracedTensorLinalgExt::spectral_function
//! [`low_rank_approximation`]: TracedTensorLinalgExt::low_rank_approximation
//! [`det`]: TracedTensorLinalgExt::det

pub use crate::ops::{MatrixNorm, TriangularSolve, Turn};

use crate::axes::axes_of;
use crate::gpu::CudaBackend;
use crate::tensor_ops::called;
use crate::traced::{Trace, fresh_id};
use crate::{
    Axes, Code, CpuBackend, Dim, EagerTensor, Emit, Error, Result, Tensor, TracedTensor, Val, ad,
};
use cotangent_core::transform::RuleSet;

/// The rules of linear algebra, for a context that is built explicitly. Every context includes them
/// already, so the set is empty.
///
/// ```
/// use cotangent::{ad::AdContext, linalg};
/// AdContext::builder().with_extension_rules(linalg::ad_rules()?).build()?;
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn ad_rules() -> Result<RuleSet> {
    Ok(RuleSet::default())
}

/// Registers the kernels of linear algebra with a backend. Every backend includes them already, so
/// nothing is added.
///
/// ```
/// use cotangent::{CpuBackend, GraphExecutor, linalg};
/// GraphExecutor::new(CpuBackend::new()).register_extension(linalg::register_runtime)?;
/// # Ok::<(), cotangent::Error>(())
/// ```
pub fn register_runtime(_: &mut CpuBackend) -> Result<()> {
    Ok(())
}

/// The return type of a method with this number of results.
macro_rules! results {
    (1 $T:ty) => {
        $T
    };
    (2 $T:ty) => {
        ($T, $T)
    };
    (3 $T:ty) => {
        ($T, $T, $T)
    };
}

/// Conversion of a list of results to that return type.
macro_rules! taken {
    (1 $y:expr) => {{
        let mut y = $y.into_iter();
        one(&mut y)
    }};
    (2 $y:expr) => {{
        let mut y = $y.into_iter();
        (one(&mut y), one(&mut y))
    }};
    (3 $y:expr) => {{
        let mut y = $y.into_iter();
        (one(&mut y), one(&mut y), one(&mut y))
    }};
}

fn one<T>(y: &mut impl Iterator<Item = T>) -> T {
    y.next().expect("as many results as the operation has")
}

/// The table of functions: documentation, name, further operands, parameters, number of results,
/// and emitter.
macro_rules! functions {
    ($make:ident) => {
        $make! {
            "The lower triangular factor `L` of the Hermitian part, `L Lᴴ = (A + Aᴴ) / 2`."
                cholesky [] () 1 |cx, x| [cx.cholesky(x[0])];
            "As `cholesky`, and a boolean per matrix: whether the factor exists. A factor that does not exist is NaN, not an error."
                cholesky_ex [] () 2 |cx, x| cx.cholesky_ex(x[0]);
            "The solution of a triangular system; `self` is the triangular matrix."
                triangular_solve [b] (how: TriangularSolve) 1 |cx, x| [cx.triangular_solve(x[0], x[1], how)];
            "`P`, `L`, `U` with `A[P, :] = L U` (partial pivoting); `P` as row numbers (`i32`)."
                lu [] () 3 |cx, x| cx.lu_unpacked(x[0]);
            "The solution `X` of `A X = B`; a vector `B` is a column."
                solve [b] () 1 |cx, x| [cx.solve(x[0], x[1])];
            "The inverse."
                inv [] () 1 |cx, x| [cx.inv(x[0])];
            "The determinant. Its derivative is also correct at singular matrices."
                det [] () 1 |cx, x| [cx.det(x[0])];
            "Sign (phase) and logarithm of the magnitude of the determinant."
                slogdet [] () 2 |cx, x| cx.slogdet(x[0]);
            "The thin factorization `A = Q R`: `Q` with orthonormal columns and upper triangular `R`."
                qr [] () 2 |cx, x| cx.qr(x[0]);
            "As `qr`, with a square `Q`. For a tall matrix it has no derivative."
                qr_complete [] () 2 |cx, x| cx.emit(crate::ops::Qr { complete: true }.into(), &[x[0]]);
            "Eigenvalues, ascending, and eigenvectors of the Hermitian part."
                eigh [] () 2 |cx, x| cx.eigh(x[0]);
            "Eigenvalues, ascending, of the Hermitian part. They also have derivatives where they coincide."
                eigvalsh [] () 1 |cx, x| [cx.eigvalsh(x[0])];
            "Complex eigenvalues, ordered by real part, and complex eigenvectors."
                eig [] () 2 |cx, x| cx.eig(x[0]);
            "Complex eigenvalues, ordered by real part."
                eigvals [] () 1 |cx, x| [cx.eigvals(x[0])];
            "The thin decomposition: `U`, singular values (descending) and `Vᴴ`."
                svd [] () 3 |cx, x| cx.svd(x[0]);
            "As `svd`, with square `U` and `Vᴴ`. They have derivatives only for square matrices."
                svd_full [] () 3 |cx, x| cx.emit(crate::ops::Svd { vectors: true, full: true }.into(), &[x[0]]);
            "Singular values, descending. They also have derivatives where they coincide."
                svdvals [] () 1 |cx, x| [cx.svdvals(x[0])];
            "The `k` largest singular values with their vectors: `U`, `s`, `Vᴴ`."
                svd_truncated [] (k: usize) 3 |cx, x| cx.svd_truncated(x[0], &Dim::Const(k));
            "The singular values above `rtol` times the largest, with their vectors. Their number is data-dependent."
                svd_thresholded [] (rtol: f64) 3 |cx, x| cx.svd_thresholded(x[0], Some(rtol));
            "The nearest matrix of rank `k`, in the Frobenius norm."
                low_rank_approximation [] (k: usize) 1 |cx, x| [cx.low_rank_approximation(x[0], &Dim::Const(k))];
            "The Moore-Penrose inverse."
                pinv [] () 1 |cx, x| [cx.pinv(x[0], None)];
            "The minimizer `x` of `|A x - b|` with the least norm."
                lstsq [b] () 1 |cx, x| [cx.lstsq(x[0], x[1], None)];
            "A norm of matrices. The last two axes are removed."
                matrix_norm [] (kind: MatrixNorm) 1 |cx, x| [cx.matrix_norm(x[0], kind)];
            "`(Σ |x|^p)^(1/p)` over axes, which are removed. `p` may be infinite or 0."
                vector_norm [] (axes: impl Into<Axes>, p: f64) 1 |cx, x| [vector_norm(cx, x[0], axes.into(), p)];
            "As `vector_norm`; the axes are kept with extent 1."
                vector_norm_keepdims [] (axes: impl Into<Axes>, p: f64) 1 |cx, x| {
                    let (axes, rank) = (axes.into(), cx.ty(x[0]).rank());
                    let mut shape = cx.ty(x[0]).shape.to_vec();
                    for a in axes.of_rank("vector_norm", rank).unwrap_or_default() {
                        shape[a] = Dim::Const(1);
                    }
                    [cx.reshape(vector_norm(cx, x[0], axes, p), &shape)]
                };
            "The exponential of square matrices."
                matrix_exp [] () 1 |cx, x| [cx.matrix_exp(x[0])];
            "The exponential of square matrices: SciPy's name of `matrix_exp`."
                expm [] () 1 |cx, x| [cx.matrix_exp(x[0])];
            "An integer power of square matrices."
                matrix_power [] (n: i64) 1 |cx, x| [cx.matrix_power(x[0], n)];
            "The Kronecker product."
                kron [b] () 1 |cx, x| [cx.kron(x[0], x[1])];
            "The matrix function `f` of the Hermitian part: `f` of each eigenvalue, with the same eigenvectors. `f` must be elementwise."
                spectral_function [] (f: impl Fn(&TracedTensor) -> TracedTensor) 1
                |cx, x| [cx.spectral_function(x[0], |cx, w| of_each(cx, w, &f))];
            "The conjugate transpose of the last two axes."
                conj_transpose [] () 1 |cx, x| [cx.adjoint(x[0])];
            "The conjugate transpose of the last two axes: as `conj_transpose`."
                adjoint [] () 1 |cx, x| [cx.adjoint(x[0])];
            "The elements on and below diagonal `k`, zero elsewhere."
                tril [] (k: i64) 1 |cx, x| [cx.tril(x[0], k)];
            "The elements on and above diagonal `k`, zero elsewhere."
                triu [] (k: i64) 1 |cx, x| [cx.triu(x[0], k)];
        }
    };
}

/// The norm over axes of a value. An error fails the emitter.
fn vector_norm(cx: &dyn Emit, x: Val, axes: Axes, p: f64) -> Val {
    match axes_of(cx, "vector_norm", x, &axes) {
        Some(mut axes) => {
            axes.sort_unstable();
            cx.vector_norm(x, &axes, p)
        }
        None => Val::POISON,
    }
}

/// The function of a closure on traced tensors.
fn of_each(cx: &dyn Emit, w: Val, f: &dyn Fn(&TracedTensor) -> TracedTensor) -> Val {
    let start = fresh_id();
    let x = TracedTensor::input_like(cx.ty(w), cx.loc());
    let trace = Trace::cut("f", std::slice::from_ref(&x), &[&f(&x)], &[], start).and_then(|t| {
        match t.params.len() {
            1 => Ok(t.function),
            _ => Err(Error::new(
                Code::ForeignValue,
                "a spectral function may use numbers, but no other tensors",
            )),
        }
    });
    match trace {
        Ok(f) => cx.inline(&f, &[w])[0],
        Err(e) => {
            cx.fail(e);
            Val::POISON
        }
    }
}

macro_rules! traced {
    ($($doc:literal $name:ident [$($b:ident)?] ($($p:ident: $t:ty),*) $n:tt |$cx:ident, $x:ident| $write:expr;)*) => {
        /// Linear algebra on traced tensors. A wrong shape is an error of the call. Undefined
        /// results are NaN when the program runs.
        ///
        /// ```
        /// use cotangent::{TracedTensor, linalg::TracedTensorLinalgExt};
        /// let a = TracedTensor::from_vec_row_major([2, 2], vec![2.0, 1.0, 1.0, 3.0]);
        /// let (l, ok) = a.cholesky_ex()?;
        /// assert!(ok.to_tensor()?.item::<bool>()?);
        /// assert_eq!(l.matmul(&l.adjoint()?)?.to_tensor()?.shape(), [2, 2]);
        /// let (_, w, _) = a.svd()?;
        /// assert!((w.sum(..).to_tensor()?.item::<f64>()? - 5.0).abs() < 1e-12);
        /// # Ok::<(), cotangent::Error>(())
        /// ```
        pub trait TracedTensorLinalgExt {
            $(#[doc = $doc]
            fn $name(&self, $($b: &TracedTensor,)? $($p: $t),*) -> Result<results!($n TracedTensor)>;)*
        }

        impl TracedTensorLinalgExt for TracedTensor {
            $(#[track_caller]
            fn $name(&self, $($b: &TracedTensor,)? $($p: $t),*) -> Result<results!($n TracedTensor)> {
                let y = called(stringify!($name), &[self, $($b)?], |$cx, $x| $write.to_vec())?;
                Ok(taken!($n y))
            })*
        }
    };
}

macro_rules! eager {
    ($($doc:literal $name:ident [$($b:ident)?] ($($p:ident: $t:ty),*) $n:tt |$cx:ident, $x:ident| $write:expr;)*) => {
        /// Linear algebra on eager tensors. An undefined result is an error.
        impl EagerTensor {
            $(#[doc = $doc]
            #[track_caller]
            pub fn $name(&self, $($b: &EagerTensor,)? $($p: $t),*) -> ad::Result<results!($n EagerTensor)> {
                let y = called(stringify!($name), &[self, $($b)?], |$cx, $x| $write.to_vec())?;
                Ok(taken!($n y))
            })*
        }
    };
}

macro_rules! backend {
    ($($doc:literal $name:ident [$($b:ident)?] ($($p:ident: $t:ty),*) $n:tt |$cx:ident, $x:ident| $write:expr;)*) => {
        /// Linear algebra on plain tensors, run immediately. An undefined result is an error.
        ///
        /// ```
        /// use cotangent::{CpuBackend, Tensor, linalg::LinalgBackend};
        /// let a = Tensor::from_vec_row_major(vec![2, 2], vec![4.0, 2.0, 2.0, 10.0])?;
        /// let l = LinalgBackend::cholesky(&mut CpuBackend::new(), &a)?;
        /// assert_eq!(l.to_vec::<f64>()?, [2.0, 0.0, 1.0, 3.0]);
        /// # Ok::<(), cotangent::Error>(())
        /// ```
        pub trait LinalgBackend {
            $(#[doc = $doc]
            fn $name(&mut self, a: &Tensor, $($b: &Tensor,)? $($p: $t),*) -> Result<results!($n Tensor)>;)*
        }

        impl LinalgBackend for CpuBackend {
            $(#[track_caller]
            fn $name(&mut self, a: &Tensor, $($b: &Tensor,)? $($p: $t),*) -> Result<results!($n Tensor)> {
                CpuBackend::$name(self, a, $($b,)? $($p),*)
            })*
        }

        impl LinalgBackend for CudaBackend {
            $(#[track_caller]
            fn $name(&mut self, a: &Tensor, $($b: &Tensor,)? $($p: $t),*) -> Result<results!($n Tensor)> {
                self.runtime().holding(&[a, $($b)?])?;
                TensorLinalgExt::$name(a, $($b,)? $($p),*)
            })*
        }
    };
}

macro_rules! plain {
    ($($doc:literal $name:ident [$($b:ident)?] ($($p:ident: $t:ty),*) $n:tt |$cx:ident, $x:ident| $write:expr;)*) => {
        /// Linear algebra on plain tensors as methods, run immediately. An undefined result is an
        /// error.
        ///
        /// ```
        /// use cotangent::{Tensor, linalg::TensorLinalgExt};
        /// let a = Tensor::from_vec_row_major([2, 2], vec![4.0, 2.0, 2.0, 10.0])?;
        /// assert_eq!(a.cholesky()?.to_vec::<f64>()?, [2.0, 0.0, 1.0, 3.0]);
        /// # Ok::<(), cotangent::Error>(())
        /// ```
        pub trait TensorLinalgExt {
            $(#[doc = $doc]
            fn $name(&self, $($b: &Tensor,)? $($p: $t),*) -> Result<results!($n Tensor)>;)*
        }

        impl TensorLinalgExt for Tensor {
            $(#[track_caller]
            fn $name(&self, $($b: &Tensor,)? $($p: $t),*) -> Result<results!($n Tensor)> {
                let y = called(stringify!($name), &[self, $($b)?], |$cx, $x| $write.to_vec())?;
                Ok(taken!($n y))
            })*
        }
    };
}

functions!(traced);
functions!(eager);
functions!(backend);
functions!(plain);
