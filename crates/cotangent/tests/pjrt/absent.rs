//! Programs that are compiled for devices that are not here: eight H200 and eight TPU v5e.
//!
//! The plugins `cuda` and `tpu` are needed, and no device. Without them the tests say that they are
//! skipped. Each runs in a process of its own, because the plugins read environment variables.

use super::sharded::cases;
use cotangent::pjrt::{Mesh, OptionValue, find};
use cotangent::stablehlo::{Sharding, Target, WriteOptions, write_as};
use cotangent::{Function, Result};
use pjrt::loader::{CompileOptions, Plugin, Topology};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// An H200 as XLA describes it.
const H200: &str = r#"gpu_device_info {
  threads_per_block_limit: 1024 threads_per_warp: 32 shared_memory_per_block: 49152 shared_memory_per_core: 233472
  threads_per_core_limit: 2048 core_count: 132 fpus_per_core: 128 block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535 block_dim_limit_z: 65535 memory_bandwidth: 4800000000000 l2_cache_size: 62914560
  clock_rate_ghz: 1.98 device_memory_size: 150000000000 shared_memory_per_block_optin: 232448
  registers_per_core_limit: 65536 registers_per_block_limit: 65536 cuda_compute_capability { major: 9 minor: 0 }
}
platform_name: "CUDA" dnn_version_info { major: 9 minor: 10 } device_description_str: "NVIDIA H200""#;

/// Runs a test of this file in a process of its own, unless the plugin is not installed.
fn in_a_process(plugin: &str, test: &str) {
    if find(plugin).is_err() {
        println!("skipped: the plugin {plugin} is not installed");
        return;
    }
    let words = ["--exact", test, "--ignored", "--nocapture"];
    let child = Command::new(std::env::current_exe().unwrap())
        .args(words)
        .envs([("TPU_SKIP_MDS_QUERY", "1"), ("TF_CPP_MIN_LOG_LEVEL", "3")])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout).into_owned();
    let errors = String::from_utf8_lossy(&child.stderr).into_owned();
    assert!(
        child.status.success() && text.contains("1 passed"),
        "{text}{errors}"
    );
    print!("{text}");
}

/// The programs of the table of divisions, and their numbers of all-reduces.
fn compiled(topology: &Topology, named: &[(String, OptionValue)]) -> Result<()> {
    assert_eq!(topology.devices()?, 8);
    for case in cases()? {
        let f = &case.f;
        let types: Vec<_> = case.given.iter().map(cotangent::Tensor::ty).collect();
        let f = cotangent::transform::Session::default().specialize(f, &types);
        let mut results = case.results.clone();
        results.resize(f.results().len(), Default::default());
        let sharding = Sharding {
            mesh: Mesh::new(case.axes)?,
            arguments: case.arguments.clone(),
            results,
        };
        let options = WriteOptions {
            target: Target::Portable,
            sharding: Some(&sharding),
            ..WriteOptions::default()
        };
        let main: Arc<Function> = Arc::new(Function::clone(&f).renamed("main"));
        let options_of_compiler = CompileOptions {
            partitions: 8,
            named: named.to_vec(),
            ..CompileOptions::default()
        };
        let text = write_as(&[main], &options)?;
        let made = topology.compile(text.as_bytes(), &options_of_compiler)?;
        let bytes = made.serialize().map_or(0, |b| b.len());
        let count = made.opcodes().map(|all| {
            let of = |name: &str| all.get(name).copied().unwrap_or(0);
            of("all-reduce") + of("all-reduce-start")
        });
        println!(
            "{} {:?}: {bytes} bytes, all-reduces {count:?}",
            case.name, case.axes
        );
        if let Ok(count) = count {
            assert_eq!(count, case.all_reduces, "{} {:?}", case.name, case.axes);
        }
    }
    Ok(())
}

#[test]
fn programs_compile_for_a_tpu_that_is_not_here() {
    in_a_process("tpu", "absent::on_v5e");
}

#[test]
#[ignore = "run by `programs_compile_for_a_tpu_that_is_not_here`"]
fn on_v5e() -> Result<()> {
    let plugin = Plugin::open(find("tpu")?)?;
    compiled(&Topology::new(plugin, "v5e:2x4", &[])?, &[])
}

#[test]
fn programs_compile_for_gpus_that_are_not_here() {
    in_a_process("cuda", "absent::on_h200");
}

#[test]
#[ignore = "run by `programs_compile_for_gpus_that_are_not_here`"]
fn on_h200() -> Result<()> {
    let library = find("cuda")?;
    let plugin = Plugin::open(&library)?;
    let options = [
        ("target_config", OptionValue::Text(H200.to_owned())),
        ("topology", OptionValue::Text("1x1x8".to_owned())),
    ];
    let topology = Topology::new(plugin, "", &options)?;
    // The folder of NVIDIA's compilers, beside that of the plugin.
    let packages = library.ancestors().nth(3).unwrap_or(Path::new(""));
    let folder = packages.join("nvidia/cu13").to_string_lossy().into_owned();
    compiled(
        &topology,
        &[(
            "xla_gpu_cuda_data_dir".to_owned(),
            OptionValue::Text(folder),
        )],
    )
}
