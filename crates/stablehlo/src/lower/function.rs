//! Lowering of a function or a region: its builder, and the map from values of the text to graph
//! values.

use super::asserted;
use super::module::ModuleLowering;
use crate::ast::{self, Id, Narrow, Operation, Region, Signature, Ty};
use cotangent_core::ops::Binary;
use cotangent_core::primitive::Vals;
use cotangent_core::{Builder, Code, DType, Dim, Emit, Error, Function, Result, Type, Val, bail};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// Lowers one operation.
pub(super) type LowerFn = fn(&FunctionLowering<'_>, &Operation<'_>) -> Result<Vals>;

/// A function or region under construction.
pub(crate) struct FunctionLowering<'t> {
    pub(super) lowering: &'t ModuleLowering<'t>,
    /// Lowers an operation by its name. A pointer, because the operations' files import this one.
    lower: LowerFn,
    b: Builder,
    scope: RefCell<ValueMap>,
    /// Whether the text contains no call of this function. Its integer arguments are then never
    /// extents known to a caller.
    pub(super) is_uncalled: bool,
    /// Data-dependent extents, by the scalar that determines them.
    pub(super) dynamic_extents: RefCell<FxHashMap<Val, Dim>>,
}

/// Map from values of the text to graph values: a range of ids, and captured values.
#[derive(Default)]
struct ValueMap {
    base: Id,
    values: Vec<Val>,
    captured: FxHashMap<Id, Val>,
}

impl ValueMap {
    fn new(region: &Region<'_>) -> RefCell<ValueMap> {
        RefCell::new(ValueMap {
            base: region.first,
            ..ValueMap::default()
        })
    }
}

impl<'t> FunctionLowering<'t> {
    /// Lowers a function.
    pub(super) fn function(
        lowering: &'t ModuleLowering<'t>,
        f: &'t ast::Function<'t>,
        lower: LowerFn,
    ) -> Result<Arc<Function>> {
        let b = Builder::new(&f.name, lowering.session.clone());
        let Some(body) = &f.body else {
            return Err(
                Error::new(Code::UnknownName, format!("`@{}` has no body", f.name)).at(f.pos),
            );
        };
        let is_uncalled = lowering
            .by_name
            .get(&*f.name)
            .is_some_and(|&i| lowering.calls[i] == 0);
        let frame = FunctionLowering {
            lowering,
            lower,
            b,
            scope: ValueMap::new(body),
            is_uncalled,
            dynamic_extents: RefCell::default(),
        };
        let equal = asserted::equal_extents(body);
        let mut symbols: FxHashMap<asserted::ParameterAxis, Dim> = FxHashMap::default();
        for (k, a) in body.args.iter().enumerate() {
            if a.ty == Ty::Token {
                // A token is no parameter of the graph.
                frame.set(a.id, frame.token());
                continue;
            }
            let ty = frame.tensor(&a.ty).map_err(|e| e.at(body.pos))?;
            if let Some(n) = a.constant {
                frame.set(a.id, frame.cx().full(&ty, n));
                if !is_uncalled {
                    frame.b.param(ty, Some(&a.name));
                }
                continue;
            }
            // Every `?` of a parameter becomes a distinct symbol, but for those that are asserted
            // to be equal.
            let extents = ty.shape.iter().enumerate();
            let extents = extents.map(|(axis, d)| {
                let known = equal.get(&(k, axis)).and_then(|first| symbols.get(first));
                match (d.as_const(), known) {
                    (Some(_), _) => d.clone(),
                    (None, Some(known)) => known.clone(),
                    (None, None) => frame.fresh_dim(),
                }
            });
            let dims: Vec<Dim> = extents.collect();
            symbols.extend(
                dims.iter()
                    .cloned()
                    .enumerate()
                    .map(|(axis, d)| ((k, axis), d)),
            );
            let v = frame.b.param(ty.with_shape(dims), Some(&a.name));
            // Arguments of public functions are rounded to their narrow type.
            frame.set(
                a.id,
                if f.public {
                    frame.to_narrow_value(v, &a.ty)
                } else {
                    v
                },
            );
        }
        let results = frame.body(f, body)?;
        Ok(Arc::new(frame.b.finish(&results)?))
    }

