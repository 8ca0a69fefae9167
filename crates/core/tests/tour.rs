//! A differentiation core in five operations: the program of the book's tour, which a test of the
//! command line compares with the chapters.

/// A value of a function: the index of the equation that defines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Val(usize);

/// The five operations `neg add mul sin sum`, three that their derivatives need, and parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Op {
    Param,
    Constant(f64),
    Neg,
    Add,
    Mul,
    Sin,
    Cos,
    /// The sum over an axis, which is removed.
    Sum(usize),
    /// A new axis of this extent.
    Broadcast(usize, usize),
}

/// `%value = op %operands : shape`.
#[derive(Clone, Debug)]
struct Eqn {
    op: Op,
    operands: Vec<Val>,
    shape: Vec<usize>,
}

/// Equations in an order in which operands precede their use.
#[derive(Clone, Debug)]
struct Function {
    eqns: Vec<Eqn>,
    result: Val,
}

/// A function under construction.
#[derive(Default)]
struct Builder {
    eqns: Vec<Eqn>,
}

impl Builder {
    fn param(&mut self, shape: &[usize]) -> Val {
        self.push(Op::Param, &[], shape.to_vec())
    }

    fn push(&mut self, op: Op, operands: &[Val], shape: Vec<usize>) -> Val {
        let operands = operands.to_vec();
        self.eqns.push(Eqn {
            op,
            operands,
            shape,
        });
        Val(self.eqns.len() - 1)
    }

    fn shape(&self, v: Val) -> &[usize] {
        &self.eqns[v.0].shape
    }

    /// Adds an equation. Its shape follows from the shapes of the operands.
    fn emit(&mut self, op: Op, x: &[Val]) -> Val {
        let mut shape = x.first().map_or(vec![], |&v| self.shape(v).to_vec());
        match op {
            Op::Sum(axis) => drop(shape.remove(axis)),
            Op::Broadcast(axis, extent) => shape.insert(axis, extent),
            Op::Add | Op::Mul => assert_eq!(self.shape(x[0]), self.shape(x[1])),
            _ => {}
        }
        self.push(op, x, shape)
    }

    /// A constant of this shape.
    fn full(&mut self, value: f64, shape: &[usize]) -> Val {
        let scalar = self.emit(Op::Constant(value), &[]);
        let broadcast = |v, (axis, &extent)| self.emit(Op::Broadcast(axis, extent), &[v]);
        shape.iter().enumerate().fold(scalar, broadcast)
    }

    /// The function, without the equations that the result does not need.
    fn finish(self, result: Val) -> Function {
        let mut live = vec![false; self.eqns.len()];
        live[result.0] = true;
        for (i, e) in self.eqns.iter().enumerate().rev() {
            live[i] |= e.op == Op::Param;
            e.operands.iter().for_each(|v| live[v.0] |= live[i]);
        }
        let mut out = Builder::default();
        let mut moved = vec![Val(0); self.eqns.len()];
        for (i, e) in self.eqns.into_iter().enumerate().filter(|(i, _)| live[*i]) {
            let operands: Vec<Val> = e.operands.iter().map(|v| moved[v.0]).collect();
            moved[i] = out.push(e.op, &operands, e.shape);
        }
        Function {
            eqns: out.eqns,
            result: moved[result.0],
        }
    }
}

