//! Optimizers over trees of traced tensors: gradient descent with momentum ([`Sgd`]) and [`Adam`].
//!
//! ```text
//! state = optimizer.init(&p)         p, state = optimizer.update(&p, &g, &state)
//! ```
//! The state is a tree, so it is an argument and a result of a compiled step, and
//! [`save`](crate::closures::save) stores it. Update rules are arithmetic on the tensors of the
//! parameters, in their element types.
//!
//! ```
//! use cotangent::closures::{jit, value_and_grad_of};
//! use cotangent::optim::{Adam, AdamState};
//! use cotangent::{DType, TracedTensor};
//! let loss = |w: TracedTensor, target: TracedTensor| (w - target).square().sum(..);
//! let adam = Adam::new(0.1);
//! let step = jit(|(w, state, target): (TracedTensor, AdamState<TracedTensor>, TracedTensor)| {
//!     let (l, g) = value_and_grad_of(loss)(w.clone(), target)?;
//!     let (w, state) = adam.update(&w, &g, &state)?;
//!     Ok((w, state, l))
//! });
//! let target = TracedTensor::vector(vec![3.0, -1.0]);
//! let mut w = TracedTensor::zeros(DType::F64, [2]);
//! let mut state = adam.init(&w);
//! for _ in 0..200 {
//!     (w, state, _) = step((w, state, target.clone()))?;
//! }
//! assert!((w.index(0, 0).item::<f64>()? - 3.0).abs() < 1e-2);
//! # Ok::<(), cotangent::Error>(())
//! ```

use crate::{Result, TracedTensor, Tree};

/// Gradient descent, with momentum if it is not 0: the heavy ball method (B. T. Polyak, 1964).
///
/// ```text
/// v = momentum v + g         p = p - rate v
/// ```
///
/// ```
/// use cotangent::optim::Sgd;
/// use cotangent::{TracedTensor, closures::grad};
/// let sgd = Sgd::new(0.1).with_momentum(0.5);
/// let mut w = TracedTensor::scalar(1.0);
/// let mut state = sgd.init(&w);
/// for _ in 0..2 {
///     let g = grad(|w: TracedTensor| w.square())(w.clone())?;
///     (w, state) = sgd.update(&w, &g, &state)?;
/// }
/// // 1 - 0.1 (2) = 0.8, then 0.8 - 0.1 (0.5 (2) + 1.6) = 0.54
/// assert!((w.item::<f64>()? - 0.54).abs() < 1e-15);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgd {
    /// The factor of a step.
    pub rate: f64,
    /// The factor of the previous velocity, in `[0, 1)`.
    pub momentum: f64,
}

/// The state of [`Sgd`].
///
/// ```
/// use cotangent::optim::Sgd;
/// use cotangent::TracedTensor;
/// let w = TracedTensor::vector(vec![1.0, 2.0]);
/// assert!(Sgd::new(0.1).init(&w).velocity.is_none());
/// let state = Sgd::new(0.1).with_momentum(0.9).init(&w);
/// assert_eq!(state.velocity.unwrap().to_tensor()?.to_vec::<f64>()?, [0.0, 0.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Debug, Tree)]
pub struct SgdState<P> {
    /// The velocity of each parameter; none without momentum.
    pub velocity: Option<P>,
}

impl Sgd {
    /// Gradient descent without momentum.
    pub fn new(rate: f64) -> Sgd {
        Sgd {
            rate,
            momentum: 0.0,
        }
    }

    /// The same optimizer with momentum.
    pub fn with_momentum(self, momentum: f64) -> Sgd {
        Sgd { momentum, ..self }
    }

    /// The state before the first step: a velocity of zeros.
    pub fn init<P: Tree>(&self, params: &P) -> SgdState<P> {
        let velocity = (self.momentum != 0.0).then(|| params.map(TracedTensor::zeros_like));
        SgdState { velocity }
    }

    /// The parameters and the state after one step.
    ///
    /// # Errors
    /// The trees have different structures.
    #[track_caller]
    pub fn update<P: Tree>(
        &self,
        params: &P,
        gradient: &P,
        state: &SgdState<P>,
    ) -> Result<(P, SgdState<P>)> {
        let velocity = match &state.velocity {
            Some(v) => Some(v.zip_map(gradient, |v, g| v * self.momentum + g)?),
            None => None,
        };
        let direction = velocity.as_ref().unwrap_or(gradient);
        let params = stepped(params, direction, self.rate)?;
        Ok((params, SgdState { velocity }))
    }
}

