//! Operations of a bytecode file: its blocks and regions as functions of the syntax tree.
//!
//! A value has a number in its scope: the values of an isolated region are numbered from 0, those
//! of another region continue the numbers of the regions around it. The syntax tree numbers the
//! values of a function in the order of the text form, in which regions precede the results of
//! their operation.

use super::attributes;
use super::cursor::Cursor;
use super::entries::Entries;
use super::file;
use super::location;
use super::operations::{self, VhloOperation};
use crate::ast::{
    self, Argument, Attr, Function, Id, MAX_REGIONS, NamedAttrs, Operation, ParsedModule, Region,
    Signature, Ty,
};
use crate::scope::OpenRegions;
use cotangent_core::{Code, Error, Loc, Result};
use smallvec::SmallVec;

/// Number of the section that holds the regions of an isolated operation.
const REGIONS_SECTION: usize = 4;

/// Bits of the mask of an operation: its parts.
mod part {
    pub(super) const ATTRIBUTES: u8 = 0x01;
    pub(super) const RESULTS: u8 = 0x02;
    pub(super) const OPERANDS: u8 = 0x04;
    pub(super) const SUCCESSORS: u8 = 0x08;
    pub(super) const REGIONS: u8 = 0x10;
    pub(super) const USES: u8 = 0x20;
    pub(super) const PROPERTIES: u8 = 0x40;
}

/// Attribute of a parameter that has one value in the whole program.
const GLOBAL_CONSTANT: &str = "jax.global_constant";
/// Name of a module or function.
const SYMBOL_NAME: &str = "sym_name";
/// The value of [`GLOBAL_CONSTANT`] for the parameter that selects a platform.
const PLATFORM_INDEX: &str = "_platform_index";

/// Reads the module of a file. `platform` is the index of the platform `cpu`, if it has several.
pub(super) fn module(entries: Entries<'_>, platform: Option<i64>) -> Result<ParsedModule<'_>> {
    let kinds = entries.file.names.iter().map(kind_of).collect();
    let mut c = entries.file.operations;
    let mut reader = Reader {
        entries,
        kinds,
        platform,
        module: ParsedModule::default(),
    };
    reader.items(&mut c, 0)?;
    c.finish("the module")?;
    Ok(reader.module)
}

/// The kind of an operation, by its name.
#[derive(Clone, Copy)]
enum OperationKind<'a> {
    Module,
    Function(&'static VhloOperation),
    Vhlo(&'static VhloOperation),
    /// The identity on one device.
    Identity,
    /// An unknown operation, an error where it is reached.
    Other(&'a str),
}

fn kind_of<'a>(name: &file::Name<'a>) -> OperationKind<'a> {
    match (name.dialect, name.name) {
        ("builtin", "module") => OperationKind::Module,
        ("builtin", "unrealized_conversion_cast")
        | ("sdy", "sharding_constraint" | "reshard" | "propagation_barrier") => {
            OperationKind::Identity
        }
        ("vhlo", name) => match operations::find(name) {
            Some(op) if op.name == "func.func" => OperationKind::Function(op),
            Some(op) => OperationKind::Vhlo(op),
            None => OperationKind::Other(name),
        },
        (_, name) => OperationKind::Other(name),
    }
}

/// The parts of an operation before its regions.
struct Head<'a> {
    kind: OperationKind<'a>,
    pos: Loc,
    attrs: NamedAttrs<'a>,
    results: Vec<Ty>,
    /// Numbers of the operands.
    operands: Vec<u64>,
    /// Number of regions, and whether they are isolated.
    regions: (usize, bool),
}

/// A value: its number in the syntax tree, and its type.
type Value = (Id, Ty);

/// The values of a function.
#[derive(Default)]
struct Scope {
    /// Values by number. A number that is not yet defined has none.
    values: Vec<Option<Value>>,
    /// The number of the next value.
    next: usize,
    /// The next number in the syntax tree.
    ids: Id,
    /// Number of arguments of the open regions.
    args: usize,
    open: OpenRegions,
}

impl Scope {
    fn id(&mut self, pos: Loc) -> Result<Id> {
        let id = self.ids;
        if id >= Id::MAX / 2 {
            return Err(Error::new(Code::Limit, "too many values").at(pos));
        }
        self.ids += 1;
        Ok(id)
    }

    /// Takes `n` numbers of values. They are defined later.
    fn reserve(&mut self, n: usize, c: &Cursor<'_>) -> Result<usize> {
        let first = self.next;
        if self.values.len() - first < n {
            return Err(c.error("the region defines more values than it declares"));
        }
        self.next += n;
        Ok(first)
    }

