//! [`Trace`]: what a body computes for one element, as single assignments over lanes and truth values.
//!
//! An operation is one instruction, or a few, of the vectors that the program is for: what they
//! have no instruction for is written down as several operations ([`whole`](super::whole)). A truth
//! value is a bit of a mask register in AVX-512; in AVX2 it is a lane with the size of what was
//! compared, or 1 byte. Equal operations are one, and a few patterns become shorter ones that give
//! the same bits:
//!
//! - a sign that is turned before a product, sum or difference belongs to that instruction;
//! - the opposite of a comparison is a comparison;
//! - a choice of the operands of `<` is the machine's own `min` or `max`.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// A value: the index of its operation.
pub(crate) type TraceId = u32;

/// Writes down what an instruction does with its operands, and with what its kernel was made with.
pub(crate) type Record = fn(x: [TraceId; 3], data: usize) -> TraceId;

/// The kind of a value, for one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaneType {
    /// Bits of 1, 2, 4 or 8 bytes; 16 are a complex number in memory or a pair of lanes.
    Lane(u8),
    /// A truth value: a bit of a mask register (0), or all bits of a lane of so many bytes.
    Bool(u8),
}

impl LaneType {
    /// The kind of elements of a size in memory. Truth values are bytes there.
    pub(crate) fn of_size(size: usize) -> Option<LaneType> {
        matches!(size, 1 | 2 | 4 | 8 | 16).then_some(LaneType::Lane(size as u8))
    }

    /// Bytes of a lane; 0 for a bit of a mask register.
    pub(super) fn size(self) -> usize {
        match self {
            LaneType::Lane(size) | LaneType::Bool(size) => size.into(),
        }
    }

    pub(super) fn is_bool(self) -> bool {
        matches!(self, LaneType::Bool(_))
    }

    /// Whether values are in mask registers.
    pub(super) fn is_mask(self) -> bool {
        self == LaneType::Bool(0)
    }
}

/// Where bits move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ShiftDirection {
    Left,
    /// Zeros come in.
    Right,
    /// The sign comes in.
    RightSigned,
}

/// Operations on one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum UnaryInst {
    Sqrt,
    /// To an integer: nearest even, down, up, towards zero.
    Round(u8),
    /// By so many bits, in integers of so many bytes.
    Shift(ShiftDirection, u8, u8),
    /// Of an integer with a sign, wrapping.
    Magnitude,
}

/// Operations on two vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum BinaryInst {
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
    /// Of the floats of 4 bytes that lanes of 8 bytes consist of.
    AddHalves,
    SubHalves,
    /// Of integers of so many bytes, which may be parts of a lane.
    Integer(IntegerInst, u8),
    /// `a 2^⌊b⌋`, rounded once: in 512 bits only.
    Scale,
}

/// Operations on two vectors of integers. Some sizes have no instruction ([`whole`](super::whole)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IntegerInst {
    Add,
    Sub,
    Mul,
    /// The product of the lower halves, without a sign.
    MulLow,
    Min,
    MinUnsigned,
    Max,
    MaxUnsigned,
    /// By amounts without a sign; past the width all bits leave.
    Shift(ShiftDirection),
    /// The bytes of the first operand at the places that the second has, in 16 bytes each; 0 where
    /// that is negative.
    Shuffle,
    /// Sums of two neighbours' products: of bytes, the first without a sign, or of pairs of bytes.
    MulAdd,
    /// Sums of the differences of 8 bytes.
    SumBytes,
}

impl BinaryInst {
    pub(super) fn commutes(self) -> bool {
        match self {
            BinaryInst::Add
            | BinaryInst::Mul
            | BinaryInst::And
            | BinaryInst::Or
            | BinaryInst::Xor
            | BinaryInst::AddHalves => true,
            BinaryInst::Integer(f, _) => {
                use IntegerInst::*;
                matches!(
                    f,
                    Add | Mul | MulLow | Min | MinUnsigned | Max | MaxUnsigned
                )
            }
            BinaryInst::Sub
            | BinaryInst::Div
            | BinaryInst::Min
            | BinaryInst::Max
            | BinaryInst::Scale
            | BinaryInst::SubHalves => false,
        }
    }
}