/// Adam: steps of a size that hardly depends on the size of the gradient (D. P. Kingma and J. Ba,
/// "Adam: A Method for Stochastic Optimization", ICLR 2015, algorithm 1).
///
/// ```text
/// t = t + 1        m = beta1 m + (1 - beta1) g        v = beta2 v + (1 - beta2) |g|²
/// p = p - rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
/// ```
/// The default constants are those of the article, and of PyTorch and Optax.
///
/// ```
/// use cotangent::optim::Adam;
/// use cotangent::{TracedTensor, closures::{grad, jit}};
/// let adam = Adam::new(0.1);
/// let mut w = TracedTensor::scalar(1.0);
/// let mut state = adam.init(&w);
/// for _ in 0..2 {
///     let g = grad(|w: TracedTensor| w.square())(w.clone())?;
///     (w, state) = adam.update(&w, &g, &state)?;
/// }
/// // The first steps have almost the length of the rate.
/// assert!((w.item::<f64>()? - 0.8).abs() < 1e-3);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// The size of a step.
    pub rate: f64,
    /// The factor of the previous mean of gradients, in `[0, 1)`.
    pub beta1: f64,
    /// The factor of the previous mean of squares, in `[0, 1)`.
    pub beta2: f64,
    /// The number added to the root of the mean of squares.
    pub epsilon: f64,
}

/// The state of [`Adam`].
///
/// ```
/// use cotangent::optim::Adam;
/// use cotangent::TracedTensor;
/// let state = Adam::new(1e-3).init(&TracedTensor::vector(vec![1.0f32, 2.0]));
/// assert_eq!(state.count.item::<i64>()?, 0);
/// assert_eq!(state.mean.to_tensor()?.to_vec::<f32>()?, [0.0, 0.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Debug, Tree)]
pub struct AdamState<P> {
    /// The number of steps, an `i64` scalar.
    pub count: TracedTensor,
    /// The mean of the gradients, which decays by `beta1`.
    pub mean: P,
    /// The mean of their squares (real, also of complex parameters), which decays by `beta2`.
    pub square: P,
}

impl Adam {
    /// Adam with `beta1 = 0.9`, `beta2 = 0.999` and `epsilon = 1e-8`.
    pub fn new(rate: f64) -> Adam {
        Adam {
            rate,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-8,
        }
    }

    /// The state before the first step: zeros.
    pub fn init<P: Tree>(&self, params: &P) -> AdamState<P> {
        AdamState {
            count: TracedTensor::scalar(0i64),
            mean: params.map(TracedTensor::zeros_like),
            square: params.map(|p| p.abs2().zeros_like()),
        }
    }

    /// The parameters and the state after one step.
    ///
    /// # Errors
    /// The trees have different structures.
    #[track_caller]
    pub fn update<P: Tree>(
        &self,
        params: &P,
        gradient: &P,
        state: &AdamState<P>,
    ) -> Result<(P, AdamState<P>)> {
        let count = &state.count + TracedTensor::scalar(1i64);
        let steps = count.astype(crate::DType::F64);
        // 1 - beta^t, exact for small t, too.
        let correction = |beta: f64| -(&steps * beta.ln()).expm1();
        let (of_mean, of_square) = (correction(self.beta1), correction(self.beta2));
        let mean = state
            .mean
            .zip_map(gradient, |m, g| m * self.beta1 + g * (1.0 - self.beta1))?;
        let square = state.square.zip_map(gradient, |v, g| {
            v * self.beta2 + g.abs2() * (1.0 - self.beta2)
        })?;
        let direction = mean.zip_map(&square, |m, v| {
            let root = (v / as_of(&of_square, v)).sqrt() + self.epsilon;
            m / as_of(&of_mean, m) / as_of(&root, m)
        })?;
        let params = stepped(params, &direction, self.rate)?;
        let state = AdamState {
            count,
            mean,
            square,
        };
        Ok((params, state))
    }
}

/// The parameters after a step of this size against a direction.
#[track_caller]
fn stepped<P: Tree>(params: &P, direction: &P, rate: f64) -> Result<P> {
    params.zip_map(direction, |p, d| p - d * rate)
}

/// `x` in the element type of `like`.
fn as_of(x: &TracedTensor, like: &TracedTensor) -> TracedTensor {
    match like.dtype() {
        Ok(dtype) => x.astype(dtype),
        // The error of `like` is that of every result.
        Err(_) => like.clone(),
    }
}
