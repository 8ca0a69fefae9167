//! Every slot of the library, called as JAX calls it: with well-formed arguments, with null and
//! short ones, and with events before and after their work.

#[macro_use]
mod calls;

use calls::{
    F32, api, at, at_mut, client, compile, compiled, download, free, laid_out, layout_slot_of,
    list, run, slot_of, taken, text, upload,
};
use pjrt::{
    Api, LAYOUT_SLOTS, MemoryLayout, NamedValue, Pointer, Program, SLOTS, args, code, layout_args,
    semantics,
};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The counts of live objects are those of the process, so tests run one after another.
fn alone() -> MutexGuard<'static, ()> {
    static LOCK: Mutex<()> = Mutex::new(());
    LOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

const SUM: &str = "module @jit_sum { func.func @main(%a: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<3xf32>, tensor<f32>) {
  %0 = stablehlo.add %a, %b : tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %0, %1 : tensor<3xf32>, tensor<f32>
} }";

#[test]
fn every_slot_refuses_null_and_short_arguments_and_null_handles() {
    let _alone = alone();
    assert_eq!(api().version.minor, pjrt::API_VERSION.1);
    assert_eq!(api().struct_size, size_of::<Api>());
    let main = SLOTS.iter().map(|s| (s, slot_of::<usize>(s.number)));
    let of_layouts = LAYOUT_SLOTS.iter();
    let of_layouts = of_layouts.map(|s| (s, layout_slot_of::<usize>(s.number)));
    for (slot, f) in main.chain(of_layouts) {
        // SAFETY: null is refused.
        let (number, message) = taken(unsafe { f(std::ptr::null_mut()) }).unwrap_err();
        assert_eq!(number, code::INVALID_ARGUMENT);
        assert!(message.contains(slot.name), "{message}");
        let mut words = vec![0usize; slot.size.div_ceil(8)];
        if slot.required > 0 {
            words[0] = slot.required - 1;
            // SAFETY: the struct states that it is too short, so only its size is read.
            let (number, message) = taken(unsafe { f(words.as_mut_ptr()) }).unwrap_err();
            assert_eq!(number, code::INVALID_ARGUMENT);
            assert!(message.contains(slot.name), "{message}");
        }
        words[0] = slot.size;
        // SAFETY: the struct has its size, and all handles in it are null.
        if let Err((number, message)) = taken(unsafe { f(words.as_mut_ptr()) }) {
            let known = [code::INVALID_ARGUMENT, code::UNIMPLEMENTED];
            assert!(known.contains(&number), "{}: {number} {message}", slot.name);
            assert!(message.contains(slot.name) || number == 3, "{message}");
        }
        if slot.name == "PJRT_Client_Create" {
            let size = std::mem::offset_of!(args::ClientCreate, client) / 8;
            serve!(ClientDestroy {
                client: Pointer(words[size] as *mut _)
            });
        }
        if slot.name == "PJRT_ExecuteContext_Create" {
            serve!(ExecuteContextDestroy {
                context: Pointer(words[2] as *mut _)
            });
        }
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "calls of one object, slot by slot")]
fn a_client_has_devices_with_memories_and_a_topology() {
    let _alone = alone();
    serve!(PluginInitialize {});
    let attributes = serve!(PluginAttributes {});
    let all = list::<NamedValue>(attributes.attributes, attributes.num_attributes);
    let names: Vec<String> = all.iter().map(|a| text(a.name, a.name_size)).collect();
    assert_eq!(
        names,
        [
            "xla_version",
            "stablehlo_current_version",
            "stablehlo_minimum_version"
        ]
    );
    assert_eq!(
        list::<i64>(Pointer(all[1].value as *mut _), all[1].value_size),
        [1, 17, 0]
    );
    let client = client();
    let name = serve!(ClientPlatformName { client: client });
    assert_eq!(
        text(name.platform_name, name.platform_name_size),
        "cotangent"
    );
    let version = serve!(ClientPlatformVersion { client: client });
    assert!(text(version.platform_version, version.platform_version_size).starts_with("cotangent"));
    assert_eq!(
        serve!(ClientProcessIndex { client: client }).process_index,
        0
    );
    let devices = serve!(ClientDevices { client: client });
    let addressable = serve!(ClientAddressableDevices { client: client });
    let device = list::<Pointer>(devices.devices, devices.num_devices)[0];
    assert_eq!(addressable.num_addressable_devices, 1);
    assert_eq!(
        serve!(ClientLookupDevice {
            client: client,
            id: 0
        })
        .device,
        device
    );
    let found = serve!(ClientLookupAddressableDevice {
        client: client,
        local_hardware_id: 0
    });
    assert_eq!(found.addressable_device, device);
    assert_eq!(
        refused!(ClientLookupDevice {
            client: client,
            id: 7
        })
        .0,
        code::NOT_FOUND
    );
    let mut ids = [9i32; 1];
    serve!(ClientDefaultDeviceAssignment {
        client: client,
        num_replicas: 1,
        num_partitions: 1,
        default_assignment_size: 1,
        default_assignment: ids.as_mut_ptr().cast_const().into(),
    });
    assert_eq!(ids, [0]);
    let description = serve!(DeviceGetDescription { device: device }).device_description;
    let device_description = description;
    assert_eq!(
        serve!(DeviceDescriptionId {
            device_description: device_description
        })
        .id,
        0
    );
    let kind = serve!(DeviceDescriptionKind {
        device_description: device_description
    });
    assert_eq!(text(kind.device_kind, kind.device_kind_size), "cotangent");
    let shown = serve!(DeviceDescriptionToString {
        device_description: device_description
    });
    assert_eq!(
        text(shown.to_string, shown.to_string_size),
        "CotangentDevice(id=0)"
    );
    assert_eq!(
        serve!(DeviceIsAddressable { device: device }).is_addressable,
        1
    );
    assert_eq!(
        serve!(DeviceLocalHardwareId { device: device }).local_hardware_id,
        0
    );
    let memory = serve!(DeviceDefaultMemory { device: device }).memory;
    let memories = serve!(DeviceAddressableMemories { device: device });
    assert_eq!(
        list::<Pointer>(memories.memories, memories.num_memories)[0],
        memory
    );
    let pinned = list::<Pointer>(memories.memories, memories.num_memories)[1];
    let kind = serve!(MemoryKind { memory: pinned });
    assert_eq!(text(kind.kind, kind.kind_size), "pinned_host");
    let all = serve!(ClientAddressableMemories { client: client });
    assert_eq!(
        list::<Pointer>(all.addressable_memories, all.num_addressable_memories),
        [memory, pinned]
    );
    let kind = serve!(MemoryKind { memory: memory });
    assert_eq!(text(kind.kind, kind.kind_size), "device");
    let back = serve!(MemoryAddressableByDevices { memory: memory });
    assert_eq!(list::<Pointer>(back.devices, back.num_devices), [device]);
    let stats = serve!(DeviceMemoryStats {
        device: device,
        bytes_limit_is_set: 1
    });
    assert_eq!((stats.num_allocs_is_set, stats.bytes_limit_is_set), (1, 0));
    let topology = serve!(ClientTopologyDescription { client: client }).topology;
    let all = serve!(TopologyDescriptionGetDeviceDescriptions { topology: topology });
    assert_eq!(
        list::<Pointer>(all.descriptions, all.num_descriptions),
        [description]
    );
    serve!(ClientDestroy { client: client });
}

