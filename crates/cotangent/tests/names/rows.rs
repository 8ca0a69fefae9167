//! Every method of tensors, called on operands of each kind.

use super::kinds::{Operands, Outs};
use cotangent::linalg::{MatrixNorm, TensorLinalgExt, TracedTensorLinalgExt, TriangularSolve};
use cotangent::methods::*;
use cotangent::ops::{Bounds, Combine, DotGeneral, LossReduction, Windows};
use cotangent::{CpuBackend, DType, EagerTensor, Tensor, TracedTensor};

/// Results of a row, or the text of an error.
pub(crate) type Results<T> = Result<Vec<T>, String>;

/// An operation on each kind of tensor, and on plain tensors with a backend.
pub(crate) struct NameRow {
    pub name: &'static str,
    pub plain: fn(&Operands<Tensor>) -> Results<Tensor>,
    pub with_backend: fn(&Operands<Tensor>, &mut CpuBackend) -> Results<Tensor>,
    pub eager: fn(&Operands<EagerTensor>) -> Results<EagerTensor>,
    pub traced: fn(&Operands<TracedTensor>) -> Results<TracedTensor>,
}

/// The call of a row with a backend as the last argument. Methods of `Tensor` would hide some of
/// them.
macro_rules! with_backend {
    ($ctx:ident [$o:ident.$operand:ident.$method:ident($($argument:expr),* $(,)?)]) => {
        <Tensor as cotangent::TensorOpsExt>::$method(&$o.$operand, $($argument,)* $ctx)
    };
    ($ctx:ident [$t:ident::$function:ident($($argument:expr),* $(,)?)]) => {
        <Tensor as cotangent::TensorOpsExt>::$function($($argument,)* $ctx)
    };
}

/// Rows of methods: name, operands, call. A function without a receiver names the type of tensors
/// after the name of its row. The call is in brackets, so that its tokens have the line of the row.
macro_rules! rows {
    ($($name:ident $(<$t:ident>)? |$o:ident| $call:tt)*) => {
        pub(crate) const ROWS: &[NameRow] = &[$({
            fn plain($o: &Operands<Tensor>) -> Results<Tensor> {
                $(type $t = Tensor;)?
                let [y] = $call;
                y.outs()
            }
            fn with_backend($o: &Operands<Tensor>, ctx: &mut CpuBackend) -> Results<Tensor> {
                with_backend!(ctx $call).outs()
            }
            fn eager($o: &Operands<EagerTensor>) -> Results<EagerTensor> {
                $(type $t = EagerTensor;)?
                let [y] = $call;
                y.outs()
            }
            fn traced($o: &Operands<TracedTensor>) -> Results<TracedTensor> {
                $(type $t = TracedTensor;)?
                let [y] = $call;
                y.outs()
            }
            NameRow { name: stringify!($name), plain, with_backend, eager, traced }
        }),*];
    };
}

/// A window of one element of a vector, for each index.
fn point() -> Windows {
    Windows {
        collapsed: vec![0],
        axes: vec![0],
        vector: 1,
        ..Windows::default()
    }
}