    /// The value of a number that was read before `c`.
    fn used(&mut self, number: u64, c: &Cursor<'_>) -> Result<Value> {
        let value = usize::try_from(number)
            .ok()
            .and_then(|n| self.values.get(n));
        match value {
            Some(Some(value)) => {
                self.open.used(value.0);
                Ok(value.clone())
            }
            _ => {
                let text = format!("the value {number} is not defined here");
                Err(Error::new(Code::UnknownName, text).at(c.loc()))
            }
        }
    }
}

struct Reader<'a> {
    entries: Entries<'a>,
    /// Kinds of operations by the number of their name.
    kinds: Vec<OperationKind<'a>>,
    platform: Option<i64>,
    module: ParsedModule<'a>,
}

impl<'a> Reader<'a> {
    /// Reads the block of a module.
    fn items(&mut self, c: &mut Cursor<'a>, modules: usize) -> Result<()> {
        const MAX_MODULES: usize = 8;
        if modules > MAX_MODULES {
            return Err(Error::new(Code::Limit, "modules nest too deeply").at(c.loc()));
        }
        let mut scope = Scope::default();
        let (n, has_args) = c.flagged()?;
        if has_args {
            return Err(c.error("a module takes no arguments"));
        }
        for _ in 0..c.counted(n)? {
            let at = *c;
            let head = self.head(c)?;
            match head.kind {
                OperationKind::Module => {
                    let mut attrs = head.attrs;
                    let name = attrs.iter().position(|a| a.0 == SYMBOL_NAME);
                    if let Some(Attr::Str(name)) = name.map(|k| attrs.remove(k).1) {
                        self.module.name.get_or_insert(name);
                    }
                    let attrs = attrs.into_iter();
                    let attrs = attrs.map(|(name, value)| (name, value, head.pos));
                    self.module.attrs.extend(attrs);
                    let mut regions = self.regions(c, head.regions)?;
                    for _ in 0..head.regions.0 {
                        if one_block(&mut regions)?.is_some() {
                            self.items(&mut regions, modules + 1)?;
                        }
                    }
                    self.end(c, head.regions, regions)?;
                }
                OperationKind::Function(_) => {
                    let f = self.function(c, head);
                    let f = f.map_err(|e| location::note(&self.entries.file, at, e))?;
                    self.module.functions.push(f);
                }
                // Other items of a module decide nothing on one device.
                _ => {
                    scope.values.resize(head.results.len(), None);
                    scope.next = 0;
                    self.rest(c, head, &mut scope)?;
                }
            }
        }
        Ok(())
    }

