//! Buffers: an array or the promise of one, on a device, until it is deleted or donated.

use crate::call::{Call, give, release};
use crate::client::{Client, Device, Memory};
use crate::counts::{self, Counted};
use crate::event::{Completion, event};
use crate::failure::{Answer, Failure};
use crate::value::{self, HostArray, Release, Value};
use cotangent::cpu::View;
use cotangent::{Array, DType};
use pjrt::{Arguments, MemoryLayout, Pointer, args, semantics};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The object of a buffer.
pub(crate) struct Buffer {
    pub(crate) dtype: DType,
    pub(crate) dims: Box<[i64]>,
    /// Axes from the fastest to the slowest.
    order: Box<[i64]>,
    memory: &'static Memory,
    /// Whether it is the result of type token: an array of JAX without a value.
    is_token: bool,
    contents: Mutex<Contents>,
    deleted: AtomicBool,
    _counted: Counted,
}

struct Contents {
    /// `None` once it is deleted or donated.
    value: Option<Arc<Value>>,
    /// References to the memory from outside, and the value that they keep.
    external: usize,
    pinned: Option<Arc<Value>>,
}

impl Buffer {
    /// The handle of a buffer of this type.
    pub(crate) fn give(
        dtype: DType,
        dims: Box<[i64]>,
        memory: &'static Memory,
        is_token: bool,
        value: Arc<Value>,
    ) -> Pointer {
        give(Buffer {
            dtype,
            order: (0..dims.len() as i64).rev().collect(),
            dims,
            memory,
            is_token,
            contents: Mutex::new(Contents {
                value: Some(value),
                external: 0,
                pinned: None,
            }),
            deleted: AtomicBool::new(false),
            _counted: Counted::new(&counts::BUFFERS),
        })
    }

    fn of(array: Array, memory: &'static Memory) -> Pointer {
        let dims = array.shape().iter().map(|&n| n as i64).collect();
        Buffer::give(array.dtype(), dims, memory, false, Value::ready(array))
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value.
    ///
    /// # Errors
    /// The buffer was deleted or donated.
    pub(crate) fn value(&self) -> Result<Arc<Value>, Failure> {
        let deleted = || Failure::argument("the buffer has been deleted or donated");
        self.contents().value.clone().ok_or_else(deleted)
    }

    /// Takes the value away. The memory stays as long as it is referred to from outside.
    pub(crate) fn take(&self) -> Option<Arc<Value>> {
        let mut contents = self.contents();
        let value = contents.value.take();
        if contents.external > 0 && contents.pinned.is_none() {
            contents.pinned = value.clone();
        }
        self.deleted.store(true, Ordering::Release);
        value
    }

    /// # Errors
    /// It is a token.
    fn check_readable(&self) -> Answer {
        match self.is_token {
            // The wording of XLA, which programs look for.
            true => Err(Failure::argument(
                "Cannot convert a token-shape buffer to a numpy array.",
            )),
            false => Ok(()),
        }
    }

    fn size(&self) -> usize {
        self.dims.iter().product::<i64>() as usize * self.dtype.size()
    }
}

/// The order of axes of a layout, from the slowest to the fastest; `None` for row-major order.
fn permutation<A: Arguments>(
    call: &Call<A>,
    layout: Pointer,
    dtype: DType,
    dims: &[i64],
) -> Result<Option<Vec<usize>>, Failure> {
    if layout.is_null() {
        return Ok(None);
    }
    let layout = call.record::<MemoryLayout>(layout)?;
    let list = call.list::<i64>(layout.list, layout.list_size)?;
    let refuse = |what: &str| Err(Failure::unimplemented(format!("{what} are not supported")));
    if list.len() != dims.len() {
        return Err(Failure::argument("a layout has an entry for each axis"));
    }
    let axes: Vec<usize> = match layout.kind {
        0 if layout.num_tiles > 0 => return refuse("layouts with tiles"),
        0 => {
            let axis = |&k: &i64| usize::try_from(k).ok().filter(|&k| k < dims.len());
            match list.iter().rev().map(axis).collect() {
                Some(axes) => axes,
                None => return Err(Failure::argument("a layout of axes that do not exist")),
            }
        }
        _ => {
            let mut axes: Vec<usize> = (0..dims.len()).collect();
            axes.sort_by_key(|&k| std::cmp::Reverse((list[k], dims[k])));
            let mut stride = dtype.size() as i64;
            for &k in axes.iter().rev() {
                if dims[k] > 1 && list[k] != stride {
                    return refuse("layouts whose elements are not contiguous");
                }
                stride *= dims[k];
            }
            axes
        }
    };
    let mut sorted = axes.clone();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..dims.len()) {
        return Err(Failure::argument("a layout lists an axis twice"));
    }
    Ok((axes != sorted).then_some(axes))
}