/// Comparisons as the instructions number them.
pub(crate) mod predicate {
    pub(crate) const EQ: u8 = 0x00;
    pub(crate) const LT: u8 = 0x11;
    pub(crate) const LE: u8 = 0x12;
    /// Of integers.
    pub(crate) const WHOLE_LT: u8 = 1;
    pub(crate) const WHOLE_LE: u8 = 2;
    pub(crate) const GT: u8 = 6;

    /// That which holds where `p` does not.
    pub(crate) fn opposite(p: u8) -> u8 {
        p ^ 4
    }

    /// The same of exchanged integers.
    pub(crate) fn order_exchanged(p: u8) -> u8 {
        match p {
            WHOLE_LT => GT,
            WHOLE_LE => 5,
            5 => WHOLE_LE,
            GT => WHOLE_LT,
            p => p,
        }
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
    /// The real part of an input of 16 bytes, or its imaginary part.
    Part(bool, TraceId),
    /// A complex number of 16 bytes by its parts. No instruction makes one.
    Pair(TraceId, TraceId),
    /// Bits, and how many bytes they are.
    Constant(u64, u8),
    /// 16 bytes again and again, in lanes of so many.
    Pattern([u64; 2], u8),
    Unary(UnaryInst, TraceId),
    Binary(BinaryInst, TraceId, TraceId),
    /// `±a b ± c`, rounded once: whether the product, and whether `c` is turned.
    Fma([bool; 2], TraceId, TraceId, TraceId),
    Compare(u8, TraceId, TraceId),
    /// A comparison of integers, with a sign or without; in AVX2 `a = b` and `a > b` with a sign
    /// alone.
    Order(u8, bool, TraceId, TraceId),
    Both(TraceId, TraceId),
    Either(TraceId, TraceId),
    Unlike(TraceId, TraceId),
    Not(TraceId),
    Select(TraceId, TraceId, TraceId),
    /// A truth value of a byte, in a mask register.
    IsTrue(TraceId),
    /// The second operand, or 0; by a mask register.
    Where(TraceId, TraceId),
    Convert(Convert, TraceId),
}

/// Changes of a lane's size or meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Convert {
    /// An integer to a wider one, with its sign or without.
    Extend(bool),
    /// The low bytes.
    Cut,
    /// A float to one of the other size.
    Float,
    /// An integer of 4 or 8 bytes to a float, with its sign or without: in AVX2 of 4 bytes with a
    /// sign.
    FromWhole(bool),
    /// A float in range, cut to an integer: in AVX2 to one of 4 bytes with a sign.
    ToWhole(bool),
    /// f16 to f32, and back to the nearest.
    WidenHalf,
    NarrowHalf,
}

impl Op {
    pub(super) fn operands(&self) -> SmallVec<[TraceId; 3]> {
        match *self {
            Op::Input(_) | Op::Constant(..) | Op::Pattern(..) => smallvec![],
            Op::Unary(_, a) | Op::Not(a) | Op::IsTrue(a) | Op::Convert(_, a) | Op::Part(_, a) => {
                smallvec![a]
            }
            Op::Binary(_, a, b) | Op::Compare(_, a, b) | Op::Order(_, _, a, b) => smallvec![a, b],
            Op::Both(a, b)
            | Op::Either(a, b)
            | Op::Unlike(a, b)
            | Op::Where(a, b)
            | Op::Pair(a, b) => smallvec![a, b],
            Op::Fma(_, a, b, c) | Op::Select(a, b, c) => smallvec![a, b, c],
        }
    }
}

/// What a body computes for one element.
#[derive(Default)]
pub(crate) struct Trace {
    pub(super) ops: Vec<Op>,
    pub(super) kinds: Vec<LaneType>,
    pub(super) outputs: Vec<TraceId>,
    /// Where one of these holds, some function has no vector way.
    pub(super) rare: Vec<TraceId>,
    /// Kinds of the inputs.
    pub(super) inputs: Vec<LaneType>,
    /// The size of the body's widest element: no vector has more elements than of these.
    least: usize,
    known: FxHashMap<(Op, LaneType), TraceId>,
    /// The parts that complex numbers of 8 bytes were made of.
    pub(super) parts: FxHashMap<TraceId, [TraceId; 2]>,
    /// Something cannot be said here.
    failed: bool,
    /// For AVX-512.
    pub(super) wide: bool,
}

