//! Execution: arguments are taken from their buffers, and the run is done or enqueued.

use crate::buffer::Buffer;
use crate::call::{Call, give, release};
use crate::event::{Completion, event};
use crate::executable::{Compiled, Loaded, Placement};
use crate::failure::{Answer, Failure};
use crate::queue::enqueue;
use crate::value::Value;
use cotangent::Array;
use cotangent::cpu::View;
use pjrt::{ExecuteOptions, Pointer, args};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A run: a program, its arguments, and the values that it promised.
struct ProgramRun {
    compiled: Arc<Compiled>,
    arguments: Vec<Arc<Value>>,
    results: Vec<Arc<Value>>,
    completion: Arc<Completion>,
}

impl ProgramRun {
    /// Waits for the arguments, runs, and keeps the promises. An error is that of every result.
    fn run(self) {
        let ProgramRun {
            compiled,
            arguments,
            results,
            completion,
        } = self;
        let computed = catch_unwind(AssertUnwindSafe(|| {
            // Arrays of donated buffers have no other owner, and programs overwrite them.
            let arrays = arguments.into_iter().map(Value::into_array);
            let arrays = arrays.collect::<Result<Vec<Array>, Failure>>()?;
            let computed = compiled
                .program
                .run_tensors(arrays.into_iter().map(View::from))?;
            let dense = computed.into_iter().map(View::into_array);
            Ok(dense.collect::<cotangent::Result<Vec<Array>>>()?)
        }));
        let computed = computed.unwrap_or_else(|payload| Err(Failure::panicked(&*payload)));
        let kept = computed.map(|arrays| {
            let mut arrays = arrays.into_iter();
            for (value, ty) in results.iter().zip(&compiled.results) {
                // A token is an empty array.
                let token = || Array::from_vec::<bool>(vec![0], Vec::new()).ok();
                let array = if ty.is_token { token() } else { arrays.next() };
                value.set(array.expect("a run computes every result"));
            }
        });
        // A caller that waited for the results may delete them, and read how much memory is in use.
        drop(results);
        completion.complete(kept);
    }
}

/// The buffers of the arguments, with those that the call donates.
fn checked<'b>(
    call: &Call<args::LoadedExecutableExecute>,
    compiled: &Compiled,
) -> Result<Vec<(&'b Buffer, bool)>, Failure> {
    if call.num_args != compiled.parameters.len() {
        return Err(Failure::argument(format!(
            "the program takes {} arguments, {} are given",
            compiled.parameters.len(),
            call.num_args
        )));
    }
    let options = call.record::<ExecuteOptions>(call.options)?;
    let kept = call.list::<i64>(
        options.non_donatable_input_indices,
        options.num_non_donatable_input_indices,
    )?;
    let lists = call.list::<Pointer>(call.argument_lists, 1)?;
    let handles = call.list::<Pointer>(lists[0], call.num_args)?;
    let mut all = Vec::with_capacity(handles.len());
    for (k, (&handle, parameter)) in handles.iter().zip(&compiled.parameters).enumerate() {
        let buffer = call.handle::<Buffer>(handle)?;
        if let Some(dims) = &parameter.dims
            && (buffer.dtype, &*buffer.dims) != (parameter.dtype, &**dims)
        {
            return Err(Failure::argument(format!(
                "argument {k} has type {:?}{:?}, and the program takes {:?}{dims:?}",
                buffer.dtype, buffer.dims, parameter.dtype
            )));
        }
        all.push((buffer, parameter.donated && !kept.contains(&(k as i64))));
    }
    if all.iter().any(|b| b.1) {
        // Each donated handle occurs once among the arguments.
        let mut order: Vec<usize> = (0..handles.len()).collect();
        order.sort_by_key(|&k| handles[k].0 as usize);
        for pair in order.windows(2) {
            let [a, b] = [pair[0], pair[1]];
            if handles[a] == handles[b] && (all[a].1 || all[b].1) {
                let (first, second) = (a.min(b), a.max(b));
                let text = match all[a].1 && all[b].1 {
                    true => "Attempt to donate the same buffer twice in Execute()",
                    false => "Attempt to donate a buffer that the same Execute() also uses",
                };
                return Err(Failure::argument(format!(
                    "{text}: arguments {first} and {second}, as in `f(donate(a), a)`"
                )));
            }
        }
    }
    Ok(all)
}

pub(crate) fn execute(call: &mut Call<args::LoadedExecutableExecute>) -> Answer {
    let loaded = call.handle::<Loaded>(call.executable)?;
    loaded.check()?;
    if call.num_devices != 1 {
        let text = format!("a program runs on one device, not on {}", call.num_devices);
        return Err(Failure::unimplemented(text));
    }
    let compiled = &loaded.compiled;
    let buffers = checked(call, compiled)?;
    let outputs = call.list::<Pointer>(call.output_lists, 1)?[0];
    let mut values = Vec::with_capacity(buffers.len());
    for (buffer, _) in &buffers {
        values.push(buffer.value()?);
    }
    // Donated values are taken once all arguments are known to be valid.
    for (buffer, _) in buffers.iter().filter(|b| b.1) {
        buffer.take();
    }
    let computed = values.iter().all(|v| v.array().is_some());
    let parameters = compiled.parameters.iter();
    let arguments = values.into_iter().zip(parameters);
    let arguments = arguments.filter(|(_, p)| p.dims.is_some()).map(|(v, _)| v);
    let completion = Completion::pending();
    let promise = || Value::promised(completion.clone());
    let results: Vec<Arc<Value>> = compiled.results.iter().map(|_| promise()).collect();
    let run = ProgramRun {
        compiled: compiled.clone(),
        arguments: arguments.collect(),
        results: results.clone(),
        completion: completion.clone(),
    };
    match compiled.placement {
        Placement::Caller => run.run(),
        Placement::Inline if computed => run.run(),
        _ => enqueue(Box::new(move || run.run())),
    }
    // A run in this thread reports its error to its caller.
    if let Some(Err(failure)) = completion.outcome() {
        return Err(failure.clone());
    }
    for (k, (value, ty)) in results.into_iter().zip(&compiled.results).enumerate() {
        let memory = loaded.device.memory(ty.memory);
        let buffer = Buffer::give(ty.dtype, ty.dims.clone(), memory, ty.is_token, value);
        call.write(outputs, k, buffer);
    }
    if !call.device_complete_events.is_null() {
        call.write(call.device_complete_events, 0, event(completion));
    }
    Ok(())
}

/// The object of a context of executions, which has no state.
struct Context;

pub(crate) fn create_context(call: &mut Call<args::ExecuteContextCreate>) -> Answer {
    call.context = give(Context);
    Ok(())
}

pub(crate) fn destroy_context(call: &mut Call<args::ExecuteContextDestroy>) -> Answer {
    release::<Context>(call.context);
    Ok(())
}
