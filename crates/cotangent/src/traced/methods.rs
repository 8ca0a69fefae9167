//! Methods of traced tensors on operations as values, and constructors.

use super::TracedTensor;
use super::record::record;
use crate::here::here;
use crate::{Op, Result};

impl TracedTensor {
    /// Applies any operation, an extension included: a tensor per result.
    #[track_caller]
    pub fn apply(op: impl Into<Op>, operands: &[&TracedTensor]) -> Result<Vec<TracedTensor>> {
        record(here(), operands, |cx, x| cx.emit(op.into(), x).to_vec())
    }
}