pub(crate) fn from_host(call: &mut Call<args::ClientBufferFromHostBuffer>) -> Answer {
    let client = call.handle::<Client>(call.client)?;
    let dtype = value::dtype(call.element_type)?;
    let dims = call.list::<i64>(call.dims, call.num_dims)?;
    let strides = match call.num_byte_strides {
        0 => None,
        n => Some(call.list::<i64>(call.byte_strides, n)?),
    };
    if permutation(call, call.device_layout, dtype, dims)?.is_some() {
        let text = "arrays on the device are in row-major order: other layouts are not supported";
        return Err(Failure::unimplemented(text));
    }
    let memory = client.placed(call, call.device, call.memory)?;
    let host = HostArray::new(call.data, dtype, dims, strides)?;
    let shares = matches!(
        call.host_buffer_semantics,
        semantics::ZERO_COPY | semantics::MUTABLE_ZERO_COPY
    );
    let (array, done) = if shares && host.is_shareable() {
        let done = Completion::pending();
        let released = done.clone();
        let release: Release = Box::new(move || released.complete(Ok(())));
        // SAFETY: the caller keeps the memory constant until the event (the semantics).
        (unsafe { host.shared(release)? }, done)
    } else {
        // SAFETY: the memory is constant during the call (every semantics).
        (unsafe { host.copied()? }, Completion::done())
    };
    call.buffer = Buffer::of(array, memory);
    call.done_with_host_buffer = event(done);
    Ok(())
}

/// The function and argument of a caller of `CreateViewOfDeviceBuffer`.
struct OnDelete {
    callback: extern "C" fn(Pointer, Pointer),
    memory: Pointer,
    argument: Pointer,
}

// SAFETY: the interface lets the callback be called from any thread.
unsafe impl Send for OnDelete {}
// SAFETY: it is called once, by its owner.
unsafe impl Sync for OnDelete {}

impl OnDelete {
    fn call(self) {
        (self.callback)(self.memory, self.argument);
    }
}

pub(crate) fn view(call: &mut Call<args::ClientCreateViewOfDeviceBuffer>) -> Answer {
    let client = call.handle::<Client>(call.client)?;
    let dtype = value::dtype(call.element_type)?;
    let dims = call.list::<i64>(call.dims, call.num_dims)?;
    if permutation(call, call.layout, dtype, dims)?.is_some() {
        let text = "views of memory are in row-major order: other layouts are not supported";
        return Err(Failure::unimplemented(text));
    }
    let memory = client.placed(call, call.device, call.memory)?;
    let host = HostArray::new(call.device_buffer_ptr, dtype, dims, None)?;
    let release: Release = if call.on_delete_callback.is_null() {
        Box::new(|| {})
    } else {
        let on_delete = OnDelete {
            // SAFETY: the field is the address of a function of this type.
            callback: unsafe {
                std::mem::transmute::<*mut std::ffi::c_void, extern "C" fn(Pointer, Pointer)>(
                    call.on_delete_callback.0,
                )
            },
            memory: call.device_buffer_ptr,
            argument: call.on_delete_callback_arg,
        };
        Box::new(move || on_delete.call())
    };
    let array = if host.is_shareable() {
        // SAFETY: the caller keeps the memory until the callback.
        unsafe { host.shared(release)? }
    } else {
        // SAFETY: the caller keeps the memory until the callback, which is called after the copy.
        let array = unsafe { host.copied()? };
        release();
        array
    };
    call.buffer = Buffer::of(array, memory);
    Ok(())
}

pub(crate) fn uninitialized(call: &mut Call<args::ClientCreateUninitializedBuffer>) -> Answer {
    let client = call.handle::<Client>(call.client)?;
    let dtype = value::dtype(call.shape_element_type)?;
    let dims = call.list::<i64>(call.shape_dims, call.shape_num_dims)?;
    let shape: Option<Vec<usize>> = dims.iter().map(|&n| usize::try_from(n).ok()).collect();
    let Some(shape) = shape else {
        return Err(Failure::argument(format!(
            "an array of shape {dims:?} does not exist"
        )));
    };
    let memory = client.placed(call, call.device, call.memory)?;
    call.buffer = Buffer::of(Array::zeros(dtype, shape)?, memory);
    Ok(())
}