#[test]
#[expect(clippy::too_many_lines, reason = "calls of one object, slot by slot")]
fn programs_run_and_nothing_is_left() {
    let _alone = alone();
    let before = cotangent_pjrt::live();
    let client = client();
    let executable = compile(client, SUM);
    let again = compile(client, SUM);
    let inner = serve!(LoadedExecutableGetExecutable {
        loaded_executable: executable
    })
    .executable;
    assert_eq!(
        cotangent_pjrt::live()[2] - before[2],
        1,
        "one program has two handles"
    );
    let name = serve!(ExecutableName { executable: inner });
    assert_eq!(
        text(name.executable_name, name.executable_name_size),
        "jit_sum"
    );
    assert_eq!(
        serve!(ExecutableNumOutputs { executable: inner }).num_outputs,
        2
    );
    let types = serve!(ExecutableOutputElementTypes { executable: inner });
    assert_eq!(
        list::<i32>(types.output_types, types.num_output_types),
        [F32, F32]
    );
    let dims = serve!(ExecutableOutputDimensions { executable: inner });
    assert_eq!(list::<usize>(dims.dim_sizes, dims.num_outputs), [1, 0]);
    assert_eq!(list::<i64>(dims.dims, 1), [3]);
    let costs = serve!(ExecutableGetCostAnalysis { executable: inner });
    assert!(costs.num_properties > 0);
    let mut program = Program {
        struct_size: size_of::<Program>(),
        ..Program::default()
    };
    serve!(ExecutableOptimizedProgram {
        executable: inner,
        program: at_mut(&mut program)
    });
    let mut copy = vec![0u8; program.code_size];
    program.code = copy.as_mut_ptr().cast_const().into();
    serve!(ExecutableOptimizedProgram {
        executable: inner,
        program: at_mut(&mut program)
    });
    assert_eq!(String::from_utf8(copy).unwrap(), SUM);
    let assigned = serve!(LoadedExecutableGetDeviceAssignment {
        executable: executable
    });
    let bytes = list::<u8>(assigned.serialized_bytes, assigned.serialized_bytes_size);
    assert_eq!(bytes, [8, 1, 16, 1, 26, 2, 8, 0]);

    let (a, b) = (
        upload(client, &[1., 2., 3.], &[3]),
        upload(client, &[4., 5., 6.], &[3]),
    );
    let (results, end) = run(executable, &[a, b], 2, &[]).unwrap();
    serve!(EventAwait { event: end });
    assert_eq!(download(results[0]), [5., 7., 9.]);
    assert_eq!(download(results[1]), [21.]);
    let (number, message) = run(executable, &[a], 2, &[]).unwrap_err();
    assert_eq!(number, code::INVALID_ARGUMENT);
    assert!(message.contains("2 arguments"), "{message}");
    let (_, message) = run(executable, &[a, results[1]], 2, &[]).unwrap_err();
    assert!(message.contains("argument 1"), "{message}");

    let saved = serve!(ExecutableSerialize { executable: inner });
    let loaded = serve!(ExecutableDeserializeAndLoad {
        client: client,
        serialized_executable: saved.serialized_bytes,
        serialized_executable_size: saved.serialized_bytes_size,
    });
    // SAFETY: the deleter is a function of this type, called once.
    let delete: extern "C" fn(Pointer) =
        unsafe { std::mem::transmute(saved.serialized_executable_deleter.0) };
    delete(saved.serialized_executable);
    let (others, other) = run(loaded.loaded_executable, &[a, b], 2, &[]).unwrap();
    assert_eq!(download(others[0]), [5., 7., 9.]);
    serve!(LoadedExecutableDelete { executable: again });
    assert_eq!(
        serve!(LoadedExecutableIsDeleted { executable: again }).is_deleted,
        1
    );
    assert!(
        run(again, &[a, b], 2, &[])
            .unwrap_err()
            .1
            .contains("deleted")
    );

    free(&[a, b]);
    free(&results);
    free(&others);
    for event in [end, other] {
        serve!(EventDestroy { event: event });
    }
    for executable in [executable, again, loaded.loaded_executable] {
        serve!(LoadedExecutableDestroy {
            executable: executable
        });
    }
    serve!(ExecutableDestroy { executable: inner });
    serve!(ClientDestroy { client: client });
    assert_eq!(cotangent_pjrt::live(), before);
}

