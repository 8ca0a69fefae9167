//! Calls every method of the emitter with random arguments, including values of other builders and
//! poison. No call panics, and no invalid function is finished.

use cotangent_core::ops::{
    self, Bounds, Combine, Comparison, DotGeneral, Factors, Format, LinearRecurrence,
    LossReduction, MatrixNorm, Reduction, Running,
};
use cotangent_core::transform::Session;
use cotangent_core::{
    Array, Batched, Builder, Code, DType, Dim, Emit, Function, Type, Val, verify,
};
use std::cell::Cell;
use std::collections::BTreeSet;

/// A generator of random arguments.
struct Draw {
    state: Cell<u64>,
    /// Values of the builder.
    own: Vec<Val>,
    /// Values of another builder, indices that do not exist, poison.
    foreign: Vec<Val>,
    /// Whether a foreign value was drawn.
    strange: Cell<bool>,
}

impl Draw {
    fn below(&self, n: usize) -> usize {
        let state = self
            .state
            .get()
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        self.state.set(state);
        (state >> 33) as usize % n
    }

    fn v(&self) -> Val {
        match self.below(6) {
            0 => {
                self.strange.set(true);
                self.foreign[self.below(self.foreign.len())]
            }
            _ => self.own[self.below(self.own.len())],
        }
    }

    fn vs(&self) -> Vec<Val> {
        (0..self.below(4)).map(|_| self.v()).collect()
    }

    /// Results of a region: its own values, or values of the enclosing function.
    fn body(&self, x: &[Val]) -> Vec<Val> {
        (0..x.len().max(1))
            .map(|k| {
                if self.below(4) == 0 {
                    self.v()
                } else {
                    *x.get(k).unwrap_or(&Val::POISON)
                }
            })
            .collect()
    }

    fn axis(&self) -> usize {
        self.below(4)
    }

    fn axes(&self) -> Vec<usize> {
        (0..self.below(4)).map(|_| self.axis()).collect()
    }

    fn specs(&self) -> Vec<Option<Vec<String>>> {
        let names = ["data", "model", "none", "", "a b"];
        let axes = || (0..self.below(3)).map(|_| names[self.below(5)].to_owned());
        let dims = (0..self.below(4)).map(|_| self.coin().then(|| axes().collect()));
        dims.collect()
    }

    fn dim(&self) -> Dim {
        match self.below(6) {
            0 => Dim::sym("n"),
            n => Dim::Const(n - 1),
        }
    }

    fn dims(&self) -> Vec<Dim> {
        (0..self.below(4)).map(|_| self.dim()).collect()
    }

    fn ints(&self) -> Vec<i64> {
        (0..self.below(4)).map(|_| self.int()).collect()
    }

    fn int(&self) -> i64 {
        self.below(8) as i64 - 3
    }

    fn small(&self) -> u32 {
        self.below(4) as u32
    }

    fn float(&self) -> f64 {
        [0.0, -1.5, 2.0, f64::NAN, f64::INFINITY, 1e-300][self.below(6)]
    }

    fn coin(&self) -> bool {
        self.below(2) == 0
    }

    fn dtype(&self) -> DType {
        DType::ALL[self.below(DType::ALL.len())]
    }

    fn ty(&self) -> Type {
        Type::new(self.dtype(), self.dims())
    }

    fn bounds(&self) -> Bounds {
        [Bounds::Clip, Bounds::Drop, Bounds::Error][self.below(3)]
    }

    fn array(&self) -> Array {
        Array::scalar(self.float())
    }

    /// A function of two parameters.
    fn function(&self) -> Function {
        let b = Builder::new("g", Session::default());
        let x = b.param(Type::scalar(DType::F64), None);
        let y = b.param(Type::new(DType::F64, vec![Dim::Const(2)]), None);
        b.finish(&[y, x]).expect("its own parameters")
    }
}

type Call = fn(&dyn Emit, &Draw) -> Vec<Val>;

macro_rules! rows {
    ($($name:ident |$cx:ident, $g:ident| $call:expr;)*) => {
        const ROWS: &[(&str, Call)] = &[$((stringify!($name), |$cx: &dyn Emit, $g: &Draw| $call)),*];
    };
}

