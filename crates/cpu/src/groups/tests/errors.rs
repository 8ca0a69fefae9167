//! The verifier refuses every kind of wrong group, and names it.

use crate::groups::form::{GroupAxes, NestGroup, RowBlock, Split, Storage};
use crate::groups::{group, verify};
use crate::nests::lower::lower;
use crate::nests::tests::function;
use cotangent_core::{DType, Dim, Emit, Function, Type};

/// Softmax over rows, a factorization of its result, and a sum of short rows that is inline.
fn program() -> Function {
    let params = [
        Type::new(DType::F64, [300, 300]),
        Type::new(DType::F64, [9, 3]),
    ];
    function(&params, |cx: &dyn Emit, x| {
        let rows = |v, like| cx.broadcast_in_dim(v, &cx.ty(like).shape, &[0]);
        let e = cx.exp(cx.sub(x[0], rows(cx.reduce_max(x[0], &[1]), x[0])));
        let y = cx.div(e, rows(cx.reduce_sum(e, &[1]), x[0]));
        let short = cx.div(cx.exp(cx.reduce_sum(x[1], &[1])), cx.reduce_sum(x[1], &[1]));
        vec![cx.cholesky(y), short]
    })
}

/// The group of softmax, the one with inline sums, and that of the factorization.
const SOFTMAX: usize = 0;
const SUMS: usize = 1;
const FACTOR: usize = 2;

/// Applies a change to the groups of the program, and checks that the verifier's error names the
/// group and the defect.
#[track_caller]
fn refused(want: &str, change: impl Fn(&mut Vec<NestGroup>)) {
    let f = program();
    let nests = lower(&f);
    let mut groups = group(&nests);
    let text = crate::groups::shown(&nests, &groups);
    verify(&nests, &groups).unwrap_or_else(|e| panic!("{e}\n{nests}{text}"));
    change(&mut groups);
    let error = verify(&nests, &groups)
        .expect_err(want)
        .message()
        .to_owned();
    assert_eq!(error, want, "{nests}{text}");
}

/// The member of a group that computes its last nest, or the one before, and so on.
fn member(
    groups: &mut [NestGroup],
    g: usize,
    from_last: usize,
) -> &mut crate::groups::form::Member {
    let members = &mut groups[g].members;
    let k = members.len() - 1 - from_last;
    &mut members[k]
}

#[test]
fn groups_that_do_not_divide_the_nests_are_refused() {
    refused("%8 is in no group", |g| {
        g[SOFTMAX].members.pop();
    });
    refused("nest 0 is in g0 and g2", |g| {
        g[FACTOR].members[0].nest = 0;
    });
    refused("g2: there is no nest 99", |g| {
        g[FACTOR].members[0].nest = 99;
    });
    refused("g0: its members are not in the order of nests", |g| {
        g[SOFTMAX].members.reverse();
    });
    refused("g0: no members, or more rows than axes", |g| {
        g[SOFTMAX].space.rows = 3;
    });
}

#[test]
fn groups_that_read_later_values_are_refused() {
    refused("g0: %13 reads %8, which is computed later", |g| {
        g.swap(SOFTMAX, FACTOR);
    });
}

#[test]
fn values_that_readers_do_not_find_are_refused() {
    let outside = "g0: %8: it is not whole, but read outside of the group";
    refused(outside, |g| member(g, SOFTMAX, 0).at = Storage::Block);
    refused(outside, |g| member(g, SOFTMAX, 0).at = Storage::Inline);
    refused("g0: %6: a fold that is not unrolled is inline", |g| {
        member(g, SOFTMAX, 1).at = Storage::Inline;
    });
    refused(
        "g2: %13: a call or a literal with other members, or that is not whole",
        |g| member(g, FACTOR, 0).at = Storage::Inline,
    );
}

#[test]
fn rows_that_members_do_not_share_are_refused() {
    // The maximum of a row is one of the group's other axis.
    refused("g0: %2: two rows of the group compute its elements", |g| {
        g[SOFTMAX].members[0].axes = GroupAxes::from_slice(&[1, 0]);
    });
    refused("g0: %2: two rows of the group compute its elements", |g| {
        g[SOFTMAX].space.rows = 2;
    });
    refused("g0: %8 reads %5 of another row", |g| {
        member(g, SOFTMAX, 0).axes = GroupAxes::from_slice(&[1, 0]);
    });
    refused(
        "g0: %8: two of its axes are one, or an extent differs",
        |g| {
            member(g, SOFTMAX, 0).axes = GroupAxes::from_slice(&[0, 0]);
        },
    );
    refused(
        "g0: %2: two of its axes are one, or an extent differs",
        |g| {
            g[SOFTMAX].space.axes[1] = Dim::from(4);
        },
    );
    refused("g0: %8: its axes are not those of its nest", |g| {
        member(g, SOFTMAX, 0).axes = GroupAxes::from_slice(&[0]);
    });
    refused("g0: %8: its axes are not those of its nest", |g| {
        member(g, SOFTMAX, 0).axes = GroupAxes::from_slice(&[0, 7]);
    });
}

#[test]
fn wrong_reads_and_writes_are_refused() {
    let want = "g0: its reads and writes are not those of its members";
    refused(want, |g| {
        g[SOFTMAX].reads.pop();
    });
    refused(want, |g| {
        g[SOFTMAX].writes.clear();
    });
    refused(want, |g| {
        g[SOFTMAX].writes[0] = g[FACTOR].reads[0].clone();
        g[SOFTMAX].writes[0].element.at =
            g[SUMS].reads[0].element.at.iter().rev().cloned().collect();
    });
}

#[test]
fn wrong_schedules_are_refused() {
    let want = "g0: the lanes or the unrolled axes are not axes of the group";
    refused(want, |g| g[SOFTMAX].schedule.lanes = Some(2));
    refused(want, |g| g[SOFTMAX].schedule.lanes = None);
    refused(want, |g| g[SOFTMAX].schedule.unrolled.push(1));
    refused(want, |g| g[SOFTMAX].schedule.unrolled.extend([0, 0]));
    refused("g0: the unrolled axes have too many indices", |g| {
        g[SOFTMAX].schedule.unrolled.push(0);
    });
    refused("g0: a transposed read is none of the group", |g| {
        g[SOFTMAX].schedule.transposed.push(1);
    });
    let ranges = "g0: the ranges of an axis are not inside of its extent";
    for at in [vec![0], vec![300], vec![7, 3], vec![], (1..=9).collect()] {
        refused(ranges, |g| {
            let at = at.iter().copied().collect();
            g[SOFTMAX].schedule.split.push(Split { axis: 1, at });
        });
    }
}

#[test]
fn every_block_of_rows_is_a_schedule() {
    let f = program();
    let nests = lower(&f);
    let mut groups = group(&nests);
    for block in [RowBlock::Any, RowBlock::Rows(7), RowBlock::Phases] {
        groups[SOFTMAX].schedule.block = block;
        verify(&nests, &groups).unwrap();
    }
}
