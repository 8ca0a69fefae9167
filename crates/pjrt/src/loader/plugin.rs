//! [`Plugin`]: a shared library that provides the functions of the interface.

use super::{Padded, text};
use crate::args::{ErrorDestroy, ErrorGetCode, ErrorMessage, PluginInitialize};
use crate::{Api, ApiSlot, Arguments, Pointer, code};
use cotangent_core::{Code, Error, Result, bail};
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, OsStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlerror() -> *const c_char;
}

/// Resolves all symbols of a library when it is opened.
const RTLD_NOW: c_int = 2;

/// A function of the interface: reads and writes its argument struct, and returns an error or null.
type SlotFn = unsafe extern "C" fn(*mut c_void) -> Pointer;

/// The functions of a plugin. A library is loaded once, and stays until the process ends.
pub struct Plugin {
    api: *const Api,
    path: PathBuf,
}

// SAFETY: the table of functions is not written after it was handed out, and its functions may be
// called from any thread.
unsafe impl Send for Plugin {}
// SAFETY: the interface may be called from any thread at the same time.
unsafe impl Sync for Plugin {}

impl std::fmt::Debug for Plugin {
    /// Prints the path of the library, and the version of its interface.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (major, minor) = self.version();
        write!(f, "{} (PJRT {major}.{minor})", self.path.display())
    }
}

impl Plugin {
    /// The plugin in a shared library, which is loaded and initialised if it was not before.
    ///
    /// The code of the library runs in this process, so a path is trusted as a program is.
    ///
    /// # Errors
    /// [`Code::Io`] if the library cannot be loaded, or exports no `GetPjrtApi`; the plugin's error
    /// if it cannot be initialised.
    pub fn open(path: impl AsRef<Path>) -> Result<&'static Plugin> {
        static OPEN: Mutex<BTreeMap<PathBuf, &'static Plugin>> = Mutex::new(BTreeMap::new());
        let path = path.as_ref();
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(plugin) = open.get(&path) {
            return Ok(plugin);
        }
        let get = symbol(&path)?;
        // SAFETY: a plugin exports a function of this type by that name.
        let get: unsafe extern "C" fn() -> *const Api = unsafe { std::mem::transmute(get) };
        // SAFETY: the plugin owns what it returned, which is alive (the interface).
        let api = unsafe { get() };
        if api.is_null() {
            let path = path.display();
            bail!(Io, "the plugin {path} has no table of functions");
        }
        let plugin: &'static Plugin = Box::leak(Box::new(Plugin {
            api,
            path: path.clone(),
        }));
        // SAFETY: the struct has no fields.
        unsafe { plugin.call(PluginInitialize::default())? };
        open.insert(path, plugin);
        Ok(plugin)
    }

    /// The library's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The version of the interface: major and minor.
    pub fn version(&self) -> (i32, i32) {
        // SAFETY: a table has a version, and lives as long as the library.
        let version = unsafe { (*self.api).version };
        (version.major, version.minor)
    }

    /// Whether the plugin has a function in this slot.
    pub fn has(&self, slot: &ApiSlot) -> bool {
        self.function(slot).is_some()
    }

    /// The function in a slot, if the table reaches so far.
    fn function(&self, slot: &ApiSlot) -> Option<SlotFn> {
        // SAFETY: a table begins with its size in bytes.
        let words = unsafe { (*self.api).struct_size } / size_of::<Pointer>();
        if slot.number >= words {
            return None;
        }
        // SAFETY: the table has that many words.
        let function = unsafe { *self.api.cast::<Pointer>().add(slot.number) };
        // SAFETY: a slot that is not null is a function of this type.
        (!function.is_null()).then(|| unsafe { std::mem::transmute::<Pointer, SlotFn>(function) })
    }

    /// Calls a slot, and returns the struct with what the plugin wrote.
    ///
    /// # Errors
    /// [`Code::Unsupported`] if the plugin lacks the slot; the plugin's error.
    ///
    /// # Safety
    /// The fields are those of the slot: handles are alive, and lists have their lengths.
    pub(crate) unsafe fn call<A: Arguments>(&self, args: A) -> Result<A> {
        let Some(function) = self.function(&A::SLOT) else {
            bail!(Unsupported, "the plugin {self:?} has no `{}`", A::SLOT.name)
        };
        // SAFETY: the struct of a slot begins with its size.
        let mut args = unsafe { Padded::new(args) };
        // SAFETY: the caller guarantees the fields (# Safety). A slot returns null, or an error
        // that its caller owns.
        unsafe {
            let error = function((&raw mut args).cast());
            self.result(error)?;
        }
        Ok(args.value)
    }

    /// The result that an error of this plugin stands for; the error is destroyed.
    ///
    /// # Safety
    /// `error` is null, or an error of this plugin that the caller owns.
    pub(crate) unsafe fn result(&self, error: Pointer) -> Result<()> {
        if error.is_null() {
            return Ok(());
        }
        // SAFETY: the error is alive until the last call. A message lives as long as its error.
        let (code, shown) = unsafe {
            let message = self.told(ErrorMessage {
                error,
                ..Default::default()
            });
            let code = self.told(ErrorGetCode {
                error,
                ..Default::default()
            });
            let shown = text(message.message, message.message_size);
            self.told(ErrorDestroy {
                error,
                ..Default::default()
            });
            (code.code, shown)
        };
        Err(Error::new(code_of(code), shown))
    }

    /// Calls a slot whose own errors are of no use, because it tells an error.
    ///
    /// # Safety
    /// As [`Plugin::call`].
    unsafe fn told<A: Arguments>(&self, args: A) -> A {
        // SAFETY: the struct of a slot begins with its size.
        let mut args = unsafe { Padded::new(args) };
        if let Some(function) = self.function(&A::SLOT) {
            // SAFETY: the caller guarantees the fields (# Safety).
            unsafe { function((&raw mut args).cast()) };
        }
        args.value
    }

    /// Calls a slot that destroys or releases something. Its failure has no
    /// consequence for the caller.
    ///
    /// # Safety
    /// As [`Plugin::call`].
    pub(crate) unsafe fn release<A: Arguments>(&self, args: A) {
        // SAFETY: the caller guarantees the fields (# Safety).
        let _ = unsafe { self.call(args) };
    }
}

