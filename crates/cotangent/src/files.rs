//! Atomic writes of files. Every writer of the library and of the command line uses this module.
//!
//! A regular file is written to a temporary file in the same folder, synced to the disk, and
//! renamed over the old one. A full disk or a killed process leaves the old file. On systems with
//! unnamed files the temporary file has no name until it is complete, so a killed process leaves no
//! temporary file. Symbolic links are followed, and the mode is preserved. Other files (a device, a
//! pipe, `/dev/stdout`) are written in place.

use cotangent_core::{Code, Error, Result};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Cursor, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Replaces or creates a file with these bytes.
///
/// ```
/// use cotangent::files;
/// let path = std::env::temp_dir().join(format!("cotangent_{}.txt", std::process::id()));
/// files::write(&path, b"one")?;
/// files::write(&path, b"two")?;
/// assert_eq!(std::fs::read(&path).expect("it was just written"), b"two");
/// # std::fs::remove_file(&path).expect("it was just written");
/// assert!(files::write("/no/such/folder/file", b"").is_err());
/// # Ok::<(), cotangent::Error>(())
/// ```
///
/// # Errors
/// The file cannot be written. The old contents are unchanged.
pub fn write(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    write_with(path.as_ref(), &mut |out| out.write_all(bytes))
}

/// The destination of a file's contents.
pub(crate) trait SeekWrite: Write + Seek {}

impl<T: Write + Seek> SeekWrite for T {}

/// Replaces or creates a file with the output of `content`.
pub(crate) fn write_with(
    path: &Path,
    content: &mut dyn FnMut(&mut dyn SeekWrite) -> io::Result<()>,
) -> Result<()> {
    write_or_replace(path, content)
        .map_err(|e| Error::new(Code::Io, format!("cannot write {}: {e}", path.display())))
}

fn write_or_replace(
    path: &Path,
    content: &mut dyn FnMut(&mut dyn SeekWrite) -> io::Result<()>,
) -> io::Result<()> {
    let (target, inherited) = follow(path)?;
    match fs::metadata(&target) {
        Ok(old) if inherited || !old.is_file() => in_place(&target, old.is_file(), content),
        Ok(old) => replace(&target, Some(&old), content),
        Err(e) if e.kind() == ErrorKind::NotFound && !inherited => replace(&target, None, content),
        Err(e) => Err(e),
    }
}

