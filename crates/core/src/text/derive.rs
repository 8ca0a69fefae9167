//! Directives: reading them, and running them.

use super::names::{clip, count, did_you_mean, written};
use super::parse::Parser;
use super::{Derivative, Directive, Item, Program};
use crate::attr::Attrs;
use crate::bail;
use crate::emit::Emit;
use crate::error::{Code, Error, Loc, Result};
use crate::graph::{Builder, Function};
use crate::primitive::{Val, Vals};
use crate::rewrite::simplify;
use crate::transform::{AdContext, Numerics, Policy, Session, adjoint, hvp, jvp};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

impl Parser<'_> {
    /// `@of wrt(%x) dir(%v) {attributes} -> @target`, after the word.
    pub(super) fn directive(&mut self, word: &str, loc: Loc) -> Result<()> {
        let derivative = match word {
            "jvp" => Derivative::Jvp,
            "hvp" => Derivative::Hvp,
            _ => Derivative::Adjoint,
        };
        let at = self.c.here();
        let of = self.at_name("the name of a module")?;
        if !self.known_target(&of) {
            return Err(self.unknown_module(&of, at));
        }
        let (mut wrt, mut dir) = (Vec::new(), Vec::new());
        let mut attrs = self.attrs()?;
        while !self.c.looking_at("->") {
            let here = self.c.here();
            let list = match self.c.word() {
                "wrt" => &mut wrt,
                "dir" if derivative != Derivative::Adjoint => &mut dir,
                other => {
                    let found = if other.is_empty() {
                        self.c.found()
                    } else {
                        format!("`{}`", clip(other))
                    };
                    let text = format!(
                        "expected `wrt(%x)`, `dir(%v)` (of jvp and hvp), attributes or `-> @name`, found {found}"
                    );
                    return Err(Error::new(Code::Syntax, text).at(here));
                }
            };
            if !list.is_empty() {
                return Err(Error::new(Code::DuplicateName, "this list is given twice").at(here));
            }
            self.c.expect(b'(', "and names of values")?;
            while !self.c.eat(b')') {
                let at = self.c.here();
                self.c.expect(b'%', "and the name of a value")?;
                list.push((self.c.name("the name of a value")?.into_owned(), at));
                if !self.c.eat(b',') && self.c.peek() != b')' {
                    self.c.expect(b')', "or `,` after a name")?;
                }
            }
            if self.c.peek() == b'{' {
                attrs.0.extend(self.attrs()?.0);
            }
        }
        self.c.eat_str("->");
        let at = self.c.here();
        let target = self.new_target(at)?;
        attrs.0.extend(self.attrs()?.0);
        if wrt.is_empty() {
            let text = format!("`tgraph.{word}` needs the values to differentiate by: `wrt(%x)`");
            let e = Error::new(Code::Syntax, text).at(loc);
            return Err(match self.module_named(&of) {
                Some(f) => e.note(arguments(f)),
                None => e,
            });
        }
        if !dir.is_empty() && dir.len() != wrt.len() {
            let (dirs, values) = (
                count(dir.len(), "direction"),
                count(wrt.len(), "`wrt` value"),
            );
            let text = format!("{dirs} for {values}: each needs one");
            return Err(Error::new(Code::Arity, text).at(loc));
        }
        if let Some(f) = self.module_named(&of) {
            let find = named(f);
            for (name, at) in &wrt {
                find(name).map_err(|e| e.at(*at))?;
            }
        }
        let names = |list: Vec<(String, Loc)>| list.into_iter().map(|(n, _)| n).collect::<Vec<_>>();
        let (wrt, dir) = (names(wrt), names(dir));
        let policy = policy("a directive", attrs).map_err(|e| e.at(loc))?;
        self.add_directive(Directive {
            derivative,
            of,
            wrt,
            dir,
            target,
            policy,
            loc,
            made: None,
        });
        Ok(())
    }

    /// `{attributes}` of the numerics of the whole text, after the word.
    pub(super) fn head_numerics(&mut self, loc: Loc) -> Result<()> {
        if self.head.is_some() {
            return Err(
                Error::new(Code::DuplicateName, "`tgraph.numerics` is given twice").at(loc),
            );
        }
        if !self.items.is_empty() {
            let text =
                "`tgraph.numerics` stands at the head of the text, before modules and directives";
            return Err(Error::new(Code::Syntax, text).at(loc));
        }
        if self.c.peek() != b'{' {
            let found = self.c.found();
            return Err(self.c.error(
                Code::Syntax,
                format!("expected `{{` and the numerics, found {found}"),
            ));
        }
        let attrs = self.attrs()?;
        self.head = Some(policy("`tgraph.numerics`", attrs).map_err(|e| e.at(loc))?);
        Ok(())
    }
}