#[test]
fn layouts_are_in_row_major_order() {
    let _alone = alone();
    let text_of = |layout: Pointer| {
        let made = laid_out(layout_args::LayoutSerialize {
            layout,
            ..Default::default()
        });
        let text = text(made.serialized_bytes, made.serialized_bytes_size);
        // SAFETY: the deleter is a function of this type, called once.
        let delete: extern "C" fn(Pointer) =
            unsafe { std::mem::transmute(made.serialized_layout_deleter.0) };
        delete(made.serialized_layout);
        text
    };
    let client = client();
    let executable = compile(client, SUM);
    let inner = serve!(LoadedExecutableGetExecutable {
        loaded_executable: executable
    })
    .executable;
    let results = laid_out(layout_args::ExecutableGetOutputLayouts {
        executable: inner,
        ..Default::default()
    });
    let results = list::<Pointer>(results.layouts, results.num_outputs);
    assert_eq!(
        results.into_iter().map(text_of).collect::<Vec<_>>(),
        ["{0}", "{}"]
    );
    let parameters = laid_out(layout_args::ExecutableGetParameterLayouts {
        executable: inner,
        ..Default::default()
    });
    let parameters = list::<Pointer>(parameters.layouts, parameters.num_parameters);
    assert_eq!(
        parameters.into_iter().map(text_of).collect::<Vec<_>>(),
        ["{0}", "{0}"]
    );
    let dims = [2i64, 3, 4];
    let of_client = laid_out(layout_args::ClientGetDefaultLayout {
        client,
        element_type: F32,
        dims: dims.as_ptr().into(),
        num_dims: 3,
        ..Default::default()
    })
    .layout;
    let buffer = upload(client, &[0.0; 6], &[2, 3]);
    let of_buffer = laid_out(layout_args::BufferMemoryLayout {
        buffer,
        ..Default::default()
    })
    .layout;
    for (layout, text) in [(of_client, "{2,1,0}"), (of_buffer, "{1,0}")] {
        assert_eq!(text_of(layout), text);
        laid_out(layout_args::LayoutDestroy {
            layout,
            ..Default::default()
        });
    }
    free(&[buffer]);
    serve!(ExecutableDestroy { executable: inner });
    serve!(LoadedExecutableDestroy {
        executable: executable
    });
    serve!(ClientDestroy { client: client });
}

