//! [`Call`]: the orders and the tolerance of a special function, and the vectors it runs on.

use crate::vector::V;

/// Vectors of f64.
pub(crate) trait D: V<E = f64> {}

impl<W: V<E = f64>> D for W {}

/// What the kernel of a [`Special`] was made with.
#[derive(Clone, Copy)]
pub(super) struct Call {
    /// Two orders of derivatives; an order of a function is the first.
    pub(super) orders: Orders,
    /// The least term of a sum that counts, over the sum.
    pub(super) least: f64,
}

impl Call {
    /// In the word that a kernel keeps, where a bit is left for [`Call::narrow`].
    pub(super) fn pack((i, j): (u32, u32)) -> usize {
        assert!(
            i < 1 << 16 && j < 1 << 8,
            "orders are limited where operations are made"
        );
        i as usize | (j as usize) << 16
    }

    pub(super) const NARROW: usize = 1 << 24;

    pub(super) fn unpack(data: usize) -> Call {
        let least = if data & Call::NARROW == 0 {
            5e-17
        } else {
            1e-11
        };
        Call {
            orders: (data & 0xffff, data >> 16 & 0xff),
            least,
        }
    }

    /// No derivative is asked for.
    pub(super) fn is_plain(self) -> bool {
        self.orders == (0, 0)
    }
}

/// Orders in the two variables; of one variable the second is 0.
pub(super) type Orders = (usize, usize);
