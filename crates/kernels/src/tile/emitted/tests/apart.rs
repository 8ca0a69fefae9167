//! Outputs that are rows of larger arrays.

use super::Type;
use crate::testing::Random;
use std::collections::HashSet;

/// Loops over the elements of outputs in larger arrays, innermost first; none if they are adjacent.
pub(super) fn random_rows([p, q, r]: [usize; 3], random: &mut Random) -> Vec<(usize, isize)> {
    let pads = [random.below(20), random.below(3) * 16];
    match random.below(6) {
        0 => vec![(r, 1), (p * q, (r + pads[0]) as isize)],
        1 => vec![(q * r, 1), (p, (q * r + pads[1]) as isize)],
        2 => {
            let row = r + pads[0];
            let block = (q * row + pads[1]) as isize;
            vec![(r, 1), (q, row as isize), (p, block)]
        }
        _ => Vec::new(),
    }
}

/// Compares the elements of an output at these places with those wanted. The others are unwritten.
pub(super) fn compare_output(of: Type, got: &[u8], want: &[u8], places: &[usize], what: &str) {
    let element = |i: usize| i * of.size()..(i + 1) * of.size();
    let written: HashSet<usize> = places.iter().copied().collect();
    for i in (0..got.len() / of.size()).filter(|i| !written.contains(i)) {
        let unwritten = got[element(i)].iter().all(|&b| b == 0xaa);
        assert!(unwritten, "{what}: element {i} between the rows");
    }
    for (i, &at) in places.iter().enumerate() {
        let (x, y) = (of.bits(&got[element(at)]), of.bits(&want[element(i)]));
        assert_eq!(x, y, "{what} at {i}: {x:x} for {y:x}");
    }
}
