//! Compiled programs in the folder that the environment variable `COTANGENT_CACHE` names.
//!
//! A file has its whole key in front of the executable: the plugin's library and version, the
//! device, and the program's text. A file of another key, or a damaged one, is compiled again and
//! replaced. The executables are code that runs in this process, so the folder is trusted as a
//! program is.

use crate::files;
use crate::report::report;
use pjrt::loader::{Client, Device, Executable};
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write as _;
use std::hash::Hasher;
use std::path::PathBuf;
use std::sync::Once;

/// The file of a program.
pub(super) struct StoredExecutable {
    path: PathBuf,
    key: String,
}

impl StoredExecutable {
    /// The file of a program on devices of these numbers; `None` if no folder is named.
    pub(super) fn of(device: &Device, text: &str, devices: &[i32]) -> Option<Self> {
        let folder = std::env::var_os("COTANGENT_CACHE").filter(|f| !f.is_empty())?;
        let client = device.client();
        let library = client.plugin().path();
        let file = library.metadata().ok()?;
        let kind = device.kind().unwrap_or_default();
        let mut key = String::from("cotangent.cache 1\n");
        let _ = writeln!(
            key,
            "library {:?} {} {:?}",
            library,
            file.len(),
            file.modified().ok()
        );
        let platform = (client.platform(), client.platform_version());
        let _ = writeln!(key, "platform {platform:?} {kind:?} {devices:?}");
        key.push_str(text);
        let mut hasher = DefaultHasher::new();
        hasher.write(key.as_bytes());
        let name = format!("{:016x}.cache", hasher.finish());
        let path = PathBuf::from(folder).join(name);
        Some(StoredExecutable { path, key })
    }

    /// The executable, if the file has it.
    pub(super) fn load(&self, client: &Client) -> Option<Executable> {
        let bytes = std::fs::read(&self.path).ok()?;
        let rest = bytes.strip_prefix(self.key.as_bytes())?;
        let (size, executable) = rest.split_first_chunk::<8>()?;
        if u64::from_le_bytes(*size) != executable.len() as u64 {
            return None;
        }
        client.deserialize(executable).ok()
    }

    /// Writes the file, if the plugin can store programs. The first failure to write is reported on
    /// standard error.
    pub(super) fn store(&self, made: &Executable) {
        static REPORTED: Once = Once::new();
        let Ok(executable) = made.serialize() else {
            return;
        };
        let size = (executable.len() as u64).to_le_bytes();
        let bytes = [self.key.as_bytes(), &size, &executable].concat();
        let made = match self.path.parent() {
            Some(folder) => std::fs::create_dir_all(folder).map_err(|e| e.to_string()),
            None => Ok(()),
        };
        let written = made.and_then(|()| {
            let written = files::write(&self.path, &bytes);
            written.map_err(|e| e.message().to_owned())
        });
        if let Err(e) = written {
            REPORTED.call_once(|| report(&format!("cotangent: COTANGENT_CACHE: {e}\n")));
        }
    }
}
