//! [`find`]: the plugins that are installed on this system.

use cotangent_core::{Result, bail};
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A place of a plugin in a folder of Python packages: names of folders and of a file, which may
/// end with `*`.
struct PluginPath {
    /// The name by which the plugin is asked for.
    name: &'static str,
    path: &'static [&'static str],
    /// The command that installs it.
    install: &'static str,
}

const PLACES: [PluginPath; 5] = [
    PluginPath {
        name: "cpu",
        path: &["xla_plugins", "xla_cpu*", "xla_cpu_pjrt.so"],
        install: "pip install xla-cpu-pjrt==0.0.1",
    },
    PluginPath {
        name: "cpu",
        path: &["lammps_jax_pjrt_cpu", "pjrt_c_api_cpu_plugin.so"],
        install: "pip install lammps-jax-pjrt-cpu==0.11.2",
    },
    PluginPath {
        name: "cuda",
        path: &["jax_plugins", "xla_cuda*", "xla_cuda_plugin.so"],
        install: "pip install \"jax[cuda13]\"",
    },
    PluginPath {
        name: "tpu",
        path: &["libtpu", "libtpu.so"],
        install: "pip install libtpu",
    },
    PluginPath {
        name: "cotangent",
        path: &["jax_plugins", "cotangent", "libcotangent_pjrt.so"],
        install: "pip install ./python/cotangent-jax",
    },
];

/// The library of a plugin: the path in the environment variable `COTANGENT_PJRT_<NAME>`, or else
/// the place where Python packages have it: those of the active environment (`VIRTUAL_ENV`,
/// `CONDA_PREFIX`), or of the `python3` that is found by `PATH`.
///
/// The function downloads nothing.
///
/// # Errors
/// [`Code::Io`](cotangent_core::Code::Io) if there is none; the message says what installs it.
pub fn find(name: &str) -> Result<PathBuf> {
    let variable = format!("COTANGENT_PJRT_{}", name.to_uppercase());
    if let Some(path) = env::var_os(&variable).filter(|p| !p.is_empty()) {
        let path = PathBuf::from(path);
        if !path.is_file() {
            bail!(Io, "{variable}: there is no file {}", path.display());
        }
        return Ok(path);
    }
    if let Some((_, path)) = found().into_iter().find(|(n, _)| *n == name) {
        return Ok(path);
    }
    let Some(place) = PLACES.iter().find(|p| p.name == name) else {
        bail!(
            Io,
            "there is no plugin `{name}`: set {variable} to the path of its library, or ask for cpu, cuda, tpu or \
             cotangent"
        )
    };
    bail!(
        Io,
        "the PJRT plugin `{name}` is not installed: `{}`, or set {variable} to the path of its library",
        place.install
    )
}

/// The plugins in folders of Python packages: name and library, in the order of the search.
pub fn found() -> Vec<(&'static str, PathBuf)> {
    let mut all = Vec::new();
    for folder in package_folders() {
        for place in &PLACES {
            if let Some(path) = matching(&folder, place.path) {
                all.push((place.name, path));
            }
        }
    }
    all.dedup();
    all
}

/// The first file below a folder whose path matches.
fn matching(folder: &Path, path: &[&str]) -> Option<PathBuf> {
    let [first, rest @ ..] = path else {
        return folder.is_file().then(|| folder.to_owned());
    };
    let Some(start) = first.strip_suffix('*') else {
        return matching(&folder.join(first), rest);
    };
    let starts = |p: &PathBuf| {
        p.file_name()
            .is_some_and(|n| n.to_string_lossy().starts_with(start))
    };
    let mut names: Vec<PathBuf> = entries(folder).filter(starts).collect();
    names.sort();
    names.iter().find_map(|p| matching(p, rest))
}

fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let read = std::fs::read_dir(folder).into_iter().flatten();
    read.flatten().map(|e| e.path())
}

/// Folders of Python packages that are searched before those of the active environment.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Lets [`find`] and [`found`] search these folders of Python packages first: those of a running
/// Python, which need not be the active one.
///
/// ```
/// pjrt::loader::search_in(vec!["/usr/lib/python3/dist-packages".into()]);
/// ```
pub fn search_in(folders: Vec<PathBuf>) {
    *FOLDERS.lock().unwrap_or_else(PoisonError::into_inner) = folders;
}

/// Folders of Python packages that are searched.
fn package_folders() -> Vec<PathBuf> {
    let mut prefixes: Vec<PathBuf> = ["VIRTUAL_ENV", "CONDA_PREFIX"]
        .into_iter()
        .filter_map(env::var_os)
        .map(PathBuf::from)
        .collect();
    let on_path = env::var_os("PATH").unwrap_or_default();
    let python = env::split_paths(&on_path).find(|p| p.join("python3").exists());
    prefixes.extend(python.and_then(|bin| Some(bin.parent()?.to_owned())));
    let mut folders = FOLDERS
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    for prefix in prefixes {
        for library in ["lib", "local/lib"] {
            let is_python = |p: &PathBuf| {
                let name = p.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with("python3")
            };
            let mut versions: Vec<PathBuf> =
                entries(&prefix.join(library)).filter(is_python).collect();
            versions.sort();
            for version in versions {
                folders.extend(["site-packages", "dist-packages"].map(|f| version.join(f)));
            }
        }
    }
    folders.dedup();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_that_is_missing_is_an_error_that_names_the_variable() {
        let text = find("npu").unwrap_err().to_string();
        assert!(text.contains("COTANGENT_PJRT_NPU"), "{text}");
    }

    #[test]
    fn a_star_stands_for_the_rest_of_a_name() {
        let folder = env::temp_dir().join(format!("cotangent-find-{}", std::process::id()));
        let inner = folder.join("xla_plugins/xla_cpu_pjrt");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join("xla_cpu_pjrt.so"), "").unwrap();
        assert_eq!(
            matching(&folder, PLACES[0].path),
            Some(inner.join("xla_cpu_pjrt.so"))
        );
        assert_eq!(matching(&folder, PLACES[2].path), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
