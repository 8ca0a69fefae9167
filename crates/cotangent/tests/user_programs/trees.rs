//! Trees: `map`, `zip_map`, `named`, maps with hashed keys, long tuples, files.

use super::{T, at, text, vals, vector};
use cotangent::closures::{Tree, grad, hessian, jit, load, save};
use cotangent::{Code, DType, Tensor};
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

#[derive(Clone, Debug, Tree)]
struct Dense {
    w: T,
    b: T,
    #[tree(fixed)]
    size: usize,
}

#[derive(Clone, Debug, Tree)]
struct Model {
    layers: Vec<Dense>,
    r#type: Option<T>,
    by_name: BTreeMap<String, (T, [T; 2])>,
}

fn model() -> Model {
    let layer = |x: f64| Dense {
        w: vector(&[x, x + 1.0]),
        b: at(-x),
        size: 2,
    };
    Model {
        layers: vec![layer(1.0), layer(3.0)],
        r#type: Some(at(5.0)),
        by_name: BTreeMap::from([("head".into(), (at(6.0), [at(7.0), at(8.0)]))]),
    }
}

fn all(m: &Model) -> Vec<f64> {
    m.named().iter().flat_map(|(_, t)| vals(t)).collect()
}

#[test]
fn map_and_zip_map_visit_every_tensor_in_order() {
    let m = model();
    let twice = m.map(|t| t * 2.0);
    let want: Vec<f64> = all(&m).iter().map(|x| 2.0 * x).collect();
    assert_eq!(all(&twice), want);
    assert_eq!((twice.layers[1].size, all(&m).len()), (2, 10));
    let mut order = Vec::new();
    let difference = twice
        .zip_map(&m, |a, b| {
            order.extend(vals(b));
            a - b
        })
        .unwrap();
    assert_eq!((all(&difference), order), (all(&m), all(&m)));
}

#[test]
fn zip_map_of_different_structures_is_an_error_that_shows_both() {
    let pair = |n: usize| vec![at(1.0); n];
    let e = pair(2).zip_map(&pair(3), |a, _| a.clone()).unwrap_err();
    assert_eq!(e.code(), Code::Arity);
    let text = e.to_string();
    assert!(
        text.contains("[**] and [***]") && text.contains("trees.rs:"),
        "{text}"
    );
    let (mut a, b) = (model(), model());
    a.layers[0].size = 3;
    assert!(a.zip_map(&b, |a, _| a.clone()).is_err());
}

#[test]
fn names_are_fields_indices_and_keys() {
    let names: Vec<String> = model().named().into_iter().map(|n| n.0).collect();
    let want = [
        "layers.0.w",
        "layers.0.b",
        "layers.1.w",
        "layers.1.b",
        "type",
        "by_name.head.0",
        "by_name.head.1.0",
        "by_name.head.1.1",
    ];
    assert_eq!(names, want);
    assert_eq!(at(1.0).named()[0].0, "");
    let by_number = (BTreeMap::from([(7, at(1.0))]), Box::new(at(2.0)));
    let names: Vec<String> = by_number.named().into_iter().map(|n| n.0).collect();
    assert_eq!(names, ["0.7", "1"]);
}

/// Trees that are written by hand without names number their tensors.
#[test]
fn a_tree_without_names_numbers_its_tensors() {
    struct TwoTensors(T, T);
    impl Tree for TwoTensors {
        fn leaves<'a>(&'a self, out: &mut Vec<&'a T>) {
            out.extend([&self.0, &self.1]);
        }
        fn rebuild(&self, leaves: &mut dyn Iterator<Item = T>) -> TwoTensors {
            TwoTensors(leaves.next().unwrap(), leaves.next().unwrap())
        }
        fn structure(&self, out: &mut String) {
            out.push_str("TwoTensors(**)");
        }
    }
    let tree = vec![TwoTensors(at(1.0), at(2.0))];
    let names: Vec<String> = tree.named().into_iter().map(|n| n.0).collect();
    assert_eq!(names, ["0.0", "0.1"]);
}

