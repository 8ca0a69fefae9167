//! Equations from parsed bindings: common shapes and types of operands, results, names and types.

use super::lookup::LookupResult;
use super::parser::{
    Annotation, HOLE, Head, ParsedOperand, Parser, ResultNames, Scope, differs, spelled,
};
use crate::bail;
use crate::dtype::DType;
use crate::error::{Code, Error, Loc, Result};
use crate::ir::{Attrs, Emit, FromAttr, Op, Val, Vals};
use crate::names::{clip, count};
use crate::ops::{Literal, Spelled, solve_of_vector};
use crate::shape::{Dim, Shape, Type};
use smallvec::SmallVec;

impl<'s> Parser<'s> {
    /// Writes the bindings of one line. Types after the last one apply to all bindings without
    /// types.
    pub(super) fn bindings(
        &mut self,
        scope: &mut Scope<'s>,
        names: &mut ResultNames<'s>,
        heads: &mut [Head<'s>],
    ) -> Result<()> {
        let (count, wanted) = (heads.len(), names.len());
        if count > 1 {
            share(heads, wanted)?;
        }
        let mut names = names.drain(..);
        let mut last: Option<Type> = None;
        for head in heads {
            let results = match head.op {
                "arg" | "tangent" => {
                    Vals::from_slice(&[self.argument(scope, head, last.take())?])
                }
                _ => self.operation(scope, head)?,
            };
            if results.len() != if count == 1 { wanted } else { 1 } {
                return Err(wrong_count(head.op, results.len(), wanted, count).at(head.loc));
            }
            for v in results {
                let (name, at) = names.next().expect("one name per result");
                if count > 1 {
                    last = Some(scope.b.ty(v));
                }
                self.define(scope, name, at, v)?;
            }
        }
        Ok(())
    }

    /// Writes an argument. A tangent has the type of the preceding binding, or of its operand.
    fn argument(
        &mut self,
        scope: &mut Scope<'s>,
        head: &Head<'s>,
        before: Option<Type>,
    ) -> Result<Val> {
        let ty = match (&head.types, head.op, &head.operands[..], before) {
            (_, "tangent", [ParsedOperand::Val(v)], _) => scope.b.ty(*v),
            (_, "tangent", [], Some(ty)) => ty,
            (Some(t), _, [], _) if t.results.len() == 1 && t.operands.is_none() => {
                self.fill(&t.results[0])
            }
            (None, _, [], _) => {
                let text = format!(
                    "`tgraph.{0}` needs a type, as in `%x = tgraph.{0} : tensor<3xf32>`",
                    head.op
                );
                return Err(Error::new(Code::Syntax, text).at(head.loc));
            }
            _ => {
                let text = format!(
                    "`tgraph.{}` is one argument: no operands and one type",
                    head.op
                );
                return Err(Error::new(Code::Syntax, text).at(head.loc));
            }
        };
        if let Some(t) = head.types.as_ref().and_then(|t| t.results.first())
            && differs(&ty, t)
        {
            return Err(contradiction(head.op, 0, &ty, t).at(head.loc));
        }
        if !head.attrs.0.is_empty() {
            return Err(Error::new(
                Code::Attribute,
                format!("`tgraph.{}` has no attributes", head.op),
            )
            .at(head.loc));
        }
        let v = scope.b.param(ty, None);
        if head.op == "tangent" {
            scope.b.set_tangent(v);
        }
        Ok(v)
    }

    fn operation(&mut self, scope: &mut Scope<'s>, head: &mut Head<'s>) -> Result<Vals> {
        let Head {
            op: name,
            found,
            loc,
            operands,
            attrs,
            types,
        } = head;
        let (loc, attrs) = (*loc, std::mem::take(attrs));
        scope.b.set_loc(loc);
        let Some(found) = *found else {
            return Err(self.unknown_op(name, loc));
        };
        let cx: &dyn Emit = &scope.b;
        let results = types.as_ref().map(|t| &t.results[..]);
        let of = Literals {
            cx,
            name,
            operands,
            types: types.as_ref(),
            dtype: dtype_of(&attrs),
        };
        let check = |have: &[Type]| match types.as_ref().and_then(|t| t.operands.as_ref()) {
            Some(want) => check_operands(name, have, want),
            None => Ok(()),
        };
        let y = match found {
            LookupResult::Op(entry) => {
                // The rule for a literal may depend on the operation, which is therefore built
                // first.
                let guess = of.types(&|_| Literal::Like, false).map_err(|e| e.at(loc))?;
                let mut s = Spelled {
                    name: entry.name,
                    attrs,
                    operands: &guess,
                    results,
                };
                let op = (entry.parse)(&mut s).map_err(|e| e.at(loc))?;
                if !s.attrs.0.is_empty() {
                    return Err(left_over(&s.attrs, name, &op).at(loc));
                }
                let have = of.types(&|k| op.literal(k), true).map_err(|e| e.at(loc))?;
                check(&have).map_err(|e| e.at(loc))?;
                let choice = matches!(op, Op::Select(_));
                let to = target(op.is_elementwise(&have), choice, &have);
                let x = values(cx, operands, &have, &to);
                match solve_of_vector(cx, &op, &x) {
                    Some(y) => Vals::from_slice(&[y]),
                    None => cx.emit(self.with_symbols_around(op, &have), &x),
                }
            }
            LookupResult::Composite(c) => {
                let have = of
                    .types(&|k| c.literal(&attrs, k), true)
                    .map_err(|e| e.at(loc))?;
                check(&have).map_err(|e| e.at(loc))?;
                let to = target(c.is_elementwise(), false, &have);
                let x = values(cx, operands, &have, &to);
                let have: SmallVec<[Type; 2]> = x.iter().map(|&v| cx.ty(v)).collect();
                let mut s = Spelled {
                    name: c.name,
                    attrs,
                    operands: &have,
                    results,
                };
                let y = (c.build)(cx, &mut s, &x).map_err(|e| e.at(loc))?;
                s.attrs.finish(name).map_err(|e| e.at(loc))?;
                Vals::from_vec(y)
            }
        };
        if let Some(e) = scope.b.take_error() {
            return Err(e.at(loc));
        }
        if let Some(t) = types {
            check_results(&scope.b, &y, name, t)?;
        }
        Ok(y)
    }

    /// Replaces the local symbols of modules used as regions of `op`: a region shares the symbols
    /// of the enclosing function.
    fn with_symbols_around(&self, op: Op, x: &[Type]) -> Op {
        let regions = op.regions();
        if op.own_syms() || !regions.iter().any(|r| self.is_module(r)) {
            return op;
        }
        let types = op.region_operands(x);
        let new: Vec<_> = regions
            .iter()
            .zip(types)
            .map(|(&r, types)| match types {
                Some(t) if self.is_module(r) && t.len() == r.params().len() => {
                    self.session.specialize(r, &t)
                }
                _ => r.clone(),
            })
            .collect();
        op.with_regions(&new)
    }

    pub(super) fn unknown_op(&self, name: &str, loc: Loc) -> Error {
        let hint = self
            .table
            .nearest(name)
            .map_or(String::new(), |n| format!("; did you mean `tgraph.{n}`?"));
        let text = format!("unknown operation `tgraph.{}`{hint}", clip(name));
        Error::new(Code::UnknownOperation, text)
            .at(loc)
            .note("`cotangent ops` lists the operations")
    }
}

/// Assigns the types after several bindings: one type applies to each, otherwise there must be one
/// type per binding.
fn share(heads: &mut [Head<'_>], wanted: usize) -> Result<()> {
    if heads.len() != wanted {
        let (names, ops) = (count(wanted, "name"), count(heads.len(), "operation"));
        let text = format!("{names} before `=`, {ops} after it: each must have one result");
        return Err(Error::new(Code::Arity, text).at(heads[0].loc));
    }
    let types = heads.last().and_then(|h| h.types.clone());
    let Some(t) = types.filter(|t| t.operands.is_none()) else {
        return Ok(());
    };
    if heads.iter().rev().skip(1).any(|h| h.types.is_some()) {
        return Ok(());
    }
    if t.results.len() != 1 && t.results.len() != wanted {
        let text = format!(
            "{} in this line, {}",
            count(wanted, "result"),
            count(t.results.len(), "type")
        );
        return Err(Error::new(Code::Arity, text).at(t.loc));
    }
    for (i, head) in heads.iter_mut().enumerate() {
        let ty = t.results.get(i).unwrap_or(&t.results[0]).clone();
        head.types = Some(Annotation {
            operands: None,
            results: vec![ty],
            loc: t.loc,
        });
    }
    Ok(())
}

/// `1 type is`, `2 types are`.
fn are(n: usize, what: &str) -> String {
    format!("{} {}", count(n, what), if n == 1 { "is" } else { "are" })
}

fn wrong_count(op: &str, have: usize, names: usize, bindings: usize) -> Error {
    let text = if bindings == 1 {
        format!(
            "`tgraph.{op}` has {}, {} given",
            count(have, "result"),
            are(names, "name")
        )
    } else {
        format!(
            "`tgraph.{op}` has {}: it needs a line of its own",
            count(have, "result")
        )
    };
    Error::new(Code::Arity, text)
}

/// The attribute `dtype`, if present.
fn dtype_of(attrs: &Attrs) -> Option<DType> {
    attrs
        .0
        .iter()
        .find(|(key, _)| key == "dtype")
        .and_then(|(_, a)| DType::from_attr(a))
}

/// Context that determines the element types of literals.
struct Literals<'a> {
    cx: &'a dyn Emit,
    name: &'a str,
    operands: &'a [ParsedOperand],
    types: Option<&'a Annotation>,
    /// The attribute `dtype`.
    dtype: Option<DType>,
}

impl Literals<'_> {
    /// Types of all operands; `kind` is the rule for literals by position. With `exact`, returns an
    /// error if an element type cannot represent the literal, or if no type is known.
    fn types(&self, kind: &dyn Fn(usize) -> Literal, exact: bool) -> Result<SmallVec<[Type; 2]>> {
        let one = |(k, o): (usize, &ParsedOperand)| {
            let boolean = match o {
                ParsedOperand::Val(v) => return Ok(self.cx.ty(*v)),
                ParsedOperand::Num(_) => false,
                ParsedOperand::Bool(_) => true,
            };
            let dtype = self.dtype(kind, k, boolean);
            match (o, dtype) {
                (ParsedOperand::Num(n), Some(d)) if exact => n.exact(d).map(|_| Type::scalar(d)),
                (ParsedOperand::Bool(b), Some(d)) if exact && d != DType::Bool => {
                    bail!(DTypeMismatch, "{b} is not a number of type {d}")
                }
                (_, Some(d)) => Ok(Type::scalar(d)),
                (_, None) if !exact => Ok(Type::scalar(DType::F64)),
                _ => bail!(
                    Syntax,
                    "a number among the operands of `tgraph.{}` needs an operand of known type, or a type after `:`",
                    self.name
                ),
            }
        };
        self.operands.iter().enumerate().map(one).collect()
    }