/// Resident memory of this process in MiB, on Linux.
fn resident() -> Option<f64> {
    let all = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = all.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.trim().trim_end_matches(" kB").parse().ok()?;
    Some(kib / 1024.0)
}

#[test]
fn a_thousand_different_programs_leave_neither_objects_nor_memory() {
    const MAX_MIB: f64 = 5.0;
    let _alone = alone();
    let before = cotangent_pjrt::live();
    let client = client();
    let mut early = None;
    for k in 0..1000 {
        let text = format!(
            "module @jit_f {{ func.func @main(%x: tensor<8x50xf32>) -> tensor<8xf32> {{
  %c = stablehlo.constant dense<{k}.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<8x50xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<8x50xf32>
  %2 = stablehlo.tanh %1 : tensor<8x50xf32>
  %3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<8x50xf32>, tensor<f32>) -> tensor<8xf32>
  return %3 : tensor<8xf32>
}} }}"
        );
        let executable = compile(client, &text);
        let x = upload(client, &[0.0; 400], &[8, 50]);
        let (results, end) = run(executable, &[x], 1, &[]).unwrap();
        assert_eq!(download(results[0]), [k as f32; 8]);
        serve!(EventDestroy { event: end });
        free(&[x, results[0]]);
        serve!(LoadedExecutableDestroy {
            executable: executable
        });
        if k == 49 {
            early = resident();
        }
    }
    serve!(ClientDestroy { client: client });
    assert_eq!(cotangent_pjrt::live(), before);
    if let Some((early, late)) = early.zip(resident()) {
        assert!(
            late - early <= MAX_MIB,
            "{early} MiB after 50 programs, {late} after 1000"
        );
    }
}

