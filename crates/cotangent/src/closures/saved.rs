//! `save` and `load`: trees of tensors as files of named arrays.

use super::capture::types;
use super::jit::evaluate;
use super::tree::Tree;
use crate::{Code, Error, Result, Tensor, TracedTensor};
use std::path::Path;

/// Writes the tensors of a tree to an `.npz` archive or a `.safetensors` file, chosen by the
/// extension. The arrays have the names of [`Tree::named`]. Tensors without values are computed.
/// The file is replaced when it is complete.
///
/// ```
/// use cotangent::closures::{Tree, load, save};
/// use cotangent::TracedTensor;
/// #[derive(Tree)]
/// struct Line { slope: TracedTensor, offset: TracedTensor }
/// let line = Line { slope: TracedTensor::scalar(2.0), offset: TracedTensor::scalar(-1.0) };
/// let path = std::env::temp_dir().join(format!("cotangent_line_{}.safetensors", std::process::id()));
/// save(&path, &line)?;
/// let blank = line.map(|t| t * 0.0);
/// assert_eq!(load(&path, &blank)?.slope.item::<f64>()?, 2.0);
/// # std::fs::remove_file(&path).expect("it was just written");
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// # Errors
/// The file cannot be written, two tensors have one name, or the format lacks an element type.
/// A tensor depends on a placeholder.
#[track_caller]
pub fn save<T: Tree>(path: impl AsRef<Path>, tree: &T) -> Result<()> {
    let computed = evaluate(tree.map(TracedTensor::clone))?;
    let named: Vec<(String, Tensor)> = computed
        .named()
        .into_iter()
        .map(|(name, t)| Ok((name, t.to_tensor()?)))
        .collect::<Result<_>>()?;
    let named: Vec<(&str, &Tensor)> = named.iter().map(|(name, t)| (name.as_str(), t)).collect();
    Tensor::write_all(path, &named)
}

/// Reads a file that [`save`] wrote into a tree of the structure and types of `like`, whose values
/// are not used.
///
/// ```
/// use cotangent::closures::{load, save};
/// use cotangent::TracedTensor;
/// let path = std::env::temp_dir().join(format!("cotangent_pair_{}.npz", std::process::id()));
/// save(&path, &(TracedTensor::scalar(1.0), TracedTensor::vector(vec![2.0f32, 3.0])))?;
/// let other = (TracedTensor::scalar(0.0), TracedTensor::vector(vec![0.0f32; 3]));
/// let e = load(&path, &other).err().unwrap();
/// assert!(e.to_string().contains("`1` is f32[2] in the file and f32[3] in the tree"), "{e}");
/// # std::fs::remove_file(&path).expect("it was just written");
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// # Errors
/// The file cannot be read, lacks a tensor of the tree or has another one. A tensor has another
/// type than in the tree.
#[track_caller]
pub fn load<T: Tree>(path: impl AsRef<Path>, like: &T) -> Result<T> {
    let path = path.as_ref();
    let mut stored = Tensor::read_all(path)?;
    let fail =
        |text: String| Err(Error::new(Code::Input, text).in_file(&path.display().to_string()));
    let mut loaded = Vec::new();
    for ((name, _), want) in like.named().into_iter().zip(types(like)?) {
        let Some(k) = stored.iter().position(|(n, _)| *n == name) else {
            return fail(format!("there is no tensor `{name}`, which the tree has"));
        };
        let (_, t) = stored.swap_remove(k);
        if want.differs(&t.ty()) {
            let text = format!("`{name}` is {} in the file and {want} in the tree", t.ty());
            return fail(text);
        }
        loaded.push(TracedTensor::from_tensor(t));
    }
    match stored.first() {
        Some((name, _)) => fail(format!(
            "the tree has no tensor `{name}`, which is in the file"
        )),
        None => Ok(like.rebuild(&mut loaded.into_iter())),
    }
}
