//! The Lorenz system by a Runge-Kutta method: sensitivity to the start, forward and in reverse,
//! with three scalars and with a vector that each step takes apart.

use cotangent::closures::{check, fori_loop, jvp, vjp};
use cotangent::{Result, TracedTensor as T};

type State = (T, T, T);

fn lorenz((x, y, z): &State) -> State {
    ((y - x) * 10.0, x * (28.0 - z) - y, x * y - z * (8.0 / 3.0))
}

/// `u + h k`.
fn along(u: &State, h: f64, k: &State) -> State {
    (&u.0 + &k.0 * h, &u.1 + &k.1 * h, &u.2 + &k.2 * h)
}

fn rk4(u: State, h: f64) -> State {
    let k1 = lorenz(&u);
    let k2 = lorenz(&along(&u, h / 2.0, &k1));
    let k3 = lorenz(&along(&u, h / 2.0, &k2));
    let k4 = lorenz(&along(&u, h, &k3));
    let ends = along(&along(&u, h / 6.0, &k1), h / 6.0, &k4);
    along(&along(&ends, h / 3.0, &k2), h / 3.0, &k3)
}

fn flow(u: State, steps: i64) -> Result<State> {
    fori_loop(0, steps, |_, u: State| rk4(u, 0.005), u)
}

fn vector_flow(u: T, steps: i64) -> Result<T> {
    let step = |_, u: T| vector(rk4((u.index(0, 0), u.index(0, 1), u.index(0, 2)), 0.005));
    fori_loop(0, steps, step, u)
}

fn vector((x, y, z): State) -> T {
    T::stack(&[&x, &y, &z], 0)
}

/// The whole example.
pub(crate) fn main() -> Result<()> {
    let state = |u: [f64; 3]| (u[0].into(), u[1].into(), u[2].into());
    let (start, du, ct) = ([1.0; 3], [0.3, -0.2, 0.9], [1.0, 2.0, -1.0]);
    assert!(check(|u| vector_flow(u, 5), T::from(start))?.passed());
    let (end, forward) = jvp(|u| flow(u, 1000), state(start), state(du))?;
    let back = vjp(|u| flow(u, 1000), state(start))?.1(state(ct))?;
    let (end, forward, back) = (vector(end), vector(forward), vector(back));
    println!("end {end}\nforward {forward}\nreverse {back}");
    let jax = T::from([-6.512111807936707, -6.974035694534812, 23.924135592960525]);
    let jvp_of_jax = T::from([0.591896065207181, 0.7903647442685247, -0.4077993100719815]);
    let errors = [
        end - &jax,
        vector_flow(start.into(), 1000)? - jax,
        &forward - jvp_of_jax,
        (forward * T::from(ct) - back * T::from(du)).sum(..),
    ];
    for error in errors {
        assert!(error.abs().max(..).item::<f64>()? < 1e-8);
    }
    Ok(())
}