    /// Lowers the operations of a function and returns its results, without tokens.
    fn body(&self, f: &ast::Function<'_>, body: &Region<'_>) -> Result<Vec<Val>> {
        let results = self.ops(body)?;
        if results.len() != f.results.len() {
            let text = format!(
                "`@{}` returns {} values, not {}",
                f.name,
                results.len(),
                f.results.len()
            );
            return Err(Error::new(Code::Arity, text).at(f.pos));
        }
        let mut values = Vec::with_capacity(results.len());
        for (&v, ty) in results.iter().zip(&f.results) {
            self.check_type(&f.name, "returns", Some(v), ty)
                .map_err(|e| e.at(f.pos))?;
            values.extend((*ty != Ty::Token).then_some(v));
        }
        if values.is_empty() && !f.public {
            // As a region, which a call ignores.
            values.push(self.token());
        }
        Ok(values)
    }

    /// Expands a function at one of several calls. The total number of expanded operations is
    /// limited.
    pub(crate) fn expand(&self, f: &ast::Function<'_>, x: &[Val]) -> Result<Vec<Val>> {
        self.lowering
            .count_expanded(f.body.as_ref().map_or(0, |b| b.ops.len()))?;
        self.expand_in_place(f, x)
    }

    /// Lowers the operations of a function in place of a call.
    pub(crate) fn expand_in_place(&self, f: &ast::Function<'_>, x: &[Val]) -> Result<Vec<Val>> {
        let values =
            |b: &&Region<'_>| b.args.iter().filter(|a| a.ty != Ty::Token).count() == x.len();
        let Some(body) = f.body.as_ref().filter(values) else {
            return Err(Error::new(
                Code::Arity,
                format!("`@{}` does not take {} operands", f.name, x.len()),
            ));
        };
        let outer = self.scope.replace(ValueMap::new(body).into_inner());
        let (tokens, args): (Vec<_>, Vec<_>) = body.args.iter().partition(|a| a.ty == Ty::Token);
        tokens.iter().for_each(|a| self.set(a.id, self.token()));
        for (a, &v) in args.iter().zip(x) {
            let constant = a.constant.map(|n| self.cx().full_like(v, n));
            self.set(a.id, constant.unwrap_or(v));
        }
        let agree = |(a, &v): (&&ast::Argument<'_>, &Val)| {
            self.check_type(&f.name, "is given", Some(v), &a.ty)
        };
        let results = args
            .iter()
            .zip(x)
            .try_for_each(agree)
            .and_then(|()| self.body(f, body));
        self.scope.replace(outer);
        results
    }

    /// Lowers a region to a closed function. Its parameters are the captured values, then its own
    /// arguments of the given types.
    pub(crate) fn region(
        &self,
        name: &str,
        region: &Region<'_>,
        captures: &[Id],
        args: &[Type],
    ) -> Result<Function> {
        let (b, scope) = (self.b.nested(name), ValueMap::new(region));
        let frame = FunctionLowering {
            lowering: self.lowering,
            lower: self.lower,
            b,
            scope,
            is_uncalled: self.is_uncalled,
            dynamic_extents: RefCell::default(),
        };
        let (mut known, mut constants) = (Vec::new(), Vec::new());
        for &c in captures {
            let outside = self.value(c)?;
            let v = frame.b.param(self.cx().ty(outside), None);
            frame.scope.borrow_mut().captured.insert(c, v);
            // Extents, and integer vectors that may be part of a shape.
            let rank = self.cx().ty(outside).rank();
            constants.extend(
                self.number(outside)
                    .filter(|_| rank == 0)
                    .map(|n| (c, v, n)),
            );
            let useful = |d: &Vec<Dim>| {
                d.iter().any(|d| d.as_const().is_none()) || rank == 1 && !d.is_empty()
            };
            let negative = || {
                self.numbers(outside)
                    .is_some_and(|n| n.iter().any(|&n| n < 0))
            };
            if rank <= 1 {
                known.extend(
                    self.extents(outside)
                        .filter(|d| useful(d) && !negative())
                        .map(|d| (c, v, d)),
                );
            }
        }
        if region.args.len() != args.len() {
            let text = format!(
                "this region takes {} arguments, not {}",
                region.args.len(),
                args.len()
            );
            return Err(Error::new(Code::Arity, text).at(region.pos));
        }
        for (a, t) in region.args.iter().zip(args) {
            let v = frame.b.param(t.clone(), Some(&a.name));
            frame.set(a.id, v);
        }
        // Inside, a captured constant is a constant and a captured extent an extent, not a
        // parameter.
        for (c, v, number) in constants {
            let inside = frame.cx().full_like(v, number);
            frame.scope.borrow_mut().captured.insert(c, inside);
        }
        for (c, v, dims) in known {
            let (ty, cx) = (frame.cx().ty(v), frame.cx());
            let one = ty.with_shape(if ty.rank() == 0 {
                vec![]
            } else {
                vec![Dim::Const(1)]
            });
            let parts: Vec<Val> = dims.iter().map(|d| cx.extent(&one, d)).collect();
            let inside = if ty.rank() == 0 {
                parts[0]
            } else {
                cx.concatenate(&parts, 0)
            };
            frame.scope.borrow_mut().captured.insert(c, inside);
        }
        let mut results = frame.ops(region)?;
        if results.is_empty() {
            // A region is executed for a result, or for a token of its effects.
            results.push(frame.token());
        }
        frame.b.finish(&results)
    }

