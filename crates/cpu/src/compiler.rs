//! [`Compiler`]: one compilation of a function and its regions.

use crate::contract::RawContraction;
use crate::executor::Executor;
use crate::kernel::{Kernel, UsedResults};
use crate::nests::lower::Role;
use crate::plan::control::DirectProgram;
use crate::plan::nested::Nested;
use crate::plan::{Kernels, Plan};
use crate::program::Program;
use crate::raw_kernel::RawChoice;
use cotangent_core::{Code, Error, Function, Op, Result, Type};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// Compiles the regions of an operation.
type RegionsFn = fn(&Compiler<'_>, &Op) -> Result<Option<Arc<dyn Nested>>>;

/// How operations are compiled.
pub(crate) struct OpLowering {
    /// The kernel of an operation for operands of these types.
    pub(crate) kernel: fn(&Compiler<'_>, &Op, &[Type], UsedResults) -> Result<Kernel>,
    /// An operation with regions in place.
    pub(crate) nested: RegionsFn,
    /// The contraction that an operation is, on memory.
    pub(crate) product: fn(&Op, &[Type]) -> Option<RawContraction>,
    /// The choice of a kernel on memory.
    pub(crate) raw: RawChoice,
}

/// State of one compilation: caches the programs of regions that several equations share.
pub(crate) struct Compiler<'a> {
    pub(crate) executor: &'a Executor,
    lowering: &'static OpLowering,
    bodies: RefCell<FxHashMap<*const Function, Arc<Program>>>,
}

impl<'a> Compiler<'a> {
    pub(crate) fn new(executor: &'a Executor, lowering: &'static OpLowering) -> Compiler<'a> {
        Compiler {
            executor,
            lowering,
            bodies: RefCell::default(),
        }
    }

    /// The plan of a function.
    pub(crate) fn plan(&self, f: &Arc<Function>, role: Role) -> Result<Plan> {
        let lowering = self.lowering;
        let kernels = Kernels {
            role,
            lower: &|op, types, used| (lowering.kernel)(self, op, types, used),
            nested: &|op| (lowering.nested)(self, op),
            product: &lowering.product,
            raw: lowering.raw,
            extension: &|op| self.executor.has_kernel(op),
        };
        Plan::new(f, &kernels)?.map_err(|why| {
            let text = format!("`{}` has no plan: {}", f.name, why.text());
            Error::new(Code::Unsupported, text)
        })
    }

    /// The program of a function.
    pub(crate) fn program(&self, f: &Arc<Function>, role: Role) -> Result<Program> {
        let plan = Arc::new(self.plan(f, role)?);
        // Plans run the plans of regions in place.
        let direct = match role == Role::Whole && !self.executor.is_stepwise() {
            true => DirectProgram::new(&plan),
            false => None,
        };
        Ok(Program::of(f, plan, direct, self.executor.limits().clone()))
    }

    /// The program of a region.
    pub(crate) fn body(&self, f: &Arc<Function>) -> Result<Arc<Program>> {
        // The program keeps the function alive, so the address is not reused.
        let key = Arc::as_ptr(f);
        if let Some(p) = self.bodies.borrow().get(&key) {
            return Ok(p.clone());
        }
        let p = Arc::new(self.program(f, Role::Region)?);
        self.bodies.borrow_mut().insert(key, p.clone());
        Ok(p)
    }
}
