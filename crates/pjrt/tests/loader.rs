//! The loader on the CPU plugins that are installed. Without one the tests say that they are
//! skipped; with `COTANGENT_REQUIRE=pjrt` that is a failure.

use cotangent_core::array::Wide;
use cotangent_core::dtype::Kind;
use cotangent_core::{Array, C128, Code, DType};
use pjrt::loader::{Client, CompileOptions, OptionValue, Plugin, Topology, find, found};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The libraries of CPU plugins: the one that is named by a variable, or all that are installed.
fn libraries() -> Vec<PathBuf> {
    let mut all: BTreeSet<PathBuf> = found()
        .into_iter()
        .filter(|(name, _)| *name == "cpu")
        .map(|(_, path)| path)
        .collect();
    match find("cpu") {
        Ok(path) => {
            all.insert(path);
        }
        Err(why) => {
            let required = std::env::var("COTANGENT_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|r| r == "pjrt"), "{why}");
            println!("skipped: no PJRT CPU plugin (pip install xla-cpu-pjrt==0.0.1)");
        }
    }
    all.into_iter().collect()
}

/// A client of eight devices of each library.
fn clients() -> Vec<Client> {
    let of = |path: PathBuf| {
        let options = [("cpu_device_count", OptionValue::Int(8))];
        Client::shared(&path, &options).unwrap()
    };
    libraries().into_iter().map(of).collect()
}

/// A program of one function `main` with this signature and body.
fn main_of(signature: &str, body: &str) -> String {
    format!("module @m {{\n  func.func public @main{signature} {{\n{body}\n  }}\n}}\n")
}

fn sums() -> String {
    main_of(
        "(%x: tensor<3xf32>, %y: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)",
        "    %s = stablehlo.add %x, %y : tensor<3xf32>\n    %d = stablehlo.subtract %x, %y : tensor<3xf32>\n    \
         return %s, %d : tensor<3xf32>, tensor<3xf32>",
    )
}

#[test]
fn a_program_runs_on_the_device_that_it_was_compiled_for() {
    for client in clients() {
        assert_eq!((client.platform(), client.devices().len()), ("cpu", 8));
        let (x, y) = (
            Array::vector(vec![1.0f32, 2.0, 3.0]),
            Array::vector(vec![0.5f32, 0.25, f32::NAN]),
        );
        for device in [&client.devices()[0], &client.devices()[5]] {
            let options = CompileOptions {
                devices: vec![device.id()],
                ..CompileOptions::default()
            };
            let program = client.compile(sums().as_bytes(), &options).unwrap();
            assert_eq!((program.devices(), program.results()), (1, 2));
            let (a, b) = (
                client.upload(&x, device).unwrap(),
                client.upload(&y, device).unwrap(),
            );
            let results = program.run(&[vec![&a, &b]], &[]).unwrap();
            let sum = results[0][0].download().unwrap();
            assert!(
                sum.same_bits(&Array::vector(vec![1.5f32, 2.25, f32::NAN])),
                "{sum:?}"
            );
            let difference = results[0][1].download().unwrap();
            assert!(difference.same_bits(&Array::vector(vec![0.5f32, 1.75, f32::NAN])));
        }
    }
}

#[test]
fn elements_of_every_type_go_to_a_device_and_back() {
    for client in clients() {
        let device = &client.devices()[1];
        for dtype in DType::ALL
            .into_iter()
            .filter(|d| pjrt::dtypes::number_of(*d).is_some())
        {
            for shape in [
                vec![],
                vec![0],
                vec![3],
                vec![2, 3, 4],
                vec![2, 0, 4],
                vec![300, 257],
            ] {
                let n: usize = shape.iter().product();
                let numbers = (0..n).map(|k| k * 7 % 120);
                let numbers = match dtype.kind() {
                    Kind::Bool => Wide::I(numbers.map(|k| (k % 2) as i128).collect()),
                    Kind::Int => Wide::I(numbers.map(|k| k as i128).collect()),
                    Kind::Float => Wide::F(numbers.map(|k| k as f64).collect()),
                    _ => Wide::C(numbers.map(|k| C128::new(k as f64, -1.0)).collect()),
                };
                let x = numbers.narrow(dtype, shape).unwrap();
                let y = client.upload(&x, device).unwrap();
                assert_eq!(
                    (y.dtype().unwrap(), y.shape().unwrap()),
                    (dtype, x.shape().to_vec())
                );
                y.wait().unwrap();
                assert!(
                    y.download().unwrap().same_bits(&x),
                    "{dtype} {:?}",
                    x.shape()
                );
                let z = y.to_device(&client.devices()[2]).unwrap();
                assert!(
                    z.download().unwrap().same_bits(&x),
                    "{dtype} {:?}",
                    x.shape()
                );
            }
        }
    }
}

#[test]
fn results_are_row_major_and_transposed_operands_are_not_confused() {
    for client in clients() {
        let text = main_of(
            "(%x: tensor<2x3xf64>) -> tensor<3x2xf64>",
            "    %y = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf64>) -> tensor<3x2xf64>\n    return %y : tensor<3x2xf64>",
        );
        let program = client
            .compile(text.as_bytes(), &CompileOptions::default())
            .unwrap();
        let x = Array::vector((0..6).map(f64::from).collect())
            .reshape(vec![2, 3])
            .unwrap();
        let x = client.upload(&x, &client.devices()[0]).unwrap();
        let y = &program.run(&[vec![&x]], &[]).unwrap()[0][0];
        assert_eq!(
            y.download().unwrap().to_f64(),
            [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
        );
    }
}

#[test]
fn a_donated_argument_is_deleted_unless_it_is_kept() {
    for client in clients() {
        let text = main_of(
            "(%x: tensor<3xf32> {tf.aliasing_output = 0 : i32}) -> tensor<3xf32>",
            "    %y = stablehlo.add %x, %x : tensor<3xf32>\n    return %y : tensor<3xf32>",
        );
        let program = client
            .compile(text.as_bytes(), &CompileOptions::default())
            .unwrap();
        let x = client
            .upload(&Array::vector(vec![1.0f32, 2.0, 3.0]), &client.devices()[0])
            .unwrap();
        for (keep, deleted) in [(&[0][..], false), (&[], true)] {
            let y = &program.run(&[vec![&x]], keep).unwrap()[0][0];
            assert_eq!(y.download().unwrap().to_f64(), [2.0, 4.0, 6.0]);
            assert_eq!(x.is_deleted().unwrap(), deleted);
        }
        assert!(x.download().is_err());
        assert!(program.run(&[vec![&x]], &[]).is_err());
    }
}

#[test]
fn errors_name_what_is_wrong_and_the_client_works_afterwards() {
    for client in clients() {
        let wrong = main_of(
            "(%x: tensor<3xf32>) -> tensor<2xf32>",
            "    return %x : tensor<3xf32>",
        );
        let options = CompileOptions::default();
        let failed = client.compile(wrong.as_bytes(), &options);
        assert!(failed.is_err_and(|e| !e.to_string().is_empty()));
        let call = main_of(
            "(%x: tensor<3xf32>) -> tensor<3xf32>",
            "    %y = stablehlo.custom_call @nobody_has_this(%x) {api_version = 4 : i32} : (tensor<3xf32>) -> tensor<3xf32>\n    return %y : tensor<3xf32>",
        );
        let text = client
            .compile(call.as_bytes(), &options)
            .err()
            .unwrap()
            .to_string();
        assert!(text.contains("nobody_has_this"), "{text}");
        let program = client.compile(sums().as_bytes(), &options).unwrap();
        let x = client
            .upload(&Array::vector(vec![1.0f32; 3]), &client.devices()[0])
            .unwrap();
        assert_eq!(program.run(&[], &[]).err().unwrap().code(), Code::Arity);
        assert!(program.run(&[vec![&x, &x]], &[]).is_ok());
        let unknown = CompileOptions {
            named: vec![("no_such_option".into(), OptionValue::Bool(true))],
            ..options
        };
        assert!(client.compile(sums().as_bytes(), &unknown).is_err());
    }
}

#[test]
fn a_stored_program_is_loaded_without_its_text() {
    for client in clients() {
        let options = CompileOptions::default();
        let program = client.compile(sums().as_bytes(), &options).unwrap();
        assert!(!program.optimized().unwrap().is_empty());
        let bytes = match program.serialize() {
            Ok(bytes) => bytes,
            Err(e) if e.code() == Code::Unsupported => continue,
            Err(e) => panic!("{e}"),
        };
        let program = client.deserialize(&bytes).unwrap();
        let x = client
            .upload(&Array::vector(vec![1.0f32; 3]), &client.devices()[0])
            .unwrap();
        let y = &program.run(&[vec![&x, &x]], &[]).unwrap()[0];
        assert_eq!(y[0].download().unwrap().to_f64(), [2.0; 3]);
        assert!(client.deserialize(&bytes[..bytes.len() / 2]).is_err());
    }
}

#[test]
fn shardy_divides_a_program_among_devices() {
    for client in clients() {
        let text = "module @m attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {\n  \
             sdy.mesh @mesh = <[\"data\"=8]>\n  \
             func.func public @main(%x: tensor<16x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"data\"}, {}]>}) -> \
             (tensor<2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {\n    \
             %c = stablehlo.constant dense<0.0> : tensor<f32>\n    \
             %y = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0] : (tensor<16x2xf32>, \
             tensor<f32>) -> tensor<2xf32>\n    return %y : tensor<2xf32>\n  }\n}\n";
        let options = CompileOptions {
            partitions: 8,
            ..CompileOptions::default()
        };
        let program = client.compile(text.as_bytes(), &options).unwrap();
        assert_eq!(program.devices(), 8);
        let shard = |k: usize| {
            let rows = Array::vector(vec![k as f32, 1.0, 10.0 * k as f32, 1.0]);
            let rows = rows.reshape(vec![2, 2]).unwrap();
            client.upload(&rows, &client.devices()[k]).unwrap()
        };
        let shards: Vec<_> = (0..8).map(shard).collect();
        let arguments: Vec<Vec<_>> = shards.iter().map(|s| vec![s]).collect();
        for results in program.run(&arguments, &[]).unwrap() {
            assert_eq!(results[0].download().unwrap().to_f64(), [308.0, 16.0]);
        }
    }
}

#[test]
fn nothing_is_left_of_many_programs() {
    for path in libraries() {
        let client = Client::new(Plugin::open(&path).unwrap(), &[]).unwrap();
        for k in 0..20 {
            let text = main_of(
                "(%x: tensor<f32>) -> tensor<f32>",
                &format!(
                    "    %c = stablehlo.constant dense<{k}.5> : tensor<f32>\n    %y = stablehlo.add %x, %c : tensor<f32>\n    return %y : tensor<f32>"
                ),
            );
            let program = client
                .compile(text.as_bytes(), &CompileOptions::default())
                .unwrap();
            let x = client
                .upload(&Array::scalar(1.0f32), &client.devices()[0])
                .unwrap();
            let y = &program.run(&[vec![&x]], &[]).unwrap()[0][0];
            assert_eq!(y.download().unwrap().to_f64(), [f64::from(k) + 1.5]);
        }
        assert_eq!(client.live_objects(), [0; 3]);
    }
}

#[test]
fn threads_share_a_client() {
    for client in clients() {
        let program = client
            .compile(sums().as_bytes(), &CompileOptions::default())
            .unwrap();
        std::thread::scope(|s| {
            for t in 0..8 {
                let (client, program) = (client.clone(), &program);
                s.spawn(move || {
                    for k in 0..20 {
                        let x = Array::vector(vec![t as f32, k as f32, 1.0]);
                        let x = client.upload(&x, &client.devices()[0]).unwrap();
                        let y = &program.run(&[vec![&x, &x]], &[]).unwrap()[0];
                        let twice = [2.0 * f64::from(t), 2.0 * f64::from(k), 2.0];
                        assert_eq!(y[0].download().unwrap().to_f64(), twice);
                    }
                });
            }
        });
    }
}

#[test]
fn attributes_and_memory_are_told_or_unsupported() {
    for client in clients() {
        let versions = client.attributes().unwrap();
        assert!(
            versions["stablehlo_current_version"] >= vec![1, 0, 0],
            "{versions:?}"
        );
        let device = &client.devices()[3];
        assert!(!device.kind().unwrap().is_empty());
        assert_eq!((format!("{device:?}"), device.index()), ("cpu:3".into(), 3));
        match device.memory() {
            Ok(memory) => assert!(memory.in_use < 1 << 50),
            Err(e) => assert_eq!(e.code(), Code::Unsupported, "{e}"),
        }
    }
}

#[test]
fn a_library_that_is_no_plugin_is_an_error() {
    let text = Plugin::open("/nowhere/plugin.so").unwrap_err().to_string();
    assert!(text.contains("cannot be loaded"), "{text}");
    for path in libraries() {
        let plugin = Plugin::open(&path).unwrap();
        let failed = Topology::new(plugin, "no such topology", &[]);
        assert!(failed.is_err_and(|e| !e.to_string().is_empty()));
        assert!(std::ptr::eq(plugin, Plugin::open(&path).unwrap()));
    }
}