/// Runs a function. Elements are listed in row-major order.
fn run(f: &Function, args: &[Vec<f64>]) -> Vec<f64> {
    let mut args = args.iter();
    let mut values: Vec<Vec<f64>> = Vec::new();
    for e in &f.eqns {
        let x: Vec<&Vec<f64>> = e.operands.iter().map(|v| &values[v.0]).collect();
        // Elements after the axis, for an axis of an operand or of the result.
        let inner = |shape: &[usize], axis: usize| shape[axis + 1..].iter().product::<usize>();
        let y = match e.op {
            Op::Param => args.next().expect("an argument per parameter").clone(),
            Op::Constant(c) => vec![c],
            Op::Neg => x[0].iter().map(|a| -a).collect(),
            Op::Add => x[0].iter().zip(x[1]).map(|(a, b)| a + b).collect(),
            Op::Mul => x[0].iter().zip(x[1]).map(|(a, b)| a * b).collect(),
            Op::Sin => x[0].iter().map(|a| a.sin()).collect(),
            Op::Cos => x[0].iter().map(|a| a.cos()).collect(),
            Op::Sum(axis) => {
                let shape = &f.eqns[e.operands[0].0].shape;
                let (n, k) = (shape[axis], inner(shape, axis));
                let at = |i: usize| (0..n).map(|j| x[0][(i / k * n + j) * k + i % k]).sum();
                (0..e.shape.iter().product()).map(at).collect()
            }
            Op::Broadcast(axis, n) => {
                let k = inner(&e.shape, axis);
                let at = |i: usize| x[0][i / (n * k) * k + i % k];
                (0..e.shape.iter().product()).map(at).collect()
            }
        };
        values.push(y);
    }
    values.swap_remove(f.result.0)
}

/// A tangent: the index of an equation of the linear program. Tangent 0 is its input.
#[derive(Clone, Copy, Debug)]
struct Lv(usize);

/// An operand of a linear equation: a residual of the forward pass, or a tangent.
#[derive(Clone, Copy, Debug)]
enum Arg {
    R(Val),
    L(Lv),
}

/// A program that is linear in tangent 0. Each equation defines the next tangent.
#[derive(Default)]
struct Linear {
    eqns: Vec<(Op, Vec<Arg>)>,
}

impl Linear {
    fn push(&mut self, op: Op, args: &[Arg]) -> Lv {
        self.eqns.push((op, args.to_vec()));
        Lv(self.eqns.len())
    }

    /// The sum of two tangents, either of which may be zero.
    fn sum(&mut self, a: Option<Lv>, b: Option<Lv>) -> Option<Lv> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.push(Op::Add, &[Arg::L(a), Arg::L(b)])),
            (a, b) => a.or(b),
        }
    }
}

/// Copies `f` to `b`, and writes its derivative by the first parameter as a linear program. Returns
/// the value and its tangent; `None` is the tangent zero.
fn linearize(f: &Function, b: &mut Builder, lin: &mut Linear) -> (Val, Option<Lv>) {
    let mut values: Vec<(Val, Option<Lv>)> = Vec::new();
    for (i, e) in f.eqns.iter().enumerate() {
        let (x, t): (Vec<Val>, Vec<Option<Lv>>) = e.operands.iter().map(|v| values[v.0]).unzip();
        let y = b.push(e.op, &x, e.shape.clone());
        let dy = match e.op {
            Op::Param => (i == 0).then_some(Lv(0)),
            Op::Constant(_) => None,
            Op::Add => lin.sum(t[0], t[1]),
            Op::Mul => {
                let left = t[0].map(|t| lin.push(Op::Mul, &[Arg::R(x[1]), Arg::L(t)]));
                let right = t[1].map(|t| lin.push(Op::Mul, &[Arg::R(x[0]), Arg::L(t)]));
                lin.sum(left, right)
            }
            Op::Sin | Op::Cos => t[0].map(|t| {
                let slope = match e.op {
                    Op::Sin => b.emit(Op::Cos, &x),
                    _ => {
                        let s = b.emit(Op::Sin, &x);
                        b.emit(Op::Neg, &[s])
                    }
                };
                lin.push(Op::Mul, &[Arg::R(slope), Arg::L(t)])
            }),
            // Linear operations are their own derivative.
            Op::Neg | Op::Sum(_) | Op::Broadcast(..) => t[0].map(|t| lin.push(e.op, &[Arg::L(t)])),
        };
        values.push((y, dy));
    }
    values[f.result.0]
}

