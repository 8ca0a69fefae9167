//! StableHLO forms of operations: one match over all operations.

use super::text::TextEmitter;
use super::{constant, control, elementwise, linalg, movement, reduce, sliding};
use cotangent_core::ops::{Binary, Convolution, DotGeneral, Op, SpecialFn};
use cotangent_core::primitive::{Val, Vals};
use cotangent_core::{Emit, Result, Type, bail};

/// Writes an operation with operands `x` and results of types `y`.
#[expect(clippy::too_many_lines, reason = "one match over the operations")]
pub(super) fn write(t: &TextEmitter<'_>, op: &Op, x: &[Val], y: Vec<Type>) -> Result<Vals> {
    let cx: &dyn Emit = t;
    Ok(match op {
        Op::Unary(u) => return elementwise::unary(t, *u, x[0], y),
        Op::Binary(b) => return elementwise::binary(t, *b, x, y),
        Op::Compare(c) => elementwise::compare(t, c.0, x, y),
        Op::Select(_) => elementwise::select(t, x, y),
        Op::AtKink(_) => return elementwise::binary(t, Binary::MulStrongZero, x, y),
        Op::Complex(_) => t.line(
            &format!(
                "stablehlo.complex {} : {}",
                t.list(x),
                super::text::show(&y[0])
            ),
            y,
        ),
        Op::IntegerPow(p) => elementwise::integer_pow(t, x[0], p.n),
        Op::Polygamma(p) => elementwise::polygamma(t, p, x[0], y),
        Op::Convert(_) => elementwise::convert(t, x[0], y),
        Op::Constant(c) => return constant::write(t, c),
        Op::Iota(i) => return movement::iota(t, i.axis, y),
        Op::BroadcastInDim(b) => return movement::broadcast(t, x[0], &b.dims, y),
        Op::Reshape(_) => return movement::reshape(t, x[0], y),
        Op::Transpose(p) => movement::listed(t, "transpose", "dims", x[0], &p.perm, y),
        Op::Reverse(r) => movement::reverse(t, x[0], &r.axes, y),
        Op::Shard(s) => return movement::shard(t, s, x[0], y),
        Op::Slice(s) => return movement::slice(t, s, x[0], y),
        Op::Pad(p) => return movement::pad(t, p, x, y),
        Op::Concatenate(c) => movement::concatenate(t, c.axis, x, y),
        Op::DynamicSlice(d) => return movement::dynamic_slice(t, d, x, y),
        Op::DynamicUpdateSlice(_) => {
            let text = format!(
                "stablehlo.dynamic_update_slice {} : {}",
                t.list(x),
                t.signature(x, &y)
            );
            t.line(&text, y)
        }
        Op::Gather(g) => return movement::gather(t, g, x, y),
        Op::Scatter(s) => return movement::scatter(t, s, x, y),
        Op::ScatterRecurrence(s) => return control::scatter_recurrence(t, s, x),
        Op::Reduce(r) => return reduce::reduce(t, r, x[0], y),
        Op::ArgReduce(a) => return reduce::arg_reduce(t, a, x[0], y),
        Op::Sort(s) => reduce::sort(t, s, x),
        Op::Cumulative(c) => return reduce::cumulative(t, c, x[0], y),
        Op::LinearRecurrence(r) => return control::recurrence(t, r, x),
        Op::DotGeneral(d) if d.strong_zero => {
            let plain = DotGeneral {
                strong_zero: false,
                ..(**d).clone()
            };
            elementwise::with_strong_zeros(t, [x[0], x[1]], &|cx, x| cx.op(plain.clone(), &x))
        }
        Op::DotGeneral(d) => reduce::dot_general(t, d, x, y),
        Op::Call(c) => control::call(t, &c.callee, x, y),
        Op::Switch(s) => control::switch(t, s, x, y),
        Op::Scan(s) => return control::scan(t, s, x),
        Op::While(w) => return control::while_loop(t, w, x),
        Op::CustomJvp(c) => cx.inline(&c.body, x).into(),
        Op::CustomVjp(c) => cx.inline(if c.saves { &c.fwd } else { &c.body }, x).into(),
        Op::LinearSolve(s) => cx.inline(&s.solve, x).into(),
        Op::Spectral(s) => {
            let types: Vec<Type> = x.iter().map(|&v| cx.ty(v)).collect();
            let f = s.expand(&types)?;
            cx.inline(&f, x).into()
        }
        Op::Convolution(c) if c.strong_zero => {
            let plain = Convolution {
                strong_zero: false,
                ..(**c).clone()
            };
            elementwise::with_strong_zeros(t, [x[0], x[1]], &|cx, x| cx.op(plain.clone(), &x))
        }
        Op::Convolution(c) => return sliding::convolution(t, c, x, &y),
        Op::ReduceWindow(r) => return sliding::reduce_window(t, r, x[0], &y),
        Op::SelectWindow(s) => return sliding::select_window(t, s, x, &y),
        Op::Fft(f) => return sliding::fft(t, f, x[0], &y),
        Op::Bitcast(_) => t.line(
            &format!(
                "stablehlo.bitcast_convert {} : {}",
                t.name(x[0]),
                t.signature(x, &y)
            ),
            y,
        ),
        Op::ReducePrecision(p) => {
            let format = format!("e{}m{}", p.exponent, p.mantissa);
            t.line(
                &format!(
                    "stablehlo.reduce_precision {}, format = {format} : {}",
                    t.name(x[0]),
                    super::text::show(&y[0])
                ),
                y,
            )
        }
        Op::RoundTo(r) => {
            let wide = super::text::show(&y[0]);
            let name = super::text::element(y[0].dtype);
            let narrow = wide.replace(&format!("{name}>"), &format!("{}>", r.format.name()));
            let small = t.line(
                &format!("stablehlo.convert {} : ({wide}) -> {narrow}", t.name(x[0])),
                y.clone(),
            )[0];
            t.line(
                &format!("stablehlo.convert {} : ({narrow}) -> {wide}", t.name(small)),
                y,
            )
        }
        Op::BesselIe(b) if b.order == 1 => t.plain("chlo.bessel_i1e", x, y),
        Op::Special(s) if s.f == SpecialFn::Zeta && s.order == 0 => t.plain("chlo.zeta", x, y),
        Op::Count(c) => {
            t.bind(&c.extent, cx.maximum(x[0], cx.full_like(x[0], 0i64)));
            return movement::iota(t, 0, y);
        }
        op if !op.runs() => cx.emit(op.legal(t.session())?, x),
        op => match linalg::write(t, op, x, &y)? {
            Some(v) => v,
            None => bail!(Unsupported, "`{}` has no StableHLO form", op.name()),
        },
    })
}
