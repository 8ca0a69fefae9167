//! Calls of slots with typed arguments, and of the sequences that tests share.

use pjrt::{
    Api, Arguments, ExecuteOptions, LayoutsExtension, NamedValue, Pointer, Program, args,
    named_value, semantics,
};

pub(crate) fn api() -> &'static Api {
    // SAFETY: the library returns the address of a table that lives as long as the process.
    unsafe { &*cotangent_pjrt::GetPjrtApi() }
}

/// Code and message of an error, which is freed.
pub(crate) fn taken(error: Pointer) -> Result<(), (i32, String)> {
    if error.is_null() {
        return Ok(());
    }
    let mut message = args::ErrorMessage {
        error,
        ..Default::default()
    };
    let mut number = args::ErrorGetCode {
        error,
        ..Default::default()
    };
    assert!(raw(&mut message).is_null() && raw(&mut number).is_null());
    // SAFETY: the message lives as long as its error.
    let bytes =
        unsafe { std::slice::from_raw_parts(message.message.0.cast::<u8>(), message.message_size) };
    let text = String::from_utf8(bytes.to_vec()).unwrap();
    let mut destroy = args::ErrorDestroy {
        error,
        ..Default::default()
    };
    assert!(raw(&mut destroy).is_null());
    Err((number.code, text))
}

pub(crate) fn slot_of<A>(number: usize) -> unsafe extern "C" fn(*mut A) -> Pointer {
    let address = api().slots[number - pjrt::FIRST_SLOT];
    assert!(!address.is_null(), "slot {number}");
    // SAFETY: a slot is a function of the address of its arguments.
    unsafe { std::mem::transmute(address.0) }
}

/// The extension for layouts, the only one.
pub(crate) fn layouts() -> &'static LayoutsExtension {
    // SAFETY: the list of extensions lives as long as the table.
    let found = unsafe { &*api().extensions.0.cast::<LayoutsExtension>() };
    assert_eq!(found.kind, LayoutsExtension::KIND);
    assert_eq!(found.struct_size, size_of::<LayoutsExtension>());
    assert!(found.next.is_null());
    found
}

pub(crate) fn layout_slot_of<A>(number: usize) -> unsafe extern "C" fn(*mut A) -> Pointer {
    let address = layouts().slots[number - LayoutsExtension::FIRST_SLOT];
    assert!(!address.is_null(), "slot {number}");
    // SAFETY: a slot is a function of the address of its arguments.
    unsafe { std::mem::transmute(address.0) }
}

/// Calls a slot of the extension for layouts, which must succeed.
pub(crate) fn laid_out<A: Arguments>(mut arguments: A) -> A {
    // SAFETY: as for `raw`.
    let error = unsafe {
        (&raw mut arguments).cast::<usize>().write(A::SLOT.size);
        layout_slot_of::<A>(A::SLOT.number)(&raw mut arguments)
    };
    taken(error).unwrap();
    arguments
}

/// Calls a slot. Returns its error.
pub(crate) fn raw<A: Arguments>(arguments: &mut A) -> Pointer {
    // SAFETY: every argument struct starts with its size, and addresses in it are those of live
    // values of its test.
    unsafe {
        (&raw mut *arguments).cast::<usize>().write(A::SLOT.size);
        slot_of::<A>(A::SLOT.number)(arguments)
    }
}

pub(crate) fn call<A: Arguments>(arguments: &mut A) -> Result<(), (i32, String)> {
    taken(raw(arguments))
}

/// Calls a slot, which must succeed. Returns the arguments with its results.
pub(crate) fn served<A: Arguments>(mut arguments: A) -> A {
    if let Err((code, message)) = call(&mut arguments) {
        panic!("{}: {code} {message}", A::SLOT.name);
    }
    arguments
}

macro_rules! serve {
    ($args:ident { $($field:ident: $value:expr),* $(,)? }) => {
        crate::calls::served(pjrt::args::$args { $($field: $value,)* ..Default::default() })
    };
}

macro_rules! refused {
    ($args:ident { $($field:ident: $value:expr),* $(,)? }) => {
        crate::calls::call(&mut pjrt::args::$args { $($field: $value,)* ..Default::default() }).unwrap_err()
    };
}

