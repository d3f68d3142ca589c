//! What only a program may decide for its whole process, for speed.

use zhuyi::Result;
use zhuyi::ranks::Ranks;

/// Sets up memory; called once, before any thread is made.
pub(super) fn prepare() {
    keep_memory();
    quieten_drivers();
    flush_denormals();
}

/// Sets up threads, on which commands run.
///
/// # Errors
/// Other processes that do not answer.
pub(super) fn start_threads(ranks: &Ranks) -> Result<()> {
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).start_handler(|_| flush_denormals());
    let pool = match threads(ranks)? {
        Some(threads) => pool.num_threads(threads),
        None => pool,
    };
    // An error means that the pool is there already, which then just runs slower.
    if let Err(error) = pool.build_global() {
        tracing::debug!(%error, "threads are as they were");
    }
    Ok(())
}

/// The threads of a process that shares cores with others of the same work, unless somebody decided: those that may use the
/// same cores of a machine share them out. `None` leaves it to rayon.
fn threads(ranks: &Ranks) -> Result<Option<usize>> {
    if ranks.size() == 1 {
        return Ok(None);
    }
    let place = (machine(), allowed_cores());
    let here = ranks.gather(place.clone())?.iter().filter(|&other| *other == place).count();
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let decided = std::env::var_os("RAYON_NUM_THREADS").is_some();
    Ok(Some((cores / here).max(1)).filter(|_| here > 1 && !decided))
}

/// The name of this machine.
fn machine() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default()
}

/// The cores that the system lets this process use, in its own words.
fn allowed_cores() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap_or_default().to_owned()
}

/// Where nobody is logged in at a screen, the search for adapters complains on standard error, some thirty times a process,
/// that there is no folder for what belongs to a session. With one that does not exist it just finds no screen.
fn quieten_drivers() {
    #[cfg(all(target_os = "linux", feature = "wgpu"))]
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: no thread runs yet that could read the environment.
        unsafe { std::env::set_var("XDG_RUNTIME_DIR", "/nonexistent") };
    }
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
