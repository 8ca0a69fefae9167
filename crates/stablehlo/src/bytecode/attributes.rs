//! Attributes of VHLO as those of StableHLO: lists of numbers, groups of attributes as one, and
//! defaults omitted.

use super::operations::VhloOperation;
use crate::ast::{Attr, Elements, NamedAttrs, Ty};
use cotangent_core::{Code, Error, Result};

/// Attributes that are tensors in StableHLO. Other tensors are lists of numbers.
const TENSORS: [&str; 4] = ["value", "padding", "replica_groups", "source_target_pairs"];

/// Attributes that StableHLO omits where they are empty or their default.
const OPTIONAL: [&str; 28] = [
    "backend_config",
    "base_dilations",
    "called_computations",
    "compare_type",
    "composite_attributes",
    "has_side_effect",
    "indices_are_sorted",
    "infeed_config",
    "is_host_transfer",
    "is_stable",
    "known_expanding_dimensions",
    "known_nonexpanding_dimensions",
    "layout",
    "lhs_dilation",
    "operand_layouts",
    "outfeed_config",
    "output_operand_aliases",
    "padding",
    "precision_config",
    "result_accuracy",
    "result_layouts",
    "result_tilings",
    "rhs_dilation",
    "unique_indices",
    "use_global_device_ids",
    "window_dilations",
    "window_reversal",
    "window_strides",
];

/// Attributes that are names of functions.
const SYMBOLS: [&str; 3] = ["callee", "called_computations", "decomposition"];

/// An attribute of StableHLO with the attributes of VHLO as its entries.
struct Group {
    operations: &'static [&'static str],
    name: &'static str,
    /// Names in VHLO.
    fields: &'static [&'static str],
}

const GROUPS: &[Group] = &[
    Group {
        operations: &["stablehlo.dot_general"],
        name: "dot_dimension_numbers",
        fields: &[
            "lhs_batching_dimensions",
            "rhs_batching_dimensions",
            "lhs_contracting_dimensions",
            "rhs_contracting_dimensions",
        ],
    },
    Group {
        operations: &["stablehlo.dot_general"],
        name: "algorithm",
        fields: &[
            "lhs_precision_type",
            "rhs_precision_type",
            "accumulation_type",
            "lhs_component_count",
            "rhs_component_count",
            "num_primitive_operations",
            "allow_imprecise_accumulation",
        ],
    },
    Group {
        operations: &["stablehlo.gather", "stablehlo.dynamic_gather"],
        name: "dimension_numbers",
        fields: &[
            "offset_dims",
            "collapsed_slice_dims",
            "operand_batching_dims",
            "start_indices_batching_dims",
            "start_index_map",
            "index_vector_dim",
        ],
    },
    Group {
        operations: &["stablehlo.scatter"],
        name: "scatter_dimension_numbers",
        fields: &[
            "update_window_dims",
            "inserted_window_dims",
            "input_batching_dims",
            "scatter_indices_batching_dims",
            "scatter_dims_to_operand_dims",
            "index_vector_dim",
        ],
    },
];

/// Attributes of an operation of VHLO as those of StableHLO.
pub(super) fn to_stablehlo<'a>(
    op: &VhloOperation,
    attrs: NamedAttrs<'a>,
) -> Result<NamedAttrs<'a>> {
    let (name, mut out) = (op.name, Vec::with_capacity(attrs.len()));
    for (key, value) in attrs {
        if !op.attributes.contains(&&*key) {
            out.push((key, value));
            continue;
        }
        let value = match value {
            Attr::Dense(_) if !TENSORS.contains(&&*key) => list(&value).ok_or_else(|| {
                Error::new(
                    Code::Attribute,
                    format!("`{name}`: the attribute `{key}` must be a list of numbers"),
                )
            })?,
            value if SYMBOLS.contains(&&*key) => symbols(value),
            value => value,
        };
        if !(OPTIONAL.contains(&&*key) && is_default(&key, &value)) {
            out.push((key, value));
        }
    }
    for group in GROUPS.iter().filter(|g| g.operations.contains(&name)) {
        let fields: NamedAttrs<'a> = group
            .fields
            .iter()
            .filter_map(|f| Some(((*f).into(), taken(&mut out, f)?)))
            .collect();
        // The type `none` is an absent entry.
        let none = |a: &Attr<'_>| matches!(a, Attr::Type(Ty::Other(t)) if **t == *"none");
        if !fields.iter().all(|(_, a)| none(a)) {
            out.push((group.name.into(), Attr::Dict(fields.into())));
        }
    }
    if let Some(handle) = taken(&mut out, "channel_id") {
        let kind = taken(&mut out, "channel_type");
        if kind.is_some() || handle.int() != Some(0) {
            let kind = kind.unwrap_or(Attr::Int(0));
            let fields = vec![("handle".into(), handle), ("type".into(), kind)];
            out.push(("channel_handle".into(), Attr::Dict(fields.into())));
        }
    }
    if matches!(name, "stablehlo.convolution" | "stablehlo.dynamic_conv") {
        let numbers = convolution_layout(&mut out).ok_or_else(|| {
            let text = format!("`{name}`: the axes of operands and result must be numbered");
            Error::new(Code::Attribute, text)
        })?;
        out.push(("dimension_numbers".into(), numbers));
    }
    Ok(out)
}

