//! Layouts of arrays: the order of their axes in memory, as the extension for layouts has them.
//! Every array is in row-major order.
//!
//! Without these slots JAX reads the layouts of a program from its text, in every compilation.

use crate::buffer::Buffer;
use crate::call::{Call, give, release};
use crate::client::Client;
use crate::failure::Answer;
use pjrt::{Pointer, layout_args as args};

/// The object of a layout: its text, the axes from the fastest to the slowest, `{1,0}`.
pub(crate) struct Layout(String);

impl Layout {
    /// Row-major order.
    pub(crate) fn row_major(rank: usize) -> Layout {
        let axes: Vec<String> = (0..rank).rev().map(|k| k.to_string()).collect();
        Layout(format!("{{{}}}", axes.join(",")))
    }

    pub(crate) fn handle(&self) -> Pointer {
        (&raw const *self).into()
    }
}

pub(crate) fn destroy(call: &mut Call<args::LayoutDestroy>) -> Answer {
    release::<Layout>(call.layout);
    Ok(())
}

/// Frees the text of `serialize`.
extern "C" fn release_text(text: Pointer) {
    release::<String>(text);
}

pub(crate) fn serialize(call: &mut Call<args::LayoutSerialize>) -> Answer {
    let text = call.handle::<Layout>(call.layout)?.0.clone();
    (call.serialized_bytes, call.serialized_bytes_size) = (text.as_ptr().into(), text.len());
    call.serialized_layout = give(text);
    call.serialized_layout_deleter = Pointer(release_text as *mut _);
    Ok(())
}

pub(crate) fn of_client(call: &mut Call<args::ClientGetDefaultLayout>) -> Answer {
    call.handle::<Client>(call.client)?;
    call.layout = give(Layout::row_major(
        call.list::<i64>(call.dims, call.num_dims)?.len(),
    ));
    Ok(())
}

pub(crate) fn of_topology(call: &mut Call<args::TopologyGetDefaultLayout>) -> Answer {
    call.handle::<Client>(call.topology)?;
    call.layout = give(Layout::row_major(
        call.list::<i64>(call.dims, call.num_dims)?.len(),
    ));
    Ok(())
}

pub(crate) fn of_buffer(call: &mut Call<args::BufferMemoryLayout>) -> Answer {
    call.layout = give(Layout::row_major(
        call.handle::<Buffer>(call.buffer)?.dims.len(),
    ));
    Ok(())
}
