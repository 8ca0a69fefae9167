//! [`Mesh`] and [`Spec`]: how tensors are divided among devices, in the notation of Shardy.

use cotangent_core::ops::Shard;
use cotangent_core::{Error, Function, Result, Type, Val, bail};
use std::fmt::{self, Display, Write};
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

/// Devices in a grid with named axes. Device `k` of a mesh has the coordinates of `k` in row-major
/// order.
///
/// ```
/// use cotangent_stablehlo::Mesh;
/// let mesh = Mesh::new(&[("data", 4), ("model", 2)])?;
/// assert_eq!((mesh.size(), mesh.extent("model")), (8, Some(2)));
/// assert!(Mesh::new(&[("data", 0)]).is_err());
/// # Ok::<(), cotangent_core::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mesh {
    axes: Arc<[(String, usize)]>,
}

impl Mesh {
    /// A mesh of these axes and extents.
    ///
    /// # Errors
    /// A name is empty, not made of letters, digits and `_`, or given twice; an extent is 0; the
    /// product of the extents overflows.
    pub fn new(axes: &[(&str, usize)]) -> Result<Mesh> {
        for (k, &(name, extent)) in axes.iter().enumerate() {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
            if name.is_empty() || !name.chars().all(plain) || ["none", "open"].contains(&name) {
                bail!(
                    Invalid,
                    "{name:?} is no name of an axis of a mesh: it has letters, digits and `_`, and is not `none` or `open`"
                );
            }
            if axes[..k].iter().any(|a| a.0 == name) {
                bail!(DuplicateName, "a mesh has two axes `{name}`");
            }
            if extent == 0 {
                bail!(Invalid, "the axis `{name}` of a mesh has no devices");
            }
        }
        let size = axes.iter().try_fold(1usize, |n, a| n.checked_mul(a.1));
        if size.is_none() {
            bail!(Limit, "a mesh has too many devices: {axes:?}");
        }
        Ok(Mesh {
            axes: axes.iter().map(|&(n, k)| (n.to_owned(), k)).collect(),
        })
    }

    /// Number of devices.
    pub fn size(&self) -> usize {
        self.axes.iter().map(|a| a.1).product()
    }

    /// Number of devices along an axis; `None` if there is no such axis.
    pub fn extent(&self, axis: &str) -> Option<usize> {
        self.axes.iter().find(|a| a.0 == axis).map(|a| a.1)
    }

    /// The coordinate of a device along an axis that exists.
    fn coordinate(&self, device: usize, axis: &str) -> usize {
        let mut rest = device;
        for (name, extent) in self.axes.iter().rev() {
            if name == axis {
                return rest % extent;
            }
            rest /= extent;
        }
        0
    }

    /// The line that declares the mesh.
    pub(crate) fn declaration(&self) -> String {
        let axes: Vec<String> = self
            .axes
            .iter()
            .map(|(n, k)| format!("{n:?}={k}"))
            .collect();
        format!("sdy.mesh @mesh = <[{}]>", axes.join(", "))
    }
}

/// As on the command line: `data=4,model=2`.
impl Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes: Vec<String> = self.axes.iter().map(|(n, k)| format!("{n}={k}")).collect();
        f.write_str(&axes.join(","))
    }
}

impl FromStr for Mesh {
    type Err = Error;

    fn from_str(text: &str) -> Result<Mesh> {
        let axis = |part: &str| {
            let (name, extent) = part.split_once('=')?;
            Some((name.to_owned(), extent.parse().ok()?))
        };
        let axes: Option<Vec<(String, usize)>> = text.split(',').map(axis).collect();
        let Some(axes) = axes else {
            bail!(
                Invalid,
                "axes have names and numbers of devices, as in `data=4,model=2`"
            )
        };
        let axes: Vec<(&str, usize)> = axes.iter().map(|(n, k)| (n.as_str(), *k)).collect();
        Mesh::new(&axes)
    }
}

