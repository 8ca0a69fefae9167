//! Trees of Python containers: structure and leaves.
//!
//! Nodes are `None`, tuples, lists, dicts (walked in the order of their sorted keys, rebuilt in the
//! order given), named tuples, and registered classes. Everything else is a leaf.

use crate::error::raise;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Leaves of a tree in the order of its places, without an allocation if they are few.
pub(crate) type Leaves<'py> = SmallVec<[Bound<'py, PyAny>; 8]>;

/// A structure with a place for each leaf.
#[derive(Clone)]
pub(crate) enum Tree {
    Leaf,
    None,
    Tuple(Arc<[Tree]>),
    List(Arc<[Tree]>),
    Named(Arc<(Py<PyType>, Vec<Tree>)>),
    Dict(Arc<Dict>),
    Custom(Arc<Custom>),
}

/// A dictionary: its children are in the order of the sorted keys.
pub(crate) struct Dict {
    keys: Vec<Py<PyAny>>,
    children: Vec<Tree>,
    /// The position of each key in the dictionary.
    order: Vec<usize>,
    /// `None`: a `dict`. Otherwise a class, and the first argument of its constructor, if it has
    /// one.
    class: Option<(Py<PyType>, Option<Py<PyAny>>)>,
}

pub(crate) struct Custom {
    class: Arc<Registered>,
    aux: Py<PyAny>,
    children: Vec<Tree>,
}

/// A class of nodes that the user registered.
struct Registered {
    class: Py<PyType>,
    flatten: Py<PyAny>,
    unflatten: Py<PyAny>,
}

/// Whether a class is registered.
static HAS_CLASSES: AtomicBool = AtomicBool::new(false);
static REGISTRY: Mutex<Option<FxHashMap<usize, Arc<Registered>>>> = Mutex::new(None);

/// Makes a class a node: `flatten(x) -> (children, metadata)`,
/// `unflatten(metadata, children) -> x`.
#[pyfunction]
pub(crate) fn register_pytree_node(
    class: Bound<'_, PyType>,
    flatten: Bound<'_, PyAny>,
    unflatten: Bound<'_, PyAny>,
) {
    let key = class.as_ptr() as usize;
    let row = Arc::new(Registered {
        class: class.unbind(),
        flatten: flatten.unbind(),
        unflatten: unflatten.unbind(),
    });
    let mut registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    registry.get_or_insert_default().insert(key, row);
    HAS_CLASSES.store(true, Ordering::Release);
}

fn registered(class: &Bound<'_, PyType>) -> Option<Arc<Registered>> {
    if !HAS_CLASSES.load(Ordering::Acquire) {
        return None;
    }
    let registry = REGISTRY.lock().unwrap_or_else(PoisonError::into_inner);
    registry.as_ref()?.get(&(class.as_ptr() as usize)).cloned()
}

/// `collections.OrderedDict` and `collections.defaultdict`.
fn dict_classes(py: Python<'_>) -> PyResult<&(Py<PyType>, Py<PyType>)> {
    static CLASSES: PyOnceLock<(Py<PyType>, Py<PyType>)> = PyOnceLock::new();
    CLASSES.get_or_try_init(py, || {
        let module = py.import("collections")?;
        let class = |name| Ok::<_, PyErr>(module.getattr(name)?.cast_into::<PyType>()?.unbind());
        Ok((class("OrderedDict")?, class("defaultdict")?))
    })
}

/// Limit of the levels of a tree, and of other nested containers: functions of trees recurse.
const MAX_LEVELS: usize = 400;

/// An error for a container at this level, if that is too deep.
pub(crate) fn check_level(level: usize) -> PyResult<()> {
    match level > MAX_LEVELS {
        true => Err(raise(
            "Limit",
            format!(
                "a container is nested more than {MAX_LEVELS} levels deep, or contains itself: arrays that belong \
                 together go into one array, or into a flat list"
            ),
        )),
        false => Ok(()),
    }
}

/// The structure of an object; appends its leaves.
pub(crate) fn flatten<'py>(
    x: &Bound<'py, PyAny>,
    leaves: &mut Vec<Bound<'py, PyAny>>,
) -> PyResult<Tree> {
    flatten_at(x, leaves, 0)
}

fn all<'py>(
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    leaves: &mut Vec<Bound<'py, PyAny>>,
    level: usize,
) -> PyResult<Vec<Tree>> {
    items.map(|x| flatten_at(&x, leaves, level + 1)).collect()
}