impl Trace {
    pub(super) fn start(&mut self, wide: bool, widest: usize) {
        *self = Trace {
            wide,
            least: widest,
            ..Trace::default()
        };
    }

    pub(super) fn push(&mut self, op: Op, kind: LaneType) -> TraceId {
        *self.known.entry((op, kind)).or_insert_with(|| {
            self.ops.push(op);
            self.kinds.push(kind);
            self.ops.len() as TraceId - 1
        })
    }

    /// Says that this program cannot be emitted; any value stands for what cannot be.
    pub(super) fn fail(&mut self) -> TraceId {
        self.failed = true;
        self.constant(0, 4)
    }

    pub(super) fn op(&self, id: TraceId) -> Op {
        self.ops[id as usize]
    }

    pub(super) fn kind(&self, id: TraceId) -> LaneType {
        self.kinds[id as usize]
    }

    pub(super) fn size(&self, id: TraceId) -> usize {
        self.kind(id).size()
    }

    pub(super) fn input(&mut self, size: usize) -> TraceId {
        let kind = LaneType::of_size(size).unwrap_or_else(|| {
            self.failed = true;
            LaneType::Lane(8)
        });
        self.inputs.push(kind);
        self.push(Op::Input(self.inputs.len() as u32 - 1), kind)
    }

    pub(super) fn constant(&mut self, bits: u64, size: usize) -> TraceId {
        let size = size as u8;
        self.push(
            Op::Constant(bits & (u64::MAX >> (64 - 8 * u32::from(size))), size),
            LaneType::Lane(size),
        )
    }

    /// The bits of a constant.
    pub(super) fn known(&self, id: TraceId) -> Option<u64> {
        match self.op(id) {
            Op::Constant(bits, _) => Some(bits),
            _ => None,
        }
    }

    pub(super) fn one(&mut self, f: UnaryInst, a: TraceId) -> TraceId {
        match self.kind(a) {
            LaneType::Bool(_) => self.fail(),
            kind => self.push(Op::Unary(f, a), kind),
        }
    }

    /// The kind of lanes that all of these have.
    pub(super) fn lanes(&self, x: &[TraceId]) -> Option<LaneType> {
        let kind = self.kind(x[0]);
        (!kind.is_bool() && x.iter().all(|&x| self.kind(x) == kind)).then_some(kind)
    }

    /// A truth value: a byte from memory, or what was compared.
    pub(super) fn truth(&mut self, x: TraceId) -> TraceId {
        match self.kind(x) {
            LaneType::Bool(_) => x,
            LaneType::Lane(1) if self.wide => self.push(Op::IsTrue(x), LaneType::Bool(0)),
            LaneType::Lane(1) => {
                let zero = self.constant(0, 1);
                self.push(Op::Order(predicate::GT, true, x, zero), LaneType::Bool(1))
            }
            LaneType::Lane(_) => self.fail(),
        }
    }

    /// A truth value as the byte 1 or 0, any other value as it is.
    pub(super) fn byte(&mut self, x: TraceId) -> TraceId {
        if !self.kind(x).is_bool() {
            return x;
        }
        match self.op(x) {
            Op::IsTrue(byte) => byte,
            _ => {
                let one = self.constant(1, 1);
                self.where_true(x, one)
            }
        }
    }

    /// `a` where a truth value holds, else 0.
    pub(super) fn where_true(&mut self, m: TraceId, a: TraceId) -> TraceId {
        let m = self.truth(m);
        let kind = self.kind(a);
        if self.wide {
            return self.push(Op::Where(m, a), kind);
        }
        let m = self.resized(m, kind.size());
        self.push(Op::Binary(BinaryInst::And, m, a), kind)
    }

