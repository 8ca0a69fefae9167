//! Element types by the numbers of the interface.

use cotangent_core::DType;

/// Names of element types by number, in the words of the interface. 0 is no type.
const NAMES: [&str; 32] = [
    "invalid",
    "pred",
    "s8",
    "s16",
    "s32",
    "s64",
    "u8",
    "u16",
    "u32",
    "u64",
    "f16",
    "f32",
    "f64",
    "bf16",
    "c64",
    "c128",
    "f8e5m2",
    "f8e4m3fn",
    "f8e4m3b11fnuz",
    "f8e5m2fnuz",
    "f8e4m3fnuz",
    "s4",
    "u4",
    "token",
    "s2",
    "u2",
    "f8e4m3",
    "f8e3m4",
    "f8e8m0fnu",
    "f4e2m1fn",
    "s1",
    "u1",
];

/// Element types of arrays, from number 1 on.
const DTYPES: [DType; 15] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::F32,
    DType::F64,
    DType::BF16,
    DType::C64,
    DType::C128,
];

/// The number of an element type; `None` for a type without elements.
pub fn number_of(dtype: DType) -> Option<i32> {
    let found = DTYPES.iter().position(|&d| d == dtype);
    found.map(|k| k as i32 + 1)
}

/// The element type of this number; `None` if this library lacks it.
pub fn dtype_of(number: i32) -> Option<DType> {
    let index = usize::try_from(number).ok()?.checked_sub(1)?;
    DTYPES.get(index).copied()
}

/// The name of the element type of this number.
pub fn name_of(number: i32) -> &'static str {
    let index = usize::try_from(number).ok();
    index.and_then(|k| NAMES.get(k)).unwrap_or(&"unknown")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_type_of_arrays_has_a_number_and_a_name() {
        for dtype in DType::ALL {
            let number = number_of(dtype).unwrap();
            assert_eq!(dtype_of(number), Some(dtype));
            let name = dtype.name().trim_start_matches(['i', 'u', 'f', 'c', 'b']);
            assert!(
                dtype == DType::Bool || name_of(number).ends_with(name),
                "{dtype}"
            );
        }
        assert_eq!([0, -1, 21, 99].map(dtype_of), [None; 4]);
        assert_eq!([0, 21, 99].map(name_of), ["invalid", "s4", "unknown"]);
    }
}
