//! Assembler for x86-64: the vector instructions of AVX2 (VEX prefix) and AVX-512 (EVEX prefix),
//! and the scalar instructions that a loop needs.
//!
//! A vector instruction consists of a prefix (opcode map, vector width, first operands), an opcode
//! byte, and one operand in a register or in memory ([`Operand`]). The encoding is described in
//! Intel's manual, volume 2, sections 2.3 and 2.7.

/// Number of a general-purpose register.
pub(super) type Gpr = u8;
pub(super) const RAX: Gpr = 0;
pub(super) const RCX: Gpr = 1;
pub(super) const RDX: Gpr = 2;
pub(super) const RBX: Gpr = 3;
pub(super) const RSP: Gpr = 4;
pub(super) const RBP: Gpr = 5;
pub(super) const RSI: Gpr = 6;
pub(super) const RDI: Gpr = 7;

/// Base address of a memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The constant pool after the code.
    Pool,
    At(Gpr),
    /// A register plus the element index in `rax`, scaled. The second field is log2 of the element
    /// size in bytes.
    Element(Gpr, u8),
}

/// A memory operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    pub(super) base: Base,
    pub(super) disp: i32,
    /// Whether the element is broadcast to all lanes (embedded broadcast, AVX-512 only).
    pub(super) broadcast: bool,
}

/// The operand that may be in a register or in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Register(u8),
    Memory(Memory),
}

/// Opcode map, mandatory prefix, W bit and opcode byte of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opcode {
    /// Opcode map. 1: 0F, 2: 0F38, 3: 0F3A.
    pub(super) map: u8,
    /// Mandatory prefix. 1: 66, 2: F3, 3: F2.
    pub(super) prefix: u8,
    pub(super) w: bool,
    pub(super) code: u8,
}

/// Encoding of a vector instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// VEX: log2 of the vector width over 128 bits, or the L bit of the opcode.
    Vex(u8),
    /// An instruction on mask registers: the L bit of the opcode.
    Mask(u8),
    Evex {
        /// Log2 of the vector width over 128 bits.
        width: u8,
        /// The mask register; 0 for none.
        mask: u8,
        /// Whether inactive lanes become zero. Otherwise they keep their values.
        zero: bool,
        /// The unit of 8-bit displacements, in bytes.
        unit: i32,
    },
}

/// Code under construction.
pub(super) struct Assembler {
    pub(super) code: Vec<u8>,
    pool: Vec<u8>,
    /// References to the constant pool: offset of a 4-byte displacement in the code, offset in the
    /// pool, and number of code bytes between the displacement and the end of its instruction.
    fixups: Vec<(usize, u32, u8)>,
}

/// A forward jump whose target is not yet known.
pub(super) struct Jump(usize);

/// The condition of a jump.
#[derive(Clone, Copy)]
pub(super) enum If {
    Zero = 4,
    NotZero = 5,
    BelowOrEqual = 6,
    Above = 7,
}

impl Assembler {
    pub(super) fn new() -> Assembler {
        Assembler {
            code: Vec::with_capacity(4096),
            pool: Vec::new(),
            fixups: Vec::new(),
        }
    }

    /// Adds a constant to the pool and returns its offset. Its length is a power of two.
    pub(super) fn constant(&mut self, bytes: &[u8]) -> i32 {
        let size = bytes.len();
        self.pool.resize(self.pool.len().next_multiple_of(size), 0);
        self.pool.extend_from_slice(bytes);
        (self.pool.len() - size) as i32
    }

