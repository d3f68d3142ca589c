//! MPI: the processes of `MPI_COMM_WORLD`.

use std::ffi::c_int;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mpi::collective::SystemOperation;
use mpi::datatype::{Equivalence, PartitionMut};
use mpi::environment::Universe;
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::{Communicator, SimpleCommunicator};
use mpi::traits::CommunicatorCollectives;

use super::launch;
use crate::error::{Error, Result};

/// How long others are waited for after somebody asked this process to stop: what they do may take its time, but not more
/// than whoever asked gives.
const GRACE: Duration = Duration::from_secs(20);
const SHORT_GRACE: Duration = Duration::from_millis(300);

/// How long a wait asks again and again before it leaves the core to others now and then.
const BUSY: Duration = Duration::from_millis(50);

/// Values in one message. What is sent is copied, since MPI may not sum in place through these bindings: a piece that
/// stays in the cache (docs/distributed.md has sizes measured).
const PIECE: usize = 1 << 18;

pub(super) struct World {
    pub rank: usize,
    pub size: usize,
    world: SimpleCommunicator,
    /// Held while MPI is called: it was promised one call at a time.
    one_at_a_time: Mutex<()>,
    /// Takes leave of the others when it is dropped.
    _universe: Universe,
}

// SAFETY: the communicator is a handle that MPI allows any thread to use, one at a time; what calls MPI holds the lock, but
// for `abandon`, after which there is no program. `Ranks::start` asks to be dropped last where it was called.
unsafe impl Send for World {}
// SAFETY: as above.
unsafe impl Sync for World {}

impl World {
    /// Meets `size` processes.
    pub fn start(size: usize) -> Result<Self> {
        // Commands run on a thread of the pool.
        let Some((universe, threading)) = mpi::initialize_with_threading(mpi::Threading::Serialized) else {
            return Err(Error::Ranks("MPI was started twice in this process".into()));
        };
        let world = universe.world();
        if threading < mpi::Threading::Serialized {
            return Err(Error::Ranks("this MPI library does not allow threads: build it with them".into()));
        }
        if world.size() as usize != size {
            return Err(Error::Ranks(format!(
                "{size} processes were started, and this one met {}: is mpirun of another MPI than the program was \
                 built with?",
                world.size()
            )));
        }
        let rank = world.rank() as usize;
        Ok(Self { rank, size, world, one_at_a_time: Mutex::new(()), _universe: universe })
    }

    /// The sums of everybody's values.
    pub fn sum<T: Equivalence + Copy>(&self, mine: Vec<T>, stop: Option<&AtomicUsize>) -> Result<Vec<T>> {
        let _alone = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        self.all_reduce(mine, stop)
    }

    fn all_reduce<T: Equivalence + Copy>(&self, values: Vec<T>, stop: Option<&AtomicUsize>) -> Result<Vec<T>> {
        // Never freed while MPI may still read and write there: not at all if the wait is given up.
        let mut sums = ManuallyDrop::new(values);
        let mut mine = ManuallyDrop::new(Vec::with_capacity(PIECE.min(sums.len())));
        for sums in sums.chunks_mut(PIECE) {
            mine.clear();
            mine.extend_from_slice(sums);
            let mut request = MaybeUninit::uninit();
            // SAFETY: both are as long and of the type as said, and stay where they are until the request is done. MPI's
            // own error handler ends the program where it can't make one.
            let request = unsafe {
                ffi::MPI_Iallreduce(
                    mine.as_ptr().cast(),
                    sums.as_mut_ptr().cast(),
                    mine.len() as c_int,
                    T::equivalent_datatype().as_raw(),
                    SystemOperation::sum().as_raw(),
                    self.world.as_raw(),
                    request.as_mut_ptr(),
                );
                request.assume_init()
            };
            wait(request, stop)?;
        }
        drop(ManuallyDrop::into_inner(mine));
        Ok(ManuallyDrop::into_inner(sums))
    }

    /// Everybody's bytes, in the order of ranks.
    pub fn gather(&self, mine: &[u8], stop: Option<&AtomicUsize>) -> Result<Vec<Vec<u8>>> {
        let _alone = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lengths = vec![0u64; self.size];
        lengths[self.rank] = mine.len() as u64;
        // This wait can be given up; after it everybody is there.
        let lengths = self.all_reduce(lengths, stop)?;
        if lengths.iter().sum::<u64>() > c_int::MAX as u64 {
            let message = "more than 2 GiB of results at a time, which MPI can't count: give it less at once";
            return Err(Error::Ranks(message.into()));
        }
        let counts: Vec<c_int> = lengths.iter().map(|&length| length as c_int).collect();
        let starts: Vec<c_int> =
            counts.iter().scan(0, |end, count| Some(std::mem::replace(end, *end + count))).collect();
        let mut all = vec![0u8; lengths.iter().sum::<u64>() as usize];
        let mut parts = PartitionMut::new(&mut all[..], &counts[..], &starts[..]);
        self.world.all_gather_varcount_into(mine, &mut parts);
        let places = starts.iter().zip(&counts).map(|(&start, &count)| start as usize..(start + count) as usize);
        Ok(places.map(|place| all[place].to_vec()).collect())
    }

    /// Ends everybody.
    pub fn abandon(&self, code: u8) {
        if self.size > 1 {
            self.world.abort(code.into());
        }
    }
}

impl Drop for World {
    /// Taking leave waits for all; after a panic they would wait for this one.
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.abandon(1);
        }
    }
}

/// Waits until a request is done, unless this process has been asked to stop and the others don't come: then one of
/// them is gone.
fn wait(mut request: ffi::MPI_Request, stop: Option<&AtomicUsize>) -> Result<()> {
    let started = Instant::now();
    let grace = if launch::is_impatient() { SHORT_GRACE } else { GRACE };
    let mut asked: Option<Instant> = None;
    loop {
        let mut done = 0;
        // SAFETY: the request was made by MPI and is asked about until it is done, then no more.
        unsafe { ffi::MPI_Test(&mut request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
        if done != 0 {
            return Ok(());
        }
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed) != 0)
            && asked.get_or_insert_with(Instant::now).elapsed() > grace
        {
            let message =
                "asked to stop, and another process does not come: it has ended, or is busy with something long";
            return Err(Error::Ranks(message.into()));
        }
        // MPI moves data only while it is asked.
        if started.elapsed() < BUSY {
            std::thread::yield_now();
        } else {
            std::thread::sleep(Duration::from_micros(50));
        }
    }
}
