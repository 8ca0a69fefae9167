//! [`Program`]: what a body computes for one element, as single assignments over lanes and truth values.
//!
//! Every operation is one instruction of both vector levels (a choice between truth values aside). Equal operations are
//! one, and a few patterns become shorter ones that give the same bits:
//!
//! - a sign that is turned before a product, sum or difference belongs to that instruction;
//! - the opposite of a comparison is a comparison;
//! - a choice of the operands of `<` is the machine's own `min` or `max`.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// A value: the index of its operation.
pub(crate) type Id = u32;

/// What a value is, for one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 4 bytes.
    Word,
    /// 8 bytes.
    Double,
    /// A truth value.
    Truth,
}

impl Kind {
    /// By the size of an element in memory.
    pub(crate) fn of_size(size: usize) -> Option<Kind> {
        Some(match size {
            1 => Kind::Truth,
            4 => Kind::Word,
            8 => Kind::Double,
            _ => return None,
        })
    }
}

/// Operations on one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum One {
    Sqrt,
    /// To an integer: nearest even, down, up, towards zero.
    Round(u8),
    /// By the width of the fraction.
    ShiftLeft,
    ShiftRight,
}

/// Operations on two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Two {
    Add,
    Sub,
    Mul,
    Div,
    /// `a < b ? a : b`, which is not IEEE minimum.
    Min,
    /// `a > b ? a : b`.
    Max,
    And,
    Or,
    Xor,
    WholeAdd,
    WholeSub,
    /// `a 2^⌊b⌋`, rounded once: in 512 bits only.
    Scale,
}

impl Two {
    pub(super) fn commutes(self) -> bool {
        !matches!(self, Two::Sub | Two::Div | Two::Min | Two::Max | Two::WholeSub | Two::Scale)
    }
}

/// Comparisons as the instructions number them.
pub(crate) mod predicate {
    pub(crate) const EQ: u8 = 0x00;
    pub(crate) const LT: u8 = 0x11;
    pub(crate) const LE: u8 = 0x12;

    /// That which holds where `p` does not.
    pub(crate) fn opposite(p: u8) -> u8 {
        p ^ 4
    }

    /// The same of exchanged operands.
    pub(crate) fn exchanged(p: u8) -> u8 {
        match p {
            0x11 => 0x1e,
            0x12 => 0x1d,
            0x15 => 0x1a,
            0x16 => 0x19,
            p => p,
        }
    }
}

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    Input(u32),
    /// Bits, and whether they are 8 bytes.
    Constant(u64, bool),
    One(One, Id),
    Two(Two, Id, Id),
    /// `±a b ± c`, rounded once: whether the product, and whether `c` is turned.
    Fma([bool; 2], Id, Id, Id),
    Compare(u8, Id, Id),
    /// `a = b` and `a > b` of integers with a sign.
    Same(Id, Id),
    Greater(Id, Id),
    Both(Id, Id),
    Either(Id, Id),
    Not(Id),
    Select(Id, Id, Id),
}

impl Op {
    pub(super) fn operands(&self) -> SmallVec<[Id; 3]> {
        match *self {
            Op::Input(_) | Op::Constant(..) => smallvec![],
            Op::One(_, a) | Op::Not(a) => smallvec![a],
            Op::Two(_, a, b) | Op::Compare(_, a, b) => smallvec![a, b],
            Op::Same(a, b) | Op::Greater(a, b) | Op::Both(a, b) | Op::Either(a, b) => smallvec![a, b],
            Op::Fma(_, a, b, c) | Op::Select(a, b, c) => smallvec![a, b, c],
        }
    }
}

/// What a body computes for one element.
#[derive(Default)]
pub(crate) struct Program {
    pub(super) ops: Vec<Op>,
    pub(super) kinds: Vec<Kind>,
    pub(super) outputs: Vec<Id>,
    /// Where one of these holds, some function has no vector way.
    pub(super) rare: Vec<Id>,
    /// Kinds of the inputs.
    pub(super) inputs: Vec<Kind>,
    known: FxHashMap<Op, Id>,
    /// Something cannot be said here.
    failed: bool,
    /// For AVX-512.
    pub(super) wide: bool,
}

impl Program {
    pub(super) fn start(&mut self, wide: bool) {
        *self = Program { wide, ..Program::default() };
    }

    fn push(&mut self, op: Op, kind: Kind) -> Id {
        *self.known.entry(op).or_insert_with(|| {
            self.ops.push(op);
            self.kinds.push(kind);
            self.ops.len() as Id - 1
        })
    }

    /// Says that this program cannot be emitted; any value stands for what cannot be.
    pub(super) fn fail(&mut self) -> Id {
        self.failed = true;
        self.push(Op::Constant(0, false), Kind::Word)
    }

    fn op(&self, id: Id) -> Op {
        self.ops[id as usize]
    }

    pub(super) fn kind(&self, id: Id) -> Kind {
        self.kinds[id as usize]
    }

    pub(super) fn input(&mut self, size: usize) -> Id {
        let Some(kind) = Kind::of_size(size) else { return self.fail() };
        self.inputs.push(kind);
        self.push(Op::Input(self.inputs.len() as u32 - 1), kind)
    }