    /// Lowers a region without arguments in place. Its values continue the numbering.
    pub(crate) fn lower_in_place(&self, region: &Region<'_>) -> Result<Vec<Val>> {
        if !region.args.is_empty() {
            let text = format!(
                "a branch takes no arguments, this one has {}",
                region.args.len()
            );
            return Err(Error::new(Code::Arity, text).at(region.pos));
        }
        self.ops(region)
    }

    /// The emitter of this function.
    pub(crate) fn cx(&self) -> &dyn Emit {
        &self.b
    }

    /// The first error of the builder. Called before values are inspected, since they may be
    /// poison.
    pub(crate) fn check_errors(&self) -> Result<()> {
        self.b.take_error().map_or(Ok(()), Err)
    }

    /// A new symbolic extent.
    pub(crate) fn fresh_dim(&self) -> Dim {
        Dim::sym(&self.b.fresh_sym("?"))
    }

    /// Calls `look` with the operation that defines a value, and its operands.
    pub(crate) fn with_def<R>(
        &self,
        v: Val,
        look: impl FnOnce(&cotangent_core::Op, &[Val]) -> R,
    ) -> Option<R> {
        self.b.with_def(v, look)
    }

    fn set(&self, id: Id, v: Val) {
        let mut s = self.scope.borrow_mut();
        let at = (id - s.base) as usize;
        if s.values.len() <= at {
            s.values.resize(at + 1, Val::POISON);
        }
        s.values[at] = v;
    }

    /// The graph value of a value of the text.
    pub(crate) fn value(&self, id: Id) -> Result<Val> {
        let s = self.scope.borrow();
        let own = id
            .checked_sub(s.base)
            .and_then(|at| s.values.get(at as usize))
            .copied();
        match own
            .filter(|&v| v != Val::POISON)
            .or_else(|| s.captured.get(&id).copied())
        {
            Some(v) => Ok(v),
            None => Err(Error::new(
                Code::Unbound,
                "a value that was not computed cannot be used here",
            )),
        }
    }

    /// Lowers all operations of a region and returns the operands of `return`.
    fn ops(&self, region: &Region<'_>) -> Result<Vec<Val>> {
        for op in &region.ops {
            if matches!(
                op.name,
                "func.return" | "stablehlo.return" | "mhlo.return" | "sdy.return"
            ) {
                return self.operands(op);
            }
            self.b.set_loc(op.pos);
            self.operation(op).map_err(|e| e.at(op.pos))?;
        }
        let place = region.ops.first().map_or(region.pos, |o| o.pos);
        Err(Error::new(Code::Syntax, "a region without `return`").at(place))
    }

    fn operation(&self, op: &Operation<'_>) -> Result<()> {
        if let Signature::Function(types, _) = &op.signature {
            for (&id, ty) in op.operands.iter().zip(types) {
                self.check_type(op.name, "is given", self.value(id).ok(), ty)?;
            }
        }
        let y = (self.lower)(self, op);
        // The first error is the cause of later ones.
        if let Some(e) = self.b.take_error() {
            return Err(e);
        }
        let y = y?;
        if y.len() != op.count as usize {
            let text = format!(
                "`{}` has {} results, but the text has {}",
                op.name,
                y.len(),
                op.count
            );
            return Err(Error::new(Code::Arity, text));
        }
        for (k, &v) in y.iter().enumerate() {
            if v == Val::POISON {
                continue;
            }
            let ty = op.result_types().and_then(|t| t.get(k));
            if let Some(ty) = ty {
                self.check_type(op.name, "gives", Some(v), ty)?;
            }
            let v = match ty {
                Some(ty @ Ty::Narrow(..)) if !keeps_narrow(op.name) => self.to_narrow_value(v, ty),
                _ => v,
            };
            self.set(op.first + k as Id, v);
        }
        Ok(())
    }

    /// Checks that a value has the type in the text.
    fn check_type(&self, name: &str, what: &str, v: Option<Val>, ty: &Ty) -> Result<()> {
        if let (Some(v), Ty::Tensor(want) | Ty::Narrow(want, _)) = (v, ty) {
            let have = self.cx().ty(v);
            if have.differs(want) {
                let text = format!("`{name}` {what} {have}, but the text has {want}");
                return Err(Error::new(Code::ShapeMismatch, text));
            }
        }
        Ok(())
    }

