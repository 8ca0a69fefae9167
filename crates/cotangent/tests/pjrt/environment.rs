//! Environment variables of devices: `COTANGENT_CACHE` and `COTANGENT_CHECK`, and what is reported
//! on standard error. Each test runs in a process of its own.

use super::{backend, eight, in_a_process};
use cotangent::pjrt::{CompiledProgram, Mesh, PjrtBackend, Spec};
use cotangent::stablehlo::Sharding;
use cotangent::{Code, Function, Program, Result, Tensor};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A new folder of this process.
fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("cotangent-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    path
}

/// `x` plus a number of one digit.
fn plus(number: usize) -> Result<Arc<Function>> {
    let text = format!(
        "tgraph.module @plus {{ %x = tgraph.arg : f64 %y = tgraph.add %x, {number}.5 : f64 tgraph.return %y : f64 }}"
    );
    Ok(Program::from_tgraph(&text)?.main().clone())
}

/// The value at 1, by a backend without compiled programs.
fn at_one(f: &Arc<Function>) -> Result<f64> {
    let device = PjrtBackend::new("cpu")?;
    let x = device.upload(&Tensor::scalar(1.0))?;
    device.program(f)?.run(&[&x])?[0].download()?.item::<f64>()
}

#[test]
fn compiled_programs_are_loaded_from_the_folder_that_is_named() {
    if backend().is_none() {
        return;
    }
    let folder = folder("cache");
    let variables = [("COTANGENT_CACHE", &*folder)];
    in_a_process("environment::stored", &variables);
    std::fs::remove_dir_all(&folder).ok();
    // A folder that cannot be made is reported, and programs run.
    let file = folder.with_extension("file");
    std::fs::write(&file, "").unwrap();
    let errors = in_a_process("environment::runs", &[("COTANGENT_CACHE", &file.join("x"))]);
    std::fs::remove_file(&file).unwrap();
    let stores = CompiledProgram::compile("xla", &plus(1).unwrap(), None, None).is_ok();
    assert_eq!(errors.contains("COTANGENT_CACHE"), stores, "{errors}");
}

#[test]
#[ignore = "run by `compiled_programs_are_loaded_from_the_folder_that_is_named`"]
fn runs() -> Result<()> {
    assert_eq!(at_one(&plus(1)?)?, 2.5);
    assert_eq!(at_one(&plus(2)?)?, 3.5);
    Ok(())
}

#[test]
#[ignore = "run by `compiled_programs_are_loaded_from_the_folder_that_is_named`"]
fn stored() -> Result<()> {
    let folder = PathBuf::from(std::env::var_os("COTANGENT_CACHE").unwrap());
    let files = || -> Vec<PathBuf> {
        let all = std::fs::read_dir(&folder).into_iter().flatten();
        all.map(|f| f.unwrap().path()).collect()
    };
    let one = plus(1)?;
    assert_eq!(at_one(&one)?, 2.5);
    let Some(first) = files().pop() else {
        println!("the plugin cannot store programs");
        return Ok(());
    };
    assert_eq!(at_one(&plus(2)?)?, 3.5);
    let second = files().into_iter().find(|f| *f != first).unwrap();
    // Each file ends with the size of an executable, and the executable.
    let parts = |path: &Path| {
        let bytes = std::fs::read(path).unwrap();
        let is_size = |k: &usize| {
            let size = u64::from_le_bytes(bytes[*k..*k + 8].try_into().unwrap());
            size == (bytes.len() - *k - 8) as u64
        };
        let at = (0..bytes.len() - 8).find(is_size).unwrap();
        (bytes[..at].to_vec(), bytes[at..].to_vec())
    };
    let (key, _) = parts(&first);
    let (_, other) = parts(&second);
    // The executable is that of the file, whatever program it has.
    std::fs::write(&first, [key.clone(), other.clone()].concat()).unwrap();
    assert_eq!(at_one(&one)?, 3.5);
    // A file of another key, and a damaged one, are replaced.
    for bytes in [
        [b"x", &key[1..], &other].concat(),
        [&key[..], &other[..other.len() / 2]].concat(),
        Vec::new(),
    ] {
        std::fs::write(&first, bytes).unwrap();
        assert_eq!(at_one(&one)?, 2.5);
        assert_eq!(parts(&first).0, key);
    }
    assert_eq!(files().len(), 2);
    Ok(())
}