/// Forward mode: the tangent of the result. The tangent of the first parameter is a new, last
/// parameter.
fn jvp(f: &Function) -> Function {
    let (mut b, mut lin) = (Builder::default(), Linear::default());
    let (y, dy) = linearize(f, &mut b, &mut lin);
    let mut tangents = vec![b.param(&f.eqns[0].shape)];
    for (op, args) in &lin.eqns {
        let value = |a: &Arg| match *a {
            Arg::R(v) => v,
            Arg::L(t) => tangents[t.0],
        };
        let x: Vec<Val> = args.iter().map(value).collect();
        tangents.push(b.emit(*op, &x));
    }
    let shape = b.shape(y).to_vec();
    let dy = dy.map_or_else(|| b.full(0.0, &shape), |t| tangents[t.0]);
    b.finish(dy)
}

#[test]
fn forward_mode_of_a_product() {
    let mut b = Builder::default();
    let x = b.param(&[]);
    let s = b.emit(Op::Sin, &[x]);
    let y = b.emit(Op::Mul, &[s, x]);
    let f = b.finish(y);
    let tangent = run(&jvp(&f), &[vec![2.0], vec![10.0]])[0];
    let slope = 2f64.sin() + 2.0 * 2f64.cos();
    assert!((tangent - 10.0 * slope).abs() < 1e-14);
}

/// Reverse mode: the cotangent of tangent 0 for the cotangent `ct` of a tangent.
fn transpose(lin: &Linear, b: &mut Builder, of: Lv, ct: Val, input: &[usize]) -> Option<Val> {
    // Extents of tangents, for the axes that sums remove.
    let mut shapes = vec![input.to_vec()];
    for (op, args) in &lin.eqns {
        let mut shape = args.iter().find_map(|a| match a {
            Arg::L(t) => Some(shapes[t.0].clone()),
            Arg::R(_) => None,
        });
        match (op, &mut shape) {
            (Op::Sum(axis), Some(s)) => drop(s.remove(*axis)),
            (Op::Broadcast(axis, extent), Some(s)) => s.insert(*axis, *extent),
            _ => {}
        }
        shapes.push(shape.expect("a linear equation reads a tangent"));
    }
    let mut cts: Vec<Option<Val>> = vec![None; shapes.len()];
    cts[of.0] = Some(ct);
    for (i, (op, args)) in lin.eqns.iter().enumerate().rev() {
        let Some(ct) = cts[i + 1] else { continue };
        for arg in args {
            let Arg::L(t) = *arg else { continue };
            let part = match (*op, args[0]) {
                (Op::Mul, Arg::R(factor)) => b.emit(Op::Mul, &[factor, ct]),
                (Op::Neg, _) => b.emit(Op::Neg, &[ct]),
                (Op::Sum(axis), _) => b.emit(Op::Broadcast(axis, shapes[t.0][axis]), &[ct]),
                (Op::Broadcast(axis, _), _) => b.emit(Op::Sum(axis), &[ct]),
                _ => ct,
            };
            cts[t.0] = Some(match cts[t.0] {
                Some(other) => b.emit(Op::Add, &[other, part]),
                None => part,
            });
        }
    }
    cts[0]
}

/// The gradient of a scalar function by its first parameter.
fn grad(f: &Function) -> Function {
    let (mut b, mut lin) = (Builder::default(), Linear::default());
    let (y, dy) = linearize(f, &mut b, &mut lin);
    assert!(b.shape(y).is_empty(), "grad needs a scalar loss");
    let (one, shape) = (b.full(1.0, &[]), f.eqns[0].shape.clone());
    let ct = dy.and_then(|dy| transpose(&lin, &mut b, dy, one, &shape));
    let ct = ct.unwrap_or_else(|| b.full(0.0, &shape));
    b.finish(ct)
}