rows! {
    zeros_like |o| [o.a.zeros_like()]
    ones_like |o| [o.a.ones_like()]
    full_like |o| [o.a.full_like(2.5)]
    tril |o| [o.s.tril(0)]
    triu |o| [o.s.triu(1)]
    astype |o| [o.a.astype(DType::F32)]
    bitcast |o| [o.a.bitcast(DType::I64)]

    add |o| [o.a.add(&o.v)]
    sub |o| [o.a.sub(&o.b)]
    mul |o| [o.a.mul(&o.b)]
    div |o| [o.a.div(&o.b)]
    rem |o| [o.a.rem(&o.b)]
    neg |o| [o.a.neg()]
    abs |o| [o.z.abs()]
    sign |o| [o.a.sign()]
    pow |o| [o.p.pow(&o.b)]
    powf |o| [o.p.powf(2.5)]
    powi |o| [o.a.powi(3)]
    square |o| [o.a.square()]
    reciprocal |o| [o.b.reciprocal()]
    minimum |o| [o.a.minimum(&o.b)]
    maximum |o| [o.a.maximum(&o.b)]
    clip |o| [o.a.clip(-0.5, 0.5)]
    floor |o| [o.a.floor()]
    ceil |o| [o.a.ceil()]
    trunc |o| [o.a.trunc()]
    round_ties_even |o| [o.a.round_ties_even()]
    round_half_away |o| [o.a.round_half_away()]

    equal |o| [o.a.equal(&o.b)]
    not_equal |o| [o.a.not_equal(&o.b)]
    less |o| [o.a.less(&o.b)]
    less_equal |o| [o.a.less_equal(&o.b)]
    greater |o| [o.a.greater(&o.b)]
    greater_equal |o| [o.a.greater_equal(&o.b)]
    and |o| [o.i.and(&o.j)]
    or |o| [o.i.or(&o.j)]
    xor |o| [o.q.xor(&o.q)]
    not |o| [o.q.not()]
    shift_left |o| [o.i.shift_left(&o.j)]
    shift_right_logical |o| [o.i.shift_right_logical(&o.j)]
    shift_right_arithmetic |o| [o.i.shift_right_arithmetic(&o.j)]
    select |o| [o.q.select(&o.a, &o.b)]
    is_finite |o| [o.a.is_finite()]
    is_nan |o| [o.a.is_nan()]
    is_inf |o| [o.a.is_inf()]

    exp |o| [o.a.exp()]
    exp2 |o| [o.a.exp2()]
    expm1 |o| [o.a.expm1()]
    log |o| [o.p.log()]
    log2 |o| [o.p.log2()]
    log10 |o| [o.p.log10()]
    log1p |o| [o.p.log1p()]
    sqrt |o| [o.p.sqrt()]
    rsqrt |o| [o.p.rsqrt()]
    cbrt |o| [o.a.cbrt()]
    sin |o| [o.a.sin()]
    cos |o| [o.a.cos()]
    tan |o| [o.a.tan()]
    asin |o| [o.p.asin()]
    acos |o| [o.p.acos()]
    atan |o| [o.a.atan()]
    atan2 |o| [o.a.atan2(&o.b)]
    sinc |o| [o.a.sinc()]
    angle |o| [o.z.angle()]
    sinh |o| [o.a.sinh()]
    cosh |o| [o.a.cosh()]
    tanh |o| [o.a.tanh()]
    asinh |o| [o.a.asinh()]
    acosh |o| [o.b.acosh()]
    atanh |o| [o.p.atanh()]
    logaddexp |o| [o.a.logaddexp(&o.b)]
    xlogy |o| [o.a.xlogy(&o.p)]
    hypot |o| [o.a.hypot(&o.v)]
    floor_divide |o| [o.a.floor_divide(&o.v)]
    floor_mod |o| [o.a.floor_mod(&o.b)]
    copysign |o| [o.b.copysign(&o.a)]
    nextafter |o| [o.a.nextafter(&o.b)]
    signbit |o| [o.a.signbit()]
    erf |o| [o.a.erf()]
    erfc |o| [o.a.erfc()]
    erf_inv |o| [o.p.erf_inv()]
    lgamma |o| [o.p.lgamma()]
    digamma |o| [o.p.digamma()]
    polygamma |o| [o.p.polygamma(1)]
    zeta |o| [o.b.zeta(&o.p)]
    igamma |o| [o.p.igamma(&o.b)]
    igammac |o| [o.p.igammac(&o.b)]
    betainc |o| [o.b.betainc(&o.b, &o.p)]
    bessel_i |o| [o.a.bessel_i(1)]
    bessel_ie |o| [o.a.bessel_ie(0)]
    conj |o| [o.z.conj()]
    to_jax_convention |o| [o.z.to_jax_convention()]
    real |o| [o.z.real()]
    imag |o| [o.z.imag()]
    abs2 |o| [o.z.abs2()]
    complex |o| [o.a.complex(&o.b)]
    count_ones |o| [o.i.count_ones()]
    leading_zeros |o| [o.i.leading_zeros()]
    relu |o| [o.a.relu()]
    gelu |o| [o.a.gelu()]
    gelu_tanh |o| [o.a.gelu_tanh()]
    silu |o| [o.a.silu()]
    softplus |o| [o.a.softplus()]
    logistic |o| [o.a.logistic()]
    sigmoid |o| [o.a.sigmoid()]

    sum |o| [o.a.sum(-1)]
    sum_keepdims |o| [o.a.sum_keepdims(0)]
    prod |o| [o.a.prod([0, 1])]
    prod_keepdims |o| [o.a.prod_keepdims(..)]
    max |o| [o.a.max(..)]
    max_keepdims |o| [o.a.max_keepdims(1)]
    min |o| [o.a.min([0])]
    min_keepdims |o| [o.a.min_keepdims(vec![-2])]
    any |o| [o.q.any(0)]
    any_keepdims |o| [o.q.any_keepdims(0)]
    all |o| [o.q.all(0)]
    all_keepdims |o| [o.q.all_keepdims(0)]
    reduce_sum |o| [o.a.reduce_sum(&[])]
    reduce_prod |o| [o.a.reduce_prod(&[1])]
    reduce_max |o| [o.a.reduce_max(&[1])]
    reduce_min |o| [o.a.reduce_min(&[1])]
    reduce_any |o| [o.q.reduce_any(&[1])]
    reduce_all |o| [o.q.reduce_all(&[1])]
    reduce_and |o| [o.i.reduce_and(&[1])]
    reduce_or |o| [o.i.reduce_or(&[1])]
    reduce_xor |o| [o.i.reduce_xor(&[0])]
    mean |o| [o.a.mean(0)]
    mean_keepdims |o| [o.a.mean_keepdims(0)]
    var |o| [o.a.var(-1, 1.0)]
    var_keepdims |o| [o.a.var_keepdims(-1, 1.0)]
    std |o| [o.a.std(-1, 0.0)]
    std_keepdims |o| [o.a.std_keepdims(-1, 0.0)]
    norm |o| [o.a.norm(1)]
    norm_keepdims |o| [o.a.norm_keepdims(1)]
    vector_norm |o| [o.a.vector_norm(-1, 3.0)]
    vector_norm_keepdims |o| [o.a.vector_norm_keepdims(.., 1.0)]
    logsumexp |o| [o.a.logsumexp([0, -1])]
    logsumexp_keepdims |o| [o.a.logsumexp_keepdims(0)]
    median |o| [o.a.median(-1)]
    argmax |o| [o.a.argmax(-1)]
    argmin |o| [o.a.argmin(0)]
    argsort |o| [o.a.argsort(-1, true)]
    cumulative_sum |o| [o.a.cumulative_sum(-1)]
    cumulative_prod |o| [o.a.cumulative_prod(0)]
    softmax |o| [o.a.softmax(-1)]
    log_softmax |o| [o.a.log_softmax(-1)]
    cross_entropy |o| [o.a.cross_entropy(&o.p, -1)]
    cross_entropy_with |o| [o.a.cross_entropy_with(&o.p, -1, LossReduction::None)]
    layer_norm |o| [o.a.layer_norm(-1, 1e-5)]

    reshape |o| [o.a.reshape([3, 2])]
    transpose |o| [o.a.transpose(&[1, 0])]
    permute_dims |o| [o.a.permute_dims([-1, 0])]
    t |o| [o.a.t()]
    matrix_transpose |o| [o.a.matrix_transpose()]
    conj_transpose |o| [o.z.conj_transpose()]
    adjoint |o| [o.z.adjoint()]
    broadcast_to |o| [o.v.broadcast_to([2, 3])]
    broadcast_in_dim |o| [o.v.broadcast_in_dim([3, 2], &[0])]
    expand_dims |o| [o.a.expand_dims(-1)]
    squeeze |o| [o.r.squeeze(0)]
    flip |o| [o.a.flip([0, -1])]
    slice |o| [o.a.slice(-1, 1..)]
    slice_step |o| [o.a.slice_step(1, .., 2)]
    index |o| [o.a.index(-1, 2)]
    unstack |o| [o.a.unstack(0)]
    split |o| [o.a.split(-1, &[1, 2])]
    roll |o| [o.a.roll(-1, 1)]
    tile |o| [o.a.tile([2, 1, 2])]
    repeat |o| [o.a.repeat(2, -1)]
    diff |o| [o.a.diff(-1, 2)]
    pad |o| [o.a.pad(&[1, 0], &[0, -1], &[0, 1], 0.5)]
    take |o| [o.a.take(&o.n, -1, Bounds::Clip)]
    take_along_axis |o| [o.a.take_along_axis(&o.k, 1, Bounds::Clip)]
    put |o| [o.a.put(&o.n, &o.s, -1, Combine::Add, Bounds::Clip)]
    put_along_axis |o| [o.a.put_along_axis(&o.k, &o.b, 1, Combine::Set, Bounds::Clip)]
    dynamic_slice |o| [o.a.dynamic_slice(&[&o.c, &o.c], [1, 2])]
    dynamic_update_slice |o| [o.a.dynamic_update_slice(&o.r, &[&o.c, &o.c])]
    gather |o| [o.v.gather(&o.n, &point(), [1], Bounds::Clip)]
    one_hot |o| [o.n.one_hot(3, DType::F32)]
    sort |o| [o.a.sort(-1, false)]
    top_k |o| [o.a.top_k(-1, 2)]
    searchsorted |o| [o.v.searchsorted(&o.b, false)]
    diagonal |o| [o.s.diagonal()]
    trace |o| [o.s.trace()]

    matmul |o| [o.s.matmul(&o.a)]
    outer |o| [o.v.outer(&o.a)]
    dot_general |o| [o.a.dot_general(&o.b, DotGeneral::contract(&[1], &[1]))]
    tensordot |o| [o.a.tensordot(&o.b, [0, 1], [0, 1])]
    cross |o| [o.a.cross(&o.v, -1)]
    vecdot |o| [o.z.vecdot(&o.z, -1)]
    cholesky |o| [o.s.cholesky()]
    cholesky_ex |o| [o.s.cholesky_ex()]
    lu |o| [o.s.lu()]
    qr |o| [o.s.qr()]
    svd |o| [o.s.svd()]
    eigh |o| [o.s.eigh()]
    eig |o| [o.s.eig()]
    svdvals |o| [o.s.svdvals()]
    eigvalsh |o| [o.s.eigvalsh()]
    eigvals |o| [o.s.eigvals()]
    solve |o| [o.s.solve(&o.a)]
    triangular_solve |o| [o.s.triangular_solve(&o.w, TriangularSolve::default())]
    inv |o| [o.s.inv()]
    lstsq |o| [o.s.lstsq(&o.a)]
    pinv |o| [o.s.pinv()]
    det |o| [o.s.det()]
    slogdet |o| [o.s.slogdet()]
    matrix_norm |o| [o.s.matrix_norm(MatrixNorm::Frobenius)]
    matrix_exp |o| [o.s.matrix_exp()]
    expm |o| [o.s.expm()]
    matrix_power |o| [o.s.matrix_power(3)]
    low_rank_approximation |o| [o.s.low_rank_approximation(1)]
    kron |o| [o.s.kron(&o.s)]
    qr_complete |o| [o.s.qr_complete()]
    svd_full |o| [o.s.svd_full()]
    svd_truncated |o| [o.s.svd_truncated(1)]
    svd_thresholded |o| [o.s.svd_thresholded(0.5)]
    spectral_function |o| [o.s.spectral_function(|w| w.exp())]
    stop_gradient |o| [o.a.stop_gradient()]
    concat<T> |o| [T::concat(&[&o.a, &o.b], -1)]
    stack<T> |o| [T::stack(&[&o.a, &o.b], -1)]
}
