//! Collectives whose groups have one participant each: the identity.
//!
//! A program for several devices that was compiled for one contains such collectives. Groups of
//! several participants are an error: the program runs on one device.

use super::attributes::find;
use super::function::{FunctionLowering, one};
use super::row::{LoweringRow, LoweringRule::Custom};
use crate::ast::{Attr, Elements, Operation, Ty};
use cotangent_core::primitive::Vals;
use cotangent_core::{Result, bail};

pub(super) const COLLECTIVES: &[LoweringRow] = &[
    ("all_reduce", Custom(single_participant)),
    ("all_gather", Custom(single_participant)),
    ("all_to_all", Custom(single_participant)),
    ("reduce_scatter", Custom(single_participant)),
    ("collective_broadcast", Custom(single_participant)),
    ("cross-replica-sum", Custom(single_participant)),
    ("collective_permute", Custom(permute)),
    ("partition_id", Custom(number)),
    ("replica_id", Custom(number)),
];

/// Number of participants, from the attributes of the module.
fn participants(f: &FunctionLowering<'_>) -> i64 {
    let all = ["mhlo.num_partitions", "mhlo.num_replicas"].map(|name| {
        let attribute = f.lowering.text.attrs.iter().find(|a| a.0 == name);
        attribute.and_then(|a| a.1.int()).unwrap_or(1)
    });
    all[0].saturating_mul(all[1])
}

/// The extents of a list of lists of integers.
fn extents(a: &Attr<'_>) -> Option<Vec<usize>> {
    match a {
        Attr::Dense(d) => match (&d.ty, &d.elements) {
            (Some(Ty::Tensor(t)), _) => t.shape.as_const(),
            (_, Elements::List(_, extents)) => Some(extents.clone()),
            _ => None,
        },
        Attr::List(l) => Some(vec![
            l.len(),
            l.first().and_then(Attr::ints).map_or(0, |l| l.len()),
        ]),
        _ => None,
    }
}

/// Whether every group has one participant and is padded with -1 to this length.
fn padded(op: &Operation<'_>, size: usize) -> bool {
    let members = match op.attr("replica_groups") {
        Some(a @ Attr::Dense(_)) => a.ints(),
        Some(Attr::List(l)) => l
            .iter()
            .map(Attr::ints)
            .collect::<Option<Vec<_>>>()
            .map(|l| l.concat()),
        _ => None,
    };
    let one = |group: &[i64]| group.iter().filter(|&&m| m != -1).count() == 1;
    members.is_some_and(|m| size > 0 && m.len().is_multiple_of(size) && m.chunks(size).all(one))
}

/// Returns the operands, if each group has one participant.
fn single_participant(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let groups = op
        .attr("replica_groups")
        .map(|a| extents(a).unwrap_or_default());
    let devices = op.attr("use_global_device_ids").and_then(Attr::bool) == Some(true);
    let single = match groups.as_deref() {
        // Without groups, all participants form one group.
        None | Some([0] | [0, 0] | [1, 0]) => participants(f) == 1,
        // A group lists devices or replicas, and a replica may consist of several partitions.
        Some([_, 1]) => participants(f) == 1 || devices,
        Some(&[_, size]) => (participants(f) == 1 || devices) && padded(op, size),
        _ => false,
    };
    if !single {
        bail!(
            UnknownOperation,
            "`{}` with groups of more than one participant is not supported",
            op.name
        );
    }
    Ok(f.operands(op)?.into())
}

/// `[[0, 0]]` sends to itself. A participant that receives nothing gets zeros.
fn permute(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let [x] = f.operand_array(op)?;
    let pairs = find(op, &["source_target_pairs"]);
    let list = match pairs {
        Some(a @ Attr::Dense(_)) => a.ints(),
        Some(Attr::List(l)) => l
            .iter()
            .map(Attr::ints)
            .collect::<Option<Vec<_>>>()
            .map(|l| l.concat()),
        _ => None,
    };
    match list.as_deref() {
        Some([]) if participants(f) == 1 => one(f.cx().zeros(&f.cx().ty(x))),
        Some([0, 0]) if participants(f) == 1 => one(x),
        _ => bail!(
            UnknownOperation,
            "`{}` among more than one participant is not supported",
            op.name
        ),
    }
}

/// Index of this participant: 0 if it is the only one.
fn number(f: &FunctionLowering<'_>, op: &Operation<'_>) -> Result<Vals> {
    let n = participants(f);
    if n != 1 {
        bail!(
            UnknownOperation,
            "`{}` among {n} participants is not supported",
            op.name
        );
    }
    one(f.cx().zeros(&f.result(op, 0)?))
}