#[test]
fn many_sets_of_extents_are_reported_once() {
    if backend().is_none() {
        return;
    }
    let errors = in_a_process("environment::seventeen_extents", &[]);
    let reports = errors.matches("`exp` was given more than 16 sets of extents");
    assert_eq!(reports.count(), 1, "{errors}");
}

#[test]
#[ignore = "run by `many_sets_of_extents_are_reported_once`"]
fn seventeen_extents() -> Result<()> {
    let text = "tgraph.module @exp { %x = tgraph.arg : tensor<nxf64> %y = tgraph.exp %x : tensor<nxf64> tgraph.return %y : tensor<nxf64> }";
    let device = PjrtBackend::new("cpu")?;
    let program = device.program(Program::from_tgraph(text)?.main())?;
    for n in 1..=18 {
        let x = device.upload(&Tensor::vector(vec![0.0; n]))?;
        let y = program.run(&[&x])?[0].download()?;
        assert_eq!(y.to_vec::<f64>()?, vec![1.0; n]);
    }
    Ok(())
}

#[test]
fn copies_that_differ_are_found() {
    if backend().is_none() {
        return;
    }
    in_a_process(
        "environment::differing_copies",
        &[("COTANGENT_CHECK", Path::new("1"))],
    );
}

#[test]
#[ignore = "run by `copies_that_differ_are_found`"]
fn differing_copies() -> Result<()> {
    let device = eight().unwrap();
    let (mesh, rows) = (Mesh::new(&[("data", 2)])?, Spec::new(&[Some("data")]));
    let text = |results: &str| {
        format!(
            "tgraph.module @f {{ %x = tgraph.arg : tensor<2xi32> %y = {results} tgraph.return %y }}"
        )
    };
    let double = Program::from_tgraph(&text("tgraph.add %x, %x"))?;
    let sharding = Sharding::of(
        double.main(),
        &mesh,
        &[("x", rows.clone())],
        std::slice::from_ref(&rows),
    )?;
    let compiled = match device.compiled(double.main(), Some(&sharding), None) {
        Err(e) if e.code() == Code::Unsupported => return Ok(()),
        made => made?.to_bytes(),
    };
    let given = Tensor::vector(vec![1i32, 2]);
    let x = device.upload_sharded(&given, &mesh, &rows)?;
    let whole = device.upload_sharded(&given, &mesh, &Spec::replicated())?;
    assert_eq!(whole.download()?, given);
    // A file whose program says that its result, one element for each device, is a copy.
    let first = Program::from_tgraph(&text(
        "tgraph.slice %x {start = [0], limit = [1], stride = [1]}",
    ))?;
    let first = cotangent::text::print_function(first.main());
    let end = compiled.windows(2).position(|w| w == b"\n\n").unwrap() + 2;
    let head = String::from_utf8_lossy(&compiled[..end]).into_owned();
    let size = |name: &str| {
        let line = head.lines().find_map(|l| l.strip_prefix(name)).unwrap();
        line.trim().parse::<usize>().unwrap()
    };
    let (function, executable) = (size("function"), size("executable"));
    let head = head.replace("results data\n", "results -\n").replace(
        &format!("function {function}"),
        &format!("function {}", first.len()),
    );
    let executable = &compiled[compiled.len() - executable..];
    let bytes = [head.as_bytes(), first.as_bytes(), executable].concat();
    let y = device
        .load(&CompiledProgram::from_bytes(&bytes)?)?
        .run(&[&x])?;
    let e = y[0].download().unwrap_err().to_string();
    assert!(e.contains("differ") && e.contains("device 1"), "{e}");
    Ok(())
}
