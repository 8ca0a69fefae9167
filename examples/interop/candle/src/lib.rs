//! Tensors of candle as tensors of Cotangent and back.
//!
//! candle's tensors are row-major and shared, and may be on a device, so both directions copy.

use candle_core::Device;
use cotangent::Tensor;
use std::error::Error;

/// A tensor with a copy of the elements, whatever their strides and device.
pub fn from_candle(t: &candle_core::Tensor) -> Result<Tensor, Box<dyn Error>> {
    let data = t.flatten_all()?.to_vec1::<f32>()?;
    Ok(Tensor::from_vec_row_major(t.dims(), data)?)
}

/// A candle tensor on the CPU with a copy of the elements, whatever the strides of the tensor.
pub fn to_candle(t: &Tensor) -> Result<candle_core::Tensor, Box<dyn Error>> {
    let data = t.to_vec_row_major::<f32>()?;
    Ok(candle_core::Tensor::from_vec(
        data,
        t.shape(),
        &Device::Cpu,
    )?)
}
