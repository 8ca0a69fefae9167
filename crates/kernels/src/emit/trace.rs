//! [`Trace`]: the computation of a body for one element, in single-assignment form over lanes and
//! booleans.
//!
//! An operation becomes one vector instruction or a few. An operation without an instruction is
//! recorded as several operations ([`whole`](super::whole)). A boolean is a bit of a mask register
//! in AVX-512. In AVX2 it is a lane with the size of the compared operands, or of 1 byte. Equal
//! operations are merged, and a few patterns are replaced by shorter ones with the same bits:
//!
//! - a negation before a product, sum or difference becomes part of that instruction;
//! - a negated comparison becomes the opposite comparison;
//! - a selection between the operands of `<` becomes the `min` or `max` instruction.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// A value: the index of its operation.
pub(crate) type TraceId = u32;

/// Records the operation of a kernel on the operands `x`, where `data` is the kernel's parameter.
pub(crate) type Record = fn(x: [TraceId; 3], data: usize) -> TraceId;

/// An address of a step ([`steps`](super::steps)): an entry of its table, and a distance in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct StepAddress {
    pub(crate) entry: u32,
    pub(crate) offset: i32,
}

/// The type of a value, for one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LaneType {
    /// A lane of 1, 2, 4 or 8 bytes. A lane of 16 bytes is a complex number in memory or a pair of
    /// lanes.
    Lane(u8),
    /// A boolean: a bit of a mask register (size 0), or all bits of a lane of the given size in
    /// bytes.
    Bool(u8),
}

impl LaneType {
    /// The type of elements of `size` bytes in memory. Booleans are bytes in memory.
    pub(crate) fn of_size(size: usize) -> Option<LaneType> {
        matches!(size, 1 | 2 | 4 | 8 | 16).then_some(LaneType::Lane(size as u8))
    }

    /// Size of a lane in bytes; 0 for a bit of a mask register.
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

/// Direction of a shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ShiftDirection {
    Left,
    /// Logical: zeros are shifted in.
    Right,
    /// Arithmetic: copies of the sign bit are shifted in.
    RightSigned,
}

/// Operations on one vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum UnaryInst {
    Sqrt,
    /// Rounds to an integer. 0: nearest, ties to even; 1: down; 2: up; 3: toward zero.
    Round(u8),
    /// Shifts by a constant: direction, number of bits, integer size in bytes.
    Shift(ShiftDirection, u8, u8),
    /// Absolute value of a signed integer, wrapping.
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
    /// `a > b ? a : b`, which is not IEEE maximum.
    Max,
    And,
    Or,
    Xor,
    /// Sums of the floats of 4 bytes that make up lanes of 8 bytes.
    AddHalves,
    SubHalves,
    /// An operation on integers of the given size in bytes, which may be smaller than a lane.
    Integer(IntegerInst, u8),
    /// `a 2^⌊b⌋`, rounded once (AVX-512 only).
    Scale,
}

/// Operations on two vectors of integers. Some sizes have no instruction ([`whole`](super::whole)).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum IntegerInst {
    Add,
    Sub,
    Mul,
    /// Unsigned product of the lower halves.
    MulLow,
    Min,
    MinUnsigned,
    Max,
    MaxUnsigned,
    /// Shift by per-lane unsigned amounts. An amount of at least the width shifts all bits out.
    Shift(ShiftDirection),
    /// Byte shuffle within 16 bytes: selects bytes of the first operand by the indices in the
    /// second. A negative index gives 0.
    Shuffle,
    /// Sums of the products of two neighbours: of bytes (the first operand is unsigned), or of
    /// 16-bit integers.
    MulAdd,
    /// Sums of the absolute differences of 8 bytes.
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

/// Comparison predicates, in the encoding of the instructions.
pub(crate) mod predicate {
    pub(crate) const EQ: u8 = 0x00;
    pub(crate) const LT: u8 = 0x11;
    pub(crate) const LE: u8 = 0x12;
    /// Predicates of integer comparisons.
    pub(crate) const WHOLE_LT: u8 = 1;
    pub(crate) const WHOLE_LE: u8 = 2;
    pub(crate) const GT: u8 = 6;

    /// The negation of predicate `p`.
    pub(crate) fn opposite(p: u8) -> u8 {
        p ^ 4
    }

