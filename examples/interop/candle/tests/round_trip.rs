//! Tensors of candle: there and back, and a product in between.

use candle_core::{Device, Tensor};
use interop_candle::{from_candle, to_candle};

#[test]
fn a_matrix_is_copied_there_and_back() -> Result<(), Box<dyn std::error::Error>> {
    let c = Tensor::new(&[[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]], &Device::Cpu)?;
    let t = from_candle(&c)?;
    assert_eq!((t.shape(), t.strides()), (&[2, 3][..], &[3, 1][..]));
    assert_eq!(t.as_slice::<f32>()?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(from_candle(&c.t()?)?, t.t()?);

    let back = to_candle(&t.t()?)?;
    assert_eq!(back.to_vec2::<f32>()?, [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]);
    let product = to_candle(&t)?.matmul(&back)?.to_vec2::<f32>()?;
    assert_eq!(product, [[14.0, 32.0], [32.0, 77.0]]);
    Ok(())
}