rows! {
    op |cx, g| vec![cx.op(ops::Unary::Exp, &g.vs())];
    inline_known |cx, g| cx.inline_known(&g.function(), &g.vs(), &[]);
    random_keys |cx, g| cx.random_keys::<2>(g.v()).to_vec();
    checkpoint |cx, g| cx.checkpoint(&g.vs(), |_, x| g.body(x));
    spectral_function |cx, g| vec![cx.spectral_function(g.v(), |_, x| g.body(&[x])[0])];
    cond |cx, g| cx.cond(g.v(), &g.vs(), |_, x| g.body(x), |_, x| g.body(x));
    switch |cx, g| cx.switch(g.v(), &g.vs(), &[&|_, x| g.body(x), &|_, x| g.body(x)]);
    while_loop |cx, g| cx.while_loop(&g.vs(), &g.vs(), |_, _, x| g.body(x)[0], |_, _, x| g.body(x));
    fori |cx, g| cx.fori(0i64, 2i64, &g.vs(), &g.vs(), |_, _, _, x| g.body(x));
    scan |cx, g| {
        let (c, y) = cx.scan(&g.vs(), &g.vs(), &g.vs(), &g.dim(), g.coin(), |_, _, c, x| (g.body(c), g.body(x)));
        [c, y].concat()
    };
    custom_jvp |cx, g| cx.custom_jvp(&g.vs(), |_, x| g.body(x), |_, _, y, _| y.iter().map(|_| Some(g.v())).collect());
    custom_vjp |cx, g| cx.custom_vjp(
        &g.vs(),
        |_, x| g.body(x),
        |_, x| (g.body(x), g.body(x)),
        |_, r, _| r.iter().map(|_| Some(g.v())).collect(),
    );
    fixed_point |cx, g| cx.fixed_point(&g.vs(), &g.vs(), Default::default(), |_, _, x| g.body(x)).x;
    root |cx, g| cx.root(&g.vs(), &g.vs(), Default::default(), |_, _, x| g.body(x)).x;
    minimize |cx, g| cx.minimize(&g.vs(), &g.vs(), Default::default(), |_, _, x| g.body(x)[0]).x;
    gather |cx, g| vec![cx.gather(&Default::default(), &g.dims(), g.bounds(), g.v(), g.v())];
    scatter |cx, g| vec![cx.scatter(Combine::Set, &Default::default(), g.bounds(), g.v(), g.v(), g.v())];
    zeros |cx, g| vec![cx.zeros(&g.ty())];
    inline |cx, g| cx.inline(&g.function(), &g.vs());
    argmax |cx, g| vec![cx.argmax(g.v(), g.axis())];
    argmin |cx, g| vec![cx.argmin(g.v(), g.axis())];
    bessel_ie |cx, g| vec![cx.bessel_ie(g.small(), g.v())];
    bessel_i |cx, g| vec![cx.bessel_i(g.small(), g.v())];
    betainc |cx, g| vec![cx.betainc(g.v(), g.v(), g.v())];
    scale_by |cx, g| vec![cx.scale_by(g.float(), g.v())];
    clamp |cx, g| vec![cx.clamp(g.v(), g.v(), g.v())];
    bitcast |cx, g| vec![cx.bitcast(g.v(), g.dtype())];
    next_after |cx, g| vec![cx.next_after(g.v(), g.v())];
    broadcast_in_dim |cx, g| vec![cx.broadcast_in_dim(g.v(), &g.dims(), &g.axes())];
    broadcast_to |cx, g| vec![cx.broadcast_to(g.v(), &g.dims())];
    replicate |cx, g| vec![cx.replicate(Batched { val: g.v(), mapped: g.coin() }, &g.dim()).val];
    sum_to |cx, g| vec![cx.sum_to(g.v(), &g.dims().into())];
    call |cx, g| cx.call(&g.function().into(), &g.vs());
    compare |cx, g| vec![cx.compare(g.v(), Comparison::Lt, g.v())];
    complex |cx, g| vec![cx.complex(g.v(), g.v())];
    logaddexp |cx, g| vec![cx.logaddexp(g.v(), g.v())];
    sinc |cx, g| vec![cx.sinc(g.v())];
    clip |cx, g| vec![cx.clip(g.v(), g.v(), g.v())];
    linspace |cx, g| vec![cx.linspace(g.v(), g.v(), &g.dim())];
    pinv |cx, g| vec![cx.pinv(g.v(), g.coin().then(|| g.float()))];
    lstsq |cx, g| vec![cx.lstsq(g.v(), g.v(), g.coin().then(|| g.float()))];
    vector_norm |cx, g| vec![cx.vector_norm(g.v(), &g.axes(), g.float())];
    matrix_norm |cx, g| vec![cx.matrix_norm(g.v(), MatrixNorm::Nuclear)];
    matrix_exp |cx, g| vec![cx.matrix_exp(g.v())];
    matrix_power |cx, g| vec![cx.matrix_power(g.v(), g.int())];
    kron |cx, g| vec![cx.kron(g.v(), g.v())];
    softmax |cx, g| vec![cx.softmax(g.v(), g.axis())];
    log_softmax |cx, g| vec![cx.log_softmax(g.v(), g.axis())];
    cross_entropy |cx, g| vec![cx.cross_entropy(g.v(), g.v(), g.axis())];
    cross_entropy_with |cx, g| vec![cx.cross_entropy_with(g.v(), g.v(), g.axis(), LossReduction::None)];
    layer_norm |cx, g| vec![cx.layer_norm(g.v(), g.coin().then(|| g.v()), g.coin().then(|| g.v()), &g.axes(), g.float())];
    relu |cx, g| vec![cx.relu(g.v())];
    gelu |cx, g| vec![cx.gelu(g.v())];
    gelu_tanh |cx, g| vec![cx.gelu_tanh(g.v())];
    silu |cx, g| vec![cx.silu(g.v())];
    softplus |cx, g| vec![cx.softplus(g.v())];
    matmul |cx, g| vec![cx.matmul(g.v(), g.v())];
    diagonal |cx, g| vec![cx.diagonal(g.v())];
    trace |cx, g| vec![cx.trace(g.v())];
    random_key |cx, g| vec![cx.random_key(g.small().into())];
    random_split |cx, g| vec![cx.random_split(g.v(), &g.dims())];
    random_fold_in |cx, g| vec![cx.random_fold_in(g.v(), g.v())];
    random_bits |cx, g| vec![cx.random_bits(g.v(), &g.dims(), g.dtype())];
    random_uniform |cx, g| vec![cx.random_uniform(g.v(), &g.dims(), g.v(), g.v())];
    random_normal |cx, g| vec![cx.random_normal(g.v(), &g.dims(), g.dtype())];
    random_truncated_normal |cx, g| vec![cx.random_truncated_normal(g.v(), &g.dims(), g.v(), g.v())];
    random_bernoulli |cx, g| vec![cx.random_bernoulli(g.v(), &g.dims(), g.v())];
    random_exponential |cx, g| vec![cx.random_exponential(g.v(), &g.dims(), g.dtype())];
    random_gumbel |cx, g| vec![cx.random_gumbel(g.v(), &g.dims(), g.dtype())];
    random_categorical |cx, g| vec![cx.random_categorical(g.v(), g.v(), g.axis())];
    random_int |cx, g| vec![cx.random_int(g.v(), &g.dims(), g.v(), g.v())];
    random_permutation |cx, g| vec![cx.random_permutation(g.v(), g.v(), g.axis())];
    random_dropout |cx, g| vec![cx.random_dropout(g.v(), g.v(), g.float())];
    rng_bit_generator |cx, g| <[Val; 2]>::from(cx.rng_bit_generator(g.coin(), g.v(), &g.axes(), g.dtype())).to_vec();
    low_rank_approximation |cx, g| vec![cx.low_rank_approximation(g.v(), &g.dim())];
    svd_truncated |cx, g| cx.svd_truncated(g.v(), &g.dim());
    svd_thresholded |cx, g| cx.svd_thresholded(g.v(), g.coin().then(|| g.float()));
    mean |cx, g| vec![cx.mean(g.v(), &g.axes())];
    var |cx, g| vec![cx.var(g.v(), &g.axes(), g.float())];
    std |cx, g| vec![cx.std(g.v(), &g.axes(), g.float())];
    norm |cx, g| vec![cx.norm(g.v(), &g.axes())];
    logsumexp |cx, g| vec![cx.logsumexp(g.v(), &g.axes())];
    masked_logsumexp |cx, g| vec![cx.masked_logsumexp(g.v(), g.v(), &g.axes())];
    median |cx, g| vec![cx.median(g.v(), g.axis())];
    pick_along |cx, g| vec![cx.pick_along(g.v(), g.v(), g.axis())];
    top_k |cx, g| <[Val; 2]>::from(cx.top_k(g.v(), g.axis(), &g.dim())).to_vec();
    concatenate |cx, g| vec![cx.concatenate(&g.vs(), g.axis())];
    stack |cx, g| vec![cx.stack(&g.vs(), g.axis())];
    full |cx, g| vec![cx.full(&g.ty(), g.float())];
    full_like |cx, g| vec![cx.full_like(g.v(), g.float())];
    number_for |cx, g| vec![cx.number_for("n", g.v(), g.float())];
    constant |cx, g| vec![cx.constant(g.array())];
    extent |cx, g| vec![cx.extent(&g.ty(), &g.dim())];
    vals |cx, g| cx.vals(g.v()).to_vec();
    convert |cx, g| vec![cx.convert(g.v(), g.dtype())];
    cumulative |cx, g| vec![cx.cumulative(Running::Sum, g.v(), g.axis())];
    dot_general |cx, g| vec![cx.dot_general(g.v(), g.v(), DotGeneral::contract(&g.axes(), &g.axes()))];
    dynamic_slice |cx, g| vec![cx.dynamic_slice(g.v(), &g.vs(), &g.dims())];
    dynamic_update_slice |cx, g| vec![cx.dynamic_update_slice(g.v(), g.v(), &g.vs())];
    dynamic_index_axis |cx, g| vec![cx.dynamic_index_axis(g.v(), g.axis(), g.v())];
    dynamic_update_index_axis |cx, g| vec![cx.dynamic_update_index_axis(g.v(), g.v(), g.axis(), g.v())];
    fft |cx, g| vec![cx.fft(g.v(), g.axis())];
    ifft |cx, g| vec![cx.ifft(g.v(), g.axis())];
    rfft |cx, g| vec![cx.rfft(g.v(), g.axis())];
    irfft |cx, g| vec![cx.irfft(g.v(), g.dim(), g.axis())];
    fftn |cx, g| vec![cx.fftn(g.v(), &g.axes())];
    ifftn |cx, g| vec![cx.ifftn(g.v(), &g.axes())];
    rfftn |cx, g| vec![cx.rfftn(g.v(), &g.axes())];
    irfftn |cx, g| vec![cx.irfftn(g.v(), g.dim(), &g.axes())];
    take |cx, g| vec![cx.take(g.v(), g.v(), g.axis(), g.bounds())];
    take_along_axis |cx, g| vec![cx.take_along_axis(g.v(), g.v(), g.axis(), g.bounds())];
    require |cx, g| cx.require(g.v(), g.v(), &g.vs(), "n");
    integer_pow |cx, g| vec![cx.integer_pow(g.v(), g.int())];
    pow_by |cx, g| vec![cx.pow_by(g.v(), g.float())];
    iota |cx, g| vec![cx.iota(&g.ty(), g.axis())];
    eye |cx, g| vec![cx.eye(g.dtype(), &g.dim())];
    one_hot |cx, g| vec![cx.one_hot(g.v(), &g.dim(), g.dtype())];
    cholesky |cx, g| vec![cx.cholesky(g.v())];
    cholesky_ex |cx, g| cx.cholesky_ex(g.v()).to_vec();
    count |cx, g| vec![cx.count(g.v(), "n")];
    det |cx, g| vec![cx.det(g.v())];
    slogdet |cx, g| cx.slogdet(g.v()).to_vec();
    eig |cx, g| cx.eig(g.v()).to_vec();
    eigvals |cx, g| vec![cx.eigvals(g.v())];
    eigh |cx, g| cx.eigh(g.v()).to_vec();
    eigvalsh |cx, g| vec![cx.eigvalsh(g.v())];
    lu |cx, g| cx.lu(g.v()).to_vec();
    lu_unpacked |cx, g| cx.lu_unpacked(g.v()).to_vec();
    matrix_transpose |cx, g| vec![cx.matrix_transpose(g.v())];
    adjoint |cx, g| vec![cx.adjoint(g.v())];
    tril |cx, g| vec![cx.tril(g.v(), g.int())];
    triu |cx, g| vec![cx.triu(g.v(), g.int())];
    band_of |cx, g| vec![cx.band_of(&g.ty(), g.int())];
    schur |cx, g| cx.schur(g.v()).to_vec();
    round_to |cx, g| vec![cx.round_to(g.v(), Format::of_number(g.axis()))];
    threefry2x32 |cx, g| cx.threefry2x32([g.v(), g.v()], [g.v(), g.v()]).to_vec();
    qr |cx, g| cx.qr(g.v()).to_vec();
    solve |cx, g| vec![cx.solve(g.v(), g.v())];
    inv |cx, g| vec![cx.inv(g.v())];
    svd |cx, g| cx.svd(g.v()).to_vec();
    svdvals |cx, g| vec![cx.svdvals(g.v())];
    triangular_solve |cx, g| vec![cx.triangular_solve(g.v(), g.v(), Default::default())];
    pad |cx, g| vec![cx.pad(g.v(), g.v(), &g.ints(), &g.ints(), &g.axes())];
    pad_zeros |cx, g| vec![cx.pad_zeros(g.v(), &g.ints(), &g.ints(), &g.axes())];
    polygamma |cx, g| vec![cx.polygamma(g.small(), g.v())];
    linear_recurrence |cx, g| vec![cx.linear_recurrence(g.v(), g.v(), LinearRecurrence { axis: g.axis(), reverse: g.coin(), exclusive: g.coin(), factors: Factors::Any })];
    reduce |cx, g| vec![cx.reduce(Reduction::Max, g.v(), &g.axes())];
    max_or_least |cx, g| vec![cx.max_or_least(g.v(), &g.axes())];
    spread |cx, g| vec![cx.spread(g.v(), &g.ty(), &g.axes())];
    reduce_precision |cx, g| vec![cx.reduce_precision(g.v(), g.small(), g.small())];
    reshape |cx, g| vec![cx.reshape(g.v(), &g.dims())];
    reverse |cx, g| vec![cx.reverse(g.v(), &g.axes())];
    put |cx, g| vec![cx.put(Combine::Add, g.v(), g.v(), g.v(), g.axis(), g.bounds())];
    put_along_axis |cx, g| vec![cx.put_along_axis(Combine::Add, g.v(), g.v(), g.v(), g.axis(), g.bounds())];
    select |cx, g| vec![cx.select(g.v(), g.v(), g.v())];
    shard |cx, g| vec![cx.shard(g.v(), &g.specs())];
    slice |cx, g| vec![cx.slice(g.v(), &g.dims(), &g.dims(), &g.axes())];
    slice_axis |cx, g| vec![cx.slice_axis(g.v(), g.axis(), g.dim(), g.dim())];
    index_axis |cx, g| vec![cx.index_axis(g.v(), g.axis(), g.dim())];
    split |cx, g| cx.split(g.v(), g.axis(), &g.dims());
    sort |cx, g| vec![cx.sort(g.v(), g.axis(), g.coin())];
    sort_by |cx, g| cx.sort_by(&g.vs(), g.axis(), g.axis(), g.coin()).to_vec();
    argsort |cx, g| vec![cx.argsort(g.v(), g.axis(), g.coin())];
    igamma |cx, g| vec![cx.igamma(g.v(), g.v())];
    igammac |cx, g| vec![cx.igammac(g.v(), g.v())];
    zeta |cx, g| vec![cx.zeta(g.v(), g.v())];
    random_gamma_grad |cx, g| vec![cx.random_gamma_grad(g.v(), g.v())];
    transpose |cx, g| vec![cx.transpose(g.v(), &g.axes())];
    conj |cx, g| vec![cx.conj(g.v())];
    real |cx, g| vec![cx.real(g.v())];
    imag |cx, g| vec![cx.imag(g.v())];
    square |cx, g| vec![cx.square(g.v())];
    abs2 |cx, g| vec![cx.abs2(g.v())];
    angle |cx, g| vec![cx.angle(g.v())];
    recip |cx, g| vec![cx.recip(g.v())];
    log10 |cx, g| vec![cx.log10(g.v())];
    hypot |cx, g| vec![cx.hypot(g.v(), g.v())];
    is_inf |cx, g| vec![cx.is_inf(g.v())];
    floor_divide |cx, g| vec![cx.floor_divide(g.v(), g.v())];
    floor_mod |cx, g| vec![cx.floor_mod(g.v(), g.v())];
    copysign |cx, g| vec![cx.copysign(g.v(), g.v())];
    signbit |cx, g| vec![cx.signbit(g.v())];
    roll |cx, g| vec![cx.roll(g.v(), g.axis() as i64 - 1, g.axis())];
    tile |cx, g| vec![cx.tile(g.v(), &g.dims())];
    repeat |cx, g| vec![cx.repeat(g.v(), &g.dim(), g.axis())];
    diff |cx, g| vec![cx.diff(g.v(), g.axis(), g.axis())];
    searchsorted |cx, g| vec![cx.searchsorted(g.v(), g.v(), g.coin())];
    cross |cx, g| vec![cx.cross(g.v(), g.v(), g.axis())];
}