    /// The predicate of integers after the operands are swapped.
    pub(crate) fn order_exchanged(p: u8) -> u8 {
        match p {
            WHOLE_LT => GT,
            WHOLE_LE => 5,
            5 => WHOLE_LE,
            GT => WHOLE_LT,
            p => p,
        }
    }

    /// The predicate of floats after the operands are swapped.
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
    /// The imaginary part of an input of 16 bytes if `true`, otherwise its real part.
    Part(bool, TraceId),
    /// An input that is loaded in the order of the operations, at a distance that was computed.
    Load(u32, Option<TraceId>),
    /// An input of a step and the elements after it, one in each lane.
    Row(u32),
    /// Such a row, loaded in the order of the operations.
    LoadRow(u32, Option<TraceId>),
    /// A constant of a step with a number in each lane, by its position.
    Numbers(u32),
    /// One lane of a value of a step, in all lanes.
    Lane(u8, TraceId),
    /// A complex number of 16 bytes from its parts. It has no instruction.
    Pair(TraceId, TraceId),
    /// A constant: its bits, and its size in bytes.
    Constant(u64, u8),
    /// A repeated pattern of 16 bytes, with the lane size in bytes.
    Pattern([u64; 2], u8),
    Unary(UnaryInst, TraceId),
    Binary(BinaryInst, TraceId, TraceId),
    /// `±a b ± c`, rounded once. The flags tell whether the product and whether `c` is negated.
    Fma([bool; 2], TraceId, TraceId, TraceId),
    Compare(u8, TraceId, TraceId),
    /// A comparison of integers: predicate, and whether it is signed. AVX2 has only `a = b` and
    /// signed `a > b`.
    Order(u8, bool, TraceId, TraceId),
    Both(TraceId, TraceId),
    Either(TraceId, TraceId),
    Unlike(TraceId, TraceId),
    Not(TraceId),
    Select(TraceId, TraceId, TraceId),
    /// A boolean in a mask register, from a byte.
    IsTrue(TraceId),
    /// The second operand where the mask register is set, otherwise 0.
    Where(TraceId, TraceId),
    Convert(Convert, TraceId),
}

/// Changes of a lane's size or type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Convert {
    /// Extends an integer to a wider one. It is sign-extended if `true`, otherwise zero-extended.
    Extend(bool),
    /// Truncates to the low bytes.
    Cut,
    /// Converts a float to the other width.
    Float,
    /// Converts an integer of 4 or 8 bytes to a float; the flag means signed. AVX2 has only signed
    /// integers of 4 bytes.
    FromWhole(bool),
    /// Truncates a float in range to an integer; the flag means signed. AVX2 has only signed
    /// integers of 4 bytes.
    ToWhole(bool),
    /// Converts f16 to f32.
    WidenHalf,
    NarrowHalf,
}

impl Op {
    /// The input that it reads.
    pub(super) fn input(&self) -> Option<u32> {
        match *self {
            Op::Input(k) | Op::Row(k) | Op::Load(k, _) | Op::LoadRow(k, _) => Some(k),
            _ => None,
        }
    }

    /// Whether it reads an input that no store of a step changes before its last use.
    pub(super) fn is_fixed(&self) -> bool {
        matches!(self, Op::Input(_) | Op::Row(_))
    }

    /// Whether it reads an input in the order of the operations.
    pub(super) fn is_load(&self) -> bool {
        matches!(self, Op::Load(..) | Op::LoadRow(..))
    }