/// As on the command line, with an axis for each dimension, or `-`: `data,-`. Several axes of one
/// dimension are joined by `+`. `?` is an open division.
impl Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dim = |axes: &Vec<String>| match axes.is_empty() {
            true => "-".to_owned(),
            false => axes.join("+"),
        };
        if self.open {
            return f.write_str("?");
        }
        let dims: Vec<String> = self.dims.iter().map(dim).collect();
        match dims.is_empty() {
            true => f.write_str("-"),
            false => f.write_str(&dims.join(",")),
        }
    }
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Spec> {
        if text == "?" {
            return Ok(Spec::open());
        }
        let axes = |dim: &str| {
            let names = dim.split('+').filter(|a| *a != "-");
            names.map(str::to_owned).collect()
        };
        Ok(Spec::of(text.split(',').map(axes).collect()))
    }
}

/// How a tensor is divided among the devices of a mesh: for each dimension the axes along which it
/// is divided, from the slowest to the fastest. Along other axes each device has a copy.
///
/// ```
/// use cotangent_core::{DType, Type};
/// use cotangent_stablehlo::{Mesh, Spec};
/// let mesh = Mesh::new(&[("data", 4), ("model", 2)])?;
/// let rows = Spec::new(&[Some("data"), None]);
/// assert_eq!(rows.block(&mesh, 5, &[16, 6]), [8..12, 0..6]);
/// assert_eq!(Spec::of_axes(&[&["data", "model"]]).block(&mesh, 5, &[16]), [10..12]);
/// let text = rows.check(&mesh, &Type::new(DType::F32, [6, 6])).unwrap_err().to_string();
/// assert!(text.contains("6 elements do not divide among 4 devices"), "{text}");
/// # Ok::<(), cotangent_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Spec {
    dims: Vec<Vec<String>>,
    /// The compiler decides.
    open: bool,
}

impl Spec {
    /// At most one axis for each dimension. Further dimensions are not divided.
    pub fn new(dims: &[Option<&str>]) -> Spec {
        let axes = |axis: &Option<&str>| axis.iter().map(|&a| a.to_owned()).collect();
        Spec::of(dims.iter().map(axes).collect())
    }

    /// Any number of axes for each dimension.
    pub fn of_axes(dims: &[&[&str]]) -> Spec {
        let axes = |axes: &&[&str]| axes.iter().map(|&a| a.to_owned()).collect();
        Spec::of(dims.iter().map(axes).collect())
    }

    /// Equal divisions are equal values: last dimensions that are not divided are left out.
    fn of(mut dims: Vec<Vec<String>>) -> Spec {
        dims.truncate(
            dims.iter()
                .rposition(|d| !d.is_empty())
                .map_or(0, |d| d + 1),
        );
        Spec { dims, open: false }
    }

    /// A division that the compiler chooses. It is known when the program is compiled.
    ///
    /// ```
    /// use cotangent_stablehlo::Spec;
    /// assert!(Spec::open().is_open() && !Spec::replicated().is_open());
    /// assert_eq!("?".parse::<Spec>()?, Spec::open());
    /// # Ok::<(), cotangent_core::Error>(())
    /// ```
    pub fn open() -> Spec {
        Spec {
            open: true,
            ..Spec::default()
        }
    }

    /// Whether the compiler chooses the division.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The division of a tensor into this number of parts along each dimension, where `places` has
    /// for each device the index of its part; `None` if no axes of the mesh divide it so. No parts
    /// are a copy on each device.
    ///
    /// ```
    /// use cotangent_stablehlo::{Mesh, Spec};
    /// let mesh = Mesh::new(&[("data", 2), ("model", 2)])?;
    /// let places: Vec<Vec<usize>> = (0..4).map(|device| vec![0, device % 2]).collect();
    /// assert_eq!(Spec::of_parts(&mesh, &[1, 2], &places), Some(Spec::new(&[None, Some("model")])));
    /// # Ok::<(), cotangent_core::Error>(())
    /// ```
    pub fn of_parts(mesh: &Mesh, parts: &[usize], places: &[Vec<usize>]) -> Option<Spec> {
        if parts.is_empty() {
            return Some(Spec::replicated());
        }
        if places.len() != mesh.size() || places.iter().any(|p| p.len() != parts.len()) {
            return None;
        }
        let dims = (0..parts.len()).map(|d| {
            let fits = |axes: &[&str]| {
                let place = |device: usize| {
                    axes.iter().fold(0, |at, a| {
                        at * mesh.extent(a).unwrap_or(1) + mesh.coordinate(device, a)
                    })
                };
                (0..mesh.size()).all(|device| place(device) == places[device][d])
            };
            let axes = ordered_axes(mesh, parts[d], &mut Vec::new(), &fits)?;
            Some(axes.into_iter().map(str::to_owned).collect())
        });
        Some(Spec::of(dims.collect::<Option<_>>()?))
    }