#[test]
fn donated_and_deleted_buffers_are_gone_and_external_references_keep_memory() {
    let _alone = alone();
    let client = client();
    let source = "func.func @main(%a: tensor<3xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<3xf32>) -> tensor<3xf32> {
      %0 = stablehlo.add %a, %b : tensor<3xf32>
      return %0 : tensor<3xf32>
    }";
    let executable = compile(client, source);
    let (a, b) = (
        upload(client, &[1., 2., 3.], &[3]),
        upload(client, &[4., 5., 6.], &[3]),
    );
    let deleted = |buffer| serve!(BufferIsDeleted { buffer: buffer }).is_deleted == 1;
    let (kept, end) = run(executable, &[a, b], 1, &[0]).unwrap();
    serve!(EventDestroy { event: end });
    assert!(!deleted(a));
    let (number, message) = run(executable, &[a, a], 1, &[]).unwrap_err();
    assert_eq!(number, code::INVALID_ARGUMENT);
    assert!(message.contains("donate a buffer"), "{message}");
    serve!(BufferIncreaseExternalReferenceCount { buffer: a });
    let address = serve!(BufferUnsafePointer { buffer: a }).buffer_pointer;
    let (results, end) = run(executable, &[a, b], 1, &[]).unwrap();
    serve!(EventDestroy { event: end });
    assert!(deleted(a) && !deleted(b));
    assert_eq!(list::<f32>(Pointer(address as *mut _), 3), [1., 2., 3.]);
    assert_eq!(download(results[0]), [5., 7., 9.]);
    serve!(BufferDecreaseExternalReferenceCount { buffer: a });
    assert!(
        refused!(BufferDecreaseExternalReferenceCount { buffer: a })
            .1
            .contains("no external")
    );
    assert!(
        run(executable, &[a, b], 1, &[])
            .unwrap_err()
            .1
            .contains("deleted or donated")
    );
    serve!(BufferDelete { buffer: b });
    serve!(BufferDelete { buffer: b });
    assert!(deleted(b));
    assert!(
        refused!(BufferToHostBuffer { src: b })
            .1
            .contains("deleted")
    );
    assert!(
        refused!(BufferReadyEvent { buffer: b })
            .1
            .contains("deleted")
    );
    free(&[a, b]);
    free(&results);
    free(&kept);
    serve!(LoadedExecutableDestroy {
        executable: executable
    });
    serve!(ClientDestroy { client: client });
}

static READY: AtomicUsize = AtomicUsize::new(0);

extern "C" fn ready(error: Pointer, argument: Pointer) {
    assert!(taken(error).is_ok());
    READY.fetch_add(argument.0 as usize, Ordering::SeqCst);
}

#[test]
fn events_of_enqueued_runs_call_back_once_before_and_after_their_end() {
    let _alone = alone();
    let client = client();
    // A loop is never run in the thread of its caller.
    let source = "func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
      %n = stablehlo.constant dense<0> : tensor<i32>
      %end = stablehlo.constant dense<2000> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %0:2 = stablehlo.while(%i = %n, %y = %x) : tensor<i32>, tensor<64x64xf32>
      cond {
        %c = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %j = stablehlo.add %i, %one : tensor<i32>
        %z = stablehlo.sine %y : tensor<64x64xf32>
        stablehlo.return %j, %z : tensor<i32>, tensor<64x64xf32>
      }
      return %0#1 : tensor<64x64xf32>
    }";
    let executable = compile(client, source);
    let x = upload(client, &[0.5; 64 * 64], &[64, 64]);
    READY.store(0, Ordering::SeqCst);
    let (first, end) = run(executable, &[x], 1, &[]).unwrap();
    let (second, other) = run(executable, &first, 1, &[]).unwrap();
    let event = serve!(BufferReadyEvent { buffer: second[0] }).event;
    let callback = Pointer(ready as *mut _);
    serve!(EventOnReady {
        event: event,
        callback: callback,
        user_arg: Pointer(4 as *mut _)
    });
    serve!(EventAwait { event: other });
    serve!(EventAwait { event: event });
    assert_eq!(serve!(EventIsReady { event: end }).is_ready, 1);
    serve!(EventError { event: end });
    serve!(EventOnReady {
        event: event,
        callback: callback,
        user_arg: Pointer(16 as *mut _)
    });
    let started = std::time::Instant::now();
    while READY.load(Ordering::SeqCst) != 20 {
        assert!(
            started.elapsed().as_secs() < 60,
            "the callback was not called"
        );
        std::thread::yield_now();
    }
    let mut y = 0.5f32;
    (0..4000).for_each(|_| y = y.sin());
    assert!((download(second[0])[7] - y).abs() < 1e-5);
    for event in [end, other, event] {
        serve!(EventDestroy { event: event });
    }
    free(&[x, first[0], second[0]]);
    serve!(LoadedExecutableDestroy {
        executable: executable
    });
    serve!(ClientDestroy { client: client });
}

