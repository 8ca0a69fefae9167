//! [`Value`]: an array that is computed or promised; and arrays of host memory.

use crate::counts;
use crate::event::Completion;
use crate::failure::Failure;
use cotangent::cpu::View;
use cotangent::extend::{Data, for_dtype};
use cotangent::{Array, Buffer, DType, Element, Elements};
use pjrt::{Pointer, dtypes};
use std::sync::{Arc, OnceLock};

/// Largest number of bytes for which a copy is made although the memory may be shared.
const MAX_COPIED_BYTES: usize = 1 << 10;

/// The number of an element type in the interface.
pub(crate) fn number(dtype: DType) -> i32 {
    dtypes::number_of(dtype).unwrap_or(0)
}

/// The element type of a number of the interface.
pub(crate) fn dtype(number: i32) -> Result<DType, Failure> {
    dtypes::dtype_of(number).ok_or_else(|| {
        let name = dtypes::name_of(number);
        Failure::unimplemented(format!(
            "arrays of type {name} ({number}) are not supported"
        ))
    })
}

/// An array, or the promise of one.
pub(crate) struct Value {
    completion: Arc<Completion>,
    array: OnceLock<Array>,
}

impl Value {
    pub(crate) fn ready(array: Array) -> Arc<Value> {
        let value = Value::promised(Completion::done());
        value.set(array);
        value
    }

    /// The promise of an array at the end of work.
    pub(crate) fn promised(completion: Arc<Completion>) -> Arc<Value> {
        Arc::new(Value {
            completion,
            array: OnceLock::new(),
        })
    }

    /// Keeps the promise. The caller completes the work afterwards.
    pub(crate) fn set(&self, array: Array) {
        counts::ARRAYS.add(1);
        counts::BYTES.add(bytes(&array) as i64);
        let _ = self.array.set(array);
    }

    pub(crate) fn completion(&self) -> &Arc<Completion> {
        &self.completion
    }

    /// The array, if it is computed.
    pub(crate) fn array(&self) -> Option<&Array> {
        self.array.get()
    }

    /// The array, once it is computed.
    pub(crate) fn wait(&self) -> Result<&Array, Failure> {
        if let Some(array) = self.array.get() {
            return Ok(array);
        }
        self.completion.wait()?;
        Ok(self
            .array
            .get()
            .expect("work without an error sets its arrays"))
    }

    /// The array of a value that has ended without error, without a copy. If this is the only
    /// owner, the array's memory is not shared afterwards.
    pub(crate) fn into_array(self: Arc<Value>) -> Result<Array, Failure> {
        self.wait()?;
        match Arc::try_unwrap(self) {
            Ok(mut own) => {
                let array = own.array.take().expect("it was waited for");
                uncount(&array);
                Ok(array)
            }
            Err(shared) => shared.wait().cloned(),
        }
    }
}

fn uncount(array: &Array) {
    counts::ARRAYS.add(-1);
    counts::BYTES.add(-(bytes(array) as i64));
}

impl Drop for Value {
    /// Memory of a run returns to the runtime's pool, unless it is shared, so that the next run
    /// need not get pages from the system.
    fn drop(&mut self) {
        if let Some(array) = self.array.take() {
            uncount(&array);
            drop(View::from(array));
        }
    }
}

/// Size of the elements in bytes.
pub(crate) fn bytes(array: &Array) -> usize {
    array.len() * array.dtype().size()
}

/// The elements in memory order.
pub(crate) fn memory(array: &Array) -> &[u8] {
    fn of<T: Element>(array: &Array) -> &[u8] {
        let all = array.as_slice::<T>().unwrap_or_default();
        // SAFETY: elements are numbers without padding, all of whose bytes are initialised.
        unsafe { std::slice::from_raw_parts(all.as_ptr().cast(), size_of_val(all)) }
    }
    for_dtype!(array.dtype(), T => of::<T>(array))
}

/// Called when host memory is no longer read.
pub(crate) type Release = Box<dyn FnOnce() + Send + Sync>;

/// Host memory that arrays share.
struct Shared<T> {
    data: *const T,
    len: usize,
    release: Option<Release>,
}

// SAFETY: the memory is constant while this lives (# Safety of `HostArray::shared`).
unsafe impl<T: Sync> Send for Shared<T> {}
// SAFETY: as for `Send`.
unsafe impl<T: Sync> Sync for Shared<T> {}

impl<T: Sync> Elements<T> for Shared<T> {
    fn elements(&self) -> &[T] {
        // SAFETY: the memory is valid while this lives (# Safety of `HostArray::shared`).
        unsafe { std::slice::from_raw_parts(self.data, self.len) }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            release();
        }
    }
}

/// An array in host memory, with strides in bytes.
pub(crate) struct HostArray {
    data: *const u8,
    dtype: DType,
    shape: Vec<usize>,
    /// Strides in bytes; `None` for row-major order.
    strides: Option<Vec<i64>>,
}

impl HostArray {
    /// # Errors
    /// Extents are negative, or there are too many elements, or a stride is missing.
    pub(crate) fn new(
        data: Pointer,
        dtype: DType,
        dims: &[i64],
        strides: Option<&[i64]>,
    ) -> Result<HostArray, Failure> {
        let shape = dims.iter().map(|&n| usize::try_from(n).ok());
        let shape: Option<Vec<usize>> = shape.collect();
        let count = shape.as_deref().and_then(cotangent::array::numel);
        let (Some(shape), Some(count)) = (shape, count) else {
            let text = format!("an array of shape {dims:?} does not exist");
            return Err(Failure::argument(text));
        };
        if strides.is_some_and(|s| s.len() != shape.len()) {
            return Err(Failure::argument("an array has a stride for each axis"));
        }
        if count > 0 && data.is_null() {
            return Err(Failure::argument("the memory of the array is null"));
        }
        let mut host = HostArray {
            data: data.0.cast_const().cast(),
            dtype,
            shape,
            strides: strides.map(<[i64]>::to_vec),
        };
        if host.is_row_major() {
            host.strides = None;
        }
        Ok(host)
    }