    /// A copy on each device.
    pub fn replicated() -> Spec {
        Spec::default()
    }

    /// The division of an operation `shard`. Dimensions that it leaves to the compiler are not
    /// divided here.
    pub(crate) fn of_shard(shard: &Shard) -> Spec {
        let axes = |d: &Option<Vec<String>>| d.clone().unwrap_or_default();
        Spec::of(shard.spec.iter().map(axes).collect())
    }

    /// The axes of each dimension, from the slowest to the fastest. Further dimensions are not
    /// divided.
    ///
    /// ```
    /// use cotangent_stablehlo::Spec;
    /// assert_eq!(Spec::new(&[Some("data"), None]).axes(), [["data"]]);
    /// ```
    pub fn axes(&self) -> &[Vec<String>] {
        &self.dims
    }

    /// Number of parts of a dimension.
    fn parts(&self, mesh: &Mesh, dim: usize) -> usize {
        let axes = self.dims.get(dim).into_iter().flatten();
        axes.map(|a| mesh.extent(a).unwrap_or(1)).product()
    }

    /// Checks that a tensor can be divided.
    ///
    /// # Errors
    /// An axis that the mesh lacks, or that occurs twice; more dimensions than the tensor has; an
    /// extent that is not constant, or not a multiple of the number of its parts.
    pub fn check(&self, mesh: &Mesh, ty: &Type) -> Result<()> {
        let mut used: Vec<&str> = Vec::new();
        for axis in self.dims.iter().flatten() {
            if mesh.extent(axis).is_none() {
                let names: Vec<&str> = mesh.axes.iter().map(|a| a.0.as_str()).collect();
                bail!(
                    UnknownName,
                    "the mesh has no axis `{axis}`: it has {}",
                    names.join(", ")
                );
            }
            if used.contains(&axis.as_str()) {
                bail!(
                    DuplicateName,
                    "the axis `{axis}` divides two dimensions of one tensor"
                );
            }
            used.push(axis);
        }
        if self.dims.len() > ty.shape.rank() {
            bail!(
                ShapeMismatch,
                "a division of {} dimensions is given for a tensor of type {ty}",
                self.dims.len()
            );
        }
        for (d, extent) in ty.shape.iter().enumerate() {
            let parts = self.parts(mesh, d);
            match extent.as_const() {
                _ if parts == 1 => {}
                Some(n) if n % parts == 0 => {}
                Some(n) => bail!(
                    ShapeMismatch,
                    "dimension {d} of a tensor of type {ty}: {n} elements do not divide among {parts} devices"
                ),
                None => bail!(
                    Unsupported,
                    "dimension {d} of a tensor of type {ty} is divided, so its extent must be known"
                ),
            }
        }
        Ok(())
    }

    /// The indices of a tensor of these extents that a device holds.
    pub fn block(&self, mesh: &Mesh, device: usize, extents: &[usize]) -> Vec<Range<usize>> {
        let range = |(d, &n): (usize, &usize)| {
            let axes = self.dims.get(d).into_iter().flatten();
            let position = axes.fold(0, |at, a| {
                at * mesh.extent(a).unwrap_or(1) + mesh.coordinate(device, a)
            });
            let size = n / self.parts(mesh, d);
            position * size..(position + 1) * size
        };
        extents.iter().enumerate().map(range).collect()
    }

    /// The attribute of an argument or a result.
    pub(crate) fn attribute(&self, rank: usize) -> String {
        let dims: Vec<Option<&[String]>> = match self.open {
            true => vec![None; rank],
            false => self.dims.iter().map(|d| Some(&d[..])).collect(),
        };
        format!("sdy.sharding = #sdy.sharding{}", division(&dims, rank))
    }
}

