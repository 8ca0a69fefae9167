//! Programs that are compiled for devices that are not here, eight H200 and eight TPU v5e, and
//! compiled programs as files.
//!
//! The plugins `cuda` and `tpu` are needed, and no device. Without them the tests say that they are
//! skipped. Each runs in a process of its own, because the plugins read environment variables.

use super::sharded::cases;
use super::{backend, batch, eight, in_a_process, near, training, weights};
use cotangent::pjrt::{CompiledProgram, DeviceTensor, Mesh, find};
use cotangent::stablehlo::Sharding;
use cotangent::transform::Session;
use cotangent::{Code, Function, Result, Tensor, Type};
use std::path::Path;
use std::sync::Arc;

/// Runs a test of this file in a process of its own, unless the plugin is not installed.
fn with_plugin(plugin: &str, test: &str) {
    if find(plugin).is_err() {
        println!("skipped: the plugin {plugin} is not installed");
        return;
    }
    let variables = [("TPU_SKIP_MDS_QUERY", "1"), ("TF_CPP_MIN_LOG_LEVEL", "3")];
    in_a_process(
        test,
        &variables.map(|(name, value)| (name, Path::new(value))),
    );
}

/// A program's name, the program, its division, and the number of exchanges.
type Divided = (&'static str, Arc<Function>, Sharding, usize);

/// The programs of the table of divisions, and how they are divided.
fn divided() -> Result<Vec<Divided>> {
    let one = |case: super::sharded::Case| {
        let types: Vec<Type> = case.given.iter().map(Tensor::ty).collect();
        let f = Session::default().specialize(&case.f, &types);
        let mut results = case.results.clone();
        results.resize(f.results().len(), Default::default());
        let sharding = Sharding {
            mesh: Mesh::new(case.axes)?,
            arguments: case.arguments.clone(),
            results,
        };
        Ok((case.name, f, sharding, case.all_reduces))
    };
    cases()?.into_iter().map(one).collect()
}

fn compiled(target: &str) -> Result<()> {
    for (name, f, sharding, all_reduces) in divided()? {
        let made = CompiledProgram::compile(target, &f, Some(&sharding), None)?;
        let (count, mesh) = (made.collectives(), &sharding.mesh);
        println!("{name} {mesh}: {} bytes, {count:?}", made.size());
        if let Some(&count) = count.get("all-reduce") {
            assert_eq!(count, all_reduces, "{name} {mesh}");
        }
    }
    Ok(())
}

#[test]
fn programs_compile_for_a_tpu_that_is_not_here() {
    with_plugin("tpu", "absent::on_v5e");
}

#[test]
#[ignore = "run by `programs_compile_for_a_tpu_that_is_not_here`"]
fn on_v5e() -> Result<()> {
    compiled("v5e:2x4")
}

#[test]
fn programs_compile_for_gpus_that_are_not_here() {
    with_plugin("cuda", "absent::on_h200");
}

#[test]
#[ignore = "run by `programs_compile_for_gpus_that_are_not_here`"]
fn on_h200() -> Result<()> {
    compiled("h200")
}

#[test]
fn a_compiled_program_is_a_file_that_its_platform_runs() -> Result<()> {
    let Some(device) = backend() else {
        return Ok(());
    };
    let given: Vec<Tensor> = batch(8).into_iter().chain(weights()).collect();
    let types: Vec<Type> = given.iter().map(Tensor::ty).collect();
    let f = Session::default().specialize(&training()?, &types);
    let made = match CompiledProgram::compile("xla", &f, None, None) {
        Ok(made) => made,
        Err(e) => {
            // A plugin need not store programs.
            assert_eq!(e.code(), Code::Unsupported, "{e}");
            return Ok(());
        }
    };
    let bytes = made.to_bytes();
    let read = CompiledProgram::from_bytes(&bytes)?;
    assert_eq!((read.target(), read.size()), ("cpu:0", made.size()));
    let upload = |x: &Tensor| device.upload(x);
    let x = given.iter().map(upload).collect::<Result<Vec<_>>>()?;
    let x: Vec<&DeviceTensor> = x.iter().collect();
    let compilations = device.cache_stats().misses;
    let y = device.load(&read)?.run(&x)?;
    assert_eq!(device.cache_stats().misses, compilations);
    let expected = device.program(&f)?.run(&x)?;
    for (y, expected) in y.iter().zip(&expected) {
        assert!(y.download()?.same_bits(&expected.download()?));
    }
    assert_eq!(y.len(), 5);
    // Damaged files are errors.
    for cut in [0, 10, bytes.len() / 2, bytes.len() - 1] {
        assert!(CompiledProgram::from_bytes(&bytes[..cut]).is_err());
    }
    let text = String::from_utf8_lossy(&bytes[..200]).into_owned();
    let other = text.replacen("platform cpu", "platform gpu", 1);
    let other = [other.as_bytes(), &bytes[text.len()..]].concat();
    let e = device.load(&CompiledProgram::from_bytes(&other)?).err();
    assert_eq!(e.map(|e| e.code()), Some(Code::DeviceMismatch));
    let newer = [b"cotangent.pjrt 2", &bytes[16..]].concat();
    let e = CompiledProgram::from_bytes(&newer).err().unwrap();
    assert!(
        e.code() == Code::Syntax && e.message().contains("version"),
        "{e}"
    );
    let e = CompiledProgram::compile("h300", &f, None, None)
        .err()
        .unwrap();
    assert!(e.message().contains("v5e:2x4"), "{e}");
    Ok(())
}

#[test]
fn a_divided_program_is_a_file_with_its_division() -> Result<()> {
    let Some(device) = eight() else {
        return Ok(());
    };
    let (_, f, sharding, _) = divided()?.swap_remove(1);
    let made = match device.compiled(&f, Some(&sharding), None) {
        Err(e) if e.code() == Code::Unsupported => return Ok(()),
        made => made?,
    };
    let read = CompiledProgram::from_bytes(&made.to_bytes())?;
    assert_eq!(read.sharding(), Some(&sharding));
    let given: Vec<Tensor> = batch(16).into_iter().chain(weights()).collect();
    let upload = |(x, spec): (&Tensor, &_)| device.upload_sharded(x, &sharding.mesh, spec);
    let x = given.iter().zip(&sharding.arguments).map(upload);
    let x = x.collect::<Result<Vec<DeviceTensor>>>()?;
    let y = device.load(&read)?.run(&x.iter().collect::<Vec<_>>())?;
    let arrays: Vec<_> = given.iter().map(Tensor::to_array).collect::<Result<_>>()?;
    for (y, expected) in y.iter().zip(cotangent::run(&f, &arrays)?) {
        near(&y.download()?, &Tensor::from(expected), 2e-6);
    }
    Ok(())
}
