//! An extension with three opaque types, and an executor of functions over their values.
//!
//! ```text
//! !test.pair<scale = s>   two numbers, a vector space     add zero one multiply dot scale exp
//! !test.angle             a point of the circle           turn cosine; its tangents are numbers
//! !test.key               a state without a derivative    split number
//! ```

use cotangent_core::ops::{Entry, OpaqueEntry, Switch, Unary};
use cotangent_core::primitive::{Linearized, no_rule};
use cotangent_core::tape;
use cotangent_core::transform::{Lin, Lv, Operand};
use cotangent_core::{
    Arg, Array, Attrs, Batched, Code, Cost, Cotangent, DType, Dim, Emit, Env, Error, Function, Op,
    Opaque, OpaqueType, Primitive, Result, Type, Val,
};

/// Two numbers. The parameter distinguishes types, and 1 makes them scalars with a one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PairType(pub(crate) i64);

impl Opaque for PairType {
    fn name(&self) -> &str {
        "test.pair"
    }
    fn parameters(&self) -> Attrs {
        Attrs::default().with_if(self.0 != 0, "scale", self.0)
    }
    fn cotangent(&self) -> Cotangent {
        Cotangent::Own
    }
    fn zero(&self, own: OpaqueType) -> Option<Op> {
        Some(TestOp::Zero(own).into())
    }
    fn sum(&self, _: OpaqueType) -> Option<Op> {
        Some(TestOp::Add.into())
    }
    fn one(&self, own: OpaqueType) -> Option<Op> {
        (self.0 == 1).then(|| TestOp::One(own).into())
    }
}

#[derive(Debug)]
pub(crate) struct Angle;

impl Opaque for Angle {
    fn name(&self) -> &str {
        "test.angle"
    }
    fn cotangent(&self) -> Cotangent {
        Cotangent::Other(real())
    }
}

#[derive(Debug)]
pub(crate) struct Key;

impl Opaque for Key {
    fn name(&self) -> &str {
        "test.key"
    }
    fn cotangent(&self) -> Cotangent {
        Cotangent::None
    }
}

pub(crate) fn real() -> Type {
    Type::scalar(DType::F64)
}

pub(crate) fn pair() -> Type {
    OpaqueType::declare(PairType(0)).unwrap().into()
}

pub(crate) fn angle() -> Type {
    OpaqueType::declare(Angle).unwrap().into()
}

pub(crate) fn key() -> Type {
    OpaqueType::declare(Key).unwrap().into()
}

/// The operations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TestOp {
    /// The zero of a type of pairs.
    Zero(OpaqueType),
    /// The one of a type of pairs.
    One(OpaqueType),
    /// The sum of pairs.
    Add,
    /// The product of pairs, number by number.
    Multiply,
    /// The exponentials of both numbers.
    Exp,
    /// The sum of the products of both numbers.
    Dot,
    /// A pair times a number.
    Scale,
    /// Two numbers as a pair.
    Make,
    /// An angle plus a number.
    Turn,
    /// The cosine of an angle.
    Cosine,
    /// The sine of an angle.
    Sine,
    /// A new key.
    Split,
    /// A number between 0 and 1 that the key determines.
    Number,
}

use TestOp::*;

const ALL: [(&str, TestOp); 11] = [
    ("test.add", Add),
    ("test.multiply", Multiply),
    ("test.exp", Exp),
    ("test.dot", Dot),
    ("test.scale", Scale),
    ("test.make", Make),
    ("test.turn", Turn),
    ("test.cosine", Cosine),
    ("test.sine", Sine),
    ("test.split", Split),
    ("test.number", Number),
];

impl From<TestOp> for Op {
    fn from(op: TestOp) -> Op {
        Op::extension(op)
    }
}

fn is_pair(t: &Type) -> bool {
    t.dtype
        .opaque()
        .is_some_and(|t| t.get::<PairType>().is_some())
}