    /// The element type of the literal at position `k`.
    fn dtype(&self, kind: &dyn Fn(usize) -> Literal, k: usize, boolean: bool) -> Option<DType> {
        let mine = kind(k);
        let alike = || {
            self.operands
                .iter()
                .enumerate()
                .filter(|(i, _)| kind(*i) == mine)
                .filter_map(|(_, o)| match o {
                    ParsedOperand::Val(v) => Some(self.cx.ty(*v).dtype),
                    _ => None,
                })
        };
        let beside = || {
            alike()
                .find(|&d| d != DType::Bool)
                .or_else(|| alike().next())
        };
        let result = || self.types.and_then(|t| t.results.first()).map(|t| t.dtype);
        match mine {
            Literal::Of(d) => Some(d),
            Literal::Index if boolean => Some(DType::Bool),
            Literal::Index => alike().find(|d| d.is_int()).or(Some(DType::I64)),
            Literal::Made(d) => {
                let result = || result().filter(|&d| d != DType::Bool);
                beside().or(self.dtype).or_else(result).or(Some(d))
            }
            Literal::Like => beside().or_else(result).or(boolean.then_some(DType::Bool)),
        }
    }
}

/// The shape that operands are broadcast to, and the number of leading operands that are not
/// broadcast.
type Target = Option<(Shape, usize)>;