/// Whether the function is valid. An invalid function must not be finished.
fn finished(name: &str, f: cotangent_core::Result<Function>) -> bool {
    match f {
        Ok(f) => {
            verify::verify(&f).unwrap_or_else(|e| panic!("{name}: {e}"));
            true
        }
        Err(_) => false,
    }
}

#[test]
fn no_method_of_the_emitter_panics_or_accepts_what_the_builder_does_not_have() {
    let types = [
        Type::scalar(DType::F64),
        Type::new(DType::F64, vec![Dim::Const(2)]),
        Type::new(DType::F64, vec![Dim::Const(3), Dim::Const(3)]),
        Type::new(DType::F32, vec![Dim::Const(2), Dim::Const(3)]),
        Type::new(DType::C128, vec![Dim::Const(3), Dim::Const(3)]),
        Type::new(DType::I64, vec![Dim::Const(2)]),
        Type::scalar(DType::I32),
        Type::scalar(DType::Bool),
        Type::new(DType::Bool, vec![Dim::Const(2)]),
        Type::new(DType::U32, vec![Dim::Const(2)]),
        Type::new(DType::F64, vec![Dim::sym("n"), Dim::Const(1)]),
    ];
    let (mut good, mut calls) = (0, 0);
    for (k, (name, call)) in ROWS.iter().enumerate() {
        for round in 0..120u64 {
            let (other, b) = (
                Builder::new("other", Session::default()),
                Builder::new("f", Session::default()),
            );
            let own: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
            let mut foreign: Vec<Val> = vec![Val::POISON, Val::from_index(10_000)];
            if cfg!(debug_assertions) {
                foreign.extend(types.iter().map(|t| other.param(t.clone(), None)));
            }
            let draw = Draw {
                state: Cell::new(k as u64 * 1000 + round),
                own,
                foreign,
                strange: Cell::new(false),
            };
            let y = call(&b, &draw);
            let strange = draw.strange.get();
            let ok = finished(name, b.finish(&y));
            // A foreign value may be unused, for example with an empty list of branches. If it is
            // used it must be an error.
            if strange && ok {
                let used = y
                    .iter()
                    .any(|v| draw.foreign.contains(v) && !draw.own.contains(v));
                assert!(
                    !used,
                    "{name}, round {round}: a function with a value that it does not have"
                );
            }
            good += usize::from(ok && !strange);
            calls += 1;
        }
    }
    assert!(
        calls > 18_000 && good > 500,
        "{good} of {calls} calls write a function"
    );
}