    /// The cursor over the regions of an operation: a section of their own if they are isolated.
    fn regions(&mut self, c: &mut Cursor<'a>, (n, isolated): (usize, bool)) -> Result<Cursor<'a>> {
        if n == 0 || !isolated || self.entries.file.version < 2 {
            return Ok(*c);
        }
        let at = *c;
        match file::section(c)? {
            (REGIONS_SECTION, data) => Ok(data),
            (id, _) => Err(at.error(format!("expected regions, found section {id}"))),
        }
    }

    /// Continues after the regions of an operation.
    fn end(
        &self,
        c: &mut Cursor<'a>,
        (n, isolated): (usize, bool),
        regions: Cursor<'a>,
    ) -> Result<()> {
        if n == 0 || !isolated || self.entries.file.version < 2 {
            *c = regions;
            return Ok(());
        }
        regions.finish("the regions of an operation")
    }

    /// Reads an operation up to its regions.
    fn head(&mut self, c: &mut Cursor<'a>) -> Result<Head<'a>> {
        let (pos, at) = (c.loc(), *c);
        let head = self.located_head(c, pos);
        head.map_err(|e| location::note(&self.entries.file, at, e))
    }

    fn located_head(&mut self, c: &mut Cursor<'a>, pos: Loc) -> Result<Head<'a>> {
        let kind = self.kinds[c.index("name of an operation", self.kinds.len())?];
        let mask = c.byte()?;
        c.index("location", self.entries.file.attributes.len())?;
        let has = |bit: u8| mask & bit != 0;
        let own = match kind {
            OperationKind::Vhlo(op) | OperationKind::Function(op) => op.attributes,
            _ => &[],
        };
        let mut attrs = NamedAttrs::new();
        if has(part::ATTRIBUTES) {
            // Before properties existed, the dictionary had an operation's own attributes, too.
            attrs = self.entries.dictionary(c, |name| own.contains(&name))?;
        }
        if has(part::PROPERTIES) {
            let i = c.index("properties", self.entries.file.properties.len())?;
            let mut properties = self.entries.file.properties[i];
            // A module has a name, or none.
            if matches!(kind, OperationKind::Module)
                && let (name, true) = properties.flagged()?
            {
                let name = self.entries.attr_at(name, &properties)?;
                attrs.push((SYMBOL_NAME.into(), name));
            }
            for &name in own {
                let value = self.entries.attr(&mut properties)?;
                attrs.push((name.into(), value));
            }
            if !own.is_empty() {
                properties.finish("the properties of an operation")?;
            }
        }
        if let OperationKind::Vhlo(op) = kind {
            attrs = attributes::to_stablehlo(op, attrs).map_err(|e| e.at(pos))?;
        }
        let mut results = Vec::new();
        if has(part::RESULTS) {
            results = c.list(|c| self.entries.ty(c))?;
        }
        let mut operands = Vec::new();
        if has(part::OPERANDS) {
            operands = c.list(Cursor::varint)?;
        }
        if has(part::SUCCESSORS) {
            return Err(c.error("jumps between blocks are not supported"));
        }
        if has(part::USES) {
            skip_uses(c, results.len())?;
        }
        let mut regions = (0, false);
        if has(part::REGIONS) {
            let (n, isolated) = c.flagged()?;
            regions = (c.counted(n)?, isolated);
        }
        Ok(Head {
            kind,
            pos,
            attrs,
            results,
            operands,
            regions,
        })
    }

    /// Reads the body of a function.
    fn function(&mut self, c: &mut Cursor<'a>, head: Head<'a>) -> Result<Function<'a>> {
        let attr = |name: &str| head.attrs.iter().find(|a| a.0 == name).map(|a| &a.1);
        let (Some(Attr::Str(name)), Some(Attr::Type(Ty::Function(ty))), 1) =
            (attr(SYMBOL_NAME), attr("function_type"), head.regions.0)
        else {
            return Err(c.error("a function needs a name, a type and a region"));
        };
        let mut scope = Scope::default();
        let mut regions = self.regions(c, head.regions)?;
        let mut body = self.region(&mut regions, &mut scope, true, head.pos)?;
        self.end(c, head.regions, regions)?;
        if let Some(Attr::List(all)) = attr("arg_attrs") {
            for (arg, attrs) in body.args.iter_mut().zip(all.iter()) {
                let constant = attrs.get(GLOBAL_CONSTANT).and_then(Attr::word);
                let scalar = matches!(&arg.ty, Ty::Tensor(t) if t.rank() == 0 && t.dtype.is_int());
                let platform = self.platform.filter(|_| scalar);
                arg.constant = platform.filter(|_| constant == Some(PLATFORM_INDEX));
                arg.donated = matches!(attrs, Attr::Dict(d) if ast::donates(d));
            }
        }
        Ok(Function {
            name: name.clone(),
            public: attr("sym_visibility").and_then(Attr::word) != Some("private"),
            pos: head.pos,
            results: ty.1.clone(),
            memory_kinds: ast::memory_kinds(attr("res_attrs")),
            body: Some(body).filter(|b| !b.ops.is_empty()),
        })
    }

    /// Reads an operation of a region.
    fn operation(
        &mut self,
        c: &mut Cursor<'a>,
        scope: &mut Scope,
    ) -> Result<Option<Operation<'a>>> {
        let at = *c;
        let head = self.head(c)?;
        let op = self.rest(c, head, scope);
        op.map_err(|e| location::note(&self.entries.file, at, e))
    }

    /// Reads the regions of an operation. The identity becomes none: its results are its operands.
    fn rest(
        &mut self,
        c: &mut Cursor<'a>,
        head: Head<'a>,
        scope: &mut Scope,
    ) -> Result<Option<Operation<'a>>> {
        let mut operands: SmallVec<[Id; 4]> = SmallVec::new();
        let mut types: SmallVec<[Ty; 2]> = SmallVec::new();
        let mut passed = Vec::new();
        for &number in &head.operands {
            let (id, ty) = scope.used(number, c)?;
            operands.push(id);
            types.push(ty.clone());
            passed.push(Some((id, ty)));
        }
        let count = head.results.len();
        let numbers = scope.reserve(count, c)?..scope.next;
        let (name, opaque) = match head.kind {
            OperationKind::Identity if passed.len() == count && head.regions.0 == 0 => {
                scope.values[numbers].clone_from_slice(&passed);
                return Ok(None);
            }
            OperationKind::Vhlo(op) if op.name == "func.return" && scope.open.depth() > 1 => {
                ("stablehlo.return", false)
            }
            OperationKind::Vhlo(op) | OperationKind::Function(op) => (op.name, false),
            OperationKind::Other(name) => (name, true),
            OperationKind::Module => ("module", true),
            OperationKind::Identity => ("sharding", true),
        };
        let (n, isolated) = head.regions;
        let mut data = self.regions(c, head.regions)?;
        let mut regions = Vec::new();
        for _ in 0..n {
            regions.push(self.region(&mut data, scope, isolated, head.pos)?);
        }
        self.end(c, head.regions, data)?;
        let first = scope.ids;
        for (number, ty) in numbers.zip(&head.results) {
            let id = scope.id(head.pos)?;
            scope.values[number] = Some((id, ty.clone()));
        }
        Ok(Some(Operation {
            name,
            pos: head.pos,
            first,
            count: count as u32,
            operands,
            attrs: head.attrs,
            regions,
            signature: Signature::Function(types, head.results.into()),
            opaque,
        }))
    }