/// What the braces of `what` say about numerics.
fn policy(what: &str, attrs: Attrs) -> Result<Policy> {
    let mut out = Policy::default();
    attrs
        .0
        .iter()
        .try_for_each(|(key, value)| out.set(what, key, value))?;
    Ok(out)
}

/// A line that lists the arguments of a function.
fn arguments(f: &Function) -> String {
    let list: Vec<String> = f
        .params()
        .iter()
        .map(|&p| format!("{} : {}", f.show(p), f.ty(p)))
        .collect();
    format!(
        "arguments of @{}: {}",
        written(&f.name),
        if list.is_empty() {
            "none".into()
        } else {
            list.join(", ")
        }
    )
}

/// Finds values of a function by name; many look-ups are linear in all.
fn named(f: &Function) -> impl Fn(&str) -> Result<Val> + '_ {
    let by_name: FxHashMap<&str, Val> = f
        .vals()
        .rev()
        .filter_map(|v| f.name_of(v).map(|n| (&**n, v)))
        .collect();
    move |name: &str| {
        if let Some(&v) = by_name.get(name) {
            return Ok(v);
        }
        // `%7` is how the value at position 7 prints if it has no name.
        if let Ok(i) = name.parse::<usize>()
            && i < f.len()
            && f.name_of(Val::from_index(i)).is_none()
        {
            return Ok(Val::from_index(i));
        }
        let hint = did_you_mean(name, "%", by_name.keys().copied());
        let text = format!(
            "`@{}` has no value `%{}`{hint}",
            written(&f.name),
            clip(name)
        );
        Err(Error::new(Code::UnknownName, text).note(arguments(f)))
    }
}

/// Values of a function, given as `x,w` (names of any values; `%` may stand before them) or `0,2`
/// (positions of arguments).
pub fn resolve_wrt(f: &Function, text: &str) -> Result<Vec<Val>> {
    let find = named(f);
    let one = |part: &str| {
        let part = part.trim();
        let name = part.strip_prefix('%').unwrap_or(part);
        if name == part
            && let Ok(i) = name.parse::<usize>()
            && f.find(name).is_none()
        {
            return match f.params().get(i) {
                Some(&p) => Ok(p),
                None => Err(Error::new(
                    Code::UnknownName,
                    format!("`@{}` has no argument {i}", written(&f.name)),
                )
                .note(arguments(f))),
            };
        }
        find(name)
    };
    text.split(',').map(one).collect()
}

/// Every directive replaced by its module.
pub(super) fn run(program: &Program, ad: &AdContext) -> Result<Program> {
    let mut done: FxHashMap<Arc<str>, Arc<Function>> = FxHashMap::default();
    let mut items = Vec::with_capacity(program.items.len());
    let mut derived = program.derived.clone();
    for item in &program.items {
        let (f, public) = match item {
            Item::Module(f, public) => (f.clone(), *public),
            Item::Directive(d) => {
                derived.insert(d.target.clone());
                let made = match &d.made {
                    Some(g) => g.clone(),
                    None => run_one(program, d, &done[&d.of], ad)?,
                };
                (made, true)
            }
        };
        done.insert(f.name.clone(), f.clone());
        items.push(Item::Module(f, public));
    }
    Ok(Program {
        items,
        derived,
        ..program.clone()
    })
}