/// Removes the attribute of this name.
fn taken<'a>(attrs: &mut NamedAttrs<'a>, name: &str) -> Option<Attr<'a>> {
    let at = attrs.iter().position(|(n, _)| n == name)?;
    Some(attrs.remove(at).1)
}

/// A tensor of integers or booleans as a list.
fn list<'a>(tensor: &Attr<'a>) -> Option<Attr<'a>> {
    let all: Vec<Attr<'a>> = match tensor.ints() {
        Some(v) => v.into_iter().map(|i| Attr::Int(i.into())).collect(),
        None => tensor.bools()?.into_iter().map(Attr::Bool).collect(),
    };
    Some(Attr::List(all.into()))
}

fn symbols(a: Attr<'_>) -> Attr<'_> {
    match a {
        Attr::Str(name) => Attr::Symbol(name),
        Attr::List(l) => Attr::List(l.iter().cloned().map(symbols).collect()),
        a => a,
    }
}

/// Whether an attribute of [`OPTIONAL`] is empty or its default.
fn is_default(key: &str, a: &Attr<'_>) -> bool {
    match a {
        Attr::Bool(b) => !b,
        Attr::Int(i) => *i == 0,
        Attr::Float(x) => *x == 0.0,
        Attr::Word(w) => matches!(*w, "DEFAULT" | "NOTYPE"),
        Attr::List(l) => l.iter().all(|a| matches!(a, Attr::Word("DEFAULT"))),
        // The numbers of an accuracy are zeros by default.
        Attr::Dict(d) if key == "result_accuracy" => d.iter().all(|(k, a)| is_default(k, a)),
        Attr::Dict(d) => d.is_empty(),
        Attr::Str(s) => s.is_empty(),
        Attr::Dense(d) => matches!(d.elements, Elements::Bytes([])),
        _ => false,
    }
}

/// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]` of a convolution.
fn convolution_layout<'a>(attrs: &mut NamedAttrs<'a>) -> Option<Attr<'a>> {
    let mut side = |array: &str, named: [(&'static str, &str); 2]| {
        let spatial = taken(attrs, &format!("{array}_spatial_dimensions"))?.ints()?;
        let mut axes: Vec<Option<Attr<'a>>> = vec![None; spatial.len() + 2];
        let mut number = |axis: i64, name: Attr<'a>| {
            let entry = axes.get_mut(usize::try_from(axis).ok()?)?;
            entry.replace(name).is_none().then_some(())
        };
        for (word, dimension) in named {
            let axis = taken(attrs, &format!("{array}_{dimension}_dimension"))?.int()?;
            number(axis, Attr::Word(word))?;
        }
        for (k, &axis) in spatial.iter().enumerate() {
            number(axis, Attr::Int(k as i128))?;
        }
        let axes: Option<Vec<Attr<'a>>> = axes.into_iter().collect();
        Some(Attr::List(axes?.into()))
    };
    let data = [("b", "batch"), ("f", "feature")];
    let kernel = [("i", "input_feature"), ("o", "output_feature")];
    let sides = [
        side("input", data)?,
        side("kernel", kernel)?,
        side("output", data)?,
    ];
    Some(Attr::Product(sides.into()))
}
