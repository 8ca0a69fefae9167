//! [`Call`]: the derivative orders and the tolerance of a special function, and the vector trait of
//! these functions.

use crate::vector::V;

/// A vector of f64.
pub(crate) trait D: V<E = f64> {}

impl<W: V<E = f64>> D for W {}

/// The unpacked parameter of the kernel of a [`Special`](super::Special).
#[derive(Clone, Copy)]
pub(super) struct Call {
    /// Two orders of derivatives. For a function with an order, the first is that order.
    pub(super) orders: Orders,
    /// Relative tolerance: terms below this fraction of the sum are neglected.
    pub(super) least: f64,
    /// Whether the value is 1 minus the function.
    pub(super) upper: bool,
}

impl Call {
    /// Packs the orders into the kernel's parameter. Bits 24 and 25 are reserved for
    /// [`Call::NARROW`] and [`Call::UPPER`].
    pub(super) fn pack((i, j): (u32, u32)) -> usize {
        assert!(
            i < 1 << 16 && j < 1 << 8,
            "orders are limited where operations are made"
        );
        i as usize | (j as usize) << 16
    }

    pub(super) const NARROW: usize = 1 << 24;
    pub(super) const UPPER: usize = 1 << 25;

    pub(super) fn unpack(data: usize) -> Call {
        let least = if data & Call::NARROW == 0 {
            5e-17
        } else {
            1e-11
        };
        Call {
            orders: (data & 0xffff, data >> 16 & 0xff),
            least,
            upper: data & Call::UPPER != 0,
        }
    }

    /// Whether no derivative is requested.
    pub(super) fn is_plain(self) -> bool {
        self.orders == (0, 0)
    }
}

/// Orders in the two variables. For one variable the second is 0.
pub(super) type Orders = (usize, usize);
