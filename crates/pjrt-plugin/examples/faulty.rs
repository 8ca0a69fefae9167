//! A plugin of tests: another plugin, whose slots fail on request.
//!
//! `faulty_wrap` is called once with the path of the other library, before `GetPjrtApi`.
//! `faulty_fail` makes calls of a slot fail: with a code, after a number of calls that succeed.
//! `faulty_hide` takes a slot out of the table, as a plugin of an older version lacks it.

use pjrt::args::{
    BufferToHostBuffer, ClientBufferFromHostBuffer, ClientCompile, ErrorDestroy, ErrorGetCode,
    ErrorMessage, EventAwait, LoadedExecutableExecute,
};
use pjrt::{Api, Arguments, FIRST_SLOT, Pointer};
use std::ffi::{c_char, c_int, c_void};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, AtomicPtr, AtomicUsize, Ordering};

unsafe extern "C" {
    fn dlopen(path: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}

type SlotFn = unsafe extern "C" fn(*mut c_void) -> Pointer;

/// The table of the other plugin.
static INNER: AtomicPtr<Api> = AtomicPtr::new(std::ptr::null_mut());
/// The table that is handed out.
static TABLE: AtomicPtr<Api> = AtomicPtr::new(std::ptr::null_mut());

/// The slot that fails; 0: none.
static SLOT: AtomicUsize = AtomicUsize::new(0);
static CODE: AtomicI32 = AtomicI32::new(0);
/// Number of calls of the slot that succeed before one fails.
static AFTER: AtomicUsize = AtomicUsize::new(0);

const MESSAGE: &str = "the faulty plugin was told to fail";

/// Errors of this plugin that are alive: others are those of the other plugin.
static ERRORS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// An error: its code.
struct Failure(i32);

/// Loads the plugin that is wrapped. Returns whether it could be loaded.
///
/// # Safety
/// `path` is a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn faulty_wrap(path: *const c_char) -> bool {
    if !INNER.load(Ordering::Acquire).is_null() {
        return true;
    }
    const RTLD_NOW: c_int = 2;
    // SAFETY: the caller guarantees the path (# Safety), and names are C strings. A plugin exports
    // a function of this type, whose table lives as long as the library, which is not closed.
    unsafe {
        let library = dlopen(path, RTLD_NOW);
        if library.is_null() {
            return false;
        }
        let get = dlsym(library, c"GetPjrtApi".as_ptr());
        if get.is_null() {
            return false;
        }
        let get: unsafe extern "C" fn() -> *mut Api = std::mem::transmute(get);
        let inner = get();
        INNER.store(inner, Ordering::Release);
        // The table of the other plugin may be longer or shorter than ours.
        let bytes = (*inner).struct_size.min(size_of::<Api>());
        let mut table = Box::new(std::mem::MaybeUninit::<Api>::zeroed());
        std::ptr::copy_nonoverlapping(inner.cast::<u8>(), table.as_mut_ptr().cast::<u8>(), bytes);
        let mut table = table.assume_init();
        table.struct_size = bytes;
        let mut replace = |slot: usize, by: SlotFn| {
            table.slots[slot - FIRST_SLOT] = Pointer(by as *mut c_void);
        };
        replace(ErrorDestroy::SLOT.number, destroy);
        replace(ErrorMessage::SLOT.number, message);
        replace(ErrorGetCode::SLOT.number, code);
        replace(ClientCompile::SLOT.number, faulty::<ClientCompile>);
        replace(
            LoadedExecutableExecute::SLOT.number,
            faulty::<LoadedExecutableExecute>,
        );
        replace(
            BufferToHostBuffer::SLOT.number,
            faulty::<BufferToHostBuffer>,
        );
        replace(EventAwait::SLOT.number, faulty::<EventAwait>);
        let from_host = ClientBufferFromHostBuffer::SLOT.number;
        replace(from_host, faulty::<ClientBufferFromHostBuffer>);
        TABLE.store(Box::into_raw(table), Ordering::Release);
    }
    true
}

