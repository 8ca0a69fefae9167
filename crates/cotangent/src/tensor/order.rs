//! The order in which elements are listed, and the one function that decides it for results.

/// The order in which elements are listed.
///
/// ```
/// use cotangent::Tensor;
/// use cotangent::tensor::Order;
/// let a = Tensor::from_vec_col_major([2, 3], vec![1, 2, 3, 4, 5, 6])?;
/// assert_eq!((a.order(), a.to_order(Order::RowMajor)?.as_slice::<i32>()?), (Order::ColumnMajor, &[1, 3, 5, 2, 4, 6][..]));
/// # Ok::<(), cotangent::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// The last axis varies fastest (C).
    #[default]
    RowMajor,
    /// The first axis varies fastest (Fortran).
    ColumnMajor,
}

impl Order {
    /// The order of what is computed from operands of these orders and ranks: column-major if one
    /// is and no other operand with two axes or more is row-major.
    pub fn of_results(operands: impl IntoIterator<Item = (Order, usize)>) -> Order {
        Given::of_results(
            operands
                .into_iter()
                .map(|(order, rank)| Given::of(order, rank)),
        )
        .order()
    }
}

/// The order that users gave what a tensor was computed from, for every door: plain, eager and
/// traced tensors.
///
/// What nobody gave (constants, zeros, ones, counting, and repetitions of vectors and numbers) has
/// none, and takes that of what it meets. Alone it reads row-major.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Given {
    /// Nothing with an order.
    #[default]
    Nothing,
    /// Columns, and nothing in rows.
    Columns,
    /// Some rows: mixed orders give rows.
    Rows,
}

impl Given {
    /// What a tensor of this rank says whose elements came in this order. Rows of a vector are its
    /// columns.
    pub fn of(order: Order, rank: usize) -> Given {
        match order {
            Order::ColumnMajor => Given::Columns,
            Order::RowMajor if rank > 1 => Given::Rows,
            Order::RowMajor => Given::Nothing,
        }
    }

    /// What results say that were computed from these. This alone decides the order of results.
    pub fn of_results(operands: impl IntoIterator<Item = Given>) -> Given {
        operands.into_iter().max().unwrap_or_default()
    }

    /// That of a tensor of this rank on its own.
    pub fn of_rank(self, rank: usize) -> Given {
        if self == Given::Rows {
            Given::of(Order::RowMajor, rank)
        } else {
            self
        }
    }

    /// How elements are listed.
    pub fn order(self) -> Order {
        match self {
            Given::Columns => Order::ColumnMajor,
            Given::Nothing | Given::Rows => Order::RowMajor,
        }
    }
}
