//! [`Pullback`]: the function that pulls the cotangents of one node back.

use super::derivative::{OpDerivative, ResidualSource};
use crate::error::{Error, Result};
use crate::ir::{Builder, Emit, Function, Lin, LinearProgram, Linearized, Lv, Session, Val};
use crate::shape::Type;
use crate::transform::LinearMap;
use smallvec::SmallVec;
use std::cell::RefCell;
use std::sync::OnceLock;

/// A function from the saved values of a node, and the cotangents of some of its linear values, to
/// the cotangents of its inputs. `F` is the form in which a runtime runs a function.
pub struct Pullback<F> {
    /// `None`: no cotangent needs a computation.
    pub program: Option<F>,
    /// Inputs and their cotangents, in the order of accumulation.
    pub to: SmallVec<[(u32, InputCotangent); 2]>,
}

/// A cotangent of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputCotangent {
    /// The next result of the program.
    Computed,
    /// One of the given cotangents, unchanged.
    Given(usize),
}

/// A linked list of the pullbacks of a derivative, by the linear values that have cotangents.
/// Entries are never removed.
pub struct Pullbacks<F>(OnceLock<Box<PullbackEntry<F>>>);

impl<F> Default for Pullbacks<F> {
    fn default() -> Pullbacks<F> {
        Pullbacks(OnceLock::new())
    }
}

/// An entry of [`Pullbacks`].
pub struct PullbackEntry<F> {
    slots: SmallVec<[u32; 1]>,
    pullback: Option<Pullback<F>>,
    next: Pullbacks<F>,
}

impl<F> Pullbacks<F> {
    /// The pullback of cotangents in these slots, which `derive` derives on first use. `None`: it
    /// has none.
    #[inline]
    pub fn get(
        &self,
        slots: impl Iterator<Item = u32> + Clone,
        derive: impl Fn(&[u32]) -> Option<Pullback<F>>,
    ) -> Option<&Pullback<F>> {
        let mut list = self;
        loop {
            let Some(known) = list.0.get() else {
                // User-defined rules may run here and request the same pullback, so the entry is
                // added after it is derived. Of several, the first one is used.
                let slots: SmallVec<[u32; 1]> = slots.clone().collect();
                let pullback = derive(&slots);
                let _ = list.0.set(Box::new(PullbackEntry {
                    slots,
                    pullback,
                    next: Pullbacks::default(),
                }));
                continue;
            };
            if known.slots.iter().copied().eq(slots.clone()) {
                return known.pullback.as_ref();
            }
            list = &known.next;
        }
    }
}

impl<F> Pullback<F> {
    /// Passes the index and the cotangent of each input to `give`. `run` runs the program on the
    /// saved values and the given cotangents, and passes its results on in order.
    #[inline]
    pub fn run<'t, V: Clone, E>(
        &self,
        saved: &'t [V],
        cts: impl Iterator<Item = &'t V>,
        run: impl FnOnce(&F, &[&V], &mut dyn FnMut(V)) -> std::result::Result<(), E>,
        give: &mut dyn FnMut(usize, V) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let mut x: SmallVec<[&V; 6]> = SmallVec::new();
        saved.iter().for_each(|t| x.push(t));
        cts.for_each(|t| x.push(t));
        let (mut to, mut done) = (self.to.as_slice(), Ok(()));
        // Passes cotangents up to the next one that is computed.
        let mut pass = |mut computed: Option<V>| {
            while let ([(k, back), rest @ ..], Ok(())) = (to, &done) {
                let ct = match back {
                    InputCotangent::Given(i) => x[saved.len() + i].clone(),
                    InputCotangent::Computed => match computed.take() {
                        Some(ct) => ct,
                        None => return,
                    },
                };
                done = give(*k as usize, ct);
                to = rest;
            }
        };
        if let Some(program) = &self.program {
            run(program, &x, &mut |ct| pass(Some(ct)))?;
        }
        pass(None);
        done
    }

    /// The pullback with its function in another form; `None` if that does not exist.
    pub fn compiled<G>(self, compile: impl FnOnce(F) -> Option<G>) -> Option<Pullback<G>> {
        let program = match self.program {
            Some(f) => Some(compile(f)?),
            None => None,
        };
        Some(Pullback {
            program,
            to: self.to,
        })
    }
}