    pub(super) fn operands(&self) -> SmallVec<[TraceId; 3]> {
        match *self {
            Op::Input(_) | Op::Row(_) | Op::Constant(..) | Op::Pattern(..) | Op::Numbers(_) => {
                smallvec![]
            }
            Op::Load(_, offset) | Op::LoadRow(_, offset) => offset.into_iter().collect(),
            Op::Lane(_, a)
            | Op::Unary(_, a)
            | Op::Not(a)
            | Op::IsTrue(a)
            | Op::Convert(_, a)
            | Op::Part(_, a) => {
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

    /// Whether two operations differ in their operands alone.
    pub(super) fn is_like(&self, other: &Op) -> bool {
        match (*self, *other) {
            (Op::Unary(f, _), Op::Unary(g, _)) => f == g,
            (Op::Binary(f, ..), Op::Binary(g, ..)) => f == g,
            (Op::Fma(f, ..), Op::Fma(g, ..)) => f == g,
            (Op::Compare(f, ..), Op::Compare(g, ..)) => f == g,
            (Op::Order(f, s, ..), Op::Order(g, t, ..)) => (f, s) == (g, t),
            (Op::Convert(f, _), Op::Convert(g, _)) => f == g,
            (Op::Both(..), Op::Both(..))
            | (Op::Either(..), Op::Either(..))
            | (Op::Unlike(..), Op::Unlike(..))
            | (Op::Not(_), Op::Not(_))
            | (Op::Select(..), Op::Select(..))
            | (Op::Where(..), Op::Where(..)) => true,
            _ => false,
        }
    }

    /// The same operation on other operands.
    pub(super) fn with_operands(self, x: &[TraceId]) -> Op {
        match self {
            Op::Unary(f, _) => Op::Unary(f, x[0]),
            Op::Binary(f, ..) => Op::Binary(f, x[0], x[1]),
            Op::Fma(f, ..) => Op::Fma(f, x[0], x[1], x[2]),
            Op::Compare(f, ..) => Op::Compare(f, x[0], x[1]),
            Op::Order(f, s, ..) => Op::Order(f, s, x[0], x[1]),
            Op::Convert(f, _) => Op::Convert(f, x[0]),
            Op::Both(..) => Op::Both(x[0], x[1]),
            Op::Either(..) => Op::Either(x[0], x[1]),
            Op::Unlike(..) => Op::Unlike(x[0], x[1]),
            Op::Not(_) => Op::Not(x[0]),
            Op::Select(..) => Op::Select(x[0], x[1], x[2]),
            Op::Where(..) => Op::Where(x[0], x[1]),
            Op::Part(second, _) => Op::Part(second, x[0]),
            Op::IsTrue(_) => Op::IsTrue(x[0]),
            Op::Pair(..) => Op::Pair(x[0], x[1]),
            Op::Lane(lane, _) => Op::Lane(lane, x[0]),
            Op::Load(k, _) => Op::Load(k, x.first().copied()),
            Op::LoadRow(k, _) => Op::LoadRow(k, x.first().copied()),
            Op::Input(_) | Op::Row(_) | Op::Constant(..) | Op::Pattern(..) | Op::Numbers(_) => self,
        }
    }

    /// Whether its first two operands may be exchanged.
    pub(super) fn commutes(&self) -> bool {
        match self {
            Op::Binary(f, ..) => f.commutes(),
            Op::Fma(..) | Op::Both(..) | Op::Either(..) | Op::Unlike(..) => true,
            _ => false,
        }
    }
}

/// The computation of a body for one element.
#[derive(Default)]
pub(crate) struct Trace {
    pub(super) ops: Vec<Op>,
    pub(super) kinds: Vec<LaneType>,
    pub(super) outputs: Vec<TraceId>,
    /// Booleans: where one of them is true, the element needs the scalar fallback.
    pub(super) rare: Vec<TraceId>,
    /// Types of the inputs.
    pub(super) inputs: Vec<LaneType>,
    /// Size of the widest element of the body, in bytes. It is a lower bound for the widest lane.
    least: usize,
    known: FxHashMap<(Op, LaneType), TraceId>,
    /// Parts from which complex numbers of 8 bytes were built.
    pub(super) parts: FxHashMap<TraceId, [TraceId; 2]>,
    /// Whether some operation cannot be compiled.
    failed: bool,
    /// Whether the target is AVX-512.
    pub(super) wide: bool,
    /// Number of lanes that differ, by value; 1 for values beyond the last one.
    pub(super) lanes: Vec<u8>,
    /// Constants with a number in each lane.
    pub(super) numbers: Vec<Vec<u64>>,
}

impl Trace {
    pub(super) fn start(&mut self, wide: bool, widest: usize) {
        *self = Trace {
            wide,
            least: widest,
            ..Trace::default()
        };
    }

    /// A trace of the same inputs without operations.
    pub(super) fn without_ops(&self) -> Trace {
        Trace {
            inputs: self.inputs.clone(),
            least: self.least,
            failed: self.failed,
            wide: self.wide,
            ..Trace::default()
        }
    }

    pub(super) fn push(&mut self, op: Op, kind: LaneType) -> TraceId {
        *self.known.entry((op, kind)).or_insert_with(|| {
            self.ops.push(op);
            self.kinds.push(kind);
            self.ops.len() as TraceId - 1
        })
    }

    /// Marks the trace as impossible to compile. The returned value is a placeholder.
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

    /// Number of lanes of a value that differ.
    pub(super) fn lanes_of(&self, id: TraceId) -> usize {
        self.lanes.get(id as usize).map_or(1, |&n| n.into())
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

    /// The number of operations.
    pub(super) fn len(&self) -> usize {
        self.ops.len()
    }

    /// An input that is loaded in the order of the operations.
    pub(super) fn load(&mut self, size: usize, offset: Option<TraceId>) -> TraceId {
        let kind = LaneType::Lane(size as u8);
        self.inputs.push(kind);
        self.push(Op::Load(self.inputs.len() as u32 - 1, offset), kind)
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

    /// The common lane type of all these values, if they have one.
    pub(super) fn lanes(&self, x: &[TraceId]) -> Option<LaneType> {
        let kind = self.kind(x[0]);
        (!kind.is_bool() && x.iter().all(|&x| self.kind(x) == kind)).then_some(kind)
    }

    /// A value as a boolean. A byte from memory is compared with 0.
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

    /// A boolean as the byte 1 or 0; any other value unchanged.
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

    /// `a` where the boolean `m` is true, otherwise 0.
    pub(super) fn where_true(&mut self, m: TraceId, a: TraceId) -> TraceId {
        let m = self.truth(m);
        let kind = self.kind(a);
        if self.wide {
            return self.push(Op::Where(m, a), kind);
        }
        let m = self.resized(m, kind.size());
        self.push(Op::Binary(BinaryInst::And, m, a), kind)
    }

    /// A boolean in lanes of `size` bytes (AVX2); in AVX-512 it is unchanged.
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

    /// Two booleans in lanes of the larger of both sizes (AVX2), and their type.
    fn truths(&mut self, a: TraceId, b: TraceId) -> (TraceId, TraceId, LaneType) {
        let (a, b) = (self.truth(a), self.truth(b));
        let size = self.size(a).max(self.size(b));
        (
            self.resized(a, size),
            self.resized(b, size),
            LaneType::Bool(size as u8),
        )
    }

    /// The factors of a product, and their size in bytes.
    pub(super) fn factors(&self, y: TraceId) -> Option<(TraceId, TraceId, usize)> {
        match self.op(y) {
            Op::Binary(BinaryInst::Mul, a, b) => Some((a, b, self.size(y))),
            _ => None,
        }
    }

    /// Returns `x` if `a = -x`.
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
        // Sums and products are commutative: sorted operands make equal operations identical.
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
        let mut negated_terms = [false; 2];
        for (x, k) in [(&mut a, 0), (&mut b, 0), (&mut c, 1)] {
            if let Some(y) = self.negated(*x) {
                *x = y;
                negated_terms[k] = !negated_terms[k];
            }
        }
        self.push(Op::Fma(negated_terms, a, b, c), kind)
    }

    /// The type of a comparison of lanes of this type.
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

    /// Sets the outputs: values, and their element sizes in bytes.
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

    /// Size of the widest lanes, in bytes; `None` if the trace cannot be compiled.
    pub(super) fn widest(&self) -> Option<usize> {
        let own = self
            .needed()
            .into_iter()
            .map(|id| self.size(id))
            .max()
            .unwrap_or(1);
        (!self.failed).then_some(own.max(self.least).min(8))
    }

    /// Whether code accepts any number of elements. Otherwise it processes whole vectors only.
    pub(super) fn accepts_partial_vectors(&self) -> bool {
        self.least <= 8
    }

    /// The other part of the same input, if `id` is a part and the other part was recorded.
    pub(super) fn other_part(&self, id: TraceId) -> Option<TraceId> {
        match self.op(id) {
            Op::Part(half, z) => self
                .known
                .get(&(Op::Part(!half, z), self.kind(id)))
                .copied(),
            _ => None,
        }
    }

    /// The values that are stored for an output.
    pub(super) fn stored(&self, id: TraceId) -> SmallVec<[TraceId; 3]> {
        match self.op(id) {
            Op::Pair(re, im) => smallvec![re, im],
            _ => smallvec![id],
        }
    }

    /// The common size of all lanes, in bytes, if there is one and the trace can be compiled.
    pub(super) fn uniform(&self) -> Option<usize> {
        let mut sizes = self.kinds.iter().map(|k| k.size()).filter(|&s| s > 0);
        let first = sizes
            .next()
            .filter(|&s| !self.failed && matches!(s, 4 | 8))?;
        sizes.all(|s| s == first).then_some(first)
    }

    /// The operations that outputs and fallback conditions depend on, in ascending order.
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