/// Axes of a mesh in some order, beginning with `chosen`, that divide a dimension into a number of
/// parts and that fit.
fn ordered_axes<'a>(
    mesh: &'a Mesh,
    parts: usize,
    chosen: &mut Vec<&'a str>,
    fits: &dyn Fn(&[&str]) -> bool,
) -> Option<Vec<&'a str>> {
    if parts == 1 {
        return fits(chosen).then(|| chosen.clone());
    }
    for (name, extent) in mesh.axes.iter() {
        if *extent > 1 && parts.is_multiple_of(*extent) && !chosen.contains(&name.as_str()) {
            chosen.push(name);
            let found = ordered_axes(mesh, parts / extent, chosen, fits);
            chosen.pop();
            if found.is_some() {
                return found;
            }
        }
    }
    None
}

/// The division of a tensor of this rank in the notation of Shardy; `None` is a dimension that the
/// compiler divides, and further ones are not divided.
fn division(dims: &[Option<&[String]>], rank: usize) -> String {
    let mut out = String::from("<@mesh, [");
    for d in 0..rank {
        let comma = if d == 0 { "" } else { ", " };
        let axes = match dims.get(d) {
            Some(None) => "?".to_owned(),
            Some(Some(axes)) => {
                let axes: Vec<String> = axes.iter().map(|a| format!("{a:?}")).collect();
                axes.join(", ")
            }
            None => String::new(),
        };
        let _ = write!(out, "{comma}{{{axes}}}");
    }
    out.push_str("]>");
    out
}

/// The division of an operation `shard` for a tensor of this type.
///
/// # Errors
/// The errors of [`Spec::check`].
pub(crate) fn of_shard(shard: &Shard, mesh: &Mesh, ty: &Type) -> Result<String> {
    Spec::of_shard(shard).check(mesh, ty)?;
    let dims: Vec<Option<&[String]>> = shard.spec.iter().map(Option::as_deref).collect();
    Ok(division(&dims, ty.rank()))
}

/// How the arguments and results of a program are divided among the devices of a mesh.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sharding {
    /// The devices.
    pub mesh: Mesh,
    /// One for each argument.
    pub arguments: Vec<Spec>,
    /// One for each result.
    pub results: Vec<Spec>,
}

impl Sharding {
    /// The division of a function: arguments by name, results by position. Others are copied to
    /// each device.
    ///
    /// # Errors
    /// An argument that does not exist. If the extents are known, those of [`Sharding::check`].
    pub fn of(
        f: &Function,
        mesh: &Mesh,
        arguments: &[(&str, Spec)],
        results: &[Spec],
    ) -> Result<Sharding> {
        let mut specs = vec![Spec::replicated(); f.params().len()];
        for (name, spec) in arguments {
            let named = |p: &Val| f.name_of(*p).is_some_and(|n| **n == **name);
            let Some(k) = f.params().iter().position(named) else {
                bail!(UnknownName, "`{}` has no argument `{name}`", f.name)
            };
            specs[k] = spec.clone();
        }
        let mut of_results = results.to_vec();
        if of_results.len() < f.results().len() {
            of_results.resize(f.results().len(), Spec::replicated());
        }
        let sharding = Sharding {
            mesh: mesh.clone(),
            arguments: specs,
            results: of_results,
        };
        if f.param_syms().is_empty() {
            let arguments: Vec<Type> = f.params().iter().map(|&p| f.ty(p).clone()).collect();
            sharding.check(&arguments, &f.result_types())?;
        }
        Ok(sharding)
    }

