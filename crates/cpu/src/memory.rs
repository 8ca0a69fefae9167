//! Memory that a run needs besides its arguments, computed without running: a walk over its steps
//! that allocates and frees by liveness.
//!
//! A value is live from the step that computes it to the last step that reads it. Transposes,
//! slices and broadcasts share the buffer of their operand. A group may overwrite an operand that
//! has its last use there, and an update the array that it changes. The memory of a loop body
//! counts while its step runs.
//!
//! Not counted are a kernel's scratch memory (packed panels, work copies of factorisations) and
//! memory that a thread caches for its next run.

use crate::fuse::{Node, plan};
use crate::fused::{Fused, Level, Life, Place};
use crate::products::Product;
use cotangent_core::ops::{Op, Unary};
use cotangent_core::primitive::OpClass;
use cotangent_core::{DType, Env, Function, Result, Type, Val, reference};
use cotangent_kernels::memory::capacity;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Memory requirements of a run. Buffers of 2 MiB and more are counted in whole huge pages, as they
/// are allocated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Maximum number of bytes that are live at any step, results included and arguments excluded.
    pub peak: usize,
    /// Index in [`steps`](crate::profile::steps) of the step with the peak; `None` if there are no
    /// steps.
    pub step: Option<usize>,
    /// Bytes of results that are not arguments or views of them.
    pub results: usize,
    /// Bytes that are live while each step runs, in execution order.
    pub live: Vec<usize>,
}

/// Computes the memory that a run of the function needs for arguments of these types, in one walk
/// over its steps.
///
/// Returns an error if arguments do not fit the parameters, or if an extent is data-dependent.
///
/// ```
/// use cotangent_core::{Builder, DType, Emit, Env, Type, transform::Session};
/// let b = Builder::new("f", Session::default());
/// let ty = Type::new(DType::F64, [500, 500]);
/// let x = b.param(ty.clone(), Some("x"));
/// let cx: &dyn Emit = &b;
/// let y = cx.matmul(cx.sin(x), cx.cos(x));
/// let f = b.finish(&[y]).unwrap();
/// let memory = cotangent_cpu::memory::memory(&f, &[ty], &Env::default()).unwrap();
/// assert_eq!((memory.peak, memory.results), (6_000_000, 2_000_000));
/// ```
pub fn memory(f: &Function, arguments: &[Type], outer: &Env) -> Result<Memory> {
    measure(f, arguments, outer, &mut Peaks::default())
}

/// Cached peaks of bodies without symbols. They depend on nothing else, and several equations may
/// share a body.
type Peaks = FxHashMap<*const Function, usize>;

fn measure(f: &Function, arguments: &[Type], outer: &Env, peaks: &mut Peaks) -> Result<Memory> {
    let env = reference::bind_body(f, arguments, outer)?;
    let need = f.needed(None);
    let nodes = plan(f, |e| e.results().any(|r| need[r.index()]), true);
    let mut walk = Walk {
        f,
        env: &env,
        buffer_of: vec![None; f.len()],
        buffers: Vec::new(),
        live_bytes: 0,
    };
    let mut last = vec![None; f.len()];
    for (k, node) in nodes.iter().enumerate() {
        walk.reads(node)
            .into_iter()
            .for_each(|v| last[v.index()] = Some(k));
    }
    f.results()
        .iter()
        .for_each(|v| last[v.index()] = Some(nodes.len()));

    let mut memory = Memory {
        peak: 0,
        step: None,
        results: 0,
        live: Vec::with_capacity(nodes.len()),
    };
    for (k, node) in nodes.iter().enumerate() {
        let reads = walk.reads(node);
        let ending = |v: Val| last[v.index()] == Some(k);
        let (made, inside) = match node {
            Node::Single(e) => walk.single(*e, ending, peaks)?,
            Node::Group(g) => {
                let reads: Vec<Val> = g.reads().collect();
                walk.group(&g.lower(f), &reads, g.results(), ending)?
            }
        };
        let live = walk.live_bytes + inside;
        memory.live.push(live);
        if live > memory.peak || memory.step.is_none() {
            (memory.peak, memory.step) = (live, Some(k));
        }
        let mut gone: Vec<Val> = reads.into_iter().filter(|&v| ending(v)).collect();
        gone.extend(made.into_iter().filter(|v| last[v.index()].is_none()));
        gone.sort_unstable();
        gone.dedup();
        gone.into_iter().for_each(|v| walk.free(v));
    }
    memory.results = walk.live_bytes;
    Ok(memory)
}

