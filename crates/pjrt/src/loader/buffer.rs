//! [`Buffer`]: an array on a device.

use super::client::{Client, ClientHandle, Device};
use super::event::Event;
use super::list;
use crate::args::*;
use crate::dtypes::{dtype_of, name_of};
use crate::{MemoryLayout, Pointer};
use cotangent_core::{Array, DType, Element, Result, bail, for_dtype};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// An array on a device, whose elements may still be computed.
pub struct Buffer {
    client: Arc<ClientHandle>,
    buffer: Pointer,
}

// SAFETY: the interface may be called from any thread, and the handle is owned.
unsafe impl Send for Buffer {}
// SAFETY: the interface may be called from any thread at the same time.
unsafe impl Sync for Buffer {}

impl Drop for Buffer {
    fn drop(&mut self) {
        let buffer = self.buffer;
        self.client.live.buffers.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: the buffer is alive and owned.
        unsafe {
            self.client.plugin.release(BufferDestroy {
                buffer,
                ..Default::default()
            });
        }
    }
}

impl Buffer {
    /// A buffer that the caller owns.
    ///
    /// # Safety
    /// `buffer` is a buffer of this client that the caller owns.
    pub(crate) unsafe fn of(client: &Arc<ClientHandle>, buffer: Pointer) -> Buffer {
        client.live.buffers.fetch_add(1, Ordering::Relaxed);
        Buffer {
            client: client.clone(),
            buffer,
        }
    }

    pub(crate) fn pointer(&self) -> Pointer {
        self.buffer
    }

    /// The client.
    pub fn client(&self) -> Client {
        Client(self.client.clone())
    }

    /// The element type.
    ///
    /// # Errors
    /// [`Code::Unsupported`](cotangent_core::Code::Unsupported) if this library lacks the type.
    pub fn dtype(&self) -> Result<DType> {
        let buffer = self.buffer;
        // SAFETY: the buffer is alive.
        let found = unsafe {
            self.client.plugin.call(BufferElementType {
                buffer,
                ..Default::default()
            })?
        };
        match dtype_of(found.element_type) {
            Some(dtype) => Ok(dtype),
            None => bail!(
                Unsupported,
                "arrays of type {} are not supported",
                name_of(found.element_type)
            ),
        }
    }

    /// The extents.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn shape(&self) -> Result<Vec<usize>> {
        let buffer = self.buffer;
        // SAFETY: the buffer is alive, and owns the list.
        let extents = unsafe {
            let found = self.client.plugin.call(BufferDimensions {
                buffer,
                ..Default::default()
            })?;
            list::<i64>(found.dims, found.num_dims)
        };
        Ok(extents.into_iter().map(|n| n as usize).collect())
    }

    /// Waits until the elements are computed.
    ///
    /// # Errors
    /// The error of the program that should have computed them.
    pub fn wait(&self) -> Result<()> {
        let buffer = self.buffer;
        // SAFETY: the buffer is alive. The caller owns the event.
        let event = unsafe {
            let found = self.client.plugin.call(BufferReadyEvent {
                buffer,
                ..Default::default()
            })?;
            Event::of(&self.client, found.event)
        };
        event.map_or(Ok(()), |e| e.wait())
    }

    /// The elements, after waiting for them.
    ///
    /// # Errors
    /// The error of the program that should have computed them; the buffer was deleted or donated.
    pub fn download(&self) -> Result<Array> {
        let (dtype, shape) = (self.dtype()?, self.shape()?);
        if dtype == DType::Bool {
            let bytes = self.elements::<u8>(&shape)?;
            return Array::from_vec(
                shape,
                bytes.into_iter().map(|b| b != 0).collect::<Vec<bool>>(),
            );
        }
        for_dtype!(dtype, T => Array::from_vec(shape.clone(), self.elements::<T>(&shape)?))
    }

    fn elements<T: Element>(&self, shape: &[usize]) -> Result<Vec<T>> {
        // `T` is a type of numbers: all bytes are elements.
        let mut elements = vec![T::default(); shape.iter().product()];
        let order: Vec<i64> = (0..shape.len() as i64).rev().collect();
        let layout = MemoryLayout {
            struct_size: size_of::<MemoryLayout>(),
            variant_size: 7 * size_of::<usize>(),
            list: order.as_ptr().into(),
            list_size: order.len(),
            ..Default::default()
        };
        // SAFETY: the buffer, the layout and the elements are alive until the event, for which is
        // waited. The caller owns the event.
        unsafe {
            let copy = self.client.plugin.call(BufferToHostBuffer {
                src: self.buffer,
                host_layout: (&raw const layout).into(),
                dst: Pointer(elements.as_mut_ptr().cast()),
                dst_size: size_of_val(&elements[..]),
                ..Default::default()
            })?;
            if let Some(event) = Event::of(&self.client, copy.event) {
                event.wait()?;
            }
        }
        Ok(elements)
    }

    /// A copy on another device of the client.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn to_device(&self, device: &Device) -> Result<Buffer> {
        let buffer = self.buffer;
        // SAFETY: the buffer and the device are alive. The caller owns the copy.
        unsafe {
            let made = self.client.plugin.call(BufferCopyToDevice {
                buffer,
                dst_device: device.pointer(),
                ..Default::default()
            })?;
            Ok(Buffer::of(&self.client, made.dst_buffer))
        }
    }

    /// Gives the memory back before the buffer is dropped. Reading it is an error afterwards.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn delete(&self) -> Result<()> {
        let buffer = self.buffer;
        // SAFETY: the buffer is alive.
        unsafe {
            self.client.plugin.call(BufferDelete {
                buffer,
                ..Default::default()
            })?;
        }
        Ok(())
    }

    /// Whether the memory was given back, or to a program that it was donated to.
    ///
    /// # Errors
    /// The plugin's error.
    pub fn is_deleted(&self) -> Result<bool> {
        let buffer = self.buffer;
        // SAFETY: the buffer is alive.
        let found = unsafe {
            self.client.plugin.call(BufferIsDeleted {
                buffer,
                ..Default::default()
            })?
        };
        Ok(found.is_deleted != 0)
    }
}