/// The common shape of the operands of an elementwise operation, by NumPy's broadcasting rules. For
/// incompatible shapes the type rule reports the error.
fn target(elementwise: bool, choice: bool, x: &[Type]) -> Target {
    if x.len() < 2 || !elementwise || x.windows(2).all(|w| w[0].shape == w[1].shape) {
        return None;
    }
    // A scalar condition of `select` is not broadcast.
    let kept = usize::from(choice && x[0].rank() == 0);
    let rank = x.iter().map(Type::rank).max().unwrap_or(0);
    let mut out: Vec<Dim> = vec![Dim::Const(1); rank];
    for t in x {
        for (d, o) in t.shape.iter().zip(&mut out[rank - t.rank()..]) {
            match o.same(d) {
                Some(false) if !o.is(1) && !d.is(1) => return None,
                // A constant extent is preferred to a symbol, and any extent to 1.
                Some(false) | None
                    if o.is(1)
                        || (o.as_const().is_none() && d.as_const().is_some() && !d.is(1)) =>
                {
                    *o = d.clone();
                }
                _ => {}
            }
        }
    }
    Some((out.into(), kept))
}

/// The values of operands: literals become constants, and all are broadcast to the target.
fn values(cx: &dyn Emit, operands: &[ParsedOperand], types: &[Type], target: &Target) -> Vals {
    let one = |(i, (o, ty)): (usize, (&ParsedOperand, &Type))| {
        let shape = target
            .as_ref()
            .filter(|(_, kept)| i >= *kept)
            .map(|(s, _)| s);
        let number = match o {
            ParsedOperand::Val(v) => {
                return match shape {
                    Some(s) if grows(&ty.shape, s) => cx.broadcast_to(*v, s),
                    _ => *v,
                };
            }
            ParsedOperand::Num(n) => **n,
            ParsedOperand::Bool(b) => (*b).into(),
        };
        cx.full(
            &shape.map_or_else(|| ty.clone(), |s| ty.with_shape(s.clone())),
            number,
        )
    };
    operands.iter().zip(types).enumerate().map(one).collect()
}

