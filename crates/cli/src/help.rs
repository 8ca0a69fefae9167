//! Texts of `--help`.

use crate::args::usage;
use cotangent::Result;

const GENERAL: &str = "\
cotangent: differentiable tensor programs in files

  cotangent fmt      FILE                      canonical text
  cotangent derive   FILE                      run the directives, print all modules
  cotangent convert  FILE[@NAME] [TO]          .tgraph to StableHLO text and back
  cotangent compile  FILE[@NAME] --target T [--out F.pjrt]   for devices that need not be here
  cotangent run      FILE[@NAME] [--in A.npz] [--out B.npz]
  cotangent grad     FILE[@NAME] [--wrt x,w] [--in A.npz] [--out B.npz]
  cotangent vjp|jvp|hvp|jacobian|hessian       likewise
  cotangent check    FILE[@NAME] [--in A.npz]  derivatives against finite differences and the adjoint law
  cotangent explain  FILE[@NAME]               residuals, and the cost of derivatives in time and memory
  cotangent profile  FILE[@NAME] [--grad]      the time of each step of a run
  cotangent devices                            the devices of --on
  cotangent ops      [NAME]                    the operation set

FILE is .tgraph or StableHLO (.mlir, .mlirbc, .jax_export); `-` is standard input. @NAME selects a module,
also a derived one; the default is @main, else the first module.
`cotangent COMMAND --help` describes a command. Exit status: 0, 1 (a check failed), 2 (bad input or usage).
";

const INPUTS: &str = "\
Arrays are read from --in A.npz, or from the .npz next to FILE, by argument name (x) or position (in_0, in_1, ..).
Results are printed, long axes abridged, or written to --out B.npz as out_0, out_1, ..
";

const WRT: &str = "\
--wrt x,w names values of the module, or positions of arguments (0,2). The default is every float argument in order.
Numbers in the names of derivatives, tangents and directions are positions in --wrt: 0 is its first value.
";

const NUMERICS: &str = "\
--numerics N replaces the numerics of derivatives in FILE, a comma-separated list: zero_division=nan or ieee (the key
may be omitted), strong_zero, stable, raise (also =false). Keys that N omits keep their value in FILE (book/src/numerics.md).
";

const ON: &str = "\
--on D runs on a device: cpu (the default), or that of a PJRT plugin: xla, cuda, tpu, or another than its first one, cuda:1.
Results are near to those of the CPU, and not the same bits (book/src/devices.md). --bound N is the largest number of steps of
while loops in derivatives there. --mesh data=4,model=2 runs on 8 devices; --shard x=data,- divides an argument (out_0: a
result) along axes of the mesh, one for each dimension, or `-`, or as the compiler chooses (`?`); others are copied to each
device. --isolate uses the plugin in a process of its own: if the plugin aborts, that is an error (status 2).
";

