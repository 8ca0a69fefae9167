//! Directives: parsing and execution.

use super::ast::{Program, ProgramItem};
use super::parser::{HOLE, Parser};
use super::print_attr::attr;
use crate::bail;
use crate::directive::{Derivative, Directive, arguments, derive, named};
use crate::error::{Code, Error, Loc, Result};
use crate::ir::{AdContext, Attr, Attrs, Function};
use crate::names::{clip, count, written};
use crate::shape::Dim;
use crate::transform::Policy;
use rustc_hash::FxHashMap;
use std::fmt;
use std::sync::Arc;

impl fmt::Display for Directive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| {
            names
                .iter()
                .map(|n| format!("%{}", written(n)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        write!(
            f,
            "tgraph.{} @{} wrt({})",
            self.derivative.name(),
            written(&self.of),
            list(&self.wrt)
        )?;
        if !self.dir.is_empty() {
            write!(f, " dir({})", list(&self.dir))?;
        }
        let columns = self.columns.as_ref().map(|n| {
            let mut text = String::from("columns = ");
            attr(&mut text, &Attr::Dim(n.clone()));
            text
        });
        let policy = (!self.policy.is_empty()).then(|| self.policy.to_string());
        let attrs: Vec<String> = columns.into_iter().chain(policy).collect();
        if !attrs.is_empty() {
            write!(f, " {{{}}}", attrs.join(", "))?;
        }
        write!(f, " -> @{}", written(&self.target))
    }
}

impl Parser<'_> {
    /// Parses `@of wrt(%x) dir(%v) {attributes} -> @target`, after the keyword.
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
            *list = self.value_names()?;
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
        let columns = columns(derivative, &mut attrs).map_err(|e| e.at(loc))?;
        let policy = policy("a directive", attrs).map_err(|e| e.at(loc))?;
        self.add_directive(Directive {
            derivative,
            of,
            wrt,
            dir,
            columns,
            target,
            policy,
            loc,
            made: None,
        });
        Ok(())
    }

    /// Parses `(%a, %b)`: names with their locations.
    fn value_names(&mut self) -> Result<Vec<(String, Loc)>> {
        let mut list = Vec::new();
        self.c.expect(b'(', "and names of values")?;
        while !self.c.eat(b')') {
            let at = self.c.here();
            self.c.expect(b'%', "and the name of a value")?;
            list.push((self.c.name("the name of a value")?.into_owned(), at));
            if !self.c.eat(b',') && self.c.peek() != b')' {
                self.c.expect(b')', "or `,` after a name")?;
            }
        }
        Ok(list)
    }

    /// Parses `{attributes}` of the numerics of the whole text, after the keyword.
    pub(super) fn head_numerics(&mut self, loc: Loc) -> Result<()> {
        if self.head.is_some() {
            return Err(
                Error::new(Code::DuplicateName, "`tgraph.numerics` is given twice").at(loc),
            );
        }
        if !self.items.is_empty() {
            let text =
                "`tgraph.numerics` must be at the head of the text, before modules and directives";
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

/// The attribute `columns` of a directive.
fn columns(derivative: Derivative, attrs: &mut Attrs) -> Result<Option<Dim>> {
    let Some(n) = attrs.opt::<Dim>("columns")? else {
        return Ok(None);
    };
    if derivative == Derivative::Adjoint {
        bail!(
            Attribute,
            "`columns` is the number of tangents of jvp and hvp; an adjoint has none"
        );
    }
    let mut open = false;
    n.syms(&mut |s| open |= &**s == HOLE);
    if open {
        bail!(Attribute, "`columns` is a number or a name, not `?`");
    }
    Ok(Some(n))
}

/// The numerics in the attributes of `what`.
fn policy(what: &str, attrs: Attrs) -> Result<Policy> {
    let mut out = Policy::default();
    attrs
        .0
        .iter()
        .try_for_each(|(key, value)| out.set(what, key, value))?;
    Ok(out)
}

/// The program with every directive replaced by its module.
pub(super) fn run(program: &Program, ad: &AdContext) -> Result<Program> {
    let mut done: FxHashMap<Arc<str>, Arc<Function>> = FxHashMap::default();
    let mut items = Vec::with_capacity(program.items.len());
    let mut derived = program.derived.clone();
    for item in &program.items {
        let (f, public) = match item {
            ProgramItem::Module(f, public) => (f.clone(), *public),
            ProgramItem::Directive(d) => {
                derived.insert(d.target.clone());
                let made = match &d.made {
                    Some(g) => g.clone(),
                    None => run_one(program, d, &done[&d.of], ad)?,
                };
                (made, true)
            }
        };
        done.insert(f.name.clone(), f.clone());
        items.push(ProgramItem::Module(f, public));
    }
    Ok(Program {
        items,
        derived,
        ..program.clone()
    })
}

/// The module with a name. If a directive defines it, the chain of directives is derived, starting
/// from its module.
pub(super) fn one(program: &Program, ad: &AdContext, name: &str) -> Result<Option<Arc<Function>>> {
    let by_name: FxHashMap<&str, &ProgramItem> =
        program.items.iter().map(|i| (i.name(), i)).collect();
    let Some(mut item) = by_name.get(name).copied() else {
        return Ok(None);
    };
    let mut chain = Vec::new();
    let mut f = loop {
        match item {
            ProgramItem::Module(f, _) => break f.clone(),
            ProgramItem::Directive(Directive { made: Some(f), .. }) => break f.clone(),
            ProgramItem::Directive(d) => {
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
    let g = derive(d, f, program.head.unwrap_or_default(), ad).map_err(|e| {
        let place = format!("while running `{d}`");
        program.locate(e.at(d.loc).note(place))
    })?;
    Ok(Arc::new(g))
}