fn grows(from: &Shape, to: &Shape) -> bool {
    from.rank() < to.rank() || from.iter().zip(to.iter()).any(|(d, t)| d.is(1) && !t.is(1))
}

fn check_operands(op: &str, have: &[Type], want: &[Type]) -> Result<()> {
    if have.len() != want.len() {
        bail!(
            Arity,
            "`tgraph.{op}` has {} here, {} given for them",
            count(have.len(), "operand"),
            are(want.len(), "type")
        );
    }
    for (i, (h, w)) in have.iter().zip(want).enumerate() {
        if differs(h, w) {
            bail!(
                ShapeMismatch,
                "operand {i} of `tgraph.{op}` has type {h}, the text says {}",
                spelled(w)
            );
        }
    }
    Ok(())
}

fn check_results(cx: &dyn Emit, y: &[Val], op: &str, t: &Annotation) -> Result<()> {
    let have: SmallVec<[Type; 2]> = y.iter().map(|&v| cx.ty(v)).collect();
    if have.len() != t.results.len() {
        let text = format!(
            "`tgraph.{op}` has {}, {} given",
            count(have.len(), "result"),
            are(t.results.len(), "type")
        );
        return Err(Error::new(Code::Arity, text).at(t.loc));
    }
    for (i, (h, w)) in have.iter().zip(&t.results).enumerate() {
        let mut open = false;
        h.syms(&mut |s| open |= &**s == HOLE);
        if open {
            let text = format!(
                "`tgraph.{op}` takes its shape from this type: a `?` is not possible here; name the extent, or give it as \
                 an attribute"
            );
            return Err(Error::new(Code::Syntax, text).at(t.loc));
        }
        if differs(h, w) {
            return Err(contradiction(op, i, h, w).at(t.loc));
        }
    }
    Ok(())
}

fn contradiction(op: &str, i: usize, have: &Type, want: &Type) -> Error {
    let text = format!(
        "result {i} of `tgraph.{op}` has type {have}, the text says {}",
        spelled(want)
    );
    Error::new(
        if have.dtype == want.dtype {
            Code::ShapeMismatch
        } else {
            Code::DTypeMismatch
        },
        text,
    )
}

/// The error for attributes that were not read.
fn left_over(left: &Attrs, name: &str, op: &Op) -> Error {
    let known: Vec<String> = op
        .attrs()
        .0
        .into_iter()
        .map(|(k, _)| k.into_owned())
        .collect();
    let (key, _) = &left.0[0];
    let hint = crate::names::did_you_mean(key, "", known.iter().map(String::as_str));
    let e = Error::new(
        Code::Attribute,
        format!("`tgraph.{name}` has no attribute `{}`{hint}", clip(key)),
    );
    if known.is_empty() {
        e
    } else {
        e.note(format!("its attributes here: {}", known.join(", ")))
    }
}