static RELEASED: AtomicI64 = AtomicI64::new(0);

extern "C" fn released(memory: Pointer, argument: Pointer) {
    assert!(!memory.is_null());
    RELEASED.fetch_add(argument.0 as i64, Ordering::SeqCst);
}

#[test]
#[expect(clippy::too_many_lines, reason = "calls of one object, slot by slot")]
fn host_arrays_are_shared_where_that_is_permitted_and_copied_elsewhere() {
    let _alone = alone();
    let client = client();
    let host: Vec<f32> = (0..1000).map(|k| k as f32).collect();
    let dims = [1000i64];
    let mut given = args::ClientBufferFromHostBuffer {
        client,
        data: host.as_ptr().into(),
        element_type: F32,
        dims: dims.as_ptr().into(),
        num_dims: 1,
        host_buffer_semantics: semantics::ZERO_COPY,
        ..Default::default()
    };
    let shared = calls::served(given);
    let pointer = |buffer| serve!(BufferUnsafePointer { buffer: buffer }).buffer_pointer;
    assert_eq!(pointer(shared.buffer), host.as_ptr() as usize);
    let done = shared.done_with_host_buffer;
    assert_eq!(serve!(EventIsReady { event: done }).is_ready, 0);
    let copy = serve!(BufferCopyToDevice {
        buffer: shared.buffer,
        dst_device: serve!(BufferDevice {
            buffer: shared.buffer
        })
        .device,
    });
    serve!(BufferDelete {
        buffer: shared.buffer
    });
    assert_eq!(
        serve!(EventIsReady { event: done }).is_ready,
        0,
        "the copy shares the memory"
    );
    serve!(BufferDestroy {
        buffer: copy.dst_buffer
    });
    assert_eq!(serve!(EventIsReady { event: done }).is_ready, 1);
    serve!(EventDestroy { event: done });
    serve!(BufferDestroy {
        buffer: shared.buffer
    });

    // Every second element from the end, in a column of a matrix of two columns.
    let (shape, strides) = ([3i64, 2], [-8i64, 0]);
    given.data = (&raw const host[9]).into();
    (given.dims, given.num_dims) = (shape.as_ptr().into(), 2);
    (given.byte_strides, given.num_byte_strides) = (strides.as_ptr().into(), 2);
    let strided = calls::served(given);
    assert_eq!(download(strided.buffer), [9., 9., 7., 7., 5., 5.]);
    serve!(EventDestroy {
        event: strided.done_with_host_buffer
    });
    let order = [0i64, 1];
    let columns = MemoryLayout {
        struct_size: size_of::<MemoryLayout>(),
        list: order.as_ptr().into(),
        list_size: 2,
        ..MemoryLayout::default()
    };
    let mut out = [0f32; 6];
    let copied = serve!(BufferToHostBuffer {
        src: strided.buffer,
        host_layout: at(&columns),
        dst: out.as_mut_ptr().cast_const().into(),
        dst_size: 24,
    });
    serve!(EventDestroy {
        event: copied.event
    });
    assert_eq!(out, [9., 7., 5., 9., 7., 5.]);
    let mut part = [0f32; 2];
    let copied = serve!(BufferCopyRawToHost {
        buffer: strided.buffer,
        dst: part.as_mut_ptr().cast_const().into(),
        offset: 4,
        transfer_size: 8,
    });
    serve!(EventDestroy {
        event: copied.event
    });
    assert_eq!(part, [9., 7.]);
    let outside = refused!(BufferCopyRawToHost {
        buffer: strided.buffer,
        dst: at(&part),
        offset: 20,
        transfer_size: 8,
    });
    assert!(outside.1.contains("not within"), "{}", outside.1);
    serve!(BufferDestroy {
        buffer: strided.buffer
    });

    RELEASED.store(0, Ordering::SeqCst);
    let view = serve!(ClientCreateViewOfDeviceBuffer {
        client: client,
        device_buffer_ptr: host.as_ptr().into(),
        dims: dims.as_ptr().into(),
        num_dims: 1,
        element_type: F32,
        on_delete_callback: Pointer(released as *mut _),
        on_delete_callback_arg: Pointer(5 as *mut _),
    });
    assert_eq!(pointer(view.buffer), host.as_ptr() as usize);
    assert_eq!(RELEASED.load(Ordering::SeqCst), 0);
    serve!(BufferDestroy {
        buffer: view.buffer
    });
    assert_eq!(RELEASED.load(Ordering::SeqCst), 5);

    let empty = [0i64, 4];
    let none = upload(client, &[], &empty);
    assert_eq!(download(none), [0f32; 0]);
    serve!(BufferDestroy { buffer: none });
    let narrow = refused!(ClientBufferFromHostBuffer {
        client: client,
        data: at(&host),
        element_type: 21,
        dims: dims.as_ptr().into(),
        num_dims: 1,
    });
    assert_eq!(narrow.0, code::UNIMPLEMENTED);
    assert!(narrow.1.contains("s4"), "{}", narrow.1);
    serve!(ClientDestroy { client: client });
}