/// The target of links, and whether it is an open file that this process inherited (`/dev/stdout`).
fn follow(path: &Path) -> io::Result<(PathBuf, bool)> {
    const MAX_LINKS: usize = 40;
    let mut at = path.to_owned();
    for _ in 0..MAX_LINKS {
        if at.starts_with("/proc") || at.starts_with("/dev/fd") {
            return Ok((at, true));
        }
        match fs::read_link(&at) {
            Ok(to) => at = at.parent().unwrap_or(Path::new("")).join(to),
            Err(_) => return Ok((at, false)),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Writes to the existing file in place. A regular file that this process inherited is appended to.
fn in_place(
    target: &Path,
    regular: bool,
    content: &mut dyn FnMut(&mut dyn SeekWrite) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .append(regular)
        .open(target)?;
    let mut memory = Memory::default();
    content(&mut memory)?;
    file.write_all(memory.bytes())?;
    file.flush()
}

/// Writes a temporary file in the same folder, and renames it.
fn replace(
    target: &Path,
    old: Option<&Metadata>,
    content: &mut dyn FnMut(&mut dyn SeekWrite) -> io::Result<()>,
) -> io::Result<()> {
    if old.is_some() {
        // A rename would replace a read-only file.
        OpenOptions::new().write(true).open(target)?;
    }
    let folder = target
        .parent()
        .filter(|p| !p.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    let beside = match unnamed::file(folder) {
        Some(file) => {
            let file = fill(file, old, content)?;
            beside(folder, |name| unnamed::link(&file, name))?.1
        }
        None => {
            let (file, name) = beside(folder, |name| {
                OpenOptions::new().write(true).create_new(true).open(name)
            })?;
            if let Err(e) = fill(file, old, content) {
                let _ = fs::remove_file(&name);
                return Err(e);
            }
            name
        }
    };
    if let Err(e) = fs::rename(&beside, target) {
        let _ = fs::remove_file(&beside);
        return Err(e);
    }
    // Syncing the folder makes the new name durable. Not every system supports this.
    let _ = File::open(folder).and_then(|f| f.sync_all());
    Ok(())
}

/// The result of `make` for a name that no file in the folder has.
fn beside<T>(folder: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    loop {
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = folder.join(format!(".cotangent-{}-{n}", std::process::id()));
        match make(&name) {
            Ok(made) => return Ok((made, name)),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
}

/// Files that have no name until they are complete. The system removes them with a killed process.
#[cfg(target_os = "linux")]
mod unnamed {
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::Path;

    /// The name under which the system shows an open file.
    fn shown(file: &File) -> String {
        format!("/proc/self/fd/{}", file.as_raw_fd())
    }

    /// An unnamed file in this folder; `None` if the system has none.
    pub(super) fn file(folder: &Path) -> Option<File> {
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = File::from(openat(CWD, folder, flags, Mode::from_raw_mode(0o666)).ok()?);
        Path::new(&shown(&file)).exists().then_some(file)
    }

    /// Links the file to a name.
    pub(super) fn link(file: &File, name: &Path) -> io::Result<()> {
        Ok(linkat(
            CWD,
            shown(file),
            CWD,
            name,
            AtFlags::SYMLINK_FOLLOW,
        )?)
    }
}

#[cfg(not(target_os = "linux"))]
mod unnamed {
    use std::fs::File;
    use std::io;
    use std::path::Path;

    pub(super) fn file(_: &Path) -> Option<File> {
        None
    }

    pub(super) fn link(_: &File, _: &Path) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

fn fill(
    file: File,
    old: Option<&Metadata>,
    content: &mut dyn FnMut(&mut dyn SeekWrite) -> io::Result<()>,
) -> io::Result<File> {
    const BUFFER_BYTES: usize = 1 << 16;
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, file);
    content(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(old) = old {
        keep_owner(&file, old);
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()?;
    Ok(file)
}

/// Gives the new file the old one's owner, where this process may.
#[cfg(unix)]
fn keep_owner(file: &File, old: &Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    if file
        .metadata()
        .is_ok_and(|new| (new.uid(), new.gid()) != (old.uid(), old.gid()))
    {
        let _ = fchown(file, Some(old.uid()), Some(old.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &Metadata) {}

/// Bytes in memory. Writing fails if memory is exhausted.
#[derive(Default)]
pub(crate) struct Memory(Cursor<Vec<u8>>);

impl Memory {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.0.get_ref()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0.into_inner()
    }
}

impl Write for Memory {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        let end = (self.0.position() as usize).saturating_add(buf.len());
        let more = end.saturating_sub(self.0.get_ref().len());
        self.0
            .get_mut()
            .try_reserve(more)
            .map_err(|_| ErrorKind::OutOfMemory)?;
        self.0.write(buf)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Memory {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.0.seek(to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(test: &str) -> PathBuf {
        let folder =
            std::env::temp_dir().join(format!("cotangent_files_{}_{test}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn an_error_in_the_middle_leaves_the_old_file_and_nothing_else() {
        let folder = folder("middle");
        let path = folder.join("a");
        write(&path, b"old").unwrap();
        let e = write_with(&path, &mut |out| {
            out.write_all(&[0; 100_000])?;
            Err(io::Error::other("enough"))
        });
        assert!(e.unwrap_err().to_string().contains("enough"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(
            fs::read_dir(&folder).unwrap().count(),
            1,
            "no temporary file is left"
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn links_and_modes_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("links");
        let (file, link, open) = (
            folder.join("file"),
            folder.join("link"),
            folder.join("open"),
        );
        write(&file, b"old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("file", &link).unwrap();
        std::os::unix::fs::symlink("made", &open).unwrap();
        write(&link, b"new").unwrap();
        write(&open, b"made").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(
            fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o640
        );
        assert_eq!(
            fs::read(folder.join("made")).unwrap(),
            b"made",
            "writing through a dangling link creates its target"
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_written_in_place() {
        write("/dev/null", b"x").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