/// Makes a call of a slot fail with a code, after `after` calls that succeed.
#[unsafe(no_mangle)]
pub extern "C" fn faulty_fail(slot: usize, code: i32, after: usize) {
    CODE.store(code, Ordering::Release);
    AFTER.store(after, Ordering::Release);
    SLOT.store(slot, Ordering::Release);
}

/// Takes a slot out of the table, for clients of this process from now on.
#[unsafe(no_mangle)]
pub extern "C" fn faulty_hide(slot: usize) {
    // SAFETY: the table was stored by `faulty_wrap`, and a test hides slots while no call runs.
    unsafe { (*TABLE.load(Ordering::Acquire)).slots[slot - FIRST_SLOT] = Pointer::default() };
}

/// The table of functions.
#[unsafe(no_mangle)]
pub extern "C" fn GetPjrtApi() -> *const Api {
    TABLE.load(Ordering::Acquire)
}

/// The function of the other plugin.
fn inner(slot: usize) -> SlotFn {
    // SAFETY: the table was stored before the one that is handed out, and has the slot.
    unsafe {
        let function = (*INNER.load(Ordering::Acquire)).slots[slot - FIRST_SLOT];
        std::mem::transmute::<Pointer, SlotFn>(function)
    }
}

/// Fails if it was told to, or calls the other plugin.
unsafe extern "C" fn faulty<A: Arguments>(arguments: *mut c_void) -> Pointer {
    let slot = A::SLOT.number;
    if SLOT.load(Ordering::Acquire) == slot {
        if AFTER.load(Ordering::Acquire) == 0 {
            SLOT.store(0, Ordering::Release);
            let failure = Box::into_raw(Box::new(Failure(CODE.load(Ordering::Acquire))));
            ERRORS.lock().unwrap().push(failure as usize);
            return Pointer(failure.cast());
        }
        AFTER.fetch_sub(1, Ordering::AcqRel);
    }
    // SAFETY: the caller keeps the promises of the slot.
    unsafe { inner(slot)(arguments) }
}

/// The error of this plugin at an address; `None` for one of the other plugin.
fn own(error: Pointer) -> Option<*mut Failure> {
    let errors = ERRORS.lock().unwrap();
    errors
        .contains(&(error.0 as usize))
        .then_some(error.0.cast())
}

unsafe extern "C" fn destroy(arguments: *mut c_void) -> Pointer {
    // SAFETY: the caller passes the struct of the slot, with an error that it owns.
    unsafe {
        let error = (*arguments.cast::<ErrorDestroy>()).error;
        match own(error) {
            None => return inner(ErrorDestroy::SLOT.number)(arguments),
            Some(failure) => {
                ERRORS.lock().unwrap().retain(|&e| e != error.0 as usize);
                drop(Box::from_raw(failure));
            }
        }
    }
    Pointer::default()
}

unsafe extern "C" fn message(arguments: *mut c_void) -> Pointer {
    // SAFETY: the caller passes the struct of the slot, with an error that is alive.
    unsafe {
        let args = &mut *arguments.cast::<ErrorMessage>();
        if own(args.error).is_none() {
            return inner(ErrorMessage::SLOT.number)(arguments);
        }
        (args.message, args.message_size) = (MESSAGE.as_ptr().into(), MESSAGE.len());
    }
    Pointer::default()
}

unsafe extern "C" fn code(arguments: *mut c_void) -> Pointer {
    // SAFETY: the caller passes the struct of the slot, with an error that is alive.
    unsafe {
        let args = &mut *arguments.cast::<ErrorGetCode>();
        match own(args.error) {
            None => return inner(ErrorGetCode::SLOT.number)(arguments),
            Some(failure) => args.code = (*failure).0,
        }
    }
    Pointer::default()
}
