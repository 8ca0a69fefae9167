//! The extension module `cotangent._cotangent`: arrays, operations by name, transforms of Python
//! functions, compiled functions, tapes and programs. Meaning is in the facade; names, signatures
//! and documentation for users are in the Python files of the package.

mod array;
mod buffer;
mod closure;
mod console;
mod control;
mod create;
mod custom;
mod device;
mod dims;
mod dlpack;
mod dtype;
mod error;
mod index;
mod jit;
mod lazy;
mod methods;
mod numpy;
mod operand;
mod ops;
mod place;
mod products;
mod program;
mod run;
mod scope;
mod tape;
mod transforms;
mod tree;
mod xla;

use pyo3::prelude::*;

/// The classes and functions of the module.
#[pymodule(gil_used = false)]
fn _cotangent(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add_class::<array::Array>()?;
    m.add_class::<array::Parameter>()?;
    m.add_class::<control::Saving>()?;
    m.add_class::<dims::PyDim>()?;
    m.add_class::<dtype::PyDType>()?;
    m.add_class::<jit::Jitted>()?;
    m.add_class::<program::PyProgram>()?;
    m.add_class::<transforms::LinearMap>()?;
    m.add_class::<transforms::Linearized>()?;
    m.add_class::<tree::TreeDef>()?;
    m.add_class::<xla::Listed>()?;
    macro_rules! functions {
        ($($module:ident: $($name:ident)*;)*) => {
            $($(m.add_function(wrap_pyfunction!($module::$name, m)?)?;)*)*
        };
    }
    functions! {
        console: command_line;
        control: cond switch scan while_loop fori_loop checkpoint;
        create: asarray full iota read_file write_file write_npy;
        custom: custom_jvp custom_vjp solve_equation linear_solve;
        device: find_devices to_device;
        dlpack: from_dlpack;
        dtype: dtype;
        lazy: lazy lazy_grad lazy_vjp lazy_jvp;
        methods: array_of fail;
        ops: operations op unary binary promoted result_type convert;
        products: einsum einsum_path convolution solve;
        program: program_of;
        run: set_threads;
        scope: lazily;
        tape: silence variable grad_of clear_grads;
        transforms: value_and_grad jvp vjp linearize jacobian hessian hvp vmap check_grads;
        tree: tree_flatten register_pytree_node;
        xla: xla_register xla_programs xla_handler;
    }
    Ok(())
}
