//! Inputs that are columns of a matrix.

use super::*;

/// Differences of columns of a matrix, in any order, some of them together with another matrix:
/// squares of the matrix are transposed together.
#[test]
fn columns_of_a_matrix_are_packed_together() {
    fn of<T: TestNumber + std::ops::Sub<Output = T>>(number: fn(f64) -> T) {
        let (mut random, mut together) = (Random(11), 0);
        for round in 0..120 {
            let count = 2 + random.below(20);
            let (step, n) = (count + random.below(3), 1 + random.below(1500));
            let memory: Vec<T> = (0..(n + 1) * step).map(|k| number(k as f64)).collect();
            let mut order: Vec<usize> = (0..count).collect();
            (0..count).for_each(|k| order.swap(k, random.below(count)));
            let isa = [Isa::Avx2, Isa::Avx512][round % 2];
            let (mut b, size) = (Builder::new(), size_of::<T>());
            let x: Vec<Value> = order.iter().map(|_| b.input(size)).collect();
            let other = b.input(size);
            let subtract = <T as TileFloat>::binary(Binary::Sub, isa);
            let y = x.iter().fold(other, |y, &x| {
                // SAFETY: the kernel takes two elements of this type.
                unsafe { b.step(subtract, size, &[y, x], 0) }
            });
            let body = b.finish(&[y]);
            let strides = vec![[step as isize]; count];
            let strides = strides.iter().map(|s| &s[..]).chain([&[1isize][..]]);
            let laid = body.laid(&[n], strides);
            let mut inputs: Vec<*const u8> =
                order.iter().map(|&k| memory[k..].as_ptr().cast()).collect();
            inputs.push(memory.as_ptr().cast());
            together += body.columns(&laid, &inputs).iter().flatten().count();
            let start = random.below(n);
            let mut got = vec![number(-1.0); n - start];
            // SAFETY: the matrix has all columns; the output has the elements of the range.
            let ran = unsafe {
                let to = [got.as_mut_ptr().cast::<u8>()];
                let available = Isa::available().any(|l| l == isa);
                available && body.run_code(isa, &laid, start..n, &inputs, &to)
            };
            for (i, got) in (start..n).zip(&got).filter(|_| ran) {
                let of_row = order.iter().map(|k| memory[i * step + k]);
                let want = of_row.fold(memory[i], |y, x| y - x);
                let [got, want] = [*got, want].map(|x| x.bytes());
                assert_eq!(got, want, "round {round}, {count} of {step}, element {i}");
            }
        }
        assert!(together > 500, "{together} columns");
    }
    of::<f32>(|x| x as f32);
    of::<f64>(|x| x);
}