    /// A truth value in lanes of a size, where it is no bit.
    fn resized(&mut self, m: TraceId, size: usize) -> TraceId {
        let own = self.size(m);
        if self.wide || own == size {
            return m;
        }
        if let Op::Convert(_, x) = self.op(m)
            && self.kind(x) == LaneType::Bool(size as u8)
        {
            return x;
        }
        let f = if own < size {
            Convert::Extend(true)
        } else {
            Convert::Cut
        };
        self.push(Op::Convert(f, m), LaneType::Bool(size as u8))
    }

    /// Truth values in lanes of one size, where they are no bits: the larger.
    fn truths(&mut self, a: TraceId, b: TraceId) -> (TraceId, TraceId, LaneType) {
        let (a, b) = (self.truth(a), self.truth(b));
        let size = self.size(a).max(self.size(b));
        (
            self.resized(a, size),
            self.resized(b, size),
            LaneType::Bool(size as u8),
        )
    }

    /// The factors of a product, and their size.
    pub(super) fn factors(&self, y: TraceId) -> Option<(TraceId, TraceId, usize)> {
        match self.op(y) {
            Op::Binary(BinaryInst::Mul, a, b) => Some((a, b, self.size(y))),
            _ => None,
        }
    }

    /// `x` where `a = -x`.
    pub(super) fn negated(&self, a: TraceId) -> Option<TraceId> {
        let sign =
            |b: TraceId| matches!(self.op(b), Op::Constant(s, size) if s == 1 << (8 * size - 1));
        match self.op(a) {
            Op::Binary(BinaryInst::Xor, x, b) if sign(b) => Some(x),
            _ => None,
        }
    }

    pub(super) fn two(&mut self, f: BinaryInst, a: TraceId, b: TraceId) -> TraceId {
        let Some(kind) = self.lanes(&[a, b]) else {
            return self.fail();
        };
        let (f, b) = match (f, self.negated(b)) {
            (BinaryInst::Add, Some(b)) => (BinaryInst::Sub, b),
            (BinaryInst::Sub, Some(b)) => (BinaryInst::Add, b),
            _ => (f, b),
        };
        // Equal sums and products are one, whatever comes first.
        let (a, b) = if matches!(f, BinaryInst::Add | BinaryInst::Mul) {
            (a.min(b), a.max(b))
        } else {
            (a, b)
        };
        self.push(Op::Binary(f, a, b), kind)
    }

    pub(super) fn fma(&mut self, mut a: TraceId, mut b: TraceId, mut c: TraceId) -> TraceId {
        let Some(kind) = self.lanes(&[a, b, c]) else {
            return self.fail();
        };
        let mut turned = [false; 2];
        for (x, k) in [(&mut a, 0), (&mut b, 0), (&mut c, 1)] {
            if let Some(y) = self.negated(*x) {
                *x = y;
                turned[k] = !turned[k];
            }
        }
        self.push(Op::Fma(turned, a, b, c), kind)
    }

    /// The kind of a comparison of these lanes.
    pub(super) fn compared(&self, kind: LaneType) -> LaneType {
        LaneType::Bool(if self.wide { 0 } else { kind.size() as u8 })
    }

    pub(super) fn compare(&mut self, p: u8, a: TraceId, b: TraceId) -> TraceId {
        match self.lanes(&[a, b]) {
            Some(kind) => self.push(Op::Compare(p, a, b), self.compared(kind)),
            None => self.fail(),
        }
    }

    pub(super) fn both(&mut self, a: TraceId, b: TraceId) -> TraceId {
        let (a, b, kind) = self.truths(a, b);
        self.push(Op::Both(a, b), kind)
    }

    pub(super) fn either(&mut self, a: TraceId, b: TraceId) -> TraceId {
        let (a, b, kind) = self.truths(a, b);
        self.push(Op::Either(a, b), kind)
    }

    pub(super) fn unlike(&mut self, a: TraceId, b: TraceId) -> TraceId {
        let (a, b, kind) = self.truths(a, b);
        self.push(Op::Unlike(a, b), kind)
    }