pub(crate) fn text(p: Pointer, len: usize) -> String {
    // SAFETY: the library returns texts that live as long as their owner.
    let bytes = unsafe { std::slice::from_raw_parts(p.0.cast::<u8>(), len) };
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub(crate) fn list<T: Copy>(p: Pointer, len: usize) -> Vec<T> {
    match len {
        0 => Vec::new(),
        // SAFETY: the library returns lists that live as long as their owner.
        _ => unsafe { std::slice::from_raw_parts(p.0.cast::<T>(), len) }.to_vec(),
    }
}

pub(crate) fn at<T>(x: &T) -> Pointer {
    (&raw const *x).into()
}

/// The address of a record that the library writes.
pub(crate) fn at_mut<T>(x: &mut T) -> Pointer {
    Pointer((&raw mut *x).cast())
}

pub(crate) fn client() -> Pointer {
    let name = "threads";
    let threads = NamedValue {
        struct_size: size_of::<NamedValue>(),
        name: name.as_ptr().into(),
        name_size: name.len(),
        kind: named_value::INT64,
        value: 1,
        value_size: 1,
        ..NamedValue::default()
    };
    serve!(ClientCreate {
        create_options: at(&threads),
        num_options: 1
    })
    .client
}

pub(crate) fn compile(client: Pointer, source: &str) -> Pointer {
    compiled(client, source).unwrap()
}

pub(crate) fn compiled(
    client: Pointer,
    source: impl AsRef<[u8]>,
) -> Result<Pointer, (i32, String)> {
    let source = source.as_ref();
    let format = "mlir";
    let program = Program {
        struct_size: size_of::<Program>(),
        code: source.as_ptr().into(),
        code_size: source.len(),
        format: format.as_ptr().into(),
        format_size: format.len(),
        ..Program::default()
    };
    let mut arguments = args::ClientCompile {
        client,
        program: at(&program),
        ..Default::default()
    };
    call(&mut arguments)?;
    Ok(arguments.executable)
}

pub(crate) const F32: i32 = 11;

pub(crate) fn upload(client: Pointer, data: &[f32], dims: &[i64]) -> Pointer {
    let done = serve!(ClientBufferFromHostBuffer {
        client: client,
        data: data.as_ptr().into(),
        element_type: F32,
        dims: dims.as_ptr().into(),
        num_dims: dims.len(),
        host_buffer_semantics: semantics::DURING_CALL,
    });
    serve!(EventAwait {
        event: done.done_with_host_buffer
    });
    serve!(EventDestroy {
        event: done.done_with_host_buffer
    });
    done.buffer
}

pub(crate) fn download(buffer: Pointer) -> Vec<f32> {
    let size = serve!(BufferToHostBuffer { src: buffer }).dst_size;
    let mut out = vec![0f32; size / 4];
    let copied = serve!(BufferToHostBuffer {
        src: buffer,
        dst: out.as_mut_ptr().cast_const().into(),
        dst_size: size,
    });
    serve!(EventAwait {
        event: copied.event
    });
    serve!(EventDestroy {
        event: copied.event
    });
    out
}

/// Runs an executable. Returns its results and the event of its end.
pub(crate) fn run(
    executable: Pointer,
    arguments: &[Pointer],
    results: usize,
    kept: &[i64],
) -> Result<(Vec<Pointer>, Pointer), (i32, String)> {
    let options = ExecuteOptions {
        struct_size: size_of::<ExecuteOptions>(),
        non_donatable_input_indices: kept.as_ptr().into(),
        num_non_donatable_input_indices: kept.len(),
        ..ExecuteOptions::default()
    };
    let lists = [Pointer::from(arguments.as_ptr())];
    let mut out = vec![Pointer::default(); results];
    let outs = [Pointer::from(out.as_mut_ptr().cast_const())];
    let mut end = [Pointer::default()];
    call(&mut args::LoadedExecutableExecute {
        executable,
        options: at(&options),
        argument_lists: lists.as_ptr().into(),
        num_devices: 1,
        num_args: arguments.len(),
        output_lists: outs.as_ptr().into(),
        device_complete_events: end.as_mut_ptr().cast_const().into(),
        ..Default::default()
    })?;
    Ok((out, end[0]))
}

pub(crate) fn free(buffers: &[Pointer]) {
    for &buffer in buffers {
        serve!(BufferDestroy { buffer: buffer });
    }
}
