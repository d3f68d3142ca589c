//! What only a program may decide for its whole process, for speed.

use zhuyi::ranks;

/// Sets up memory and threads; called once, before any thread is made.
pub(super) fn prepare() {
    keep_memory();
    quieten_drivers();
    flush_denormals();
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).start_handler(|_| flush_denormals());
    let pool = match threads() {
        Some(threads) => pool.num_threads(threads),
        None => pool,
    };
    // An error means that the pool is there already, which then just runs slower.
    let pool = pool.build_global();
    if let Err(error) = pool {
        tracing::debug!(%error, "threads are as they were");
    }
}

/// Where nobody is logged in at a screen, Mesa's drivers complain on standard error, some thirty times a process, that
/// there is no folder for what belongs to a session.
fn quieten_drivers() {
    #[cfg(all(target_os = "linux", feature = "wgpu"))]
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no thread runs yet that could read the environment.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", std::env::temp_dir()) };
    }
}

/// The threads of a process that shares its machine with others of the same work, unless somebody decided: its part of
/// the cores, or fewer if it was bound to fewer. `None` leaves it to rayon.
fn threads() -> Option<usize> {
    let here = ranks::local_ranks().filter(|&here| here > 1)?;
    if std::env::var_os("RAYON_NUM_THREADS").is_some() {
        return None;
    }
    let allowed = std::thread::available_parallelism().ok()?.get();
    Some(allowed.min(cores().unwrap_or(allowed) / here).max(1))
}

/// The cores of the machine, whoever may use them.
fn cores() -> Option<usize> {
    #[cfg(unix)]
    // SAFETY: asks for a number.
    return usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }).ok();
    #[cfg(not(unix))]
    None
}

/// As much as the main thread has: commands run on threads of the pool.
const STACK: usize = 8 << 20;

/// Keeps freed memory for the next tensor: glibc by default gives blocks of this size back to the system and
/// asks for them again at every operation, and the system clears them each time.
fn keep_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: no thread runs yet; both settings are plain numbers.
    unsafe {
        // Older versions refuse more than half of what a pool may hold.
        if libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 30) == 0 {
            libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        }
        libc::mallopt(libc::M_TRIM_THRESHOLD, i32::MAX);
        // One pool of memory for all threads: what one frees, another can use.
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Numbers below 1.2e−38 count as 0 on this thread: they slow products down a hundredfold, and nothing in
/// training needs them.
fn flush_denormals() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: sets two bits of this thread's floating-point control register (flush to zero, denormals are
    // zero) and leaves the others as they are.
    unsafe {
        let mut control = 0u32;
        std::arch::asm!("stmxcsr [{}]", in(reg) &mut control, options(nostack));
        control |= 0x8040;
        std::arch::asm!("ldmxcsr [{}]", in(reg) &control, options(nostack));
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: sets the flush-to-zero bit of this thread's control register.
    unsafe {
        let mut control: u64;
        std::arch::asm!("mrs {}, fpcr", out(reg) control);
        std::arch::asm!("msr fpcr, {}", in(reg) control | 1 << 24);
    }
}
