//! Comments: their positions in a text, and in the printed text.
//!
//! The graph has no comments, so the parser records the starts of statements (*marks*). A comment
//! between two marks belongs to one of them. On the line on which a statement ends it trails that
//! statement. On a line of its own it leads the next one. Inside a statement it moves to the line
//! above it. Comments of a region that is not printed in place move to the statement of the region.

use super::cursor::Cursor;
use crate::ir::Function;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::Arc;

/// The key of comments at the head of a text. Items have nonempty names.
pub(super) const HEAD: &str = "";

/// A boundary at a position of a text. Functions are numbered in the order of their opening braces.
#[derive(Clone, Copy, Debug)]
enum Mark {
    /// A module or a directive, by number; `usize::MAX` is the head.
    Item(usize),
    /// The brace that opens a function.
    Open(usize),
    /// A statement of this function that defines this range of values.
    Statement(usize, u32, u32),
    Return(usize),
    /// The brace that closes a function.
    Close(usize),
    End,
}

/// A function of the text.
#[derive(Clone, Debug)]
struct Scope {
    /// Kept alive, so that its address is not reused.
    f: Option<Arc<Function>>,
    /// The enclosing function, and the mark of the statement that holds it.
    parent: Option<(usize, usize)>,
    item: usize,
}

/// Boundaries that the parser records if a text has comments.
#[derive(Debug, Default)]
pub(super) struct Marks {
    on: bool,
    marks: Vec<(usize, Mark)>,
    scopes: Vec<Scope>,
    /// Functions that are being parsed, with the mark of the current statement of each.
    open: Vec<(usize, usize)>,
    items: usize,
}

impl Marks {
    pub(super) fn new(src: &str) -> Marks {
        Marks {
            on: src.contains("//"),
            ..Marks::default()
        }
    }

    fn add(&mut self, c: &mut Cursor<'_>, mark: Mark) {
        if self.on {
            c.ws();
            self.marks.push((c.pos(), mark));
        }
    }

    /// Records the start of a module, a directive or the head.
    pub(super) fn item(&mut self, c: &mut Cursor<'_>, head: bool) {
        self.add(c, Mark::Item(if head { usize::MAX } else { self.items }));
        self.items += usize::from(!head);
    }

    /// Records the opening brace of a function.
    pub(super) fn open(&mut self, c: &Cursor<'_>) {
        if self.on {
            let n = self.scopes.len();
            self.scopes.push(Scope {
                f: None,
                parent: self.open.last().copied(),
                item: self.items - 1,
            });
            self.open.push((n, 0));
            self.marks.push((c.pos(), Mark::Open(n)));
        }
    }

    /// Records the start of a statement, before which the function has `from` values. Returns the
    /// index of its mark.
    pub(super) fn statement(&mut self, c: &mut Cursor<'_>, from: usize) -> usize {
        let n = self.marks.len();
        if let Some(top) = self.open.last_mut() {
            top.1 = n;
            let scope = top.0;
            self.add(c, Mark::Statement(scope, from as u32, from as u32));
        }
        n
    }

    /// Records the end of the statement of `mark`, after which the function has `to` values.
    pub(super) fn end_of_statement(&mut self, mark: usize, to: usize) {
        if let Some((_, Mark::Statement(_, _, end))) = self.marks.get_mut(mark) {
            *end = to as u32;
        }
    }

    /// Records the start of a return.
    pub(super) fn returns(&mut self, c: &mut Cursor<'_>) {
        if let Some(&(scope, _)) = self.open.last() {
            self.add(c, Mark::Return(scope));
        }
    }

    /// Records a closing brace.
    pub(super) fn close(&mut self, c: &mut Cursor<'_>) {
        if let Some(&(scope, _)) = self.open.last() {
            self.add(c, Mark::Close(scope));
        }
    }

    /// Sets the innermost function that is being parsed.
    pub(super) fn made(&mut self, f: &Arc<Function>) {
        if let Some((n, _)) = self.open.pop() {
            self.scopes[n].f = Some(f.clone());
        }
    }