pub(crate) fn destroy(call: &mut Call<args::BufferDestroy>) -> Answer {
    release::<Buffer>(call.buffer);
    Ok(())
}

pub(crate) fn element_type(call: &mut Call<args::BufferElementType>) -> Answer {
    call.element_type = value::number(call.handle::<Buffer>(call.buffer)?.dtype);
    Ok(())
}

pub(crate) fn dimensions(call: &mut Call<args::BufferDimensions>) -> Answer {
    let dims = &call.handle::<Buffer>(call.buffer)?.dims;
    (call.dims, call.num_dims) = (dims.as_ptr().into(), dims.len());
    Ok(())
}

pub(crate) fn unpadded_dimensions(call: &mut Call<args::BufferUnpaddedDimensions>) -> Answer {
    let dims = &call.handle::<Buffer>(call.buffer)?.dims;
    (call.unpadded_dims, call.num_dims) = (dims.as_ptr().into(), dims.len());
    Ok(())
}

pub(crate) fn dynamic_dimensions(call: &mut Call<args::BufferDynamicDimensionIndices>) -> Answer {
    call.handle::<Buffer>(call.buffer)?;
    (call.dynamic_dim_indices, call.num_dynamic_dims) = (Pointer::default(), 0);
    Ok(())
}

pub(crate) fn layout(call: &mut Call<args::BufferGetMemoryLayout>) -> Answer {
    let order = &call.handle::<Buffer>(call.buffer)?.order;
    call.layout = MemoryLayout {
        struct_size: size_of::<MemoryLayout>(),
        variant_size: 7 * size_of::<usize>(),
        list: order.as_ptr().into(),
        list_size: order.len(),
        ..MemoryLayout::default()
    };
    Ok(())
}

pub(crate) fn size_on_device(call: &mut Call<args::BufferOnDeviceSizeInBytes>) -> Answer {
    call.on_device_size_in_bytes = call.handle::<Buffer>(call.buffer)?.size();
    Ok(())
}

pub(crate) fn device(call: &mut Call<args::BufferDevice>) -> Answer {
    call.device = call.handle::<Buffer>(call.buffer)?.memory.device.handle();
    Ok(())
}

pub(crate) fn memory(call: &mut Call<args::BufferMemory>) -> Answer {
    call.memory = call.handle::<Buffer>(call.buffer)?.memory.handle();
    Ok(())
}

pub(crate) fn delete(call: &mut Call<args::BufferDelete>) -> Answer {
    call.handle::<Buffer>(call.buffer)?.take();
    Ok(())
}

pub(crate) fn is_deleted(call: &mut Call<args::BufferIsDeleted>) -> Answer {
    let deleted = &call.handle::<Buffer>(call.buffer)?.deleted;
    call.is_deleted = deleted.load(Ordering::Acquire).into();
    Ok(())
}

pub(crate) fn is_on_cpu(call: &mut Call<args::BufferIsOnCpu>) -> Answer {
    call.handle::<Buffer>(call.buffer)?;
    call.is_on_cpu = 1;
    Ok(())
}

pub(crate) fn ready_event(call: &mut Call<args::BufferReadyEvent>) -> Answer {
    let value = call.handle::<Buffer>(call.buffer)?.value()?;
    call.event = event(value.completion().clone());
    Ok(())
}

/// A buffer in another memory shares the elements: all devices are one machine.
fn shared_copy(buffer: &Buffer, memory: &'static Memory) -> Result<Pointer, Failure> {
    let value = buffer.value()?;
    Ok(Buffer::give(
        buffer.dtype,
        buffer.dims.clone(),
        memory,
        buffer.is_token,
        value,
    ))
}

pub(crate) fn copy_to_device(call: &mut Call<args::BufferCopyToDevice>) -> Answer {
    let buffer = call.handle::<Buffer>(call.buffer)?;
    call.dst_buffer = shared_copy(buffer, call.handle::<Device>(call.dst_device)?.memory(0))?;
    Ok(())
}

pub(crate) fn copy_to_memory(call: &mut Call<args::BufferCopyToMemory>) -> Answer {
    let buffer = call.handle::<Buffer>(call.buffer)?;
    call.dst_buffer = shared_copy(buffer, call.handle::<Memory>(call.dst_memory)?)?;
    Ok(())
}

