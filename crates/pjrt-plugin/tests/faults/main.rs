//! Errors of plugins: codes and messages, a backend that works afterwards, and slots that a plugin
//! lacks. The plugin is that of this package, wrapped by one whose slots fail (`examples/faulty`).

#![cfg(target_os = "linux")]

use cotangent::methods::*;
use cotangent::pjrt::PjrtBackend;
use cotangent::{Code, EagerRuntime, Program, Result, Tensor};
use pjrt::args::{
    BufferToHostBuffer, ClientBufferFromHostBuffer, ClientCompile, EventAwait,
    ExecutableOptimizedProgram, LoadedExecutableExecute,
};
use pjrt::{Arguments, code};
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// The functions that tell the plugin to fail.
struct Faulty {
    library: PathBuf,
    fail: extern "C" fn(usize, i32, usize),
    hide: extern "C" fn(usize),
}

/// The wrapped plugin. One test uses it at a time, because a failure is for the next call.
fn faulty() -> (Faulty, MutexGuard<'static, ()>) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(|e| e.into_inner());
    let tests = std::env::current_exe().unwrap();
    let folder = tests.ancestors().nth(2).unwrap();
    let first = |names: &[&str]| {
        let found = names.iter().map(|n| folder.join(n)).find(|p| p.is_file());
        found.unwrap_or_else(|| {
            panic!(
                "{} has none of {names:?}: `cargo build --example faulty`",
                folder.display()
            )
        })
    };
    let library = first(&["examples/libfaulty.so"]);
    let plugin = first(&["libcotangent_pjrt.so", "deps/libcotangent_pjrt.so"]);
    let text = |p: &Path| CString::new(p.as_os_str().as_encoded_bytes()).unwrap();
    // SAFETY: paths and names are C strings, and the functions of `examples/faulty` have these
    // types.
    unsafe {
        let handle = dlopen(text(&library).as_ptr(), 2);
        assert!(!handle.is_null());
        let of = |name: &CString| {
            let function = dlsym(handle, name.as_ptr());
            assert!(!function.is_null(), "{name:?}");
            function
        };
        let name = |n: &str| CString::new(n).unwrap();
        let wrap: unsafe extern "C" fn(*const c_char) -> bool =
            std::mem::transmute(of(&name("faulty_wrap")));
        assert!(wrap(text(&plugin).as_ptr()));
        let faulty = Faulty {
            library,
            fail: std::mem::transmute::<*mut c_void, extern "C" fn(usize, i32, usize)>(of(&name(
                "faulty_fail",
            ))),
            hide: std::mem::transmute::<*mut c_void, extern "C" fn(usize)>(of(&name(
                "faulty_hide",
            ))),
        };
        (faulty, turn)
    }
}

const STEP: &str = "tgraph.module @step { %x = tgraph.arg : tensor<3xf32> %y = tgraph.exp %x : tensor<3xf32> tgraph.return %y : tensor<3xf32> }";

/// A program with its result, from nothing.
fn works(backend: &PjrtBackend) -> Result<()> {
    let program = backend.program(Program::from_tgraph(STEP)?.main())?;
    let x = backend.upload(&Tensor::vector(vec![0.0f32; 3]))?;
    let y = program.run(&[&x])?;
    assert_eq!(y[0].download()?.to_vec::<f32>()?, [1.0; 3]);
    Ok(())
}

#[test]
fn each_code_of_each_step_is_an_error_after_which_the_backend_works() -> Result<()> {
    let (faulty, _turn) = faulty();
    let slots = [
        ClientCompile::SLOT,
        ClientBufferFromHostBuffer::SLOT,
        LoadedExecutableExecute::SLOT,
        BufferToHostBuffer::SLOT,
        EventAwait::SLOT,
    ];
    let codes = [
        (code::RESOURCE_EXHAUSTED, Code::OutOfMemory),
        (code::UNAVAILABLE, Code::DeviceLost),
        (code::INTERNAL, Code::DeviceLost),
        (code::UNIMPLEMENTED, Code::Unsupported),
        (code::CANCELLED, Code::Interrupted),
    ];
    for slot in &slots {
        for (number, expected) in codes {
            let backend = PjrtBackend::with_library(&faulty.library, &[])?;
            (faulty.fail)(slot.number, number, 0);
            let error = works(&backend).unwrap_err();
            assert_eq!(error.code(), expected, "{}: {error}", slot.name);
            let text = error.to_string();
            assert!(text.contains("told to fail"), "{text}");
            works(&backend)?;
            backend.clear_caches();
            assert_eq!(backend.live_objects(), [0; 3], "{}", slot.name);
        }
    }
    Ok(())
}

#[test]
fn too_little_memory_says_what_was_asked_and_what_is_free() -> Result<()> {
    let (faulty, _turn) = faulty();
    let backend = PjrtBackend::with_library(&faulty.library, &[])?;
    for slot in [
        ClientBufferFromHostBuffer::SLOT,
        LoadedExecutableExecute::SLOT,
    ] {
        (faulty.fail)(slot.number, code::RESOURCE_EXHAUSTED, 0);
        let text = works(&backend).unwrap_err().to_string();
        assert!(text.contains("12 bytes are asked"), "{}: {text}", slot.name);
        assert!(text.contains("free"), "{}: {text}", slot.name);
    }
    Ok(())
}

#[test]
fn a_failure_of_waiting_operations_is_the_error_of_what_is_read() -> Result<()> {
    let (faulty, _turn) = faulty();
    let backend = PjrtBackend::with_library(&faulty.library, &[])?;
    let x = backend.to_device(&Tensor::vector(vec![1.0f64, 2.0]))?;
    let (y, z) = (x.square()?, x.exp()?);
    (faulty.fail)(LoadedExecutableExecute::SLOT.number, code::CANCELLED, 0);
    for poisoned in [&y, &z, &y.add(&z)?] {
        assert_eq!(
            poisoned.to_vec::<f64>().unwrap_err().code(),
            Code::Interrupted
        );
    }
    assert_eq!(x.square()?.to_vec::<f64>()?, [1.0, 4.0]);
    let rt = EagerRuntime::with_backend(backend.clone());
    let w = rt.variable_from(x.clone()).unwrap();
    let loss = w.square().unwrap().sum(..).unwrap();
    loss.backward().unwrap();
    (faulty.fail)(ClientCompile::SLOT.number, code::UNAVAILABLE, 0);
    assert!(
        rt.synchronize()
            .unwrap_err()
            .to_string()
            .contains("told to fail")
    );
    let twice = x.add(&x)?;
    assert_eq!(twice.to_vec::<f64>()?, [2.0, 4.0]);
    drop((x, y, z, twice, w, loss));
    backend.clear_caches();
    assert_eq!(backend.live_objects(), [0; 3]);
    Ok(())
}

#[test]
fn a_slot_that_a_plugin_lacks_is_an_error_with_its_name() -> Result<()> {
    let (faulty, _turn) = faulty();
    (faulty.hide)(ExecutableOptimizedProgram::SLOT.number);
    let backend = PjrtBackend::with_library(&faulty.library, &[])?;
    let program = backend.program(Program::from_tgraph(STEP)?.main())?;
    let x = backend.upload(&Tensor::vector(vec![0.0f32; 3]))?;
    let error = program.collectives(&[&x]).unwrap_err();
    assert_eq!(error.code(), Code::Unsupported);
    let text = error.to_string();
    assert!(text.contains("PJRT_Executable_OptimizedProgram"), "{text}");
    works(&backend)
}
