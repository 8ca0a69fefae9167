//! The slots of errors.

use crate::call::{Call, release};
use crate::failure::{Answer, Failure};
use pjrt::args;

pub(crate) fn destroy(call: &mut Call<args::ErrorDestroy>) -> Answer {
    release::<Failure>(call.error);
    Ok(())
}

pub(crate) fn message(call: &mut Call<args::ErrorMessage>) -> Answer {
    let message = &call.handle::<Failure>(call.error)?.message;
    (call.message, call.message_size) = (message.as_ptr().into(), message.len());
    Ok(())
}

pub(crate) fn code(call: &mut Call<args::ErrorGetCode>) -> Answer {
    call.code = call.handle::<Failure>(call.error)?.code;
    Ok(())
}