impl OpDerivative {
    /// The builder's values of the residuals, by index: constants, and a parameter per saved value,
    /// in order.
    pub fn values(&self, b: &Builder) -> Vec<Val> {
        let mut values =
            vec![Val::POISON; self.residuals.iter().map(|k| k.at + 1).max().unwrap_or(0)];
        for k in &self.residuals {
            values[k.at] = match &k.source {
                ResidualSource::Constant(op) => b.emit(op.clone(), &[])[0],
                ResidualSource::Saved(_) => b.param(k.ty.clone(), None),
            };
        }
        values
    }

    /// Writes the pullback of cotangents in these slots. `give` receives the cotangents of the
    /// inputs, in order.
    pub fn pull(
        &self,
        b: &Builder,
        values: &[Val],
        slots: &[(u32, Val)],
        give: &mut dyn FnMut(usize, Val),
    ) -> Result<()> {
        let cts: SmallVec<[(Lv, Val); 1]> = slots
            .iter()
            .map(|&(slot, v)| (Lv::from_index(slot as usize), v))
            .collect();
        LinearMap::new(b, &self.program)
            .with_residuals(&|v| values[v.index()])
            .pull(&cts, &self.input_tangents(), &mut |l, v| {
                give(l.index(), v);
                Ok::<(), Error>(())
            })
    }

    /// The pullback of cotangents in these slots: a function of the saved values, then of the
    /// cotangents.
    pub fn pullback(
        &self,
        session: &Session,
        name: &str,
        slots: &[u32],
    ) -> Result<Pullback<Function>> {
        let b = Builder::new(name, session.clone());
        let values = self.values(&b);
        // Operands that are saved for linearizing again follow as unused parameters.
        for k in self.relinearize.iter().flatten() {
            b.param(k.ty.clone(), None);
        }
        let given = cotangents(&b, &self.program, slots);
        let (to, results) = routes(&given, |give| self.pull(&b, &values, &given, give))?;
        let f = b.finish(&results)?;
        let program = (!results.is_empty()).then_some(f);
        Ok(Pullback { program, to })
    }
}

/// A parameter for the cotangent of each of these linear values.
fn cotangents(b: &Builder, program: &LinearProgram, slots: &[u32]) -> SmallVec<[(u32, Val); 1]> {
    let param = |&s: &u32| {
        let ty = program.ty(Lv::from_index(s as usize));
        (s, b.param(ty.clone(), None))
    };
    slots.iter().map(param).collect()
}

/// Where the cotangents of inputs come from, by index of the input.
type Routes = SmallVec<[(u32, InputCotangent); 2]>;

/// Where the cotangents of the inputs that `pull` gives come from, and those that are computed.
fn routes(
    given: &[(u32, Val)],
    pull: impl FnOnce(&mut dyn FnMut(usize, Val)) -> Result<()>,
) -> Result<(Routes, Vec<Val>)> {
    let (mut to, mut results) = (SmallVec::new(), Vec::new());
    pull(&mut |k, v| {
        let back = given
            .iter()
            .position(|g| g.1 == v)
            .map_or(InputCotangent::Computed, InputCotangent::Given);
        if let InputCotangent::Computed = back {
            results.push(v);
        }
        to.push((k as u32, back));
    })?;
    Ok((to, results))
}

/// The pullback as a function of the operands, then of the cotangents: `write` linearizes the
/// operation again.
pub(super) fn pullback_of_operands(
    session: &Session,
    name: &str,
    (types, tracked): (&[Type], &[bool]),
    slots: &[u32],
    write: impl FnOnce(&Lin<'_>, &[Val], &[Option<Lv>]) -> Result<Linearized>,
) -> Result<Pullback<Function>> {
    let b = Builder::new(name, session.clone());
    let params: Vec<Val> = types.iter().map(|t| b.param(t.clone(), None)).collect();
    let program = RefCell::new(LinearProgram::default());
    let t: Vec<Option<Lv>> = types
        .iter()
        .zip(tracked)
        .map(|(ty, &tracked)| tracked.then(|| program.borrow_mut().input(ty.tangent())))
        .collect();
    write(&Lin::new(&b, &program), &params, &t)?;
    let program = program.into_inner();
    let given = cotangents(&b, &program, slots);
    let seeds: Vec<(Lv, Val)> = given
        .iter()
        .map(|&(slot, v)| (Lv::from_index(slot as usize), v))
        .collect();
    let inputs: Vec<Lv> = t.into_iter().flatten().collect();
    let (to, results) = routes(&given, |give| {
        LinearMap::new(&b, &program).pull(&seeds, &inputs, &mut |l, v| {
            give(l.index(), v);
            Ok::<(), Error>(())
        })
    })?;
    let f = b.finish(&results)?;
    let program = (!results.is_empty()).then_some(f);
    Ok(Pullback { program, to })
}