impl Primitive for TestOp {
    fn name(&self) -> &str {
        let named = ALL.iter().find(|(_, op)| op == self);
        let constant = if self.is_zeros() {
            "test.zero"
        } else {
            "test.one"
        };
        named.map_or(constant, |(name, _)| name)
    }
    fn attrs(&self) -> Attrs {
        match self {
            Zero(ty) | One(ty) => Attrs::default().with("type", *ty),
            _ => Attrs::default(),
        }
    }
    fn key(&self) -> Option<String> {
        Some(format!("{self:?}"))
    }
    fn infer(&self, x: &[Type]) -> Result<Vec<Type>> {
        let f = real();
        Ok(vec![match (self, x) {
            (Zero(ty) | One(ty), []) => (*ty).into(),
            (Add | Multiply, [a, b]) if is_pair(a) && a == b => a.clone(),
            (Exp, [a]) if is_pair(a) => a.clone(),
            (Dot, [a, b]) if is_pair(a) && a == b => f,
            (Scale, [a, s]) if is_pair(a) && *s == f => a.clone(),
            (Make, [a, b]) if *a == f && *b == f => pair(),
            (Turn, [a, t]) if *a == angle() && *t == f => angle(),
            (Cosine | Sine, [a]) if *a == angle() => f,
            (Split, [k]) if *k == key() => key(),
            (Number, [k]) if *k == key() => f,
            _ => {
                let text = format!("`{}` of {x:?} is not defined", self.name());
                return Err(Error::new(Code::DTypeMismatch, text));
            }
        }])
    }
    fn eval(&self, _: &[Array], _: &Env) -> Result<Vec<Array>> {
        Err(no_rule(self, "evaluation"))
    }
    fn is_zeros(&self) -> bool {
        matches!(self, Zero(_))
    }
    fn linear_in(&self, mask: &[bool]) -> bool {
        match self {
            Add | Make => mask == [true, true],
            Multiply | Dot | Scale => mask[0] != mask[1],
            _ => false,
        }
    }
    fn linearize(&self, cx: &Lin<'_>, x: &[Val], t: &[Option<Lv>]) -> Result<Linearized> {
        let y = cx.op(*self, x);
        let with = |i: usize, t: Lv| {
            let mut operands: Vec<Operand> = x.iter().map(|&v| v.into()).collect();
            operands[i] = t.into();
            cx.apply1(*self, &operands)
        };
        let dy = match self {
            Multiply | Dot | Scale => {
                cx.sum_opt(t[0].map(|t| with(0, t)), t[1].map(|t| with(1, t)))
            }
            Add => cx.sum_opt(t[0], t[1]),
            Make => {
                let [a, b] = [0, 1].map(|i| cx.or_zeros(t[i], x[i]).into());
                Some(cx.apply1(Make, &[a, b]))
            }
            Exp => t[0].map(|t| cx.apply1(Multiply, &[y.into(), t.into()])),
            // Tangents of angles are numbers.
            Turn => cx.sum_opt(t[0], t[1]),
            Cosine => t[0].map(|t| cx.lneg(cx.scale(cx.op(Sine, x), t))),
            Sine => t[0].map(|t| cx.scale(cx.op(Cosine, x), t)),
            Zero(_) | One(_) | Split | Number => None,
        };
        Ok(cx.one(y, dy))
    }
    fn transpose(&self, cx: &dyn Emit, x: &[Arg], ct: &[Option<Val>]) -> Result<Vec<Option<Val>>> {
        let ct = ct[0].expect("one result");
        let op = |op: TestOp, a: Val, b: Val| Some(cx.op(op, &[a, b]));
        Ok(match (self, x) {
            (Add, _) => vec![Some(ct), Some(ct)],
            (Multiply, [a, b]) => vec![
                b.val().and_then(|b| op(Multiply, b, ct)),
                a.val().and_then(|a| op(Multiply, a, ct)),
            ],
            (Dot, [a, b]) => vec![
                b.val().and_then(|b| op(Scale, b, ct)),
                a.val().and_then(|a| op(Scale, a, ct)),
            ],
            (Scale, [p, s]) => vec![
                s.val().and_then(|s| op(Scale, ct, s)),
                p.val().and_then(|p| op(Dot, p, ct)),
            ],
            (Make, _) => {
                let unit = |a: f64, b: f64| {
                    let n = |x: f64| cx.full(&real(), x);
                    cx.op(Make, &[n(a), n(b)])
                };
                vec![op(Dot, unit(1.0, 0.0), ct), op(Dot, unit(0.0, 1.0), ct)]
            }
            (Zero(_) | One(_), _) => Vec::new(),
            _ => return Err(no_rule(self, "transpose")),
        })
    }
    fn batch(&self, _: &dyn Emit, _: &Dim, _: &[Batched]) -> Result<Vec<Batched>> {
        Err(no_rule(self, "batch"))
    }
    fn cost(&self, _: &[Type], _: &[Type]) -> Cost {
        Cost::default()
    }
}