    /// The comments of the text, assigned to its items (with these names) and statements.
    pub(super) fn comments(self, src: &str, names: &[&str]) -> Option<Arc<Comments>> {
        if !self.on {
            return None;
        }
        let comments = scan(src);
        if comments.is_empty() {
            return None;
        }
        let mut out = Comments {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            ..Comments::default()
        };
        for s in &self.scopes {
            let parent = s.parent.map(|(outer, mark)| match self.marks[mark].1 {
                Mark::Statement(_, from, to) => (outer, from, to),
                _ => (outer, 0, 0),
            });
            out.by_key
                .extend(s.f.as_ref().map(|f| (key(f), out.scopes.len())));
            out.scopes.push(ScopeComments {
                f: s.f.clone(),
                parent,
                item: s.item,
                own: FunctionComments::default(),
            });
        }
        // Cache: the last mark, and the end of the code before it.
        let mut known = (usize::MAX, 0);
        for c in &comments {
            let next = self.marks.partition_point(|(pos, _)| *pos <= c.start);
            let (stop, after) = self
                .marks
                .get(next)
                .copied()
                .unwrap_or((src.len(), Mark::End));
            if known.0 != stop {
                known = (stop, end_of_code(src, stop));
            }
            match next.checked_sub(1).map(|i| self.marks[i].1) {
                Some(before) if c.start < known.1 => out.inside(before, c),
                Some(before) if !src[known.1..c.start].contains('\n') => out.trail(before, c),
                _ => out.lead(after, c),
            }
        }
        Some(Arc::new(out))
    }
}

/// A comment of a text.
struct Comment<'s> {
    start: usize,
    text: &'s str,
    blank_before: bool,
    blank_after: bool,
}

/// All comments of a text. Strings end on their lines.
fn scan(src: &str) -> Vec<Comment<'_>> {
    let mut out = Vec::new();
    let mut at = 0;
    let mut blank = false;
    let lines: Vec<&str> = src.split_inclusive('\n').collect();
    for (i, line) in lines.iter().enumerate() {
        let mut string = false;
        let mut bytes = line.bytes().enumerate();
        while let Some((k, b)) = bytes.next() {
            match b {
                b'"' => string = !string,
                b'\\' if string => {
                    bytes.next();
                }
                b'/' if !string && line.as_bytes().get(k + 1) == Some(&b'/') => {
                    let blank_after = lines.get(i + 1).is_some_and(|l| l.trim().is_empty());
                    out.push(Comment {
                        start: at + k,
                        text: line[k..].trim_end(),
                        blank_before: blank,
                        blank_after,
                    });
                    break;
                }
                _ => {}
            }
        }
        blank = line.trim().is_empty();
        at += line.len();
    }
    out
}

/// The end of the code before a position, without blanks and comments.
fn end_of_code(src: &str, stop: usize) -> usize {
    let mut end = stop;
    loop {
        let text = src[..end].trim_end();
        let start = text.rfind('\n').map_or(0, |n| n + 1);
        let line = scan(&text[start..]).first().map(|c| c.start);
        match line {
            Some(c) => end = start + c,
            None => return text.len(),
        }
    }
}

fn key(f: &Function) -> usize {
    std::ptr::from_ref(f) as usize
}

/// A comment on a line of its own, and whether an empty line precedes it.
type LeadComment = (bool, String);

/// The comments of a text by function, statement and item.
#[derive(Clone, Debug, Default)]
pub(super) struct Comments {
    scopes: Vec<ScopeComments>,
    /// Functions by their addresses.
    by_key: FxHashMap<usize, usize>,
    names: Vec<String>,
    items: FxHashMap<String, ItemComments>,
    end: Vec<LeadComment>,
}

/// A function and its comments.
#[derive(Clone, Debug)]
struct ScopeComments {
    f: Option<Arc<Function>>,
    /// The enclosing function, and the values of the statement that holds it.
    parent: Option<(usize, u32, u32)>,
    item: usize,
    own: FunctionComments,
}

/// The comments in a function.
#[derive(Clone, Debug, Default)]
struct FunctionComments {
    /// After the opening brace.
    open: Vec<String>,
    /// Before the first line that defines a value with at least this index.
    leads: Vec<(u32, String)>,
    /// At the end of the last line that defines one of these values.
    trails: Vec<(u32, u32, String)>,
    /// After the return.
    returns: Vec<String>,
    /// Before the closing brace.
    close: Vec<String>,
}

