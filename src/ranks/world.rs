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

use crate::error::{Error, Result};

/// How long others are waited for after somebody asked this process to stop. Open MPI's `mpirun` kills a second after it
/// asked.
const GRACE: Duration = Duration::from_millis(400);

/// How long a wait asks again and again before it leaves the core to others now and then.
const BUSY: Duration = Duration::from_millis(50);

/// Values in one message: MPI counts in 32 bits.
const MOST: usize = 1 << 28;

pub(super) struct World {
    world: SimpleCommunicator,
    /// Held while MPI is called: it was promised one call at a time.
    one_at_a_time: Mutex<()>,
    /// Takes leave of the others when it is dropped.
    _universe: Universe,
}

// SAFETY: the communicator is a handle that MPI allows any thread to use, one at a time; every method that talks to
// others holds the lock.
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
        Ok(Self { world, one_at_a_time: Mutex::new(()), _universe: universe })
    }

    pub fn rank(&self) -> usize {
        self.world.rank() as usize
    }

    pub fn size(&self) -> usize {
        self.world.size() as usize
    }

    /// The sums of everybody's values.
    pub fn sum<T: Equivalence + Clone>(&self, mine: Vec<T>, stop: Option<&AtomicUsize>) -> Result<Vec<T>> {
        let _alone = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        // Never freed while MPI may still read and write there: not at all if the wait is given up.
        let mut sums = ManuallyDrop::new(mine.clone());
        let mine = ManuallyDrop::new(mine);
        for (mine, sums) in mine.chunks(MOST).zip(sums.chunks_mut(MOST)) {
            let mut request = MaybeUninit::uninit();
            // SAFETY: both slices are as long and of the type as said, and stay where they are until the request is done.
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
        let mut counts = vec![0.0; self.size()];
        counts[self.rank()] = mine.len() as f64;
        // This wait can be given up; after it everybody is there.
        let counts: Vec<c_int> = self.sum(counts, stop)?.iter().map(|&count| count as c_int).collect();
        let starts: Vec<c_int> =
            counts.iter().scan(0, |end, count| Some(std::mem::replace(end, *end + count))).collect();
        let mut all = vec![0u8; counts.iter().map(|&count| count as usize).sum()];
        let _alone = self.one_at_a_time.lock().unwrap_or_else(PoisonError::into_inner);
        let mut parts = PartitionMut::new(&mut all[..], &counts[..], &starts[..]);
        self.world.all_gather_varcount_into(mine, &mut parts);
        let places = starts.iter().zip(&counts).map(|(&start, &count)| start as usize..(start + count) as usize);
        Ok(places.map(|place| all[place].to_vec()).collect())
    }

    /// Ends everybody.
    pub fn abandon(&self, code: u8) {
        if self.size() > 1 {
            self.world.abort(code.into());
        }
    }
}

/// Waits until a request is done, unless this process has been asked to stop and the others don't come: then one of
/// them is gone.
fn wait(mut request: ffi::MPI_Request, stop: Option<&AtomicUsize>) -> Result<()> {
    let started = Instant::now();
    let mut asked: Option<Instant> = None;
    loop {
        let mut done = 0;
        // SAFETY: the request was made by MPI and is asked about until it is done, then no more.
        unsafe { ffi::MPI_Test(&mut request, &mut done, ffi::RSMPI_STATUS_IGNORE) };
        if done != 0 {
            return Ok(());
        }
        if stop.is_some_and(|stop| stop.load(Ordering::Relaxed) != 0)
            && asked.get_or_insert_with(Instant::now).elapsed() > GRACE
        {
            let message = "another of the processes has ended or does not answer, so that this one can't go on";
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