    /// Returns the code followed by its constants. It may be placed at any multiple of 64 bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        let pool = self.code.len().next_multiple_of(64);
        self.code.resize(pool, 0xcc);
        for (at, to, after) in self.fixups {
            let from = at + 4 + usize::from(after);
            let distance = (pool + to as usize) as i64 - from as i64;
            self.code[at..at + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        self.code.extend(self.pool);
        self.code
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.code.extend_from_slice(bytes);
    }

    /// Encodes a vector instruction: `reg` and `other` are registers, `rm` is a register or memory.
    pub(super) fn vector(
        &mut self,
        form: Form,
        i: Opcode,
        reg: u8,
        other: u8,
        rm: Operand,
        immediate: Option<u8>,
    ) {
        let not = |x: u8, bit: u8| (!x >> bit) & 1;
        // High bits of the operand's register numbers.
        let (x, b, broadcast) = match rm {
            Operand::Register(r) => (not(r, 4), not(r, 3), false),
            Operand::Memory(Memory {
                base: Base::Pool,
                broadcast,
                ..
            }) => (1, 1, broadcast),
            Operand::Memory(Memory {
                base: Base::At(r) | Base::Element(r, _),
                broadcast,
                ..
            }) => (1, not(r, 3), broadcast),
        };
        let unit = match form {
            Form::Vex(width) | Form::Mask(width) => {
                debug_assert!(reg < 16 && other < 16 && !broadcast);
                let masks = matches!(form, Form::Mask(_));
                self.bytes(&[
                    0xc4,
                    not(reg, 3) << 7 | x.min(1) << 6 | b << 5 | i.map,
                    // W is ignored by the vector instructions of map 1. It is 0, because some
                    // decoders reject other values.
                    u8::from(i.w && (i.map != 1 || masks)) << 7
                        | (!other & 15) << 3
                        | width << 2
                        | i.prefix,
                ]);
                1
            }
            Form::Evex {
                width,
                mask,
                zero,
                unit,
            } => {
                self.bytes(&[
                    0x62,
                    not(reg, 3) << 7 | x << 6 | b << 5 | not(reg, 4) << 4 | i.map,
                    u8::from(i.w) << 7 | (!other & 15) << 3 | 4 | i.prefix,
                    u8::from(zero) << 7
                        | width << 5
                        | u8::from(broadcast) << 4
                        | not(other, 4) << 3
                        | mask,
                ]);
                if broadcast {
                    if i.w { 8 } else { 4 }
                } else {
                    unit
                }
            }
        };
        self.bytes(&[i.code]);
        self.operand(reg & 7, rm, unit, immediate.is_some());
        self.code.extend(immediate);
    }

    fn operand(&mut self, reg: u8, rm: Operand, unit: i32, immediate: bool) {
        let m = match rm {
            Operand::Register(r) => return self.bytes(&[0xc0 | reg << 3 | r & 7]),
            Operand::Memory(m) => m,
        };
        let (base, index) = match m.base {
            Base::Pool => {
                self.bytes(&[reg << 3 | 5]);
                self.fixups
                    .push((self.code.len(), m.disp as u32, immediate.into()));
                return self.bytes(&[0; 4]);
            }
            Base::At(base) => (base, None),
            Base::Element(base, scale) => (base, Some(scale)),
        };
        // The displacement is absent, 8 bits in units of `unit`, or 32 bits.
        let short = (m.disp % unit == 0)
            .then(|| i8::try_from(m.disp / unit).ok())
            .flatten();
        let mode = match short {
            Some(0) if base & 7 != 5 => 0,
            Some(_) => 1,
            None => 2,
        };
        match index {
            None if base & 7 != 4 => self.bytes(&[mode << 6 | reg << 3 | base & 7]),
            None => self.bytes(&[mode << 6 | reg << 3 | 4, 0x24]),
            Some(scale) => {
                self.bytes(&[mode << 6 | reg << 3 | 4, scale << 6 | RAX << 3 | base & 7])
            }
        }
        match mode {
            0 => {}
            1 => self.bytes(&short.unwrap_or(0).to_le_bytes()),
            _ => self.bytes(&m.disp.to_le_bytes()),
        }
    }

    /// An instruction on 64-bit registers whose second operand is a register or memory.
    fn general(&mut self, code: u8, reg: Gpr, rm: Operand) {
        let high = match rm {
            Operand::Register(r)
            | Operand::Memory(Memory {
                base: Base::At(r) | Base::Element(r, _),
                ..
            }) => r >> 3,
            Operand::Memory(_) => 0,
        };
        self.bytes(&[0x48 | reg >> 3 << 2 | high, code]);
        self.operand(reg & 7, rm, 1, false);
    }

    /// Prefetches the cache line of an address into L2. The address need not be valid.
    pub(super) fn prefetch(&mut self, at: Memory) {
        let high = match at.base {
            Base::At(r) | Base::Element(r, _) => r >> 3,
            Base::Pool => 0,
        };
        self.bytes(&[0x40 | high, 0x0f, 0x18]);
        self.operand(2, Operand::Memory(at), 1, false);
    }

    /// `to = [base + disp]`
    pub(super) fn load(&mut self, to: Gpr, base: Gpr, disp: i32) {
        self.general(
            0x8b,
            to,
            Operand::Memory(Memory {
                base: Base::At(base),
                disp,
                broadcast: false,
            }),
        );
    }

    /// `[base + disp] = from`
    pub(super) fn save(&mut self, base: Gpr, disp: i32, from: Gpr) {
        self.general(
            0x89,
            from,
            Operand::Memory(Memory {
                base: Base::At(base),
                disp,
                broadcast: false,
            }),
        );
    }

    /// `to += [base + disp]`
    pub(super) fn plus_at(&mut self, to: Gpr, base: Gpr, disp: i32) {
        self.general(
            0x03,
            to,
            Operand::Memory(Memory {
                base: Base::At(base),
                disp,
                broadcast: false,
            }),
        );
    }

    /// `to = base + disp`
    pub(super) fn address(&mut self, to: Gpr, base: Gpr, disp: i32) {
        self.general(
            0x8d,
            to,
            Operand::Memory(Memory {
                base: Base::At(base),
                disp,
                broadcast: false,
            }),
        );
    }

    /// `to = base + (rax << scale)`
    pub(super) fn address_of(&mut self, to: Gpr, base: Gpr, scale: u8) {
        self.general(
            0x8d,
            to,
            Operand::Memory(Memory {
                base: Base::Element(base, scale),
                disp: 0,
                broadcast: false,
            }),
        );
    }

    /// `to = from`
    pub(super) fn copy(&mut self, to: Gpr, from: Gpr) {
        self.general(0x8b, to, Operand::Register(from));
    }

    /// `to += from`
    pub(super) fn plus(&mut self, to: Gpr, from: Gpr) {
        self.general(0x03, to, Operand::Register(from));
    }

    /// `to -= from`
    pub(super) fn subtract(&mut self, to: Gpr, from: Gpr) {
        self.general(0x2b, to, Operand::Register(from));
    }

    /// Compares `a` with `b`.
    pub(super) fn compare(&mut self, a: Gpr, b: Gpr) {
        self.general(0x3b, a, Operand::Register(b));
    }

    /// `to = 0`
    pub(super) fn clear(&mut self, to: Gpr) {
        debug_assert!(to < 8);
        self.bytes(&[0x31, 0xc0 | to << 3 | to]);
    }

    /// `to += by`
    pub(super) fn add(&mut self, to: Gpr, by: i32) {
        self.general(0x81, 0, Operand::Register(to));
        self.bytes(&by.to_le_bytes());
    }

    /// `[base + disp] += by`
    pub(super) fn add_at(&mut self, base: Gpr, disp: i32, by: i32) {
        let at = Operand::Memory(Memory {
            base: Base::At(base),
            disp,
            broadcast: false,
        });
        self.general(0x81, 0, at);
        self.bytes(&by.to_le_bytes());
    }

    /// `to &= by`
    pub(super) fn and(&mut self, to: Gpr, by: i32) {
        self.general(0x81, 4, Operand::Register(to));
        self.bytes(&by.to_le_bytes());
    }

    /// `to = -1`
    pub(super) fn ones(&mut self, to: Gpr) {
        self.general(0xc7, 0, Operand::Register(to));
        self.bytes(&(-1i32).to_le_bytes());
    }

    /// `to = isize::MIN`, for a register with all bits set.
    pub(super) fn minimum(&mut self, to: Gpr) {
        self.general(0xc1, 4, Operand::Register(to));
        self.bytes(&[63]);
    }

    /// `to <<= cl`
    pub(super) fn shift_left(&mut self, to: Gpr) {
        self.general(0xd3, 4, Operand::Register(to));
    }

    /// `to = !to`
    pub(super) fn not(&mut self, to: Gpr) {
        self.general(0xf7, 2, Operand::Register(to));
    }

    /// `to = number`
    pub(super) fn number(&mut self, to: Gpr, number: u64) {
        self.bytes(&[0x48 | to >> 3, 0xb8 | to & 7]);
        self.bytes(&number.to_le_bytes());
    }

    /// Clears the upper halves of the vector registers: code without AVX follows.
    pub(super) fn clear_upper(&mut self) {
        self.bytes(&[0xc5, 0xf8, 0x77]);
    }

    /// Calls the function whose address is in memory.
    pub(super) fn call(&mut self, at: Memory) {
        self.general(0xff, 2, Operand::Memory(at));
    }

    pub(super) fn push(&mut self, r: Gpr) {
        self.bytes(&[0x40 | r >> 3, 0x50 | r & 7]);
    }

    pub(super) fn pop(&mut self, r: Gpr) {
        self.bytes(&[0x40 | r >> 3, 0x58 | r & 7]);
    }

    /// Store fence: non-temporal stores before it become visible before all later stores.
    pub(super) fn fence(&mut self) {
        self.bytes(&[0x0f, 0xae, 0xf8]);
    }

    /// Clears the upper halves of the vector registers, to avoid transition penalties in code
    /// without AVX, and returns.
    pub(super) fn ret(&mut self) {
        self.bytes(&[0xc5, 0xf8, 0x77, 0xc3]);
    }

    /// A conditional forward jump.
    pub(super) fn jump(&mut self, condition: If) -> Jump {
        self.bytes(&[0x0f, 0x80 | condition as u8, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// An unconditional forward jump.
    pub(super) fn jump_always(&mut self) -> Jump {
        self.bytes(&[0xe9, 0, 0, 0, 0]);
        Jump(self.code.len())
    }

    /// Sets the target of a jump to the current position.
    pub(super) fn bind(&mut self, jump: Jump) {
        let distance = (self.code.len() - jump.0) as i32;
        self.code[jump.0 - 4..jump.0].copy_from_slice(&distance.to_le_bytes());
    }

    /// A conditional jump back to `target`.
    pub(super) fn jump_back(&mut self, condition: If, to: usize) {
        let distance = to as i64 - (self.code.len() as i64 + 6);
        self.bytes(&[0x0f, 0x80 | condition as u8]);
        self.bytes(&(distance as i32).to_le_bytes());
    }
}