    pub(super) fn constant(&mut self, bits: u64, wide: bool) -> Id {
        self.push(Op::Constant(bits, wide), if wide { Kind::Double } else { Kind::Word })
    }

    pub(super) fn one(&mut self, f: One, a: Id) -> Id {
        match self.kind(a) {
            Kind::Truth => self.fail(),
            kind => self.push(Op::One(f, a), kind),
        }
    }

    /// The kind of lanes that all of these have.
    fn lanes(&self, x: &[Id]) -> Option<Kind> {
        let kind = self.kind(x[0]);
        (kind != Kind::Truth && x.iter().all(|&x| self.kind(x) == kind)).then_some(kind)
    }

    fn truths(&self, x: &[Id]) -> bool {
        x.iter().all(|&x| self.kind(x) == Kind::Truth)
    }

    /// The factors of a product, and their size.
    pub(super) fn factors(&self, y: Id) -> Option<(Id, Id, usize)> {
        match self.op(y) {
            Op::Two(Two::Mul, a, b) => Some((a, b, if self.kind(y) == Kind::Word { 4 } else { 8 })),
            _ => None,
        }
    }

    /// `x` where `a = -x`.
    fn negated(&self, a: Id) -> Option<Id> {
        let sign = |b: Id| matches!(self.op(b), Op::Constant(s, w) if s == 1 << if w { 63 } else { 31 });
        match self.op(a) {
            Op::Two(Two::Xor, x, b) if sign(b) => Some(x),
            _ => None,
        }
    }

    pub(super) fn two(&mut self, f: Two, a: Id, b: Id) -> Id {
        let Some(kind) = self.lanes(&[a, b]) else { return self.fail() };
        let (f, b) = match (f, self.negated(b)) {
            (Two::Add, Some(b)) => (Two::Sub, b),
            (Two::Sub, Some(b)) => (Two::Add, b),
            _ => (f, b),
        };
        self.push(Op::Two(f, a, b), kind)
    }

    pub(super) fn fma(&mut self, mut a: Id, mut b: Id, mut c: Id) -> Id {
        let Some(kind) = self.lanes(&[a, b, c]) else { return self.fail() };
        let mut turned = [false; 2];
        for (x, k) in [(&mut a, 0), (&mut b, 0), (&mut c, 1)] {
            if let Some(y) = self.negated(*x) {
                *x = y;
                turned[k] = !turned[k];
            }
        }
        self.push(Op::Fma(turned, a, b, c), kind)
    }

    pub(super) fn compare(&mut self, p: u8, a: Id, b: Id) -> Id {
        match self.lanes(&[a, b]) {
            Some(_) => self.push(Op::Compare(p, a, b), Kind::Truth),
            None => self.fail(),
        }
    }

    /// `a = b` of integers, or `a > b`.
    pub(super) fn whole_compare(&mut self, same: bool, a: Id, b: Id) -> Id {
        let op = if same { Op::Same(a, b) } else { Op::Greater(a, b) };
        if self.lanes(&[a, b]).is_some() { self.push(op, Kind::Truth) } else { self.fail() }
    }

    pub(super) fn both(&mut self, a: Id, b: Id) -> Id {
        if self.truths(&[a, b]) { self.push(Op::Both(a, b), Kind::Truth) } else { self.fail() }
    }

    pub(super) fn either(&mut self, a: Id, b: Id) -> Id {
        if self.truths(&[a, b]) { self.push(Op::Either(a, b), Kind::Truth) } else { self.fail() }
    }

    pub(super) fn not(&mut self, a: Id) -> Id {
        match self.op(a) {
            Op::Compare(p, x, y) => self.push(Op::Compare(predicate::opposite(p), x, y), Kind::Truth),
            Op::Not(a) => a,
            _ if self.truths(&[a]) => self.push(Op::Not(a), Kind::Truth),
            _ => self.fail(),
        }
    }

    pub(super) fn select(&mut self, m: Id, a: Id, b: Id) -> Id {
        let (Some(kind), true) = (self.lanes(&[a, b]), self.truths(&[m])) else { return self.fail() };
        match self.op(m) {
            Op::Compare(predicate::LT, p, q) if (p, q) == (a, b) => self.push(Op::Two(Two::Min, p, q), kind),
            Op::Compare(predicate::LT, p, q) if (q, p) == (a, b) => self.push(Op::Two(Two::Max, q, p), kind),
            _ => self.push(Op::Select(m, a, b), kind),
        }
    }

    /// The size of its lanes, if they have one and nothing failed.
    pub(super) fn lane(&self) -> Option<usize> {
        if self.failed {
            return None;
        }
        let mut kinds = self.kinds.iter().filter(|&&k| k != Kind::Truth);
        let first = *kinds.next()?;
        kinds.all(|&k| k == first).then_some(if first == Kind::Word { 4 } else { 8 })
    }

    /// Operations that outputs and rare cases need, ascending.
    pub(super) fn needed(&self) -> Vec<Id> {
        let mut need = vec![false; self.ops.len()];
        self.outputs.iter().chain(&self.rare).for_each(|&v| need[v as usize] = true);
        for i in (0..self.ops.len()).rev() {
            if need[i] {
                self.ops[i].operands().iter().for_each(|&v| need[v as usize] = true);
            }
        }
        (0..self.ops.len() as Id).filter(|&i| need[i as usize]).collect()
    }
}