/// The operations for the text form.
pub(crate) fn operations() -> Vec<Entry> {
    let plain = ALL.map(|(name, _)| Entry {
        name,
        doc: "An operation of a test.",
        parse: |s| {
            let op = ALL.iter().find(|(name, _)| *name == s.name);
            Ok(op.expect("a name of the table").1.into())
        },
        samples: |_| Vec::new(),
    });
    let zero = Entry {
        name: "test.zero",
        doc: "The zero of pairs.",
        parse: |s| Ok(Zero(s.attrs.get("type")?).into()),
        samples: |_| Vec::new(),
    };
    plain.into_iter().chain([zero]).collect()
}

/// The types for the text form.
pub(crate) fn types() -> Vec<OpaqueEntry> {
    let entry = |name, parse| OpaqueEntry {
        name,
        doc: "A type of a test.",
        parse,
    };
    vec![
        entry("test.pair", |a: &mut Attrs| {
            OpaqueType::declare(PairType(a.opt("scale")?.unwrap_or(0)))
        }),
        entry("test.angle", |_: &mut Attrs| OpaqueType::declare(Angle)),
        entry("test.key", |_: &mut Attrs| OpaqueType::declare(Key)),
    ]
}

/// A value of the executor.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Array(Array),
    Pair(PairType, [f64; 2]),
    Angle(f64),
    Key(u64),
}

impl From<f64> for Value {
    fn from(x: f64) -> Value {
        Value::Array(Array::scalar(x))
    }
}

impl From<[f64; 2]> for Value {
    fn from(x: [f64; 2]) -> Value {
        Value::Pair(PairType(0), x)
    }
}

impl Value {
    pub(crate) fn number(&self) -> f64 {
        match self {
            Value::Array(a) => a.to_f64()[0],
            v => panic!("{v:?} is no number"),
        }
    }
    pub(crate) fn pair(&self) -> [f64; 2] {
        match self {
            Value::Pair(_, x) => *x,
            v => panic!("{v:?} is no pair"),
        }
    }
    fn array(&self) -> Array {
        match self {
            Value::Array(a) => a.clone(),
            v => panic!("{v:?} is no array"),
        }
    }
    fn is_true(&self) -> bool {
        self.array().as_slice() == Some(&[true])
    }
}

/// The executor: a loop over equations. Operations on arrays are evaluated by the reference.
pub(crate) struct Machine;

impl tape::Executor for Machine {
    type Value = Value;

    fn ty(&self, v: &Value) -> Type {
        match v {
            Value::Array(a) => a.ty(),
            Value::Pair(p, _) => OpaqueType::declare(*p).unwrap().into(),
            Value::Angle(_) => angle(),
            Value::Key(_) => key(),
        }
    }

    fn run(&mut self, f: &Function, x: &[Value]) -> Result<Vec<Value>> {
        run(f, x)
    }
}

/// Runs a function.
pub(crate) fn run(f: &Function, x: &[Value]) -> Result<Vec<Value>> {
    assert_eq!(f.params().len(), x.len(), "{f}");
    let mut values: Vec<Option<Value>> = vec![None; f.len()];
    for (p, x) in f.params().iter().zip(x) {
        values[p.index()] = Some(x.clone());
    }
    for e in f.eqns() {
        let x: Vec<Value> = (f.operands(e).iter())
            .map(|v| values[v.index()].clone().unwrap())
            .collect();
        for (r, y) in e.results().zip(apply(&e.op, &x)?) {
            values[r.index()] = Some(y);
        }
    }
    Ok((f.results().iter())
        .map(|r| values[r.index()].clone().unwrap())
        .collect())
}