    /// Checks that arguments and results of these types can be divided.
    ///
    /// # Errors
    /// Other numbers of arguments and results; the errors of [`Spec::check`], with the position.
    pub fn check(&self, arguments: &[Type], results: &[Type]) -> Result<()> {
        for (what, specs, types) in [
            ("argument", &self.arguments, arguments),
            ("result", &self.results, results),
        ] {
            if specs.len() != types.len() {
                bail!(
                    Arity,
                    "{} divisions are given for {} {what}s",
                    specs.len(),
                    types.len()
                );
            }
            for (k, (spec, ty)) in specs.iter().zip(types).enumerate() {
                spec.check(&self.mesh, ty)
                    .map_err(|e| e.note(format!("{what} {k}")))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotangent_core::{Code, DType};

    #[test]
    fn blocks_of_all_devices_cover_a_tensor_once_for_each_copy() {
        let mesh = Mesh::new(&[("a", 2), ("b", 3), ("c", 2)]).unwrap();
        for spec in [
            Spec::of_axes(&[&["b"], &[], &["c", "a"]]),
            Spec::of_axes(&[&["c", "b"]]),
            Spec::new(&[None, Some("a"), None]),
            Spec::replicated(),
        ] {
            let extents = [6, 2, 4];
            let mut held = vec![0; 48];
            for device in 0..12 {
                let [i, j, k] = spec.block(&mesh, device, &extents).try_into().unwrap();
                for (i, j) in i.flat_map(|i| j.clone().map(move |j| (i, j))) {
                    for k in k.clone() {
                        held[(i * 2 + j) * 4 + k] += 1;
                    }
                }
            }
            let parts: usize = (0..3).map(|d| spec.parts(&mesh, d)).product();
            assert_eq!(held, vec![12 / parts; 48], "{spec:?}");
        }
    }

    #[test]
    fn divisions_are_found_by_the_places_of_their_parts() {
        let mesh = Mesh::new(&[("a", 2), ("b", 2), ("c", 2)]).unwrap();
        for spec in [
            Spec::of_axes(&[&["b"], &[], &["c", "a"]]),
            Spec::of_axes(&[&["c", "b", "a"]]),
            Spec::of_axes(&[&["a"], &["b"], &["c"]]),
            Spec::replicated(),
        ] {
            let extents = [8, 8, 8];
            let parts: Vec<usize> = (0..3).map(|d| spec.parts(&mesh, d)).collect();
            let place = |device| {
                let block = spec.block(&mesh, device, &extents);
                block.iter().map(|b| b.start / b.len()).collect()
            };
            let places: Vec<Vec<usize>> = (0..8).map(place).collect();
            let found = Spec::of_parts(&mesh, &parts, &places);
            assert_eq!(found.as_ref(), Some(&spec));
            // The first two devices exchanged: no division of this mesh, unless all have copies.
            let mut other = places.clone();
            other.swap(0, 1);
            let same = other == places;
            assert_eq!(Spec::of_parts(&mesh, &parts, &other).is_some(), same);
        }
        // Three parts of two axes.
        assert_eq!(Spec::of_parts(&mesh, &[3], &vec![vec![0]; 8]), None);
    }

    #[test]
    fn divisions_that_do_not_fit_are_errors() {
        let mesh = Mesh::new(&[("data", 4)]).unwrap();
        let ty = Type::new(DType::F32, [8, 3]);
        let code = |spec: Spec| spec.check(&mesh, &ty).unwrap_err().code();
        assert_eq!(code(Spec::new(&[Some("model")])), Code::UnknownName);
        assert_eq!(
            code(Spec::new(&[Some("data"), Some("data")])),
            Code::DuplicateName
        );
        assert_eq!(code(Spec::new(&[None, Some("data")])), Code::ShapeMismatch);
        let third = Spec::new(&[None, None, Some("data")]);
        assert_eq!(code(third), Code::ShapeMismatch);
        // Texts are those of the command line.
        for text in ["data,-,a+b", "-", "-,data", "?"] {
            let spec: Spec = text.parse().unwrap();
            assert_eq!(spec.to_string(), text);
        }
        assert_eq!("-,-".parse::<Spec>().unwrap(), Spec::replicated());
        let text = "data=4,model=2";
        assert_eq!(text.parse::<Mesh>().unwrap().to_string(), text);
        assert!("data".parse::<Mesh>().is_err() && "data=x".parse::<Mesh>().is_err());
        // A dimension that is not divided need not be said.
        assert_eq!(Spec::new(&[None, None, None]), Spec::replicated());
        let rows = Spec::new(&[Some("data")]);
        assert_eq!(Spec::of_axes(&[&["data"], &[]]), rows);
        assert!(Mesh::new(&[("a b", 2)]).is_err() && Mesh::new(&[("a", 2), ("a", 2)]).is_err());
    }
}