/// Name and help text of each command.
const TOPICS: &[(&str, &str)] = &[
    (
        "fmt",
        "cotangent fmt FILE [--check | --write]\n\nPrints the canonical text. --check compares it with the file (status 1 if it differs); --write replaces the file.\n",
    ),
    (
        "derive",
        "cotangent derive FILE [--numerics N] [--check]\n\nRuns the directives (tgraph.adjoint, tgraph.jvp, tgraph.hvp) and prints every module, simplified. --check also compares\nthe rule of every custom_vjp and custom_jvp in FILE with finite differences of its body, on standard error: status 1 if\na rule is wrong or cannot be checked. `cotangent check` checks the derivatives of a whole module.\n\nExample: cotangent derive examples/sum_of_sin.tgraph\n",
    ),
    (
        "convert",
        "cotangent convert FILE[@NAME] [TO] [--numerics N] [--raise] [--target T] [--bound N] [--mesh M] [--shard S]\n\nWrites modules as StableHLO text (TO.mlir), or functions of such text as modules (TO.tgraph). Without TO the other\nform is printed. Directives are run, numerics are kept, and in StableHLO the first module is @main unless another has\nthat name. --raise replaces patterns such as 1 / (1 + exp(-x)) by the operations that they compute (logistic): bits of\nresults may change. StableHLO text is always raised when it is read. --target portable writes StableHLO that\nevery XLA target compiles, without custom calls; --bound is then the largest number of steps of while loops in\nderivatives, and --mesh and --shard divide arguments and results (out_0, ..) among devices. --target jax, the default, is\nfor JAX on a CPU.\n\nExample: cotangent convert examples/rosenbrock.tgraph rosenbrock.mlir\n",
    ),
    (
        "compile",
        "cotangent compile FILE[@NAME] --target T [--out F.pjrt] [--numerics N] [--in A.npz] [--bound N] [--mesh M] [--shard S] [--isolate]\n\nCompiles a module for devices that need not be here: h200 (eight of them; h200:1 is one), TPUs as in v5e:2x4, or a device\nthat is here (xla, cuda, tpu). The plugin is needed, and for a TPU the environment variable TPU_SKIP_MDS_QUERY=1. Prints the\nsize and the exchanges among devices; `cotangent run F.pjrt --on D` runs what --out wrote. Extents that are symbols are those\nof the arrays of --in. --bound, --mesh, --shard and --isolate are those of `run --on`.\n\nExample: cotangent compile examples/perceptron.tgraph --target h200 --out perceptron.pjrt\n",
    ),
    (
        "run",
        "cotangent run FILE[@NAME] [--numerics N] [--in A.npz] [--out B.npz] [--on D]\n\nExample: cotangent run examples/attention.tgraph\n",
    ),
    (
        "grad",
        "cotangent grad FILE[@NAME] [--wrt x,w] [--numerics N] [--in A.npz] [--out B.npz] [--on D]\n\nValue (out_0) and gradients (grad_0 by the first value of --wrt, ..) of a module whose result is one real scalar.\nPrinted gradients name their value, as in grad_0 (Q); archives have the number alone.\n\nFor StableHLO text (.mlir) this is the derivative of the operations in the text: it does not contain JAX's stop_gradient,\ncustom_jvp, custom_vjp and implicit rules. To keep them, lower jax.value_and_grad(f) and run that (book/src/from-jax.md).\n\nExample: cotangent grad examples/attention.tgraph --wrt Q,K,V\n",
    ),
    (
        "vjp",
        "cotangent vjp FILE[@NAME] [--wrt x,w] [--numerics N] [--in A.npz] [--out B.npz] [--on D]\n\nReverse mode: vjp_0 by the first value of --wrt, vjp_1 by the second, .., from cotangents ct_0, ct_1, .. of the results\n(1 for a real scalar).\n",
    ),
    (
        "jvp",
        "cotangent jvp FILE[@NAME] [--wrt x,w] [--numerics N] [--in A.npz] [--out B.npz] [--on D]\n\nForward mode: results out_k and their tangents jvp_k, from tangents t_0 of the first value of --wrt, t_1 of the second,\n.. (or t_NAME).\n",
    ),
    (
        "hvp",
        "cotangent hvp FILE[@NAME] [--wrt x,w] [--numerics N] [--in A.npz] [--out B.npz] [--on D]\n\nHessian-vector product hvp_0 by the first value of --wrt, .., from directions v_0 (or t_0) of the first, .. (or v_NAME);\nfor modules with other results than one real scalar, of the sum of ct_k times result k.\n",
    ),
    (
        "jacobian",
        "cotangent jacobian FILE[@NAME] [--wrt x,w] [--numerics N] [--in A.npz] [--out B.npz] [--on D]\n\njacobian_k_i: result k by value i of --wrt, of shape result.shape + wrt.shape.\n",
    ),
    (
        "hessian",
        "cotangent hessian FILE[@NAME] [--wrt x,w] [--numerics N] [--in A.npz] [--out B.npz] [--on D]\n\nhessian_i_j: of a real scalar by values i and j of --wrt, of shape wrt_i.shape + wrt_j.shape.\n\nExample: cotangent hessian examples/rosenbrock.tgraph\n",
    ),
    (
        "check",
        "cotangent check FILE[@NAME] [--wrt x,w] [--numerics N] [--in A.npz] [--allow-skipped]\n\nCompares derivatives up to the third with finite differences, forward with reverse mode, and the two orders of second\nderivatives, per value. Without arrays it generates points: of both signs, several magnitudes, with zeros and ties. Status 1\nif a law is violated or, without --allow-skipped, could not be checked. A law is unsure where the function is not smooth;\nunsure laws are counted.\n",
    ),
    (
        "explain",
        "cotangent explain FILE[@NAME] [--wrt x,w] [--numerics N] [--in A.npz] [--svg G.svg] [--html G.html] [--passes | --plan] [--on D]\n\nPrints operations, residuals of the forward pass, the cost of each derivative, and the memory of a run if extents are\nknown. Arrays determine extents of arguments; others count as 1. --svg draws the steps of the adjoint, with a box per step\nand a line per operand. --html writes one page with the program, its adjoint, the steps, and memory over\ntime. --passes prints instead the stages of planning: the graph after rewrites, its computations (nests), with\nviews as accesses and a reason for each call of a kernel, and the computations that run together (groups).\n--plan prints the steps of the plan that runs, the memory of each value, and the reasons of calls.\n--on adds what the device needs, temporary memory and exchanges among devices, or why it cannot run the program.\n",
    ),
    (
        "profile",
        "cotangent profile FILE[@NAME] [--grad [--wrt x,w]] [--numerics N] [--in A.npz] [--runs N] [--trace T.json]\n\nRuns the module (with --grad its value and gradients) N times, 20 without --runs, and prints the median time of each\nstep, its operations, and its share of this machine's peak arithmetic and bandwidth, which are measured first.\n--trace writes the last run for Perfetto or chrome://tracing. Without arrays it generates them.\n\nExample: cotangent profile examples/attention.tgraph --grad --wrt Q,K,V\n",
    ),
    (
        "devices",
        "cotangent devices\n\nPrints the devices that --on takes: this CPU, and those of the PJRT plugins that are installed, with kind and memory,\nor why a plugin cannot be used. COTANGENT_PJRT_<NAME> is the path of a plugin's library.\n",
    ),
    (
        "ops",
        "cotangent ops [NAME]\n\nPrints every operation with its meaning, or one operation, also by another name (sum), with its attributes, types and\nrules, its adjoint, its StableHLO form, and an example with results.\n",
    ),
];

/// The help of a command, or the overview.
pub(crate) fn text(topic: Option<&str>) -> Result<String> {
    let Some(topic) = topic else {
        return Ok(GENERAL.into());
    };
    let Some((_, lines)) = TOPICS.iter().find(|(n, _)| *n == topic) else {
        return Err(usage(format!("there is no command `{topic}`")));
    };
    let wrt = if lines.contains("--wrt") { WRT } else { "" };
    let numerics = if lines.contains("--numerics") {
        NUMERICS
    } else {
        ""
    };
    let inputs = if lines.contains("--in ") { INPUTS } else { "" };
    let on = if lines.contains("--on D") { ON } else { "" };
    let notes = [wrt, numerics, inputs, on].concat();
    Ok(format!(
        "{lines}{}{notes}",
        if notes.is_empty() { "" } else { "\n" }
    ))
}