/// The comments of a module or a directive.
#[derive(Clone, Debug, Default)]
struct ItemComments {
    lead: Vec<LeadComment>,
    blank_after: bool,
    trail: Vec<String>,
}

impl Comments {
    fn item(&mut self, i: usize) -> &mut ItemComments {
        self.items
            .entry(
                self.names
                    .get(i)
                    .map_or_else(|| HEAD.to_owned(), String::clone),
            )
            .or_default()
    }

    /// Adds a comment before the statement that holds a region, or before the module.
    fn around(&mut self, scope: usize, text: String) {
        match self.scopes[scope].parent {
            Some((outer, from, _)) => self.scopes[outer].own.leads.push((from, text)),
            None => {
                let item = self.scopes[scope].item;
                self.item(item).lead.push((false, text));
            }
        }
    }

    /// Adds a comment between two tokens of a statement or item: it moves to the line above.
    fn inside(&mut self, mark: Mark, c: &Comment<'_>) {
        let text = c.text.to_owned();
        match mark {
            Mark::Item(i) => self.item(i).lead.push((false, text)),
            Mark::Statement(s, from, _) => self.scopes[s].own.leads.push((from, text)),
            Mark::Return(s) => self.scopes[s].own.leads.push((u32::MAX, text)),
            Mark::Open(s) | Mark::Close(s) => self.around(s, text),
            Mark::End => self.end.push((false, text)),
        }
    }

    /// Adds a comment on a line of its own before a mark.
    fn lead(&mut self, mark: Mark, c: &Comment<'_>) {
        let text = c.text.to_owned();
        match mark {
            Mark::Item(i) => {
                let item = self.item(i);
                item.lead.push((c.blank_before, text));
                item.blank_after = c.blank_after;
            }
            Mark::Close(s) => self.scopes[s].own.close.push(text),
            Mark::End => self.end.push((c.blank_before, text)),
            Mark::Statement(..) | Mark::Return(_) | Mark::Open(_) => self.inside(mark, c),
        }
    }

    /// Adds a comment on the last line of a statement or item.
    fn trail(&mut self, mark: Mark, c: &Comment<'_>) {
        let text = c.text.to_owned();
        match mark {
            Mark::Item(i) => self.item(i).trail.push(text),
            Mark::Open(s) => self.scopes[s].own.open.push(text),
            Mark::Statement(s, from, to) => self.scopes[s].own.trails.push((from, to, text)),
            Mark::Return(s) => self.scopes[s].own.returns.push(text),
            Mark::Close(s) => match self.scopes[s].parent {
                Some((outer, from, to)) => self.scopes[outer].own.trails.push((from, to, text)),
                None => {
                    let item = self.scopes[s].item;
                    self.item(item).trail.push(text);
                }
            },
            Mark::End => self.end.push((false, text)),
        }
    }

    /// These comments, with those of functions that were not printed moved to the statements that
    /// hold the functions. `None` if there are no such comments.
    pub(super) fn moved(&self, printed: &FxHashSet<usize>) -> Option<Comments> {
        let missing = |p: &ScopeComments| !p.f.as_ref().is_some_and(|f| printed.contains(&key(f)));
        let mut out = self.clone();
        let mut any = false;
        // Inner functions come after outer ones.
        for s in (0..out.scopes.len())
            .rev()
            .filter(|&s| missing(&self.scopes[s]))
        {
            let FunctionComments {
                open,
                leads,
                trails,
                returns,
                close,
            } = std::mem::take(&mut out.scopes[s].own);
            let lines = leads
                .into_iter()
                .map(|l| l.1)
                .chain(trails.into_iter().map(|t| t.2));
            let all: Vec<String> = open
                .into_iter()
                .chain(lines)
                .chain(returns)
                .chain(close)
                .collect();
            any |= !all.is_empty();
            all.into_iter().for_each(|text| out.around(s, text));
        }
        any.then_some(out)
    }
}

/// The state of comments while a text is printed.
#[derive(Default)]
pub(super) struct CommentPrinter {
    comments: Option<Arc<Comments>>,
    /// Functions that were printed.
    printed: RefCell<FxHashSet<usize>>,
}

