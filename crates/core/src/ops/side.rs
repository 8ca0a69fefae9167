//! [`Side`]: the kind of a weight at a kink, and its value on one side of the kink.

/// The kind of a weight, and its value on one side of the kink.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// A weight of one side.
    Known,
    /// A sign, 0 at the kink: 1 there (`up`) or -1.
    Sign {
        /// Whether it becomes 1.
        up: bool,
    },
    /// The share of one of two operands: values between 0 and 1 become 1 (`whole`) or 0.
    Share {
        /// Whether it becomes 1.
        whole: bool,
    },
    /// The shares of elements along these axes: the first (or last) nonzero share becomes 1, the
    /// others 0.
    Along {
        /// The axes, ascending.
        axes: Vec<usize>,
        /// Whether the last nonzero share becomes 1.
        last: bool,
    },
}

impl Side {
    /// The other side.
    pub(super) fn turned(&self) -> Side {
        match self {
            Side::Known => Side::Known,
            Side::Sign { up } => Side::Sign { up: !up },
            Side::Share { whole } => Side::Share { whole: !whole },
            Side::Along { axes, last } => Side::Along {
                axes: axes.clone(),
                last: !last,
            },
        }
    }
}