    /// Reads a region of one block, or of none.
    fn region(
        &mut self,
        c: &mut Cursor<'a>,
        scope: &mut Scope,
        isolated: bool,
        pos: Loc,
    ) -> Result<Region<'a>> {
        let first = scope.ids;
        if scope.open.depth() == MAX_REGIONS {
            let text = format!("regions nest deeper than {MAX_REGIONS} levels");
            return Err(Error::new(Code::Limit, text).at(c.loc()));
        }
        scope.open.open(first);
        let Some(values) = one_block(c)? else {
            scope.open.close();
            return Ok(Region {
                pos,
                first,
                ..Region::default()
            });
        };
        let outer = match isolated {
            true => std::mem::take(&mut scope.values),
            false => Vec::new(),
        };
        let (base, next, args) = (scope.values.len(), scope.next, scope.args);
        scope.values.resize(base + values, None);
        scope.next = base;
        let mut region = self.block(c, scope)?;
        if scope.next != base + values {
            return Err(c.error("the region defines fewer values than it declares"));
        }
        match isolated {
            true => scope.values = outer,
            false => scope.values.truncate(base),
        }
        (scope.next, scope.args) = (next, args);
        region.captures = scope.open.close();
        Ok(Region {
            pos,
            first,
            ..region
        })
    }

    /// Reads the arguments and operations of a block.
    fn block(&mut self, c: &mut Cursor<'a>, scope: &mut Scope) -> Result<Region<'a>> {
        let (ops, has_args) = c.flagged()?;
        let mut region = Region::default();
        if has_args {
            let n = c.count()?;
            for _ in 0..n {
                let (ty, has_location) = match self.entries.file.version >= 4 {
                    true => c.flagged()?,
                    false => (c.varint()?, true),
                };
                let ty = self.entries.ty_at(ty, c)?;
                if has_location {
                    c.index("location", self.entries.file.attributes.len())?;
                }
                let (number, id) = (scope.reserve(1, c)?, scope.id(c.loc())?);
                scope.values[number] = Some((id, ty.clone()));
                region.args.push(Argument {
                    id,
                    name: format!("arg{}", scope.args).into(),
                    ty,
                    constant: None,
                    donated: false,
                });
                scope.args += 1;
            }
            if self.entries.file.version >= 3 && c.byte()? != 0 {
                skip_uses(c, n)?;
            }
        }
        for _ in 0..c.counted(ops)? {
            region.ops.extend(self.operation(c, scope)?);
        }
        Ok(region)
    }
}

/// Reads the number of blocks, and for one block the number of its values.
fn one_block(c: &mut Cursor<'_>) -> Result<Option<usize>> {
    match c.varint()? {
        0 => Ok(None),
        1 => Ok(Some(c.count()?)),
        n => Err(c.error(format!(
            "regions of {n} blocks are not supported: use `case`, `if` and `while`"
        ))),
    }
}

/// Skips the orders of the uses of `n` values.
fn skip_uses(c: &mut Cursor<'_>, n: usize) -> Result<()> {
    let values = if n > 1 { c.count()? } else { 1 };
    for _ in 0..values {
        if n > 1 {
            c.varint()?;
        }
        let (uses, _) = c.flagged()?;
        for _ in 0..c.counted(uses)? {
            c.varint()?;
        }
    }
    Ok(())
}