fn flatten_at<'py>(
    x: &Bound<'py, PyAny>,
    leaves: &mut Vec<Bound<'py, PyAny>>,
    level: usize,
) -> PyResult<Tree> {
    let py = x.py();
    check_level(level)?;
    if x.is_none() {
        return Ok(Tree::None);
    }
    if let Ok(t) = x.cast_exact::<PyTuple>() {
        return Ok(Tree::Tuple(all(t.iter(), leaves, level)?.into()));
    }
    if let Ok(l) = x.cast_exact::<PyList>() {
        return Ok(Tree::List(all(l.iter(), leaves, level)?.into()));
    }
    if let Ok(d) = x.cast_exact::<PyDict>() {
        return dict(d, None, leaves, level);
    }
    let class = x.get_type();
    if let Some(row) = registered(&class) {
        let pair = row.flatten.bind(py).call1((x,))?;
        let (children, aux): (Bound<'py, PyAny>, Bound<'py, PyAny>) = pair.extract()?;
        let children: Vec<_> = children.try_iter()?.collect::<PyResult<_>>()?;
        return Ok(Tree::Custom(Arc::new(Custom {
            class: row,
            aux: aux.unbind(),
            children: all(children.into_iter(), leaves, level)?,
        })));
    }
    if let Ok(t) = x.cast::<PyTuple>() {
        if x.hasattr("_fields")? {
            let children = all(t.iter(), leaves, level)?;
            return Ok(Tree::Named(Arc::new((class.unbind(), children))));
        }
    } else if let Ok(d) = x.cast::<PyDict>() {
        let (ordered, default) = dict_classes(py)?;
        if class.is(ordered) {
            return dict(d, Some((class.unbind(), None)), leaves, level);
        }
        if class.is(default) {
            let factory = x.getattr("default_factory")?.unbind();
            return dict(d, Some((class.unbind(), Some(factory))), leaves, level);
        }
    }
    leaves.push(x.clone());
    Ok(Tree::Leaf)
}

fn dict<'py>(
    d: &Bound<'py, PyDict>,
    class: Option<(Py<PyType>, Option<Py<PyAny>>)>,
    leaves: &mut Vec<Bound<'py, PyAny>>,
    level: usize,
) -> PyResult<Tree> {
    let keys = d.keys();
    let sorted = keys.as_any().py().import("builtins")?.getattr("sorted")?;
    let positions = PyList::new(d.py(), 0..keys.len())?;
    let by = PyDict::new(d.py());
    by.set_item("key", keys.getattr("__getitem__")?)?;
    let positions: Vec<usize> = sorted
        .call((positions,), Some(&by))
        .map_err(|_| {
            PyTypeError::new_err(format!(
                "the keys of a dict in a tree must have an order: {}",
                keys
            ))
        })?
        .extract()?;
    let mut order = vec![0; positions.len()];
    let (mut children, mut all) = (Vec::new(), Vec::new());
    for (k, &at) in positions.iter().enumerate() {
        order[at] = k;
        let key = keys.get_item(at)?;
        let value = d.get_item(&key)?.expect("it is a key");
        children.push(flatten_at(&value, leaves, level + 1)?);
        all.push(key.unbind());
    }
    Ok(Tree::Dict(Arc::new(Dict {
        keys: all,
        children,
        order,
        class,
    })))
}

impl Tree {
    /// The structures of the children of a node, in the order of the leaves.
    pub(crate) fn children(&self) -> &[Tree] {
        match self {
            Tree::Leaf | Tree::None => &[],
            Tree::Tuple(c) | Tree::List(c) => c,
            Tree::Named(n) => &n.1,
            Tree::Dict(d) => &d.children,
            Tree::Custom(c) => &c.children,
        }
    }

    /// The keys of a dict with their structures, in the order of the leaves.
    pub(crate) fn keyed(&self) -> Option<Vec<(&Py<PyAny>, &Tree)>> {
        match self {
            Tree::Dict(d) => Some(d.keys.iter().zip(&d.children).collect()),
            _ => None,
        }
    }

    /// Number of leaves.
    pub(crate) fn len(&self) -> usize {
        match self {
            Tree::Leaf => 1,
            _ => self.children().iter().map(Tree::len).sum(),
        }
    }

