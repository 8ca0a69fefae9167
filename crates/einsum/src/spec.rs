//! The notation: parser of `"...ij,(jk,kl)->...il"`, and its application to operands of given ranks
//! and shapes.
//!
//! ```text
//! spec = list [ "->" term ]
//! list = item { "," item }
//! item = term | "(" list ")"
//! term = letters, and at most one "..."
//! ```
//! A letter that occurs twice in one term denotes a diagonal. Without `->` the result has the axes
//! of the ellipsis, then the letters that occur exactly once, in alphabetical order. Operands in
//! parentheses are contracted before the others.

use crate::{Error, Result};
use std::collections::BTreeMap;
use std::fmt;

/// An index: a letter, or an axis of the ellipsis counted from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// Axis `k` of the ellipsis, counted from its end.
    Dots(usize),
    /// A letter.
    Letter(char),
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Label::Dots(k) => write!(f, "<{k}>"),
            Label::Letter(c) => write!(f, "{c}"),
        }
    }
}

/// The letters of one operand. `dots` is the position of the ellipsis among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Term {
    letters: Vec<char>,
    dots: Option<usize>,
}

/// A member of a list: an operand, or an earlier group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// Operand `k`.
    Operand(usize),
    /// The result of group `k`.
    Group(usize),
}

/// A parsed specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    inputs: Vec<Term>,
    output: Option<Term>,
    groups: Vec<Vec<Member>>,
}

/// A specification applied to operands of known ranks: every axis has a label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Network {
    /// The labels of each operand's axes.
    pub inputs: Vec<Vec<Label>>,
    /// The labels of the result's axes.
    pub output: Vec<Label>,
    /// Lists in the order of their closing parentheses. The last one is the whole specification.
    pub groups: Vec<Vec<Member>>,
    /// Axes of each operand that are not in `inputs`: they have extent 1 and are broadcast to the
    /// extent of other operands.
    pub repeated: Vec<Vec<usize>>,
}

/// The extent of every label; `None` if it is unknown.
pub type Extents = BTreeMap<Label, Option<usize>>;

fn fail<T>(message: String) -> Result<T> {
    Err(Error(message))
}

impl Spec {
    /// Parses a specification. White space is skipped; letters are the alphabetic characters of
    /// Unicode.
    pub fn parse(text: &str) -> Result<Spec> {
        let bad = |why: String| Error(format!("einsum specification `{text}`: {why}"));
        let (left, right) = match text.split_once("->") {
            Some((l, r)) => (l, Some(r)),
            None => (text, None),
        };
        let mut inputs = Vec::new();
        let mut groups = Vec::new();
        // One list per open parenthesis, after the outermost one.
        let mut open: Vec<Vec<Member>> = vec![Vec::new()];
        let mut term = Some(String::new());
        for c in left.chars().filter(|c| !c.is_whitespace()).chain([',']) {
            match (c, &mut term) {
                ('(', Some(t)) if t.is_empty() => open.push(Vec::new()),
                (',' | ')', t) => {
                    let list = open.last_mut().expect("the outer list is open");
                    if let Some(t) = t.take() {
                        list.push(Member::Operand(inputs.len()));
                        inputs.push(Term::parse(&t).map_err(bad)?);
                    }
                    if c == ',' {
                        term = Some(String::new());
                    } else if open.len() > 1 {
                        groups.push(open.pop().expect("checked"));
                        let outer = open.last_mut().expect("checked");
                        outer.push(Member::Group(groups.len() - 1));
                    } else {
                        return Err(bad("a `)` without its `(`".into()));
                    }
                }
                (c, Some(t)) => t.push(c),
                (c, None) => return Err(bad(format!("`{c}` after `)`: a comma is missing"))),
            }
        }
        if open.len() > 1 {
            return Err(bad("a `(` without its `)`".into()));
        }
        groups.append(&mut open);
        let output = match right {
            None => None,
            Some(r) => {
                let t: String = r.chars().filter(|c| !c.is_whitespace()).collect();
                let t = Term::parse(&t).map_err(bad)?;
                for (k, c) in t.letters.iter().enumerate() {
                    if t.letters[..k].contains(c) {
                        return Err(bad(format!("`{c}` occurs twice in the result")));
                    }
                    if !inputs.iter().any(|i: &Term| i.letters.contains(c)) {
                        return Err(bad(format!("`{c}` of the result occurs in no operand")));
                    }
                }
                Some(t)
            }
        };
        Ok(Spec {
            inputs,
            output,
            groups,
        })
    }

    /// Number of operands.
    pub fn operands(&self) -> usize {
        self.inputs.len()
    }