/// The module of a name, derived if a directive makes it, from the module that a chain of
/// directives starts at.
pub(super) fn one(program: &Program, ad: &AdContext, name: &str) -> Result<Option<Arc<Function>>> {
    let by_name: FxHashMap<&str, &Item> = program.items.iter().map(|i| (i.name(), i)).collect();
    let Some(mut item) = by_name.get(name).copied() else {
        return Ok(None);
    };
    let mut chain = Vec::new();
    let mut f = loop {
        match item {
            Item::Module(f, _) => break f.clone(),
            Item::Directive(Directive { made: Some(f), .. }) => break f.clone(),
            Item::Directive(d) => {
                chain.push(d);
                item = by_name[&*d.of];
            }
        }
    };
    for d in chain.into_iter().rev() {
        f = run_one(program, d, &f, ad)?;
    }
    Ok(Some(f))
}

fn run_one(
    program: &Program,
    d: &Directive,
    f: &Function,
    ad: &AdContext,
) -> Result<Arc<Function>> {
    let g = derive(d, f, program.numerics(), ad).map_err(|e| {
        let place = format!("while running `{d}`");
        program.locate(e.at(d.loc).note(place))
    })?;
    Ok(Arc::new(g))
}

/// The module that a directive makes in a text of these numerics.
pub(super) fn derive(
    d: &Directive,
    f: &Function,
    around: Numerics,
    ad: &AdContext,
) -> Result<Function> {
    let find = named(f);
    let wrt: Vec<Val> = d.wrt.iter().map(|n| find(n)).collect::<Result<_>>()?;
    let mut ad = ad.clone();
    ad.numerics = d.policy.or(around);
    let g = match d.derivative {
        Derivative::Adjoint => adjoint(&ad, f, &wrt)?,
        Derivative::Jvp => jvp(&ad, f, &wrt)?,
        Derivative::Hvp => hvp(&ad, f, &wrt)?,
    };
    let g = if d.dir.is_empty() {
        g
    } else {
        directed(d, f, &g)?
    };
    Ok(simplify(&g).renamed(&d.target))
}

/// The derived function with directions as the directive names them: the last parameters of `g`,
/// renamed, or an argument of `f` in their place.
fn directed(d: &Directive, f: &Function, g: &Function) -> Result<Function> {
    let kept = g.params().len() - d.dir.len();
    let b = Builder::deriving(&g.name, &Session::default(), &[g]);
    let cx: &dyn Emit = &b;
    let mut map = vec![Val::POISON; g.len()];
    let mut by_name: FxHashMap<&str, Val> = FxHashMap::default();
    for &p in &g.params()[..kept] {
        let name = g.name_of(p).map(|n| &**n);
        map[p.index()] = b.param(g.ty(p).clone(), name);
        if let Some(n) = name {
            by_name.insert(n, map[p.index()]);
        }
    }
    let inner: FxHashSet<&str> = f
        .vals()
        .filter_map(|v| f.name_of(v))
        .map(|n| &**n)
        .collect();
    for (&p, name) in g.params()[kept..].iter().zip(&d.dir) {
        let ty = g.ty(p);
        map[p.index()] = match by_name.get(name.as_str()) {
            Some(&v) if cx.ty(v).differs(ty) => {
                bail!(
                    TangentMismatch,
                    "the direction `%{name}` is an argument of type {}, {ty} is needed; use a new name",
                    cx.ty(v)
                )
            }
            Some(&v) => v,
            None if inner.contains(name.as_str()) => {
                bail!(
                    UnknownName,
                    "the direction `%{name}` must be an argument or a new name"
                )
            }
            None => {
                let v = b.param(ty.clone(), Some(name));
                by_name.insert(name, v);
                v
            }
        };
    }
    for e in g.eqns() {
        let x: Vals = g.operands(e).iter().map(|v| map[v.index()]).collect();
        b.set_loc(e.loc);
        for (r, y) in e.results().zip(b.emit(e.op.clone(), &x)) {
            map[r.index()] = y;
            if let Some(n) = g.name_of(r) {
                b.set_name(y, n);
            }
        }
    }
    let results: Vec<Val> = g.results().iter().map(|r| map[r.index()]).collect();
    b.finish(&results)
}
