//! Operations of VHLO: the one table of their names, versions and attributes, and the attributes that
//! StableHLO has for groups of them.

use crate::ast::{Attr, Elements, NamedAttrs, Ty};
use cotangent_core::{Code, Error, Result};

/// An operation of VHLO.
#[derive(Debug)]
pub(super) struct VhloOperation {
    /// Its name in StableHLO.
    pub name: &'static str,
    /// Its version.
    version: u32,
    /// The names of its attributes, in the order of their encoding.
    pub attributes: &'static [&'static str],
}

const fn op(
    name: &'static str,
    version: u32,
    attributes: &'static [&'static str],
) -> VhloOperation {
    VhloOperation {
        name,
        version,
        attributes,
    }
}

/// The operation of this name in VHLO, such as `gather_v2`.
pub(super) fn find(vhlo: &str) -> Option<&'static VhloOperation> {
    let (name, version) = vhlo.rsplit_once("_v")?;
    let version: u32 = version.parse().ok()?;
    let is_it = |o: &&VhloOperation| {
        o.version == version && o.name.split_once('.').is_some_and(|n| n.1 == name)
    };
    OPERATIONS.iter().find(is_it)
}

/// All operations of StableHLO 1.20, and their older versions from 0.9.
const OPERATIONS: &[VhloOperation] = &[
    op("stablehlo.abs", 1, &[]),
    op("stablehlo.add", 1, &[]),
    op("stablehlo.after_all", 1, &[]),
    op("stablehlo.all_gather", 1, &["all_gather_dim", "channel_id", "replica_groups", "use_global_device_ids"]),
    op("stablehlo.all_gather", 2, &["all_gather_dim", "channel_id", "replica_groups", "use_global_device_ids"]),
    op("stablehlo.all_reduce", 1, &["channel_id", "replica_groups", "use_global_device_ids"]),
    op("stablehlo.all_reduce", 2, &["channel_id", "replica_groups", "use_global_device_ids"]),
    op("stablehlo.all_to_all", 1, &["channel_id", "concat_dimension", "replica_groups", "split_count", "split_dimension"]),
    op("stablehlo.all_to_all", 2, &["channel_id", "concat_dimension", "replica_groups", "split_count", "split_dimension"]),
    op("stablehlo.and", 1, &[]),
    op("stablehlo.async_done", 1, &[]),
    op("stablehlo.async_start", 1, &[]),
    op("stablehlo.atan2", 1, &[]),
    op("stablehlo.batch_norm_grad", 1, &["epsilon", "feature_index"]),
    op("stablehlo.batch_norm_inference", 1, &["epsilon", "feature_index"]),
    op("stablehlo.batch_norm_training", 1, &["epsilon", "feature_index"]),
    op("stablehlo.bitcast_convert", 1, &[]),
    op("stablehlo.broadcast", 1, &["broadcast_sizes"]),
    op("stablehlo.broadcast_in_dim", 1, &["broadcast_dimensions"]),
    op("func.call", 1, &["callee"]),
    op("stablehlo.case", 1, &[]),
    op("stablehlo.cbrt", 1, &[]),
    op("stablehlo.cbrt", 2, &["result_accuracy"]),
    op("stablehlo.ceil", 1, &[]),
    op("stablehlo.cholesky", 1, &["lower"]),
    op("stablehlo.clamp", 1, &[]),
    op("stablehlo.collective_broadcast", 1, &["channel_id", "replica_groups"]),
    op("stablehlo.collective_broadcast", 2, &["channel_id", "has_dynamic_root", "replica_groups"]),
    op("stablehlo.collective_permute", 1, &["channel_id", "source_target_pairs"]),
    op("stablehlo.collective_reduce", 1, &["channel_id", "has_dynamic_root", "replica_groups", "use_global_device_ids"]),
    op("stablehlo.compare", 1, &["compare_type", "comparison_direction"]),
    op("stablehlo.complex", 1, &[]),
    op("stablehlo.composite", 1, &["composite_attributes", "decomposition", "name", "version"]),
    op("stablehlo.composite", 2, &["composite_attributes", "decomposition", "name", "version"]),
    op("stablehlo.concatenate", 1, &["dimension"]),
    op("stablehlo.constant", 1, &["value"]),
    op("stablehlo.convert", 1, &[]),
    op("stablehlo.convolution", 1, &["batch_group_count", "feature_group_count", "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions", "lhs_dilation", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", "padding", "precision_config", "rhs_dilation", "window_reversal", "window_strides"]),
    op("stablehlo.cosine", 1, &[]),
    op("stablehlo.cosine", 2, &["result_accuracy"]),
    op("stablehlo.count_leading_zeros", 1, &[]),
    op("stablehlo.create_token", 1, &[]),
    op("stablehlo.custom_call", 1, &["api_version", "backend_config", "call_target_name", "called_computations", "has_side_effect", "operand_layouts", "output_operand_aliases", "result_layouts"]),
    op("stablehlo.custom_call", 2, &["api_version", "backend_config", "call_target_name", "called_computations", "has_side_effect", "operand_layouts", "output_operand_aliases", "result_layouts", "result_tilings"]),
    op("stablehlo.divide", 1, &[]),
    op("stablehlo.dot", 1, &[]),
    op("stablehlo.dot_general", 1, &["lhs_batching_dimensions", "lhs_contracting_dimensions", "precision_config", "rhs_batching_dimensions", "rhs_contracting_dimensions"]),
    op("stablehlo.dot_general", 2, &["accumulation_type", "allow_imprecise_accumulation", "lhs_batching_dimensions", "lhs_component_count", "lhs_contracting_dimensions", "lhs_precision_type", "num_primitive_operations", "precision_config", "rhs_batching_dimensions", "rhs_component_count", "rhs_contracting_dimensions", "rhs_precision_type"]),
    op("stablehlo.dynamic_broadcast_in_dim", 1, &["broadcast_dimensions", "known_expanding_dimensions", "known_nonexpanding_dimensions"]),
    op("stablehlo.dynamic_conv", 1, &["batch_group_count", "feature_group_count", "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions", "lhs_dilation", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", "padding", "precision_config", "rhs_dilation", "window_reversal", "window_strides"]),
    op("stablehlo.dynamic_conv", 2, &["batch_group_count", "feature_group_count", "input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions", "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions", "lhs_dilation", "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions", "precision_config", "rhs_dilation", "window_reversal", "window_strides"]),
    op("stablehlo.dynamic_gather", 1, &["collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims", "start_index_map"]),
    op("stablehlo.dynamic_gather", 2, &["collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims", "operand_batching_dims", "start_index_map", "start_indices_batching_dims"]),
    op("stablehlo.dynamic_iota", 1, &["iota_dimension"]),
    op("stablehlo.dynamic_pad", 1, &[]),
    op("stablehlo.dynamic_reshape", 1, &[]),
    op("stablehlo.dynamic_slice", 1, &["slice_sizes"]),
    op("stablehlo.dynamic_update_slice", 1, &[]),
    op("stablehlo.einsum", 1, &["einsum_config"]),
    op("stablehlo.exponential", 1, &[]),
    op("stablehlo.exponential", 2, &["result_accuracy"]),
    op("stablehlo.exponential_minus_one", 1, &[]),
    op("stablehlo.exponential_minus_one", 2, &["result_accuracy"]),
    op("stablehlo.fft", 1, &["fft_length", "fft_type"]),
    op("stablehlo.floor", 1, &[]),
    op("func.func", 1, &["arg_attrs", "function_type", "res_attrs", "sym_name", "sym_visibility"]),
    op("stablehlo.gather", 1, &["collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims", "slice_sizes", "start_index_map"]),
    op("stablehlo.gather", 2, &["collapsed_slice_dims", "index_vector_dim", "indices_are_sorted", "offset_dims", "operand_batching_dims", "slice_sizes", "start_index_map", "start_indices_batching_dims"]),
    op("stablehlo.get_dimension_size", 1, &["dimension"]),
    op("stablehlo.get_tuple_element", 1, &["index"]),
    op("stablehlo.if", 1, &[]),
    op("stablehlo.imag", 1, &[]),
    op("stablehlo.infeed", 1, &["infeed_config", "layout"]),
    op("stablehlo.iota", 1, &["iota_dimension"]),
    op("stablehlo.is_finite", 1, &[]),
    op("stablehlo.log", 1, &[]),
    op("stablehlo.log", 2, &["result_accuracy"]),
    op("stablehlo.log_plus_one", 1, &[]),
    op("stablehlo.log_plus_one", 2, &["result_accuracy"]),
    op("stablehlo.logistic", 1, &[]),
    op("stablehlo.logistic", 2, &["result_accuracy"]),
    op("stablehlo.map", 1, &["dimensions"]),
    op("stablehlo.maximum", 1, &[]),
    op("stablehlo.minimum", 1, &[]),
    op("stablehlo.multiply", 1, &[]),
    op("stablehlo.negate", 1, &[]),
    op("stablehlo.not", 1, &[]),
    op("stablehlo.optimization_barrier", 1, &[]),
    op("stablehlo.or", 1, &[]),
    op("stablehlo.outfeed", 1, &["outfeed_config"]),
    op("stablehlo.pad", 1, &["edge_padding_high", "edge_padding_low", "interior_padding"]),
    op("stablehlo.partition_id", 1, &[]),
    op("stablehlo.popcnt", 1, &[]),
    op("stablehlo.power", 1, &[]),
    op("stablehlo.real", 1, &[]),
    op("stablehlo.real_dynamic_slice", 1, &[]),
    op("stablehlo.recv", 1, &["channel_id", "channel_type", "is_host_transfer"]),
    op("stablehlo.recv", 2, &["channel_id", "channel_type", "is_host_transfer", "source_target_pairs"]),
    op("stablehlo.reduce", 1, &["dimensions"]),
    op("stablehlo.reduce_precision", 1, &["exponent_bits", "mantissa_bits"]),
    op("stablehlo.reduce_scatter", 1, &["channel_id", "replica_groups", "scatter_dimension", "use_global_device_ids"]),
    op("stablehlo.reduce_window", 1, &["base_dilations", "padding", "window_dilations", "window_dimensions", "window_strides"]),
    op("stablehlo.remainder", 1, &[]),
    op("stablehlo.replica_id", 1, &[]),
    op("stablehlo.reshape", 1, &[]),
    op("func.return", 1, &[]),
    op("stablehlo.reverse", 1, &["dimensions"]),
    op("stablehlo.rng", 1, &["rng_distribution"]),
    op("stablehlo.rng_bit_generator", 1, &["rng_algorithm"]),
    op("stablehlo.round_nearest_afz", 1, &[]),
    op("stablehlo.round_nearest_even", 1, &[]),
    op("stablehlo.rsqrt", 1, &[]),
    op("stablehlo.rsqrt", 2, &["result_accuracy"]),
    op("stablehlo.scatter", 1, &["index_vector_dim", "indices_are_sorted", "inserted_window_dims", "scatter_dims_to_operand_dims", "unique_indices", "update_window_dims"]),
    op("stablehlo.scatter", 2, &["index_vector_dim", "indices_are_sorted", "input_batching_dims", "inserted_window_dims", "scatter_dims_to_operand_dims", "scatter_indices_batching_dims", "unique_indices", "update_window_dims"]),
    op("stablehlo.select", 1, &[]),
    op("stablehlo.select_and_scatter", 1, &["padding", "window_dimensions", "window_strides"]),
    op("stablehlo.send", 1, &["channel_id", "channel_type", "is_host_transfer"]),
    op("stablehlo.send", 2, &["channel_id", "channel_type", "is_host_transfer", "source_target_pairs"]),
    op("stablehlo.set_dimension_size", 1, &["dimension"]),
    op("stablehlo.shift_left", 1, &[]),
    op("stablehlo.shift_right_arithmetic", 1, &[]),
    op("stablehlo.shift_right_logical", 1, &[]),
    op("stablehlo.sign", 1, &[]),
    op("stablehlo.sine", 1, &[]),
    op("stablehlo.sine", 2, &["result_accuracy"]),
    op("stablehlo.slice", 1, &["limit_indices", "start_indices", "strides"]),
    op("stablehlo.sort", 1, &["dimension", "is_stable"]),
    op("stablehlo.sqrt", 1, &[]),
    op("stablehlo.sqrt", 2, &["result_accuracy"]),
    op("stablehlo.subtract", 1, &[]),
    op("stablehlo.tan", 1, &[]),
    op("stablehlo.tan", 2, &["result_accuracy"]),
    op("stablehlo.tanh", 1, &[]),
    op("stablehlo.tanh", 2, &["result_accuracy"]),
    op("stablehlo.torch_index_select", 1, &["batch_dims", "dim"]),
    op("stablehlo.transpose", 1, &["permutation"]),
    op("stablehlo.triangular_solve", 1, &["left_side", "lower", "transpose_a", "unit_diagonal"]),
    op("stablehlo.tuple", 1, &[]),
    op("stablehlo.unary_einsum", 1, &["einsum_config"]),
    op("stablehlo.uniform_dequantize", 1, &[]),
    op("stablehlo.uniform_quantize", 1, &[]),
    op("stablehlo.while", 1, &[]),
    op("stablehlo.xor", 1, &[]),
];

/// Attributes that are tensors in StableHLO. Other tensors are lists of numbers.
const TENSORS: [&str; 4] = [
    "value",
    "padding",
    "replica_groups",
    "source_target_pairs",
];

/// Attributes that StableHLO omits where they are empty.
const OPTIONAL: [&str; 20] = [
    "backend_config",
    "base_dilations",
    "called_computations",
    "composite_attributes",
    "infeed_config",
    "known_expanding_dimensions",
    "known_nonexpanding_dimensions",
    "layout",
    "lhs_dilation",
    "operand_layouts",
    "outfeed_config",
    "output_operand_aliases",
    "padding",
    "precision_config",
    "result_layouts",
    "result_tilings",
    "rhs_dilation",
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
        if !(OPTIONAL.contains(&&*key) && is_empty(&value)) {
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

fn is_empty(a: &Attr<'_>) -> bool {
    match a {
        Attr::List(l) => l.is_empty(),
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
    let sides = [side("input", data)?, side("kernel", kernel)?, side("output", data)?];
    Some(Attr::Product(sides.into()))
}