/// The order of a `HashMap` differs between two maps of the same entries; that of its tree does
/// not.
#[test]
fn hash_maps_are_trees_in_the_order_of_their_keys() {
    let keys: Vec<String> = (0..40).map(|k| format!("k{k:02}")).collect();
    let of = |keys: &mut dyn Iterator<Item = &String>| {
        let entry = |k: &String| (k.clone(), at(k[1..].parse().unwrap()));
        keys.map(entry).collect::<HashMap<String, T>>()
    };
    let (a, b) = (of(&mut keys.iter()), of(&mut keys.iter().rev()));
    for m in [&a, &b] {
        let named = m.named();
        assert!(named.iter().map(|n| &n.0).eq(&keys));
        assert!(
            named
                .iter()
                .map(|n| vals(n.1)[0])
                .eq((0..40).map(f64::from))
        );
    }
    let difference = a.zip_map(&b, |x, y| x - y).unwrap();
    assert!(difference.values().all(|t| vals(t) == [0.0]));
    let f = |m: HashMap<String, T>| m["k03"].powi(2) * &m["k05"];
    let step = jit(grad(f));
    for m in [a, b] {
        let g = step(m).unwrap();
        assert_eq!(
            (vals(&g["k03"]), vals(&g["k05"]), vals(&g["k07"])),
            (vec![30.0], vec![9.0], vec![0.0])
        );
    }
    let pair = HashMap::from([("x", at(2.0)), ("y", at(3.0))]);
    let h = hessian(|m: HashMap<&str, T>| m["x"].powi(2) * &m["y"])(pair).unwrap();
    assert_eq!(
        (vals(&h["x"]["x"]), vals(&h["x"]["y"]), vals(&h["y"]["y"])),
        (vec![6.0], vec![4.0], vec![0.0])
    );
}

#[test]
fn tuples_of_twelve_are_trees() {
    let one = |k: i32| at(f64::from(k));
    let t = (
        one(1),
        one(2),
        one(3),
        one(4),
        one(5),
        one(6),
        one(7),
        one(8),
        one(9),
        one(10),
        one(11),
        one(12),
    );
    let f = |(a, b, c, d, e, f, g, h, i, j, k, l): (T, T, T, T, T, T, T, T, T, T, T, T)| {
        a * b + c * d + e * f + g * h + i * j + k * l
    };
    let g = grad(f)(t).unwrap();
    assert_eq!(
        (vals(&g.0), vals(&g.10), vals(&g.11)),
        (vec![2.0], vec![12.0], vec![11.0])
    );
    assert_eq!(g.named()[11].0, "11");
}

/// A path in the folder for temporary files.
fn file(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("cotangent_trees_{}_{name}", std::process::id()))
}

#[test]
fn a_saved_tree_is_loaded_with_the_same_bits() {
    // A tensor without a value, an integer, and a column-major matrix.
    let tree = |x: f64| {
        let matrix = T::from_vec_col_major([2, 3], vec![x, 2.0, 3.0, 4.0, -0.0, 6.0]);
        (model().map(|t| t * x), T::vector(vec![1i32, 2]), matrix)
    };
    let saved = tree(0.1);
    for extension in ["npz", "safetensors"] {
        let path = file(&format!("same.{extension}"));
        save(&path, &saved).unwrap();
        let loaded = load(&path, &tree(7.0)).unwrap();
        for ((name, a), (_, b)) in saved.named().into_iter().zip(loaded.named()) {
            assert!(b.is_concrete());
            assert!(
                a.to_tensor().unwrap().same_bits(&b.to_tensor().unwrap()),
                "{name}"
            );
        }
        std::fs::remove_file(&path).unwrap();
    }
    // The names are those of the file.
    let path = file("names.npz");
    save(&path, &saved.0).unwrap();
    let stored = Tensor::read_all(&path).unwrap();
    assert!(stored.iter().any(|(name, _)| name == "layers.1.w"));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_file_that_does_not_fit_the_tree_names_the_tensor() {
    let path = file("fit.npz");
    save(&path, &(at(1.0), at(2.0))).unwrap();
    let e = text(load(&path, &(at(0.0), at(0.0), at(0.0))));
    assert!(
        e.contains("there is no tensor `2`") && e.contains("fit.npz"),
        "{e}"
    );
    let e = text(load(&path, &(at(0.0),)));
    assert!(e.contains("the tree has no tensor `1`"), "{e}");
    let e = text(load(&path, &(at(0.0), T::zeros(DType::F32, []))));
    assert!(
        e.contains("`1` is f64[] in the file and f32[] in the tree"),
        "{e}"
    );
    std::fs::remove_file(&path).unwrap();
    assert_eq!(load(&path, &at(0.0)).unwrap_err().code(), Code::Io);
    let x = T::input(DType::F64, []);
    assert_eq!(save(&path, &x).unwrap_err().code(), Code::Unbound);
    assert!(!path.exists());
}

#[test]
fn two_tensors_of_one_name_are_not_saved() {
    let path = file("one.npz");
    let twins = BTreeMap::from([
        ("a.0", BTreeMap::from([("b", at(1.0))])),
        ("a", BTreeMap::from([("0.b", at(2.0))])),
    ]);
    assert_eq!(save(&path, &twins).unwrap_err().code(), Code::DuplicateName);
    assert!(!path.exists());
}
