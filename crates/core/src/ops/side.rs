//! [`Side`]: what the weight of a derivative at a kink is.

/// What a weight is, and what it becomes on one side of the kink.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The weight of one side already.
    Known,
    /// A sign, 0 at the kink: 1 there (`up`) or -1.
    Sign {
        /// Whether it becomes 1.
        up: bool,
    },
    /// The share of one of two: what is between 0 and 1 becomes 1 (`whole`) or 0.
    Share {
        /// Whether it becomes 1.
        whole: bool,
    },
    /// The shares of elements along these axes: the first (or last) that has one gets all.
    Along {
        /// The axes, ascending.
        axes: Vec<usize>,
        /// Whether the last gets all.
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