/// Methods of the builder itself.
#[test]
fn builders_refuse_what_they_do_not_have() {
    let scalar = Type::scalar(DType::F64);
    let other = Builder::new("other", Session::default());
    let theirs = other.param(scalar.clone(), None);
    for v in [
        Val::POISON,
        Val::from_index(1),
        Val::from_index(usize::from(u16::MAX)),
    ] {
        let b = || {
            let b = Builder::new("f", Session::default());
            (b.param(scalar.clone(), None), b)
        };
        let code = |f: cotangent_core::Result<Function>| f.err().map(|e| e.code());
        let (_, f) = b();
        assert_eq!(code(f.finish(&[v])), Some(Code::ForeignValue), "{v:?}");
        let (x, f) = b();
        f.emit(ops::Binary::Add.into(), &[x, v]);
        assert_eq!(code(f.finish(&[x])), Some(Code::ForeignValue), "{v:?}");
        let (x, f) = b();
        f.set_name(v, "name");
        assert_eq!(code(f.finish(&[x])), Some(Code::ForeignValue), "{v:?}");
    }
    let b = Builder::new("f", Session::default());
    b.param(scalar.clone(), None);
    assert_eq!(b.finish(&[theirs]).is_err(), cfg!(debug_assertions));
    // Too few and too many arguments.
    let f = {
        let b = Builder::new("f", Session::default());
        let x = b.param(scalar.clone(), None);
        b.finish(&[x]).unwrap()
    };
    for n in [0, 2] {
        let b = Builder::new("g", Session::default());
        let x = b.param(scalar.clone(), None);
        let y = (&b as &dyn Emit).inline(&f, &vec![x; n]);
        assert_eq!(b.finish(&y).unwrap_err().code(), Code::Arity);
        let batched = cotangent_core::transform::batch(
            &Session::default(),
            &f,
            &vec![true; n],
            &[],
            &Dim::Const(2),
        );
        assert_eq!(batched.unwrap_err().code(), Code::Arity);
    }
    // Arguments of other types, also where the function returns them.
    for ty in [Type::scalar(DType::F32), Type::new(DType::F64, [2])] {
        let b = Builder::new("g", Session::default());
        let x = b.param(ty, None);
        let y = (&b as &dyn Emit).inline(&f, &[x]);
        assert_eq!(b.finish(&y).unwrap_err().code(), Code::ShapeMismatch);
    }
}