/// The comments of the lines of a function; the return is the last line.
#[derive(Default)]
pub(super) struct LineComments<'a> {
    lead: FxHashMap<usize, Vec<&'a str>>,
    trail: FxHashMap<usize, Vec<&'a str>>,
    close: &'a [String],
}

impl CommentPrinter {
    pub(super) fn new(comments: Option<Arc<Comments>>) -> CommentPrinter {
        CommentPrinter {
            comments,
            printed: RefCell::default(),
        }
    }

    /// Comments that were not printed.
    pub(super) fn missed(&self) -> Option<Arc<Comments>> {
        self.comments
            .as_ref()?
            .moved(&self.printed.borrow())
            .map(Arc::new)
    }

    /// The comments above a module or a directive.
    pub(super) fn above(&self, out: &mut String, name: &str) {
        let Some(item) = self.comments.as_ref().and_then(|c| c.items.get(name)) else {
            return;
        };
        own_lines(out, &item.lead);
        out.push_str(if item.blank_after && !item.lead.is_empty() {
            "\n"
        } else {
            ""
        });
    }

    /// The comments after a directive, or after the closing brace of a module.
    pub(super) fn behind(&self, out: &mut String, name: &str) {
        let Some(item) = self.comments.as_ref().and_then(|c| c.items.get(name)) else {
            return;
        };
        trailing(out, item.trail.iter());
    }

    /// The comments at the end of the text.
    pub(super) fn end(&self, out: &mut String) {
        let Some(c) = self.comments.as_ref().filter(|c| !c.end.is_empty()) else {
            return;
        };
        out.push_str(if out.is_empty() { "" } else { "\n" });
        own_lines(out, &c.end);
    }

    /// The comments after the opening brace of a function.
    pub(super) fn opened(&self, out: &mut String, f: &Function) {
        if let Some(own) = self.own(f) {
            trailing(out, own.open.iter());
        }
    }

    fn own(&self, f: &Function) -> Option<&FunctionComments> {
        let c = self.comments.as_ref()?;
        let s = *c.by_key.get(&key(f))?;
        Some(&c.scopes[s].own)
    }

    /// The comments of the lines of a function. `values` are the first values of the lines.
    pub(super) fn lines(
        &self,
        f: &Function,
        values: impl FnOnce() -> Vec<u32>,
    ) -> LineComments<'_> {
        let mut lines = LineComments::default();
        let Some(own) = self.own(f) else { return lines };
        self.printed.borrow_mut().insert(key(f));
        let values = values();
        let at = |v: u32| values.partition_point(|&first| first < v);
        for (from, text) in &own.leads {
            lines.lead.entry(at(*from)).or_default().push(text);
        }
        for (from, to, text) in &own.trails {
            match at(*to) {
                last if last > at(*from) => lines.trail.entry(last - 1).or_default().push(text),
                none => lines.lead.entry(none).or_default().push(text),
            }
        }
        lines
            .trail
            .entry(values.len())
            .or_default()
            .extend(own.returns.iter().map(String::as_str));
        lines.close = &own.close;
        lines
    }
}

impl LineComments<'_> {
    /// The comments above a line.
    pub(super) fn above(&self, out: &mut String, line: usize, indent: &dyn Fn(&mut String)) {
        for text in self.lead.get(&line).into_iter().flatten() {
            indent(out);
            out.push_str(text);
            out.push('\n');
        }
    }

    /// Writes the comments at the end of a line, and the line break.
    pub(super) fn end(&self, out: &mut String, line: usize) {
        trailing(out, self.trail.get(&line).into_iter().flatten());
        out.push('\n');
    }

    /// The comments before the closing brace.
    pub(super) fn close(&self, out: &mut String, indent: &dyn Fn(&mut String)) {
        for text in self.close {
            indent(out);
            out.push_str(text);
            out.push('\n');
        }
    }
}

fn own_lines(out: &mut String, lines: &[LeadComment]) {
    for (i, (blank, text)) in lines.iter().enumerate() {
        out.push_str(if *blank && i > 0 { "\n" } else { "" });
        out.push_str(text);
        out.push('\n');
    }
}

fn trailing<T: AsRef<str>>(out: &mut String, texts: impl Iterator<Item = T>) {
    for text in texts {
        out.push(' ');
        out.push_str(text.as_ref());
    }
}
