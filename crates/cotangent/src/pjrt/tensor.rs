//! [`DeviceTensor`]: a tensor on a device, or divided among the devices of a mesh.

use super::backend::PjrtBackend;
use crate::{Code, Error, Result, Tensor, Type, bail};
use cotangent_core::{Array, Element, for_dtype};
use cotangent_stablehlo::{Mesh, Spec};
use pjrt::loader::{Buffer, Client, Device, MemoryStats};
use std::sync::{Arc, OnceLock};

/// Where a tensor is.
#[derive(Clone)]
pub(super) enum Placement {
    Device(Device),
    Mesh {
        client: Client,
        mesh: Mesh,
        spec: Spec,
    },
}

impl std::fmt::Debug for Placement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Placement::Device(device) => device.fmt(f),
            Placement::Mesh { client, mesh, .. } => {
                write!(f, "{} devices of {}", mesh.size(), client.platform())
            }
        }
    }
}

/// A tensor on a device, or divided among the devices of a mesh. Clones share it.
///
/// ```no_run
/// use cotangent::Tensor;
/// use cotangent::pjrt::PjrtBackend;
/// let device = PjrtBackend::new("cuda")?;
/// let x = device.upload(&Tensor::vector(vec![1.0f32, 2.0]))?;
/// assert_eq!(format!("{x:?}"), "f32[2] on cuda:0");
/// assert_eq!(x.download()?.to_vec::<f32>()?, [1.0, 2.0]);
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone)]
pub struct DeviceTensor {
    ty: Type,
    held: Arc<TensorShards>,
    placement: Placement,
}

struct TensorShards {
    shards: Vec<Buffer>,
    /// The name of the program to which the tensor was donated.
    donated: OnceLock<Arc<str>>,
}

impl std::fmt::Debug for DeviceTensor {
    /// Prints type and device. Does not wait for the elements.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} on {:?}", self.ty, self.placement)
    }
}

impl DeviceTensor {
    pub(super) fn new(ty: Type, shards: Vec<Buffer>, placement: Placement) -> DeviceTensor {
        let donated = OnceLock::new();
        DeviceTensor {
            ty,
            held: Arc::new(TensorShards { shards, donated }),
            placement,
        }
    }

    /// The type of the whole tensor.
    pub fn ty(&self) -> &Type {
        &self.ty
    }

    pub(super) fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The buffers, one for each device.
    ///
    /// # Errors
    /// The tensor was donated.
    pub(super) fn buffers(&self) -> Result<&[Buffer]> {
        if let Some(name) = self.held.donated.get() {
            bail!(
                Invalid,
                "the tensor {self:?} was donated to a run of `{name}`, which may have written over it"
            );
        }
        Ok(&self.held.shards)
    }

    /// Whether both share their buffers.
    pub(super) fn is(&self, other: &DeviceTensor) -> bool {
        Arc::ptr_eq(&self.held, &other.held)
    }

    /// Whether it is whole on a device.
    pub(super) fn is_on(&self, device: &Device) -> bool {
        matches!(&self.placement, Placement::Device(d) if d == device)
    }

    /// Marks the tensor as donated to a program.
    pub(super) fn donate(&self, name: &Arc<str>) {
        self.held.donated.get_or_init(|| name.clone());
    }

    /// Waits until the elements are computed.
    ///
    /// # Errors
    /// The error of the program that should have computed them; the tensor was donated.
    pub fn wait(&self) -> Result<()> {
        self.buffers()?.iter().try_for_each(Buffer::wait)
    }

    /// The tensor, after waiting for it. A divided tensor is put together. If the environment
    /// variable `COTANGENT_CHECK` is set, copies on several devices are compared.
    ///
    /// # Errors
    /// The error of the program that should have computed it; the tensor was donated; copies that
    /// differ, if they are compared.
    pub fn download(&self) -> Result<Tensor> {
        let buffers = self.buffers()?;
        let Placement::Mesh { mesh, spec, .. } = &self.placement else {
            return Ok(Tensor::from(buffers[0].download()?));
        };
        let Some(shape) = self.ty.shape.as_const() else {
            bail!(
                Invalid,
                "a tensor on a device has known extents, not {}",
                self.ty
            )
        };
        let checks = std::env::var_os("COTANGENT_CHECK").is_some_and(|v| v != "0");
        let mut parts: Vec<Array> = Vec::new();
        let mut seen = Vec::new();
        for (k, buffer) in buffers.iter().enumerate() {
            let block = spec.block(mesh, k, &shape);
            match seen.iter().position(|b| *b == block) {
                None => {
                    parts.push(buffer.download()?);
                    seen.push(block);
                }
                // Copies on other devices are equal.
                Some(first) if checks => same_copy(&parts[first], &buffer.download()?, k, self)?,
                Some(_) => {}
            }
        }
        fn joined<T: Element>(
            shape: &[usize],
            blocks: &[Vec<std::ops::Range<usize>>],
            parts: &[Array],
        ) -> Result<Array> {
            let mut all = vec![T::default(); shape.iter().product()];
            for (block, part) in blocks.iter().zip(parts) {
                let part: &[T] = part.as_slice().expect("shards have the type of the tensor");
                let width = block.last().map_or(1, |b| b.len());
                for (row, elements) in part.chunks(width.max(1)).enumerate() {
                    // The position of the row in the tensor, from the last axis but one on.
                    let (mut rest, mut at, mut step) = (row, 0, 1);
                    for (d, (b, &n)) in block.iter().zip(shape).enumerate().rev() {
                        if d + 1 == shape.len() {
                            at += b.start;
                        } else {
                            at += (b.start + rest % b.len()) * step;
                            rest /= b.len();
                        }
                        step *= n;
                    }
                    all[at..at + elements.len()].copy_from_slice(elements);
                }
            }
            Array::from_vec(shape, all)
        }
        let whole = for_dtype!(self.ty.dtype, T => joined::<T>(&shape, &seen, &parts))?;
        Ok(Tensor::from(whole))
    }

