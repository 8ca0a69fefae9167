//! Arrays of the crate `ndarray`.

use crate::{elements, numbers};
use cotangent::tensor::Order;
use cotangent::{Code, DType, Result, Tensor, for_dtype};
use ndarray::{Array, Array2, ArrayD, ArrayView, Axis, IxDyn, ShapeBuilder, arr0, array, s};

const SHAPES: [&[usize]; 6] = [&[], &[4], &[2, 3], &[0], &[2, 0, 3], &[1, 3, 1, 2]];

#[test]
fn every_element_type_and_order_survives_a_round_trip() -> Result<()> {
    for dtype in DType::ALL {
        for shape in SHAPES {
            let a = numbers(dtype, shape);
            for_dtype!(dtype, T => {
                let rows = ArrayD::<T>::from_shape_vec(IxDyn(shape), elements(&a)).unwrap();
                let mut columns = ArrayD::<T>::default(IxDyn(shape).f());
                columns.assign(&rows);
                for array in [rows.clone(), columns] {
                    let view = Tensor::from_ndarray_view(array.view())?;
                    let owned = Tensor::from_ndarray(array)?;
                    for t in [view, owned] {
                        assert!(t.to_array()?.same_bits(&a), "{dtype} {shape:?}");
                        assert_eq!(t.to_ndarray::<T>()?, rows, "{dtype} {shape:?}");
                        assert_eq!(t.ndarray_view::<T>()?, rows, "{dtype} {shape:?}");
                    }
                }
            });
        }
    }
    Ok(())
}

#[test]
fn dense_arrays_are_taken_and_viewed_without_a_copy() -> Result<()> {
    let rows = Array2::from_shape_fn((3, 5), |(i, j)| (i * 5 + j) as f64);
    let columns = Array2::from_shape_fn((3, 5).f(), |(i, j)| (i * 5 + j) as f64);
    for (a, order) in [(rows, Order::RowMajor), (columns, Order::ColumnMajor)] {
        let (address, same) = (a.as_ptr(), a.clone());
        let t = Tensor::from_ndarray(a)?;
        assert_eq!(t.order(), order);
        assert_eq!(t.as_slice::<f64>()?.as_ptr(), address);
        let view = t.ndarray_view::<f64>()?;
        assert_eq!(view.as_ptr(), address);
        assert_eq!(view, same.into_dyn());
        let back = t.to_ndarray::<f64>()?;
        assert_eq!(back.is_standard_layout(), order == Order::RowMajor);
    }
    Ok(())
}

#[test]
fn other_arrays_are_copied() -> Result<()> {
    let a = Array2::from_shape_fn((4, 6), |(i, j)| (i * 6 + j) as i32);
    let whole = a.clone();
    let mut every_other = a.clone();
    every_other.slice_collapse(s![1..;2, ..;3]);
    let mut tail = a.clone();
    tail.slice_collapse(s![2.., ..]);
    let mut head = a.clone();
    head.slice_collapse(s![..1, ..]);
    let mut reversed = a.clone();
    reversed.invert_axis(Axis(1));
    let mut empty = a;
    empty.slice_collapse(s![.., 3..3]);
    for array in [whole, every_other, tail, head, reversed, empty] {
        let want: Vec<i32> = array.iter().copied().collect();
        let shape = array.shape().to_vec();
        let view = Tensor::from_ndarray_view(array.view())?;
        let owned = Tensor::from_ndarray(array)?;
        for t in [view, owned] {
            assert_eq!(
                (t.shape(), t.to_vec_row_major::<i32>()?),
                (&shape[..], want.clone())
            );
        }
    }
    let cube = Array::from_shape_fn((2, 3, 4), |(i, j, k)| (i * 12 + j * 4 + k) as u8);
    let permuted = cube.permuted_axes([1, 0, 2]);
    let want = permuted.clone().into_dyn();
    assert_eq!(Tensor::from_ndarray(permuted)?.to_ndarray::<u8>()?, want);
    let repeated = array![1.0f32, 2.0];
    let t = Tensor::from_ndarray_view(repeated.broadcast((3, 2)).unwrap())?;
    assert_eq!(t.to_vec::<f32>()?, [1.0, 2.0, 1.0, 2.0, 1.0, 2.0]);
    assert_eq!(Tensor::from_ndarray(arr0(7u64))?.item::<u64>()?, 7);
    Ok(())
}

#[test]
fn a_copy_without_memory_is_an_error() {
    let one = arr0(1.0f64);
    let huge = one.broadcast((1 << 25, 1 << 25)).unwrap();
    assert_eq!(
        Tensor::from_ndarray_view(huge).unwrap_err().code(),
        Code::Limit
    );
}

#[test]
fn views_share_the_buffer_of_strided_tensors() -> Result<()> {
    let t = Tensor::from_vec_row_major([4, 6], (0..24).collect::<Vec<i64>>())?;
    let cube = t.reshape([2, 2, 6])?;
    let views = [
        t.t()?,
        t.slice_step(1, 1..6, 2)?,
        t.slice(0, 2..4)?.t()?,
        t.index(0, 3)?,
        t.index(1, 2)?,
        t.index(0, 1)?.index(0, 5)?,
        cube.permute_dims([2, 0, 1])?,
        t.index(0, 1)?.broadcast_to([3, 6])?,
        // One element along the axis: its stride is never used.
        t.slice(0, 3..4)?.flip(0)?,
        t.slice(1, 2..2)?.flip(0)?,
    ];
    let buffer = t.as_slice::<i64>()?.as_ptr_range();
    for v in views {
        let view = v.ndarray_view::<i64>()?;
        assert_eq!(view.shape(), v.shape());
        let listed: Vec<i64> = view.iter().copied().collect();
        assert_eq!(listed, v.to_vec_row_major::<i64>()?, "{:?}", v.strides());
        assert!(v.is_empty() || buffer.contains(&view.as_ptr()));
        assert_eq!(v.to_ndarray::<i64>()?, view);
    }
    Ok(())
}

#[test]
fn what_has_no_view_is_an_error_that_names_the_way_out() -> Result<()> {
    let t = Tensor::from_vec_row_major([2, 3], vec![1, 2, 3, 4, 5, 6])?;
    let reversed = t.flip(1)?;
    let e = reversed.ndarray_view::<i32>().unwrap_err();
    assert!(e.to_string().contains("contiguous()"), "{e}");
    assert_eq!(
        reversed.contiguous()?.ndarray_view::<i32>()?,
        array![[3, 2, 1], [6, 5, 4]].into_dyn()
    );
    assert_eq!(
        reversed.to_ndarray::<i32>()?,
        array![[3, 2, 1], [6, 5, 4]].into_dyn()
    );
    for e in [
        t.ndarray_view::<f32>().unwrap_err(),
        t.to_ndarray::<f32>().unwrap_err(),
    ] {
        assert_eq!(e.code(), Code::DTypeMismatch);
        assert!(e.to_string().contains("i32"), "{e}");
    }
    // No elements, and more extents than `ndarray` counts.
    let huge = Tensor::from_vec_row_major([0, 1 << 62, 8], Vec::<f64>::new())?;
    assert_eq!(huge.ndarray_view::<f64>().unwrap_err().code(), Code::Limit);
    assert_eq!(huge.to_ndarray::<f64>().unwrap_err().code(), Code::Limit);
    let view = ArrayView::from_shape((2, 0), &[] as &[f64]).unwrap();
    assert_eq!(Tensor::from_ndarray_view(view)?.shape(), [2, 0]);
    Ok(())
}