/// Every method of the emitter has a row.
#[test]
fn every_method_of_the_emitter_has_a_row() {
    fn files(dir: &std::path::Path, out: &mut Vec<std::path::PathBuf>) {
        for e in std::fs::read_dir(dir).expect("the sources").flatten() {
            let path = e.path();
            if path.is_dir() {
                files(&path, out)
            } else {
                out.push(path)
            }
        }
    }
    let mut all = Vec::new();
    files(
        &std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut all,
    );
    let mut names = BTreeSet::new();
    for path in all {
        let text = std::fs::read_to_string(&path).expect("a source");
        for block in text.split("impl dyn Emit + '_ {").skip(1) {
            let block = block.split("\n}").next().unwrap_or_default();
            for line in block.lines() {
                if let Some(rest) = line.strip_prefix("    pub fn ") {
                    names.extend(rest.split(['(', '<']).next().map(str::to_owned));
                }
            }
        }
    }
    // Methods that take an operation description, or no value.
    for apart in [
        "checkpointing",
        "convolution",
        "reduce_window",
        "solve_linear",
        "try_solve_linear",
        "linear_solve",
        "$name",
        "$method",
    ] {
        names.remove(apart);
    }
    // Methods of tables write the operation of their row, as `op` does.
    for method in ops::UNARY.iter().map(|d| d.method) {
        names.remove(method);
    }
    for method in ops::BINARY.iter().map(|d| d.method) {
        names.remove(method);
    }
    let rows: BTreeSet<String> = ROWS.iter().map(|r| r.0.to_owned()).collect();
    let missing: Vec<_> = names.difference(&rows).collect();
    assert!(
        missing.is_empty() && names.len() > 150,
        "{} methods, without a row: {missing:?}",
        names.len()
    );
}