    pub(super) fn not(&mut self, a: TraceId) -> TraceId {
        let a = self.truth(a);
        let kind = self.kind(a);
        match self.op(a) {
            Op::Compare(p, x, y) => self.push(Op::Compare(predicate::opposite(p), x, y), kind),
            Op::Order(p, signed, x, y) if self.wide => {
                self.push(Op::Order(predicate::opposite(p), signed, x, y), kind)
            }
            Op::Not(a) => a,
            _ => self.push(Op::Not(a), kind),
        }
    }

    pub(super) fn select(&mut self, m: TraceId, a: TraceId, b: TraceId) -> TraceId {
        let m = self.truth(m);
        let (p, q) = (self.kind(a).is_bool(), self.kind(b).is_bool());
        if p && q {
            let (yes, not) = (self.both(m, a), self.not(m));
            let no = self.both(not, b);
            return self.either(yes, no);
        }
        let (a, b) = if p || q {
            (self.byte(a), self.byte(b))
        } else {
            (a, b)
        };
        let Some(kind) = self.lanes(&[a, b]) else {
            return self.fail();
        };
        if let Some([p, q]) = self.both_parts(a, b) {
            let [re, im] = [0, 1].map(|k| self.select(m, p[k], q[k]));
            return self.pair([re, im]);
        }
        let m = self.resized(m, kind.size());
        match self.op(m) {
            Op::Compare(predicate::LT, p, q) if (p, q) == (a, b) => {
                self.push(Op::Binary(BinaryInst::Min, p, q), kind)
            }
            Op::Compare(predicate::LT, p, q) if (q, p) == (a, b) => {
                self.push(Op::Binary(BinaryInst::Max, q, p), kind)
            }
            _ => self.push(Op::Select(m, a, b), kind),
        }
    }

    /// Sets the results, of elements of these sizes.
    pub(super) fn finish(&mut self, outputs: &[(TraceId, usize)]) {
        for &(id, size) in outputs {
            let id = match size {
                1 => self.byte(id),
                16 => {
                    let z = self.parts_of(id, size);
                    self.pair(z)
                }
                _ => id,
            };
            self.failed |= self.kind(id) != LaneType::Lane(size as u8);
            self.outputs.push(id);
        }
    }

    /// The size of the widest lanes, if nothing failed.
    pub(super) fn widest(&self) -> Option<usize> {
        let own = self
            .needed()
            .into_iter()
            .map(|id| self.size(id))
            .max()
            .unwrap_or(1);
        (!self.failed).then_some(own.max(self.least).min(8))
    }

    /// Whether code takes any number of elements; else whole vectors only.
    pub(super) fn takes_any(&self) -> bool {
        self.wide && self.least <= 8
    }

    /// The other part of the same input, for a part.
    pub(super) fn other_part(&self, id: TraceId) -> Option<TraceId> {
        match self.op(id) {
            Op::Part(half, z) => self
                .known
                .get(&(Op::Part(!half, z), self.kind(id)))
                .copied(),
            _ => None,
        }
    }

    /// The values that are written for an output.
    pub(super) fn stored(&self, id: TraceId) -> SmallVec<[TraceId; 3]> {
        match self.op(id) {
            Op::Pair(re, im) => smallvec![re, im],
            _ => smallvec![id],
        }
    }

    /// The size of all lanes, if they have one and nothing failed.
    pub(super) fn uniform(&self) -> Option<usize> {
        let mut sizes = self.kinds.iter().map(|k| k.size()).filter(|&s| s > 0);
        let first = sizes
            .next()
            .filter(|&s| !self.failed && matches!(s, 4 | 8))?;
        sizes.all(|s| s == first).then_some(first)
    }

    /// Operations that outputs and rare cases need, ascending.
    pub(super) fn needed(&self) -> Vec<TraceId> {
        let mut need = vec![false; self.ops.len()];
        self.outputs
            .iter()
            .chain(&self.rare)
            .for_each(|&v| need[v as usize] = true);
        for i in (0..self.ops.len()).rev() {
            if need[i] {
                self.ops[i]
                    .operands()
                    .iter()
                    .for_each(|&v| need[v as usize] = true);
            }
        }
        (0..self.ops.len() as TraceId)
            .filter(|&i| need[i as usize])
            .collect()
    }
}
