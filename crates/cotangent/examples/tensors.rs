//! Tensors: orders, views, element types, files.
//!
//! `cargo run -p cotangent --example tensors`

use cotangent::{C128, DType, Result, Tensor, TypedTensor};

/// The program.
pub(crate) fn main() -> Result<()> {
    // Both memory orders are accepted without a copy, and the tensor records its order.
    let a = Tensor::from_vec_col_major(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?;
    let b = Tensor::from_vec_row_major(vec![2, 3], vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0])?;
    assert_eq!(a, b);
    assert_eq!(a.as_slice::<f64>()?, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    println!("{a}");

    // Views: slices, transposes, broadcasts and most reshapes share the elements.
    let columns = a.slice(1, 1..3)?;
    assert_eq!(columns.to_vec_row_major::<f64>()?, [3.0, 5.0, 4.0, 6.0]);
    assert_eq!(a.t()?.index(0, 2)?.to_vec::<f64>()?, [5.0, 6.0]);
    assert_eq!(
        Tensor::scalar(7i64).broadcast_to([2, 2])?.to_vec::<i64>()?,
        [7; 4]
    );

    // Element types are dynamic, or static in a TypedTensor.
    let eye = TypedTensor::<f32>::eye(2)?;
    assert_eq!(eye.as_slice(), &[1.0, 0.0, 0.0, 1.0]);
    let z = Tensor::vector(vec![C128::new(1.0, -1.0)]);
    assert_eq!((z.dtype(), z.shape()), (DType::C128, &[1][..]));

    // Files of several named tensors.
    let path = std::env::temp_dir().join(format!(
        "cotangent_tensors_{}.safetensors",
        std::process::id()
    ));
    Tensor::write_all(&path, &[("a", &a), ("eye", &eye)])?;
    let back = Tensor::read_all(&path)?;
    assert_eq!((back[0].0.as_str(), &back[0].1), ("a", &a));
    std::fs::remove_file(&path).expect("the file was written");
    Ok(())
}