    /// Labels for operands of these ranks.
    pub fn network(&self, ranks: &[usize]) -> Result<Network> {
        let n = self.inputs.len();
        if ranks.len() != n {
            return fail(format!(
                "the einsum specification names {n} operands, got {}",
                ranks.len()
            ));
        }
        let mut inputs = Vec::with_capacity(n);
        let mut dots = 0;
        for (k, (t, &rank)) in self.inputs.iter().zip(ranks).enumerate() {
            let fits = if t.dots.is_some() {
                rank >= t.letters.len()
            } else {
                rank == t.letters.len()
            };
            if !fits {
                let least = if t.dots.is_some() { "at least " } else { "" };
                let want = t.letters.len();
                return fail(format!(
                    "einsum operand #{k} is `{t}`, {least}{want} axes, but its rank is {rank}"
                ));
            }
            let here = rank - t.letters.len();
            dots = dots.max(if t.dots.is_some() { here } else { 0 });
            inputs.push(t.labels(here));
        }
        let output = match &self.output {
            Some(t) => t.labels(dots),
            None => {
                let all: Vec<char> = self
                    .inputs
                    .iter()
                    .flat_map(|t| t.letters.iter().copied())
                    .collect();
                let mut once: Vec<char> = all
                    .iter()
                    .copied()
                    .filter(|c| all.iter().filter(|d| *d == c).count() == 1)
                    .collect();
                once.sort_unstable();
                (0..dots)
                    .rev()
                    .map(Label::Dots)
                    .chain(once.into_iter().map(Label::Letter))
                    .collect()
            }
        };
        Ok(Network {
            inputs,
            output,
            groups: self.groups.clone(),
            repeated: vec![Vec::new(); n],
        })
    }
}

impl Term {
    fn parse(text: &str) -> std::result::Result<Term, String> {
        let (before, after) = match text.split_once("...") {
            Some((b, a)) => (b, Some(a)),
            None => (text, None),
        };
        let letters: Vec<char> = before.chars().chain(after.unwrap_or("").chars()).collect();
        match letters.iter().find(|c| !c.is_alphabetic()) {
            Some('.') => Err(format!(
                "`{text}` has more than one ellipsis, or dots other than `...`"
            )),
            Some(c) => Err(format!("`{c}` is not a letter")),
            None => Ok(Term {
                letters,
                dots: after.map(|_| before.chars().count()),
            }),
        }
    }

    /// The labels, for an ellipsis of `dots` axes.
    fn labels(&self, dots: usize) -> Vec<Label> {
        let letters = |r: &[char]| r.iter().map(|&c| Label::Letter(c)).collect::<Vec<_>>();
        match self.dots {
            None => letters(&self.letters),
            Some(at) => {
                let (a, b) = self.letters.split_at(at);
                [
                    letters(a),
                    (0..dots).rev().map(Label::Dots).collect(),
                    letters(b),
                ]
                .concat()
            }
        }
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, c) in self.letters.iter().enumerate() {
            if self.dots == Some(k) {
                f.write_str("...")?;
            }
            write!(f, "{c}")?;
        }
        if self.dots == Some(self.letters.len()) {
            f.write_str("...")
        } else {
            Ok(())
        }
    }
}

impl Network {
    /// Determines the extent of every label from the shapes of the operands. An axis of extent 1
    /// whose label has a larger extent is broadcast: it is removed from the operand's labels.
    pub fn bind(mut self, shapes: &[Vec<Option<usize>>]) -> Result<(Network, Extents)> {
        if shapes.len() != self.inputs.len()
            || shapes
                .iter()
                .zip(&self.inputs)
                .any(|(s, i)| s.len() != i.len())
        {
            return fail("einsum: the shapes do not fit the operands of the specification".into());
        }
        let mut extents = Extents::new();
        let mut first: BTreeMap<Label, (usize, usize)> = BTreeMap::new();
        for (k, (labels, shape)) in self.inputs.iter().zip(shapes).enumerate() {
            for (&l, &n) in labels.iter().zip(shape) {
                let known = extents.entry(l).or_insert(Some(1));
                match (n, *known) {
                    (Some(1), _) => {}
                    (Some(n), Some(1) | None) => {
                        *known = Some(n);
                        first.insert(l, (k, n));
                    }
                    (Some(n), Some(m)) if m != n => {
                        let (of, _) = first[&l];
                        return fail(format!(
                            "einsum index `{l}` has the extent {m} in operand #{of} and {n} in operand #{k}"
                        ));
                    }
                    (None, Some(1)) => *known = None,
                    _ => {}
                }
            }
        }
        for ((labels, shape), repeated) in
            self.inputs.iter_mut().zip(shapes).zip(&mut self.repeated)
        {
            for (axis, (l, n)) in labels.iter().zip(shape).enumerate() {
                if *n == Some(1) && extents[l] != Some(1) {
                    repeated.push(axis);
                }
            }
            let mut axis = 0..;
            labels.retain(|_| !repeated.contains(&axis.next().expect("endless")));
        }
        Ok((self, extents))
    }
}
