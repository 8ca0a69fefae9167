//! The memory order of tensors, and the rule for the order of results.

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
    /// The order of a result of operands of these orders and ranks: column-major if an operand is,
    /// and no operand with at least two axes is row-major.
    pub fn of_results(operands: impl IntoIterator<Item = (Order, usize)>) -> Order {
        Given::of_results(
            operands
                .into_iter()
                .map(|(order, rank)| Given::of(order, rank)),
        )
        .order()
    }
}

/// The memory order of the user's tensors that a tensor was computed from. Every tensor, plain,
/// eager or traced, has it in addition to its strides, so the order of a result takes a comparison
/// for each operand.
///
/// Constants, zeros, ones, ranges, and broadcasts of vectors and scalars have no order, and do not
/// affect the order of results. On its own such a tensor is listed row-major.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub(crate) enum Given {
    /// No operand has an order.
    #[default]
    Nothing,
    /// At least one operand is column-major, and none is row-major.
    Columns,
    /// At least one operand of rank above 1 is row-major. Mixed orders give a row-major result.
    Rows,
}

impl Given {
    /// The order of a tensor of this rank, given in this order. A row-major tensor of rank below 2
    /// has none.
    pub(crate) fn of(order: Order, rank: usize) -> Given {
        match order {
            Order::ColumnMajor => Given::Columns,
            Order::RowMajor if rank > 1 => Given::Rows,
            Order::RowMajor => Given::Nothing,
        }
    }

    /// The order of results of operands with these orders. Every kind of tensor uses this rule.
    pub(crate) fn of_results(operands: impl IntoIterator<Item = Given>) -> Given {
        operands.into_iter().max().unwrap_or_default()
    }

    /// The order in which elements are listed.
    pub(crate) fn order(self) -> Order {
        match self {
            Given::Columns => Order::ColumnMajor,
            Given::Nothing | Given::Rows => Order::RowMajor,
        }
    }
}
