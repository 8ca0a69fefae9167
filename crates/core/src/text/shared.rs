//! Functions that are printed as separate modules: the modules of a program, and regions with more
//! than one use. So the size of the text is linear in that of the graph.

use crate::ir::{Attr, Function, Op};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Names of functions by identity.
#[derive(Default)]
pub(super) struct SharedFunctions {
    names: FxHashMap<*const Function, String>,
    /// Public modules.
    public: FxHashSet<*const Function>,
    /// Regions, which share symbols with the enclosing function: their symbols are printed by name.
    bodies: FxHashSet<*const Function>,
    /// Modules derived by directives.
    made: FxHashSet<*const Function>,
    /// Modules used by each module, in order.
    uses: FxHashMap<*const Function, Vec<Arc<Function>>>,
}

impl SharedFunctions {
    /// The shared functions of a program of these modules, each with whether it is public. The
    /// modules `made` exist but are not printed. `taken` are names in use.
    pub(super) fn new<'a>(
        modules: &[(&Function, bool)],
        made: &[&Arc<Function>],
        taken: impl Iterator<Item = &'a str>,
    ) -> SharedFunctions {
        let mut out = SharedFunctions::default();
        for m in made {
            out.names.insert(Arc::as_ptr(m), m.name.to_string());
            out.made.insert(Arc::as_ptr(m));
        }
        let mut taken: FxHashSet<String> = taken.map(str::to_owned).collect();
        for &(m, public) in modules {
            out.public.extend(public.then_some(std::ptr::from_ref(m)));
            out.names.insert(m, m.name.to_string());
            taken.insert(m.name.to_string());
        }
        let mut count: FxHashMap<*const Function, u32> = FxHashMap::default();
        let mut order = Vec::new();
        for (m, _) in modules {
            out.count(m, &mut count, &mut order);
        }
        for f in &order {
            let key = Arc::as_ptr(f);
            if count[&key] > 1 && !out.names.contains_key(&key) {
                let base = if f.name.is_empty() { "body" } else { &f.name };
                let fresh = (1..).map(|i| format!("{base}_{i}"));
                let name = [base.to_owned()]
                    .into_iter()
                    .chain(fresh)
                    .find(|n| !taken.contains(n))
                    .expect("endless");
                taken.insert(name.clone());
                out.names.insert(key, name);
            }
        }
        for (m, _) in modules {
            out.find_uses(m);
        }
        for f in &order {
            if out.names.contains_key(&Arc::as_ptr(f)) {
                out.find_uses(f);
            }
        }
        out
    }

    /// Counts the uses of every region. Each region is visited a single time. `order` receives
    /// them, inner ones first.
    fn count(
        &mut self,
        f: &Function,
        count: &mut FxHashMap<*const Function, u32>,
        order: &mut Vec<Arc<Function>>,
    ) {
        for e in f.eqns() {
            for b in bodies(&e.op) {
                let key = Arc::as_ptr(&b);
                if !e.op.own_syms() {
                    self.bodies.insert(key);
                }
                let n = count.entry(key).or_insert(0);
                *n += 1;
                if *n == 1 && !self.made.contains(&key) {
                    self.count(&b, count, order);
                    order.push(b);
                }
            }
        }
    }

    fn find_uses(&mut self, f: &Function) {
        if !self.uses.contains_key(&std::ptr::from_ref(f)) {
            let mut uses = Vec::new();
            self.uses_in(f, &mut uses);
            self.uses.insert(f, uses);
        }
    }

    fn uses_in(&self, f: &Function, uses: &mut Vec<Arc<Function>>) {
        for e in f.eqns() {
            for b in bodies(&e.op) {
                let key = Arc::as_ptr(&b);
                if self.names.contains_key(&key) {
                    uses.extend((!self.made.contains(&key)).then_some(b));
                } else {
                    self.uses_in(&b, uses);
                }
            }
        }
    }

    /// The name that a function is printed with, if it is printed by name.
    pub(super) fn name(&self, f: &Function) -> Option<&str> {
        self.names.get(&std::ptr::from_ref(f)).map(String::as_str)
    }

    /// Whether it is public.
    pub(super) fn is_public(&self, f: &Function) -> bool {
        self.public.contains(&std::ptr::from_ref(f))
    }

    /// Whether it is used as a region, not only as a callee.
    pub(super) fn is_body(&self, f: &Function) -> bool {
        self.bodies.contains(&std::ptr::from_ref(f))
    }

    /// The functions that must be printed before this one.
    pub(super) fn uses(&self, f: &Function) -> &[Arc<Function>] {
        self.uses
            .get(&std::ptr::from_ref(f))
            .map_or(&[], Vec::as_slice)
    }
}

/// The regions among the attributes, in the order in which they are printed.
pub(super) fn bodies(op: &Op) -> Vec<Arc<Function>> {
    if op.regions().is_empty() {
        return Vec::new();
    }
    let mut out = Vec::new();
    for (_, a) in op.attrs().0 {
        match a {
            Attr::Fn(f) => out.push(f),
            Attr::List(v) => out.extend(
                v.into_iter()
                    .filter_map(|a| if let Attr::Fn(f) = a { Some(f) } else { None }),
            ),
            _ => {}
        }
    }
    out
}