    /// The object with these leaves.
    pub(crate) fn unflatten<'py>(
        &self,
        py: Python<'py>,
        leaves: &mut dyn Iterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut parts = |children: &[Tree]| -> PyResult<Vec<Bound<'py, PyAny>>> {
            children.iter().map(|c| c.unflatten(py, leaves)).collect()
        };
        match self {
            Tree::None => Ok(py.None().into_bound(py)),
            Tree::Leaf => match leaves.next() {
                Some(x) => Ok(x),
                None => Err(raise(
                    "Arity",
                    "a tree has more places than there are leaves",
                )),
            },
            Tree::Tuple(c) => Ok(PyTuple::new(py, parts(c)?)?.into_any()),
            Tree::List(c) => Ok(PyList::new(py, parts(c)?)?.into_any()),
            Tree::Named(n) => {
                let parts = PyTuple::new(py, parts(&n.1)?)?;
                n.0.bind(py).call1(parts)
            }
            Tree::Dict(d) => {
                let parts = parts(&d.children)?;
                let out: Bound<'py, PyAny> = match &d.class {
                    None => PyDict::new(py).into_any(),
                    Some((class, None)) => class.bind(py).call0()?,
                    Some((class, Some(first))) => class.bind(py).call1((first,))?,
                };
                for &k in &d.order {
                    out.set_item(&d.keys[k], &parts[k])?;
                }
                Ok(out)
            }
            Tree::Custom(c) => {
                let parts = PyTuple::new(py, parts(&c.children)?)?;
                c.class.unflatten.bind(py).call1((&c.aux, parts))
            }
        }
    }

    /// Whether both are one structure. Dicts may differ in the order of their keys.
    pub(crate) fn same(&self, o: &Tree, py: Python<'_>) -> PyResult<bool> {
        let node = match (self, o) {
            (Tree::Leaf, Tree::Leaf) | (Tree::None, Tree::None) => true,
            (Tree::Tuple(_), Tree::Tuple(_)) | (Tree::List(_), Tree::List(_)) => true,
            (Tree::Named(a), Tree::Named(b)) => a.0.is(&b.0),
            (Tree::Dict(a), Tree::Dict(b)) => {
                let mut same = a.keys.len() == b.keys.len();
                for (x, y) in a.keys.iter().zip(&b.keys) {
                    same = same && x.bind(py).eq(y.bind(py))?;
                }
                same
            }
            (Tree::Custom(a), Tree::Custom(b)) => {
                a.class.class.is(&b.class.class) && a.aux.bind(py).eq(b.aux.bind(py))?
            }
            _ => false,
        };
        let (a, b) = (self.children(), o.children());
        if !node || a.len() != b.len() {
            return Ok(false);
        }
        for (x, y) in a.iter().zip(b) {
            if !x.same(y, py)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Appends the leaves of an object, if it has this structure: without sorting keys.
    pub(crate) fn along<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        leaves: &mut Leaves<'py>,
    ) -> PyResult<bool> {
        match self {
            Tree::None => Ok(x.is_none()),
            Tree::Leaf => {
                let is_node = x.is_none()
                    || x.is_instance_of::<PyTuple>()
                    || x.is_instance_of::<PyList>()
                    || x.is_instance_of::<PyDict>()
                    || registered(&x.get_type()).is_some();
                if !is_node {
                    leaves.push(x.clone());
                }
                Ok(!is_node)
            }
            Tree::Tuple(c) => match x.cast_exact::<PyTuple>() {
                Ok(t) if t.len() == c.len() => each(c, t.iter(), leaves),
                _ => Ok(false),
            },
            Tree::List(c) => match x.cast_exact::<PyList>() {
                Ok(t) if t.len() == c.len() => each(c, t.iter(), leaves),
                _ => Ok(false),
            },
            Tree::Dict(d) if d.class.is_none() => {
                let Ok(given) = x.cast_exact::<PyDict>() else {
                    return Ok(false);
                };
                if given.len() != d.keys.len() {
                    return Ok(false);
                }
                for (key, child) in d.keys.iter().zip(&d.children) {
                    match given.get_item(key)? {
                        Some(v) if child.along(&v, leaves)? => {}
                        _ => return Ok(false),
                    }
                }
                Ok(true)
            }
            _ => {
                let mut found = Vec::new();
                let tree = flatten(x, &mut found)?;
                leaves.extend(found);
                self.same(&tree, x.py())
            }
        }
    }

    /// The structure as text.
    pub(crate) fn show(&self, py: Python<'_>) -> String {
        let list = |c: &[Tree]| {
            let parts: Vec<String> = c.iter().map(|t| t.show(py)).collect();
            parts.join(", ")
        };
        match self {
            Tree::Leaf => "*".into(),
            Tree::None => "None".into(),
            Tree::Tuple(c) if c.len() == 1 => format!("({},)", list(c)),
            Tree::Tuple(c) => format!("({})", list(c)),
            Tree::List(c) => format!("[{}]", list(c)),
            Tree::Named(n) => format!("{}({})", n.0.bind(py), list(&n.1)),
            Tree::Dict(d) => {
                let one = |(k, c): (&Py<PyAny>, &Tree)| {
                    let key = k.bind(py).repr().map(|r| r.to_string());
                    format!("{}: {}", key.unwrap_or_default(), c.show(py))
                };
                let parts: Vec<String> = d.keys.iter().zip(&d.children).map(one).collect();
                format!("{{{}}}", parts.join(", "))
            }
            Tree::Custom(c) => {
                let name = c.class.class.bind(py).name().map(|n| n.to_string());
                format!("{}({})", name.unwrap_or_default(), list(&c.children))
            }
        }
    }
}

