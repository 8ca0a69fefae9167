//! The ground state of three quantum spins as a network of complex tensors.

use cotangent::closures::{Tree, check, grad, jit};
use cotangent::einsum::einsum;
use cotangent::{DType, Result, TracedTensor};

type State = (TracedTensor, TracedTensor, TracedTensor);

/// The energy `<psi|H|psi> / <psi|psi>`, where `h` acts on spins 0, 1 and on spins 1, 2.
fn energy((a, b, c): State, h: &TracedTensor) -> Result<TracedTensor> {
    let (x, y, z) = (a.conj(), b.conj(), c.conj());
    let all = [&a, &b, &c, &x, &y, &z, h];
    let h01 = einsum("si,itj,ju,xk,kyl,lu,xyst->", &all)?;
    let h12 = einsum("si,itj,ju,sk,kxl,ly,xytu->", &all)?;
    let norm = einsum("si,itj,ju,sk,ktl,lu->", &all[..6])?;
    Ok((h01 + h12).real() / norm.real())
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    // Heisenberg's interaction, XX + YY + ZZ: the lowest energy of three spins is -4.
    let (mut h, entries) = ([0.0; 16], [(0, 1.0), (5, -1.0), (6, 2.0)]);
    for (k, x) in entries {
        (h[k], h[15 - k]) = (x, x);
    }
    let h = TracedTensor::from(h).reshape([2; 4]).astype(DType::C128);
    let tensor = |shape: &[usize], frequency: f64| {
        let n = shape.iter().product::<usize>() as f64;
        let i = TracedTensor::arange(DType::F64, 1.0, n + 1.0, 1.0) * frequency;
        TracedTensor::complex(&i.sin(), &i.square().cos()).reshape(shape)
    };
    let (a, b) = (tensor(&[2, 3], 1.1), tensor(&[3, 2, 3], 1.2));
    let mut psi = (a, b, tensor(&[3, 2], 1.3));
    let f = |psi: State| energy(psi, &h);
    assert!(check(f, psi.clone())?.passed());
    let step = jit(|psi: State| psi.zip_map(&grad(f)(psi.clone())?, |t, g| t - g * 0.1));
    for _ in 0..2000 {
        psi = step(psi)?;
    }
    let e = f(psi)?;
    println!("energy {e}");
    assert!((e + 4.0).item::<f64>()?.abs() < 1e-6);
    Ok(())
}