/// The address of the elements, once they are computed.
fn address(buffer: &Buffer) -> Result<*const u8, Failure> {
    Ok(value::memory(buffer.value()?.wait()?).as_ptr())
}

pub(crate) fn unsafe_pointer(call: &mut Call<args::BufferUnsafePointer>) -> Answer {
    call.buffer_pointer = address(call.handle::<Buffer>(call.buffer)?)? as usize;
    Ok(())
}

pub(crate) fn data_pointer(call: &mut Call<args::BufferOpaqueDeviceMemoryDataPointer>) -> Answer {
    call.device_memory_ptr = address(call.handle::<Buffer>(call.buffer)?)?.into();
    Ok(())
}

pub(crate) fn increase_external(
    call: &mut Call<args::BufferIncreaseExternalReferenceCount>,
) -> Answer {
    let buffer = call.handle::<Buffer>(call.buffer)?;
    buffer.check_readable()?;
    let mut contents = buffer.contents();
    contents.external += 1;
    Ok(())
}

pub(crate) fn decrease_external(
    call: &mut Call<args::BufferDecreaseExternalReferenceCount>,
) -> Answer {
    let buffer = call.handle::<Buffer>(call.buffer)?;
    let mut contents = buffer.contents();
    if contents.external == 0 {
        return Err(Failure::argument("the buffer has no external references"));
    }
    contents.external -= 1;
    if contents.external == 0 {
        contents.pinned = None;
    }
    Ok(())
}

/// The elements in the order of axes.
fn arranged(array: &Array, axes: &Option<Vec<usize>>) -> Result<Array, Failure> {
    Ok(match axes {
        None => array.clone(),
        Some(axes) => View::from(array).transpose(axes).into_array()?,
    })
}

/// Memory of the caller for results.
struct Destination(Pointer);

// SAFETY: the caller lends the memory until the event, to any thread.
unsafe impl Send for Destination {}

impl Destination {
    fn write(&self, bytes: &[u8]) {
        if !bytes.is_empty() {
            // SAFETY: the caller lends memory of the size that was checked, which is not ours.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.0.cast(), bytes.len()) }
        }
    }
}

/// Calls `copy` with the array of a value, now or when it is computed. Returns the event.
fn when_ready(value: Arc<Value>, copy: impl FnOnce(&Array) -> Answer + Send + 'static) -> Pointer {
    let end = |copied: Answer| match copied {
        Ok(()) => Completion::done(),
        Err(failure) => Completion::failed(failure),
    };
    if let Some(array) = value.array() {
        return event(end(copy(array)));
    }
    let done = Completion::pending();
    let ended = done.clone();
    value.completion().clone().then(move |outcome| {
        let copied = outcome.clone().and_then(|()| copy(value.wait()?));
        ended.complete(copied);
    });
    event(done)
}

pub(crate) fn to_host(call: &mut Call<args::BufferToHostBuffer>) -> Answer {
    let buffer = call.handle::<Buffer>(call.src)?;
    buffer.check_readable()?;
    let value = buffer.value()?;
    let axes = permutation(call, call.host_layout, buffer.dtype, &buffer.dims)?;
    if call.dst.is_null() {
        call.dst_size = buffer.size();
        return Ok(());
    }
    if call.dst_size < buffer.size() {
        let text = format!("{} bytes do not hold {}", call.dst_size, buffer.size());
        return Err(Failure::argument(text));
    }
    let to = Destination(call.dst);
    call.event = when_ready(value, move |array| {
        to.write(value::memory(&arranged(array, &axes)?));
        Ok(())
    });
    Ok(())
}

pub(crate) fn copy_raw(call: &mut Call<args::BufferCopyRawToHost>) -> Answer {
    let buffer = call.handle::<Buffer>(call.buffer)?;
    let value = buffer.value()?;
    let range = usize::try_from(call.offset)
        .ok()
        .zip(usize::try_from(call.transfer_size).ok());
    let range = range.and_then(|(from, n)| Some(from..from.checked_add(n)?));
    let Some(range) = range.filter(|r| r.end <= buffer.size()) else {
        let (from, n, all) = (call.offset, call.transfer_size, buffer.size());
        let text = format!("{n} bytes from byte {from} on are not within {all}");
        return Err(Failure::argument(text));
    };
    let to = Destination(call.dst);
    call.event = when_ready(value, move |array| {
        to.write(&value::memory(array)[range]);
        Ok(())
    });
    Ok(())
}
