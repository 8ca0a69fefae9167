//! Tests of groups. An interpreter runs them block by block, and results are compared with the
//! reference.

mod errors;
mod families;
mod growth;
mod interpreter;
mod meaning;
mod programs;

use super::form::{NestGroup, Storage};
use crate::nests::lower::lower;
use crate::nests::nest::{Nests, What};
use cotangent_core::Function;

/// The groups of a function as text.
fn text_of(f: &Function) -> String {
    let nests = lower(f);
    let groups = super::group(&nests);
    super::verify(&nests, &groups).unwrap();
    super::shown(&nests, &groups)
}

/// The number of groups without literals.
fn count(nests: &Nests<'_>, groups: &[NestGroup]) -> usize {
    let literal = |g: &&NestGroup| {
        let first = &nests.nests[g.members[0].nest as usize];
        matches!(first.what, What::Literal(_))
    };
    groups.len() - groups.iter().filter(literal).count()
}

/// The number of groups of a function without literals.
fn groups_of(f: &Function) -> usize {
    let nests = lower(f);
    let groups = super::group(&nests);
    super::verify(&nests, &groups).unwrap_or_else(|e| panic!("{e}\n{nests}"));
    count(&nests, &groups)
}

/// Whether no member of a group is stored but one.
fn is_all_inline(g: &NestGroup) -> bool {
    g.members.iter().filter(|m| m.at != Storage::Inline).count() == 1
}