    /// A value of the wide type, rounded or wrapped to the narrow type.
    pub(crate) fn to_narrow_value(&self, v: Val, ty: &Ty) -> Val {
        let cx = self.cx();
        match ty {
            Ty::Narrow(_, Narrow::Float(format)) => cx.round_to(v, *format),
            Ty::Narrow(_, Narrow::Int(bits, true)) => {
                let by = cx.full_like(v, i64::from(8 - bits));
                let high = cx.op(Binary::ShiftLeft, &[v, by]);
                cx.op(Binary::ShiftRightArithmetic, &[high, by])
            }
            Ty::Narrow(_, Narrow::Int(bits, false)) => {
                cx.and(v, cx.full_like(v, (1i64 << bits) - 1))
            }
            _ => v,
        }
    }

    /// A value that represents a token: an empty boolean array.
    pub(crate) fn token(&self) -> Val {
        self.cx()
            .full(&Type::new(DType::Bool, vec![Dim::Const(0)]), false)
    }

    /// The operands of an operation.
    pub(crate) fn operands(&self, op: &Operation<'_>) -> Result<Vec<Val>> {
        op.operands.iter().map(|&id| self.value(id)).collect()
    }

    /// The operands of an operation, which must be `N`.
    pub(crate) fn operand_array<const N: usize>(&self, op: &Operation<'_>) -> Result<[Val; N]> {
        let x = self.operands(op)?;
        let n = x.len();
        x.try_into().map_err(|_| {
            Error::new(
                Code::Arity,
                format!("`{}` takes {N} operands, got {n}", op.name),
            )
        })
    }

    /// The graph type of a type of the text.
    pub(crate) fn tensor(&self, ty: &Ty) -> Result<Type> {
        match ty {
            Ty::Tensor(t) | Ty::Narrow(t, _) => Ok(t.clone()),
            // Tokens order effects, which graphs do not have. In loops and branches a token is an
            // empty array.
            Ty::Token => Ok(Type::new(DType::Bool, vec![Dim::Const(0)])),
            Ty::Other(t) => {
                let known = "f16 bf16 f32 f64, complex<f32> complex<f64>, i1, i8 to i64, ui8 to ui64, \
                             i2 i4 ui2 ui4 and the floats of 8, 6 and 4 bits";
                Err(Error::new(
                    Code::UnknownDType,
                    format!("the type `{t}` is not supported: element types are {known}"),
                ))
            }
            Ty::Function(_) => Err(Error::new(Code::UnknownDType, "functions are not values")),
        }
    }

    /// The type of result `k` in the text.
    pub(crate) fn result(&self, op: &Operation<'_>, k: usize) -> Result<Type> {
        match op.result_types().and_then(|t| t.get(k)) {
            Some(t) => self.tensor(t),
            None => Err(Error::new(
                Code::Syntax,
                format!("`{}` needs the types of its results", op.name),
            )),
        }
    }
}

/// Whether the results of an operation are in the narrow type if its operands are: it moves
/// elements, or rounds by itself.
fn keeps_narrow(name: &str) -> bool {
    const MOVES: [&str; 32] = [
        "constant",
        "convert",
        "reshape",
        "dynamic_reshape",
        "broadcast",
        "broadcast_in_dim",
        "dynamic_broadcast_in_dim",
        "transpose",
        "reverse",
        "slice",
        "dynamic_slice",
        "real_dynamic_slice",
        "dynamic_update_slice",
        "pad",
        "dynamic_pad",
        "concatenate",
        "gather",
        "dynamic_gather",
        "select",
        "sort",
        "top_k",
        "clamp",
        "maximum",
        "minimum",
        "case",
        "if",
        "while",
        "composite",
        "optimization_barrier",
        "bitcast_convert",
        "call",
        "torch_index_select",
    ];
    name.split_once('.')
        .is_some_and(|(_, n)| MOVES.contains(&n))
}

/// The first `N` operands. Some routines have further operands, which are options.
pub(super) fn first<const N: usize>(
    f: &FunctionLowering<'_>,
    op: &Operation<'_>,
) -> Result<[Val; N]> {
    let x = f.operands(op)?;
    match x.first_chunk::<N>() {
        Some(x) => Ok(*x),
        None => bail!(Arity, "`{}` takes {N} operands, got {}", op.name, x.len()),
    }
}

/// The results of an operation with one result.
pub(super) fn one(v: Val) -> Result<Vals> {
    Ok(Vals::from_slice(&[v]))
}