    fn len(&self) -> usize {
        self.shape.iter().product()
    }

    fn is_row_major(&self) -> bool {
        let Some(strides) = &self.strides else {
            return true;
        };
        let mut expected = self.dtype.size() as i64;
        let mut axes = self.shape.iter().zip(strides).rev();
        self.len() == 0
            || axes.all(|(&n, &stride)| {
                let fits = n == 1 || stride == expected;
                expected = expected.saturating_mul(n as i64);
                fits
            })
    }

    fn is_aligned(&self) -> bool {
        let size = for_dtype!(self.dtype, T => align_of::<T>());
        let strides = self.strides.iter().flatten();
        (self.data as usize).is_multiple_of(size) && { strides }
            .all(|s| s % self.dtype.size() as i64 == 0)
    }

    /// Whether the memory can be shared, and is worth it.
    pub(crate) fn is_shareable(&self) -> bool {
        // A byte of a host array of booleans may be any, so it is copied.
        self.strides.is_none()
            && self.dtype != DType::Bool
            && self.is_aligned()
            && self.len() * self.dtype.size() > MAX_COPIED_BYTES
    }

    /// An array that shares the memory, which [`is_shareable`](Self::is_shareable). `release` is
    /// called when it is no longer read.
    ///
    /// # Safety
    /// The memory can be read and is constant until `release` is called.
    pub(crate) unsafe fn shared(&self, release: Release) -> Result<Array, Failure> {
        let len = self.len();
        let data: Data = for_dtype!(self.dtype, T => T::share(Buffer::of_owner(Shared::<T> {
            data: self.data.cast(),
            len,
            release: Some(release),
        })));
        Ok(Array::from_data(self.shape.clone(), data)?)
    }

    /// A copy.
    ///
    /// # Safety
    /// The memory can be read, and nothing writes to it during the call.
    pub(crate) unsafe fn copied(&self) -> Result<Array, Failure> {
        if self.len() == 0 {
            return Ok(Array::zeros(self.dtype, self.shape.clone())?);
        }
        if self.dtype == DType::Bool {
            // Any byte but zero is true.
            let bytes = HostArray {
                data: self.data,
                dtype: DType::U8,
                shape: self.shape.clone(),
                strides: self.strides.clone(),
            };
            // SAFETY: the same memory (# Safety).
            let array = unsafe { bytes.copied()? };
            let all = array.as_slice::<u8>().unwrap_or_default();
            let all = all.iter().map(|&b| b != 0).collect();
            return Ok(Array::from_vec::<bool>(self.shape.clone(), all)?);
        }
        let Some(strides) = self.strides.as_ref().filter(|_| self.is_aligned()) else {
            // SAFETY: the caller guarantees the memory (# Safety).
            return for_dtype!(self.dtype, T => unsafe { self.gathered::<T>() });
        };
        let size = self.dtype.size() as i64;
        let steps: Vec<isize> = strides.iter().map(|s| (s / size) as isize).collect();
        // Offsets of the elements at the lowest and highest address.
        let (mut low, mut high) = (0isize, 0isize);
        for (&n, &step) in self.shape.iter().zip(&steps) {
            let last = (n as isize - 1) * step;
            (low, high) = (low + last.min(0), high + last.max(0));
        }
        let lent = HostArray {
            data: self.data.wrapping_offset(low * size as isize),
            dtype: self.dtype,
            shape: vec![(high - low) as usize + 1],
            strides: None,
        };
        // SAFETY: the view below is copied, so nothing reads the memory after the call (# Safety).
        let lent = unsafe { lent.shared(Box::new(|| {}))? };
        let view = View::from_parts(lent.into_data(), low.unsigned_abs(), &self.shape, &steps)?;
        let array = view.into_array()?;
        // An array that is one range of memory, such as one element, is not copied by `into_array`.
        let owned = for_dtype!(array.dtype(), T => {
            let all = array.as_slice::<T>().unwrap_or_default();
            Array::from_vec::<T>(self.shape.clone(), all.to_vec())
        });
        Ok(owned?)
    }

    /// A copy of elements in row-major order, or at any address.
    ///
    /// # Safety
    /// As for [`copied`](Self::copied); there are elements of type `T`, all of whose bytes are
    /// values.
    unsafe fn gathered<T: Element>(&self) -> Result<Array, Failure> {
        let count = self.len();
        let mut all: Vec<T> = Vec::with_capacity(count);
        match &self.strides {
            None => {
                // SAFETY: there are `count` elements (# Safety), and room for them.
                unsafe {
                    let to = all.as_mut_ptr().cast::<u8>();
                    std::ptr::copy_nonoverlapping(self.data, to, count * size_of::<T>());
                    all.set_len(count);
                }
            }
            Some(strides) => {
                let mut at = vec![0usize; self.shape.len()];
                for _ in 0..count {
                    let pairs = at.iter().zip(strides);
                    let offset: i64 = pairs.map(|(&i, &s)| i as i64 * s).sum();
                    let from = self.data.wrapping_offset(offset as isize).cast::<T>();
                    // SAFETY: the address is that of an element (# Safety).
                    all.push(unsafe { from.read_unaligned() });
                    for (i, &n) in at.iter_mut().zip(&self.shape).rev() {
                        *i += 1;
                        if *i < n {
                            break;
                        }
                        *i = 0;
                    }
                }
            }
        }
        Ok(Array::from_vec(self.shape.clone(), all)?)
    }
}