fn each<'py>(
    children: &[Tree],
    items: impl Iterator<Item = Bound<'py, PyAny>>,
    leaves: &mut Leaves<'py>,
) -> PyResult<bool> {
    for (c, x) in children.iter().zip(items) {
        if !c.along(&x, leaves)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The structure of a tree, without its leaves.
///
/// >>> ct.tree_structure({"a": 1.0, "b": (2.0, None)})
/// TreeDef({'a': *, 'b': (*, None)})
#[pyclass(name = "TreeDef", module = "cotangent", frozen)]
pub(crate) struct TreeDef(pub(crate) Tree);

#[pymethods]
impl TreeDef {
    #[getter]
    fn num_leaves(&self) -> usize {
        self.0.len()
    }

    fn unflatten<'py>(
        &self,
        py: Python<'py>,
        leaves: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let leaves: Vec<Bound<'py, PyAny>> = leaves.try_iter()?.collect::<PyResult<_>>()?;
        let (n, m) = (self.0.len(), leaves.len());
        if n != m {
            return Err(raise(
                "Arity",
                format!("a tree of {n} leaves got {m} leaves"),
            ));
        }
        self.0.unflatten(py, &mut leaves.into_iter())
    }

    /// The leaves of a tree of this structure.
    fn leaves_of<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut leaves = Vec::new();
        let tree = flatten(x, &mut leaves)?;
        match self.0.same(&tree, x.py())? {
            true => Ok(leaves),
            false => Err(pyo3::exceptions::PyValueError::new_err(format!(
                "two trees have different structures: {} and {}",
                self.0.show(x.py()),
                tree.show(x.py())
            ))),
        }
    }

    /// The subtrees of `x` at the leaves of this structure.
    fn prefix_of<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let mut out = Vec::new();
        prefix(&self.0, x, &mut out)?;
        Ok(out)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("TreeDef({})", self.0.show(py))
    }

    fn __eq__(&self, o: &Bound<'_, PyAny>) -> PyResult<bool> {
        match o.cast::<TreeDef>() {
            Ok(o) => self.0.same(&o.get().0, o.py()),
            Err(_) => Ok(false),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut h = DefaultHasher::new();
        self.0.show(py).hash(&mut h);
        h.finish()
    }
}

fn prefix<'py>(
    tree: &Tree,
    x: &Bound<'py, PyAny>,
    out: &mut Vec<Bound<'py, PyAny>>,
) -> PyResult<()> {
    if matches!(tree, Tree::Leaf) {
        out.push(x.clone());
        return Ok(());
    }
    let differs = || {
        raise(
            "BranchMismatch",
            format!("the tree {x} does not begin with {}", tree.show(x.py())),
        )
    };
    match tree {
        Tree::Tuple(c) | Tree::List(c) => {
            let items: Vec<_> = x.try_iter()?.collect::<PyResult<_>>()?;
            if items.len() != c.len() {
                return Err(differs());
            }
            items
                .iter()
                .zip(&**c)
                .try_for_each(|(x, c)| prefix(c, x, out))
        }
        Tree::Dict(d) => {
            if x.len()? != d.keys.len() {
                return Err(differs());
            }
            let mut pairs = d.keys.iter().zip(&d.children);
            pairs.try_for_each(|(k, c)| prefix(c, &x.get_item(k)?, out))
        }
        Tree::None if x.is_none() => Ok(()),
        _ => {
            let mut leaves = Vec::new();
            let whole = flatten(x, &mut leaves)?;
            if !tree.same(&whole, x.py())? {
                return Err(differs());
            }
            out.extend(leaves);
            Ok(())
        }
    }
}

/// The leaves of a tree, and its structure.
#[pyfunction]
pub(crate) fn tree_flatten<'py>(
    tree: &Bound<'py, PyAny>,
) -> PyResult<(Vec<Bound<'py, PyAny>>, TreeDef)> {
    let mut leaves = Vec::new();
    let structure = flatten(tree, &mut leaves)?;
    Ok((leaves, TreeDef(structure)))
}