/// Memory of a value, shared by its views.
struct Buffer {
    bytes: usize,
    /// Number of values stored in it.
    values: usize,
}

struct Walk<'f> {
    f: &'f Function,
    env: &'f Env,
    /// Buffer of each value; `None` for arguments, constants and dead values.
    buffer_of: Vec<Option<usize>>,
    buffers: Vec<Buffer>,
    /// Total bytes of live buffers.
    live_bytes: usize,
}

/// Results of a step, and the additional bytes that it needs while it runs.
type Made = (Vec<Val>, usize);

impl Walk<'_> {
    fn reads(&self, node: &Node) -> Vec<Val> {
        match node {
            Node::Single(e) => self.f.operands(&self.f.eqns()[*e]).to_vec(),
            Node::Group(g) => g.reads().collect(),
        }
    }

    fn known(&self, ty: &Type) -> Result<Type> {
        let shape = ty
            .shape
            .iter()
            .map(|d| d.eval(self.env))
            .collect::<Result<Vec<usize>>>()?;
        Ok(Type::new(ty.dtype, shape.as_slice()))
    }

    fn bytes(&self, v: Val) -> Result<usize> {
        let ty = self.known(self.f.ty(v))?;
        let extents = ty.shape.iter().filter_map(|d| d.as_const());
        Ok(capacity(
            extents.fold(ty.dtype.size(), usize::saturating_mul),
        ))
    }

    fn allocate(&mut self, v: Val, bytes: usize) {
        self.live_bytes = self.live_bytes.saturating_add(bytes);
        self.buffer_of[v.index()] = Some(self.buffers.len());
        self.buffers.push(Buffer { bytes, values: 1 });
    }

    /// Lets `v` share the buffer of `x`.
    fn share(&mut self, v: Val, x: Val) {
        self.buffer_of[v.index()] = self.buffer_of[x.index()];
        if let Some(b) = self.buffer_of[x.index()] {
            self.buffers[b].values += 1;
        }
    }

    fn free(&mut self, v: Val) {
        if let Some(b) = self.buffer_of[v.index()].take() {
            self.buffers[b].values -= 1;
            if self.buffers[b].values == 0 {
                self.live_bytes -= self.buffers[b].bytes;
            }
        }
    }

    /// Whether a step that has the last use of `x` may overwrite it with a result of `bytes` bytes.
    fn is_free(&self, x: Val, bytes: usize) -> bool {
        self.buffer_of[x.index()]
            .is_some_and(|b| self.buffers[b].values == 1 && self.buffers[b].bytes == bytes)
    }

    fn is_view(&self, op: &Op, x: &[Val]) -> bool {
        let types: SmallVec<[DType; 3]> = x.iter().map(|&v| self.f.ty(v).dtype).collect();
        op.class(&types) == OpClass::View
    }

    fn single(
        &mut self,
        e: usize,
        ending: impl Fn(Val) -> bool,
        peaks: &mut Peaks,
    ) -> Result<Made> {
        let e = &self.f.eqns()[e];
        let x = self.f.operands(e);
        let made: Vec<Val> = e.results().collect();
        match &e.op {
            Op::Unary(Unary::StopGradient) => self.share(made[0], x[0]),
            op if self.is_view(op, x) => self.share(made[0], x[0]),
            // Constants are stored with the program.
            Op::Constant(_) => {}
            Op::Iota(i) => {
                let n = i.ty.shape[i.axis].eval(self.env)?;
                self.allocate(made[0], capacity(n.saturating_mul(i.ty.dtype.size())));
            }
            Op::DynamicUpdateSlice(_) | Op::Scatter(_) | Op::ScatterRecurrence(_)
                if ending(x[0]) && self.is_free(x[0], self.bytes(made[0])?) =>
            {
                self.share(made[0], x[0]);
            }
            _ => {
                for &v in &made {
                    let bytes = self.bytes(v)?;
                    self.allocate(v, bytes);
                }
            }
        }
        let mut inside = 0;
        for body in e.op.regions() {
            // A called function has its own symbols; other bodies share the enclosing symbols.
            let types = match body.params().len() == x.len() && !matches!(e.op, Op::Scan(_)) {
                true => x
                    .iter()
                    .map(|&v| self.known(self.f.ty(v)))
                    .collect::<Result<Vec<Type>>>()?,
                false => body
                    .params()
                    .iter()
                    .map(|&p| self.known(body.ty(p)))
                    .collect::<Result<_>>()?,
            };
            let key = Arc::as_ptr(body);
            let peak = match peaks.get(&key) {
                Some(&peak) => peak,
                None => {
                    let peak = measure(body, &types, self.env, peaks)?.peak;
                    if body.syms().is_empty() {
                        peaks.insert(key, peak);
                    }
                    peak
                }
            };
            inside = inside.max(peak);
        }
        // The results of a body have been counted once already.
        let results = made.iter().map(|&v| self.bytes(v)).sum::<Result<usize>>()?;
        let repeats = matches!(e.op, Op::Scan(_) | Op::While(_));
        Ok((
            made,
            if repeats {
                inside
            } else {
                inside.saturating_sub(results)
            },
        ))
    }

    fn group(
        &mut self,
        g: &Fused,
        inputs: &[Val],
        results: impl Iterator<Item = Val>,
        ending: impl Fn(Val) -> bool,
    ) -> Result<Made> {
        let made: Vec<Val> = results.collect();
        let shape = match &g.shape {
            Some(shape) => shape.at(self.env)?,
            None => self
                .known(self.f.ty(inputs[0]))?
                .shape
                .iter()
                .filter_map(|d| d.as_const())
                .collect(),
        };
        let (kept, row) = shape.split_at(shape.len() - g.reduced);
        let volume = |shape: &[usize]| shape.iter().copied().fold(1, usize::saturating_mul);
        let (rows, len) = (volume(kept), volume(row));
        let sizes = |(p, x): (&Product, &[Val])| {
            let [a, b] = [x[0], x[1]].map(|v| self.known(self.f.ty(v)));
            let [a, b] = [a?, b?].map(|t| t.shape.as_const().unwrap_or_default());
            Ok((p.contraction.sizes(&a, &b), g.buffers[p.buffer].dtype))
        };
        let factors = g
            .products
            .iter()
            .zip(inputs[g.operands.len()..].chunks_exact(2));
        let products = factors.map(sizes).collect::<Result<Vec<_>>>()?;
        let by_blocks = g.cut(products.into_iter(), rows, len).is_some();
        let mut under: Vec<usize> = Vec::new();
        let mut written: Vec<Val> = Vec::new();
        let mut inside = 0usize;
        for (k, b) in g.buffers.iter().enumerate() {
            let n = if b.level == Level::Rows {
                rows
            } else {
                rows.saturating_mul(len)
            };
            let bytes = capacity(n.saturating_mul(b.dtype.size()));
            match (g.results.iter().position(|&r| r == k), b.life) {
                (Some(at), _) => {
                    let once = |x: &Val| inputs.iter().filter(|y| *y == x).count() == 1;
                    let fits = |x: &Val| {
                        ending(*x) && !written.contains(x) && self.is_free(*x, bytes) && once(x)
                    };
                    let operands = b.over.iter().filter_map(|place| match place {
                        Place::Operand(i) => Some(inputs[*i]),
                        Place::Buffer(_) => None,
                    });
                    match operands.into_iter().find(fits) {
                        Some(x) => {
                            written.push(x);
                            self.share(made[at], x);
                        }
                        None => {
                            self.allocate(made[at], bytes);
                            let product = b.over.iter().find_map(|place| match place {
                                Place::Buffer(p) => Some(*p).filter(|p| !under.contains(p)),
                                Place::Operand(_) => None,
                            });
                            under.extend(product);
                        }
                    }
                }
                // The product shares the buffer of a result, or is computed in scratch blocks.
                (None, _) if g.is_product(k) && (by_blocks || under.contains(&k)) => {}
                (None, _) if g.is_product(k) => inside = inside.saturating_add(bytes),
                // Intermediate elements are in a thread's scratch block.
                (None, life)
                    if b.level == Level::Elements && (life == Life::Phase || g.by_rows(len)) => {}
                (None, _) => inside = inside.saturating_add(bytes),
            }
        }
        Ok((made, inside))
    }
}