fn apply(op: &Op, x: &[Value]) -> Result<Vec<Value>> {
    let regions = op.regions();
    match op {
        Op::Call(_) | Op::CustomJvp(_) => run(regions[0], x),
        Op::CustomVjp(c) => run(if c.saves { &c.fwd } else { &c.body }, x),
        Op::LinearSolve(s) => run(&s.solve, x),
        Op::Switch(Switch { boolean, .. }) => {
            let k = match (boolean, &x[0]) {
                (true, p) => usize::from(p.is_true()),
                (false, i) => (i.number().max(0.0) as usize).min(regions.len() - 1),
            };
            run(regions[k], &x[1..])
        }
        Op::Scan(s) => {
            let (consts, rest) = x.split_at(s.consts);
            let (init, xs) = rest.split_at(s.carry);
            // The number of steps of a `while` is known as an extent of its stacks.
            let n = s
                .length
                .as_const()
                .unwrap_or_else(|| xs[0].array().shape()[0]);
            let (mut carry, mut rows) = (init.to_vec(), vec![Vec::new(); op.results() - s.carry]);
            for k in 0..n {
                let k = if s.reverse { n - 1 - k } else { k };
                let here = xs.iter().map(|x| Value::Array(row(&x.array(), k)));
                let args = consts.iter().cloned().chain(carry).chain(here);
                carry = run(&s.body, &args.collect::<Vec<_>>())?;
                for (rows, y) in rows.iter_mut().zip(carry.drain(s.carry..)) {
                    rows.push(y.array());
                }
            }
            for mut rows in rows {
                if s.reverse {
                    rows.reverse();
                }
                carry.push(stacked(&rows)?);
            }
            Ok(carry)
        }
        Op::While(w) => {
            let (cond, rest) = x.split_at(w.cond_consts);
            let (body, init) = rest.split_at(w.body_consts);
            let (mut carry, mut trips) = (init.to_vec(), 0);
            let mut rows = vec![Vec::new(); w.body.results().len() - init.len()];
            while run(&w.cond, &[cond, &carry].concat())?[0].is_true() {
                carry = run(&w.body, &[body, &carry].concat())?;
                for (rows, y) in rows.iter_mut().zip(carry.drain(init.len()..)) {
                    rows.push(y.array());
                }
                trips += 1;
            }
            for rows in rows {
                carry.push(stacked(&rows)?);
            }
            if w.saves.is_some() {
                carry.push(Value::Array(Array::vector(vec![true; trips])));
            }
            Ok(carry)
        }
        Op::Unary(Unary::StopGradient) => Ok(x.to_vec()),
        Op::Extension(_) => Ok(vec![test_op(op, x)?]),
        _ => {
            let x: Vec<Array> = x.iter().map(Value::array).collect();
            let y = op.eval(&x, &Env::default())?;
            Ok(y.into_iter().map(Value::Array).collect())
        }
    }
}

/// At least one row of numbers.
fn stacked(rows: &[Array]) -> Result<Value> {
    let shape = [&[rows.len()], rows[0].shape()].concat();
    let all = rows.iter().flat_map(Array::to_f64).collect::<Vec<f64>>();
    Ok(Value::Array(Array::from_vec(shape, all)?))
}

fn row(x: &Array, k: usize) -> Array {
    let n = x.len() / x.shape()[0];
    if let Some(flags) = x.as_slice::<bool>() {
        return Array::scalar(flags[k]);
    }
    let data = x.to_f64()[k * n..(k + 1) * n].to_vec();
    Array::from_vec(&x.shape()[1..], data).unwrap()
}

fn test_op(op: &Op, x: &[Value]) -> Result<Value> {
    if let Some(ty) = op.attrs().opt::<OpaqueType>("type")? {
        let x = if op.is_zeros() { 0.0 } else { 1.0 };
        return Ok(Value::Pair(*ty.get::<PairType>().unwrap(), [x; 2]));
    }
    let op = ALL.iter().find(|(name, _)| *name == op.name()).unwrap().1;
    let each = |f: fn(f64, f64) -> f64| {
        let ([a, b], [c, d]) = (x[0].pair(), x[1].pair());
        [f(a, c), f(b, d)]
    };
    let of = |v: [f64; 2]| match &x[0] {
        Value::Pair(p, _) => Value::Pair(*p, v),
        _ => v.into(),
    };
    Ok(match (op, x) {
        (Add, _) => of(each(|a, b| a + b)),
        (Multiply, _) => of(each(|a, b| a * b)),
        (Exp, _) => of(x[0].pair().map(f64::exp)),
        (Dot, _) => each(|a, b| a * b).iter().sum::<f64>().into(),
        (Scale, _) => of(x[0].pair().map(|p| p * x[1].number())),
        (Make, _) => [x[0].number(), x[1].number()].into(),
        (Turn, [Value::Angle(a), t]) => Value::Angle(a + t.number()),
        (Cosine, [Value::Angle(a)]) => a.cos().into(),
        (Sine, [Value::Angle(a)]) => a.sin().into(),
        (Split, [Value::Key(k)]) => Value::Key(k.wrapping_mul(25).wrapping_add(7)),
        (Number, [Value::Key(k)]) => ((k % 16) as f64 / 16.0).into(),
        _ => return Err(Error::new(Code::Input, format!("{op:?} of {x:?}"))),
    })
}
