//! The second engine of [`tile`](crate::tile) programs: a body as one loop of machine code.
//!
//! A body is written down as a [`Trace`] by running the very functions that its kernels run, on
//! vectors that record ([`record`]). [`lower`] makes a loop over vectors of it, for AVX-512 or
//! AVX2, in memory that may be executed ([`memory`]). The bits are those of the interpreter: each
//! operation is one instruction, or was rewritten to one that gives the same bits. NaNs are NaNs;
//! their signs and payloads may differ.
//!
//! A step is the elements of one vector of the body's widest lanes; narrower values take a part of
//! a register. Integers have every width and both signs. Truth values are mask registers in
//! AVX-512, and lanes as wide as what was compared in AVX2.
//!
//! A complex number is two values ([`complex`]). Elements of 16 bytes are read and written as two
//! vectors that are put in order; programs with such elements take whole vectors only.
//!
//! Bodies with operations that are calls (special functions, inverses of complex functions) and
//! powers of integers are interpreted. A vector in which some lane needs a scalar function (sin,
//! cos, tan and rem of large numbers, complex functions at poles, infinities and the like), or the
//! division of integers of 64 bits, goes there, too, with its neighbours.

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod allocate;
pub(crate) mod complex;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod encode;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod looped;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod lower;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod memory;
#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
mod plan;
// Part of it is read by the lowering alone.
mod convert;
mod flags;
pub(crate) mod instruction;
#[cfg_attr(
    not(all(target_arch = "x86_64", target_os = "linux", not(miri))),
    allow(dead_code)
)]
mod program;
mod record;
mod recorder;
mod whole;

pub use flags::AHEAD;
pub(crate) use flags::{MemoryFlags, STREAM_BYTES};
pub(crate) use program::{Record, Trace, TraceId};
pub(crate) use record::{TraceBuilder, TraceVector, rare};

/// Code of a program.
pub(crate) struct Emitted {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    code: memory::Code,
    /// Elements of a vector.
    pub(crate) lanes: usize,
    /// Whether it takes any number of elements; else whole vectors only.
    pub(crate) masked: bool,
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
impl Emitted {
    /// Compiles a program. `None` if there is no way, or no memory that may be executed.
    pub(crate) fn compile(program: &Trace, how: MemoryFlags) -> Option<Emitted> {
        let (bytes, lanes) = lower::compile(program, how)?;
        Some(Emitted {
            code: memory::Code::new(&bytes)?,
            lanes,
            masked: program.takes_any(),
        })
    }

    /// Runs over rows of `n` elements, and says over how many of the last one: fewer when the next
    /// vector has a rare lane, or when there is no whole vector left. Then `table` has that row's
    /// addresses, and `rows[0]` rows are left, with it.
    ///
    /// # Safety
    /// The machine has the vectors the code is for. `table` holds addresses of all inputs, then all
    /// outputs, of the program, and a place more: each valid for `n` elements, an input of one
    /// element for all for one. `rows` says how many rows there are, at least one, and if there are
    /// more, how many bytes each address moves from row to row. Rows fill vectors where the code is
    /// not masked, or there is one. Outputs may be inputs, else they overlap nothing.
    pub(crate) unsafe fn call(&self, table: &mut [*mut u8], n: usize, rows: &mut [isize]) -> usize {
        debug_assert!(
            rows[0] == 1
                || rows[0] > 1
                    && rows.len() == table.len()
                    && (self.masked || n.is_multiple_of(self.lanes))
        );
        if let Some(list) = table.last_mut() {
            *list = rows.as_mut_ptr().cast();
        }
        // SAFETY: the code is a whole function of this type.
        let f: unsafe extern "sysv64" fn(*mut *mut u8, usize) -> usize =
            unsafe { std::mem::transmute(self.code.entry()) };
        // SAFETY: the caller's promise.
        unsafe { f(table.as_mut_ptr(), n) }
    }
}

/// Code of a loop whose step is a program.
pub(crate) struct Looped {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
    code: memory::Code,
    /// The most elements of a vector.
    pub(crate) lanes: usize,
}

#[cfg(all(target_arch = "x86_64", target_os = "linux", not(miri)))]
impl Looped {
    /// Compiles a program whose first inputs are so many constants and carries, and whose first
    /// outputs are the carries of the next step. `None` if there is no way.
    pub(crate) fn compile(program: &Trace, consts: usize, carries: usize) -> Option<Looped> {
        let bytes = looped::compile(program, consts, carries)?;
        let lanes = if program.wide {
            64 / program.uniform()?
        } else {
            1
        };
        Some(Looped {
            code: memory::Code::new(&bytes)?,
            lanes,
        })
    }

    /// Runs steps until one has a rare lane, and says how many elements rows have moved on: a
    /// multiple of `stride`.
    ///
    /// # Safety
    /// The machine has the vectors the code is for. `table` holds addresses of all inputs, then all
    /// outputs, of the program, each valid for `lanes` elements, rows after every step. Outputs
    /// overlap nothing, but a carry may be its own input. There is a step, there are at most as
    /// many lanes as the vector has, and at least one.
    pub(crate) unsafe fn call(
        &self,
        table: &[*mut u8],
        steps: usize,
        stride: isize,
        lanes: usize,
    ) -> isize {
        // SAFETY: the code is a whole function of this type.
        let f: unsafe extern "sysv64" fn(*const *mut u8, usize, isize, usize) -> isize =
            unsafe { std::mem::transmute(self.code.entry()) };
        // SAFETY: the caller's promise.
        unsafe { f(table.as_ptr(), steps, stride, lanes) }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
impl Looped {
    pub(crate) fn compile(_: &Trace, _: usize, _: usize) -> Option<Looped> {
        None
    }

    /// # Safety
    /// None is needed: there is no code.
    pub(crate) unsafe fn call(&self, _: &[*mut u8], _: usize, _: isize, _: usize) -> isize {
        0
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", not(miri))))]
impl Emitted {
    pub(crate) fn compile(_: &Trace, _: MemoryFlags) -> Option<Emitted> {
        None
    }

    /// # Safety
    /// None is needed: there is no code.
    pub(crate) unsafe fn call(&self, _: &mut [*mut u8], _: usize, _: &mut [isize]) -> usize {
        0
    }
}