    /// The part of each device, after waiting for it.
    ///
    /// # Errors
    /// As [`download`](Self::download).
    pub fn shards(&self) -> Result<Vec<Tensor>> {
        let part = |b: &Buffer| Ok(Tensor::from(b.download()?));
        self.buffers()?.iter().map(part).collect()
    }

    /// A copy on another device of the same plugin.
    ///
    /// # Errors
    /// The devices belong to different plugins; the tensor is divided; the plugin's error.
    pub fn to_device(&self, backend: &PjrtBackend) -> Result<DeviceTensor> {
        let buffers = self.buffers()?;
        let is_near = match &self.placement {
            Placement::Device(d) => d.client().is(backend.device.client()),
            Placement::Mesh { .. } => false,
        };
        if !is_near {
            bail!(
                DeviceMismatch,
                "{self:?} cannot be copied to {backend:?} directly: download it, and upload it there"
            );
        }
        let copy = buffers[0].to_device(&backend.device)?;
        let placement = Placement::Device(backend.device.clone());
        Ok(DeviceTensor::new(self.ty.clone(), vec![copy], placement))
    }
}

/// Checks that the copy of a block on device `k` is that of the first device which has the block.
fn same_copy(first: &Array, copy: &Array, k: usize, tensor: &DeviceTensor) -> Result<()> {
    if !first.same_bits(copy) {
        bail!(
            Invalid,
            "the copies of {tensor:?} differ: that of device {k} is not that of the first device with the same block"
        );
    }
    Ok(())
}

/// Bytes of the elements of a tensor of known extents.
pub(super) fn bytes(ty: &Type) -> usize {
    let count: usize = ty.shape.as_const().map_or(0, |s| s.iter().product());
    count * ty.dtype.size()
}

impl PjrtBackend {
    /// Adds to an error for too little memory how many bytes are asked, and how many are free.
    pub(super) fn out_of_memory(&self, e: Error, asked: u64) -> Error {
        if e.code() != Code::OutOfMemory {
            return e;
        }
        let free = match self.memory() {
            Ok(MemoryStats {
                in_use,
                limit: Some(limit),
                ..
            }) => format!("{} are free", limit.saturating_sub(in_use)),
            _ => "the plugin does not tell how many are free".to_owned(),
        };
        e.note(format!("{asked} bytes are asked on {self:?}, and {free}"))
    }

    /// A tensor on this device. Returns before a large tensor is transferred.
    ///
    /// # Errors
    /// The device has too little memory, or lacks the element type.
    pub fn upload(&self, x: &Tensor) -> Result<DeviceTensor> {
        let buffer = self.buffer(&x.to_array()?, &self.device)?;
        let placement = Placement::Device(self.device.clone());
        Ok(DeviceTensor::new(x.ty(), vec![buffer], placement))
    }

    fn buffer(&self, x: &Array, device: &Device) -> Result<Buffer> {
        let made = self.device.client().upload(x, device);
        made.map_err(|e| {
            let e = e.note(format!("a tensor of type {} for {device:?}", x.ty()));
            self.out_of_memory(e, bytes(&x.ty()) as u64)
        })
    }

    /// A tensor that is divided among the devices of a mesh: the first ones of the plugin.
    ///
    /// # Errors
    /// The mesh has more devices than the plugin; the tensor does not divide; as
    /// [`upload`](Self::upload).
    pub fn upload_sharded(&self, x: &Tensor, mesh: &Mesh, spec: &Spec) -> Result<DeviceTensor> {
        if spec.is_open() {
            bail!(
                Invalid,
                "an open division is chosen by the compiler of a program: upload by the division that \
                 `DeviceProgram::division` returns"
            );
        }
        spec.check(mesh, &x.ty())?;
        let devices = self.of_mesh(mesh)?;
        let shard = |(k, device): (usize, &Device)| {
            let mut part = x.clone();
            for (axis, block) in spec.block(mesh, k, x.shape()).into_iter().enumerate() {
                part = part.slice(axis, block)?;
            }
            self.buffer(&part.to_array()?, device)
        };
        let shards = devices.iter().enumerate().map(shard);
        let shards = shards.collect::<Result<Vec<Buffer>>>()?;
        let placement = Placement::Mesh {
            client: self.device.client().clone(),
            mesh: mesh.clone(),
            spec: spec.clone(),
        };
        Ok(DeviceTensor::new(x.ty(), shards, placement))
    }
}