#[test]
fn errors_of_runs_are_those_of_their_results() {
    let _alone = alone();
    let client = client();
    let (number, message) = compiled(client, "func.func @main( {").unwrap_err();
    assert_eq!(number, code::INVALID_ARGUMENT, "{message}");
    let narrow = "func.func @main(%a: tensor<3xi4>) -> tensor<3xi4> { return %a : tensor<3xi4> }";
    let (number, message) = compiled(client, narrow).unwrap_err();
    assert_eq!(number, code::UNIMPLEMENTED);
    assert!(message.contains("tensor<3xi4>"), "{message}");
    let host = r#"func.func @main(%a: tensor<f32>) -> tensor<f32> {
      %0 = stablehlo.custom_call @cotangent_callback(%a) {backend_config = "1"} : (tensor<f32>) -> tensor<f32>
      return %0 : tensor<f32>
    }"#;
    let executable = compile(client, host);
    let a = upload(client, &[1.], &[]);
    let (_, message) = run(executable, &[a], 1, &[]).unwrap_err();
    assert!(message.contains("no function"), "{message}");
    free(&[a]);
    serve!(LoadedExecutableDestroy {
        executable: executable
    });
    serve!(ClientDestroy { client: client });
}

#[test]
fn artefacts_of_every_version_compile_or_name_the_type_that_arrays_cannot_have() {
    let _alone = alone();
    let client = client();
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../stablehlo/tests/bytecode/artefacts"
    );
    let (mut count, mut refused) = (0, Vec::new());
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kind = path
            .extension()
            .and_then(|e| e.to_str())
            .unwrap_or_default();
        if !["mlirbc", "jax_export"].contains(&kind) {
            continue;
        }
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        match compiled(client, std::fs::read(&path).unwrap()) {
            Ok(executable) => {
                count += 1;
                serve!(LoadedExecutableDestroy {
                    executable: executable
                });
            }
            Err((number, message)) => {
                assert_eq!(number, code::UNIMPLEMENTED, "{name}: {message}");
                refused.push(format!("{name}: {message}"));
            }
        }
    }
    assert!(count >= 12, "{refused:#?}");
    let typed = |r: &String| r.contains("element type") || r.contains("found while running");
    assert!(refused.iter().all(typed), "{refused:#?}");
    serve!(ClientDestroy { client: client });
}
