//! [`Remote`]: the elements of a tensor that is on a device.
//!
//! The view of such a tensor has the type, and no elements: all strides are 0, and its buffer is
//! one NaN (0 for integers), which is owned by the handle of the elements. So the handle is
//! wherever the view is, and is released with the last one.

use super::{Given, Tensor};
use crate::here::bail_here;
use cotangent_core::array::{Buffer, Elements};
use cotangent_core::{Array, Element, Result, Scalar, Type, for_dtype};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

/// Elements on a device. Its [`Debug`] is the name of the device: `cuda:0`.
pub(crate) trait Remote: Debug + Any + Send + Sync {
    /// The type of the tensor.
    fn ty(&self) -> &Type;

    /// A copy of the elements on the host, after waiting for them.
    fn download(&self) -> Result<Array>;

    /// The handle, for those who know its type.
    fn any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// The owner of the only element of a view.
struct Handle<T> {
    element: [T; 1],
    remote: Arc<dyn Remote>,
}

impl<T: Element> Elements<T> for Handle<T> {
    fn elements(&self) -> &[T] {
        &self.element
    }

    fn owner(&self) -> Option<&dyn Any> {
        Some(&self.remote)
    }
}

/// The view of elements on a device.
pub(crate) fn remote_view(remote: Arc<dyn Remote>) -> Result<cotangent_cpu::Tensor> {
    let ty = remote.ty().clone();
    let Some(shape) = ty.shape.as_const() else {
        cotangent_core::bail!(Invalid, "a tensor has known extents, not those of {ty}")
    };
    let data = for_dtype!(ty.dtype, T => {
        let nan = Scalar::F(f64::NAN).array(ty.dtype);
        let element = [nan.as_slice::<T>().expect("its own type")[0]];
        T::share(Buffer::of_owner(Handle { element, remote }))
    });
    cotangent_cpu::Tensor::from_parts(data, 0, &shape, &vec![0; shape.len()])
}

/// The handle of the elements of a view that is on a device; `None` on the host.
#[inline]
pub(crate) fn remote_of(view: &cotangent_cpu::Tensor) -> Option<&Arc<dyn Remote>> {
    view.owner()?.downcast_ref()
}

impl Tensor {
    /// The handle of elements on a device; `None` on the host.
    pub(crate) fn remote(&self) -> Option<&Arc<dyn Remote>> {
        remote_of(self.view())
    }

    /// The name of the device where the elements are, such as `cuda:0`; `None` on the host.
    ///
    /// ```
    /// assert_eq!(cotangent::Tensor::scalar(1.0).device(), None);
    /// ```
    pub fn device(&self) -> Option<String> {
        self.remote().map(|r| format!("{r:?}"))
    }

    /// The same elements on the host: a copy, after waiting for them, if they are on a device. The
    /// way there is [`PjrtBackend::to_device`](crate::pjrt::PjrtBackend::to_device).
    ///
    /// ```
    /// let x = cotangent::Tensor::scalar(1.0);
    /// assert_eq!(x.to_host()?, x);
    /// # Ok::<(), cotangent::Error>(())
    /// ```
    ///
    /// # Errors
    /// The error of the program that should have computed them.
    #[track_caller]
    pub fn to_host(&self) -> Result<Tensor> {
        Ok(match self.remote() {
            None => self.clone(),
            Some(remote) => Tensor::computed(remote.download()?.into(), self.given)?,
        })
    }

    /// Returns an error for a tensor on a device.
    #[track_caller]
    pub(crate) fn needs_host(&self, method: &str) -> Result<()> {
        if let Some(remote) = self.remote() {
            bail_here!(
                DeviceMismatch,
                "`{method}` of a tensor of type {} on {remote:?}: it is for tensors on the host. Copy it by `to_host` \
                 or `download_tensor`, or use the operation of `cotangent::methods`, which runs on the device",
                self.ty()
            );
        }
        Ok(())
    }

    /// A tensor on a device.
    pub(crate) fn on_device(remote: Arc<dyn Remote>, given: Given) -> Result<Tensor> {
        Ok(Tensor::strided(remote_view(remote)?, given))
    }
}