/// Address of the function `GetPjrtApi` of a library.
fn symbol(path: &Path) -> Result<*mut c_void> {
    let shown = path.display();
    let Ok(name) = CString::new(AsRef::<OsStr>::as_ref(path).as_encoded_bytes()) else {
        bail!(Io, "{shown:?}: a path has no NUL byte")
    };
    // SAFETY: the name is a C string. The library's initialisers run; who names it trusts it.
    let library = unsafe { dlopen(name.as_ptr(), RTLD_NOW) };
    if library.is_null() {
        // SAFETY: after a failure it is null, or a C string that lives until this thread's next
        // call.
        let why = unsafe { dlerror().as_ref().map(|why| CStr::from_ptr(why)) };
        let why = why.map_or_else(|| "no reason is given".into(), CStr::to_string_lossy);
        bail!(Io, "the plugin {shown} cannot be loaded: {why}");
    }
    // SAFETY: the library is open, and the name is a C string.
    let get = unsafe { dlsym(library, c"GetPjrtApi".as_ptr()) };
    if get.is_null() {
        bail!(Io, "{shown} is no PJRT plugin: it exports no `GetPjrtApi`");
    }
    Ok(get)
}

/// The code of an error, by the number of its kind.
fn code_of(number: i32) -> Code {
    match number {
        code::CANCELLED => Code::Interrupted,
        code::RESOURCE_EXHAUSTED => Code::OutOfMemory,
        code::UNIMPLEMENTED => Code::Unsupported,
        code::UNKNOWN | code::ABORTED | code::INTERNAL | code::UNAVAILABLE | code::DATA_LOSS => {
            Code::DeviceLost
        }
        _ => Code::Invalid,
    }
}