/// The function on `n` elements: the first parameter and the result have a new first axis.
fn batch(f: &Function, n: usize) -> Function {
    let mut b = Builder::default();
    let mut values: Vec<(Val, bool)> = Vec::new();
    for (i, e) in f.eqns.iter().enumerate() {
        let mapped = i == 0 || e.operands.iter().any(|v| values[v.0].1);
        let mut x: Vec<Val> = Vec::new();
        for (v, is_mapped) in e.operands.iter().map(|v| values[v.0]) {
            x.push(match mapped && !is_mapped {
                true => b.emit(Op::Broadcast(0, n), &[v]),
                false => v,
            });
        }
        let y = match e.op {
            Op::Param if mapped => b.param(&[&[n], &e.shape[..]].concat()),
            Op::Param => b.param(&e.shape),
            Op::Sum(axis) => b.emit(Op::Sum(axis + usize::from(mapped)), &x),
            Op::Broadcast(axis, k) => b.emit(Op::Broadcast(axis + usize::from(mapped), k), &x),
            op => b.emit(op, &x),
        };
        values.push((y, mapped));
    }
    let (y, mapped) = values[f.result.0];
    let y = if mapped {
        y
    } else {
        b.emit(Op::Broadcast(0, n), &[y])
    };
    b.finish(y)
}

/// The sum of `sin(x) * x + w * x` over a vector of three elements.
fn example() -> Function {
    let mut b = Builder::default();
    let (x, w) = (b.param(&[3]), b.param(&[3]));
    let s = b.emit(Op::Sin, &[x]);
    let p = b.emit(Op::Mul, &[s, x]);
    let q = b.emit(Op::Mul, &[w, x]);
    let sum = b.emit(Op::Add, &[p, q]);
    let y = b.emit(Op::Sum(0), &[sum]);
    b.finish(y)
}

#[test]
fn derivatives_of_every_kind_and_order() {
    let f = example();
    let (x, w) = (vec![0.5, -1.0, 2.0], vec![1.0, 2.0, 3.0]);
    let near = |got: &[f64], want: Vec<f64>| {
        assert_eq!(got.len(), want.len());
        got.iter()
            .zip(&want)
            .for_each(|(a, b)| assert!((a - b).abs() < 1e-14, "{a} {b}"));
    };
    // f' = sin x + x cos x + w
    let g = grad(&f);
    let slope = |x: f64, w: f64| x.sin() + x * x.cos() + w;
    let want = x.iter().zip(&w).map(|(&x, &w)| slope(x, w)).collect();
    near(&run(&g, &[x.clone(), w.clone()]), want);

    // A Hessian-vector product is the jvp of the gradient: f'' = 2 cos x - x sin x.
    let curvature = |x: &f64| 2.0 * x.cos() - x * x.sin();
    let v = vec![1.0, 10.0, 100.0];
    let want = x.iter().zip(&v).map(|(x, v)| curvature(x) * v).collect();
    near(&run(&jvp(&g), &[x.clone(), w.clone(), v]), want);

    // A batch of gradients is the gradient of each element.
    let y = vec![0.1, 0.2, 0.3];
    let both = run(&batch(&g, 2), &[[x.clone(), y.clone()].concat(), w.clone()]);
    let each = [x, y].map(|x| run(&g, &[x, w.clone()])).concat();
    near(&both, each);
}

#[test]
fn the_gradient_of_a_gradient() {
    // x sin x, where x is used twice; its derivatives to the third.
    let mut b = Builder::default();
    let x = b.param(&[]);
    let s = b.emit(Op::Sin, &[x]);
    let y = b.emit(Op::Mul, &[x, s]);
    let f = b.finish(y);
    let x = 0.7f64;
    let want = [
        x * x.sin(),
        x.sin() + x * x.cos(),
        2.0 * x.cos() - x * x.sin(),
        -3.0 * x.sin() - x * x.cos(),
    ];
    let mut g = f;
    for want in want {
        assert!((run(&g, &[vec![x]])[0] - want).abs() < 1e-14);
        g = grad(&g);
    }
}
