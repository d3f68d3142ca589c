//! Processes that do one piece of work together, one *rank* each, on one machine or many: they add up what each found and
//! hand each other results. The engine is the system's MPI library (feature `mpi`); a process that was started alone
//! is a rank too, the only one, and none of this costs it anything.
//!
//! What can fail here must be called by all ranks in the same order: it waits for them.

mod launch;
#[cfg(feature = "mpi")]
mod world;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Error, Result};

pub use launch::{launched_as, local_rank};

/// This process among those it works with.
#[derive(Clone, Default)]
pub struct Ranks {
    #[cfg(feature = "mpi")]
    world: Option<Arc<world::World>>,
    /// Set by whoever may stop the process: then it does not wait for others for ever.
    #[cfg(feature = "mpi")]
    stop: Option<Arc<AtomicUsize>>,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rank {} of {}", self.rank(), self.size())
    }
}

impl Ranks {
    /// Meets the others, where `mpirun` or its like started several processes. The value that this returns must be the
    /// last of its clones to be dropped, on the thread that called: then this process takes leave of the others.
    ///
    /// # Errors
    /// Several were started, and this build can't talk to others.
    pub fn start() -> Result<Self> {
        let Some(size) = launch::size() else { return Ok(Self::default()) };
        #[cfg(feature = "mpi")]
        return Ok(Self { world: Some(Arc::new(world::World::start(size)?)), stop: None });
        #[cfg(not(feature = "mpi"))]
        match size {
            1 => Ok(Self::default()),
            _ => Err(Error::Ranks(format!(
                "started as {size} processes, which would all do the same: this build can't let them work together; \
                 build with --features mpi"
            ))),
        }
    }

    /// The same, giving up to wait for others some time after `stop` is no longer 0.
    pub fn heeding(&self, stop: Arc<AtomicUsize>) -> Self {
        #[cfg(feature = "mpi")]
        return Self { stop: Some(stop), ..self.clone() };
        #[cfg(not(feature = "mpi"))]
        {
            // Nobody is waited for.
            drop(stop);
            self.clone()
        }
    }

    /// The place of this process, from 0.
    pub fn rank(&self) -> usize {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            return world.rank;
        }
        0
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            return world.size;
        }
        1
    }

    /// Whether this is the one that reads, writes and speaks for all.
    pub fn leads(&self) -> bool {
        self.rank() == 0
    }

    /// The sums of all ranks' values. What is decided by them is decided by rank 0: MPI does not promise that all get the
    /// same last bit, though its libraries do it.
    ///
    /// # Errors
    /// The others do not come.
    pub fn sum(&self, values: Vec<f32>) -> Result<Vec<f32>> {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            return world.sum(values, self.stop.as_deref());
        }
        Ok(values)
    }

    /// The same in 64 bits.
    ///
    /// # Errors
    /// The others do not come.
    pub fn sum_wide<const N: usize>(&self, values: [f64; N]) -> Result<[f64; N]> {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            let sums = world.sum(values.to_vec(), self.stop.as_deref())?;
            return Ok(std::array::from_fn(|i| sums[i]));
        }
        Ok(values)
    }

    /// What holds on any rank, for each of several things.
    ///
    /// # Errors
    /// The others do not come.
    pub fn any<const N: usize>(&self, here: [bool; N]) -> Result<[bool; N]> {
        let votes = self.sum_wide(here.map(|here| f64::from(u8::from(here))))?;
        Ok(votes.map(|votes| votes > 0.0))
    }

    /// What each rank has, in the order of ranks, to every rank.
    ///
    /// # Errors
    /// The others do not come; more than MPI can count.
    pub fn gather<T: Serialize + DeserializeOwned>(&self, mine: T) -> Result<Vec<T>> {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            let parts = world.gather(&packed(&mine)?, self.stop.as_deref())?;
            return parts.iter().map(|part| unpacked(part)).collect();
        }
        Ok(vec![mine])
    }

    /// What rank 0 has, to every rank; the others give nothing.
    ///
    /// # Errors
    /// The others do not come.
    pub fn tell<T: Serialize + DeserializeOwned>(&self, leaders: Option<T>) -> Result<T> {
        let mut told = self.gather(leaders)?.into_iter();
        told.next().flatten().ok_or_else(|| Error::Ranks("rank 0 has nothing to tell the others".into()))
    }

    /// The values of rank 0 on every rank.
    ///
    /// # Errors
    /// The others do not come.
    pub fn follow(&self, mut values: Vec<f32>) -> Result<Vec<f32>> {
        // Adding zeros keeps the bits, but for the sign of a zero.
        if !self.leads() {
            values.fill(0.0);
        }
        self.sum(values)
    }

    /// Refuses to go on where ranks see different things; `fingerprint` is asked for only where there are several.
    ///
    /// # Errors
    /// Names what differs and on which rank.
    pub fn agree(&self, what: &str, fingerprint: impl FnOnce() -> Result<String>) -> Result<()> {
        if self.size() == 1 {
            return Ok(());
        }
        let all = self.gather(fingerprint()?)?;
        match all.iter().position(|other| *other != all[0]) {
            None => Ok(()),
            Some(rank) => Err(Error::Ranks(format!(
                "{what}: rank {rank} has others than rank 0; give every process the same files and settings"
            ))),
        }
    }

    /// Shares out so many things: `work` does those at the places that it is given, and every rank gets what all found, in
    /// the order of the things.
    ///
    /// # Errors
    /// What `work` can't do; the others do not come.
    pub fn share<T: Serialize + DeserializeOwned>(
        &self,
        things: usize,
        mut work: impl FnMut(&[usize]) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        if self.size() == 1 {
            return work(&(0..things).collect::<Vec<_>>());
        }
        let mut all = Vec::with_capacity(things);
        while all.len() < things {
            let block = all.len()..things.min(all.len() + AT_ONCE * self.size());
            // Every rank takes one in turn, so that all get long ones and short ones.
            let of = |rank: usize| block.clone().skip(rank).step_by(self.size());
            let parts = self.gather(work(&of(self.rank()).collect::<Vec<_>>())?)?;
            if parts.iter().enumerate().any(|(rank, part)| part.len() != of(rank).len()) {
                return Err(Error::Ranks(
                    "another rank did another share of the work: is it another build?".into(),
                ));
            }
            let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
            let turns = (0..self.size()).cycle().take(block.len());
            all.extend(turns.filter_map(|rank| parts[rank].next()));
        }
        Ok(all)
    }

    /// Ends every rank with an exit code, since this one can't go on and the others would wait for it for ever.
    pub fn abandon(&self, code: u8) {
        #[cfg(feature = "mpi")]
        if let Some(world) = &self.world {
            world.abandon(code);
        }
        let _ = code;
    }
}

/// Things that a rank does before results are exchanged: what is exchanged at a time must fit into memory twice.
const AT_ONCE: usize = 10_000;

#[cfg(feature = "mpi")]
fn packed<T: Serialize>(value: &T) -> Result<Vec<u8>> {
    postcard::to_extend(value, Vec::new())
        .map_err(|why| Error::Ranks(format!("can't be sent to other ranks: {why}")))
}

#[cfg(feature = "mpi")]
fn unpacked<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    postcard::from_bytes(bytes).map_err(|why| {
        Error::Ranks(format!("another rank sent what this one can't read ({why}): is it another build?"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alone_everything_is_ones_own() {
        let ranks = Ranks::default();
        assert_eq!((ranks.rank(), ranks.size(), ranks.leads()), (0, 1, true));
        assert_eq!(ranks.follow(ranks.sum(vec![1.5, -0.5]).unwrap()).unwrap(), [1.5, -0.5]);
        assert_eq!(ranks.sum_wide([2.5]).unwrap(), [2.5]);
        assert_eq!(ranks.any([true, false]).unwrap(), [true, false]);
        assert_eq!(ranks.gather(7).unwrap(), [7]);
        assert_eq!(ranks.tell(Some("x".to_owned())).unwrap(), "x");
        assert_eq!(ranks.share(3, |places| Ok(places.to_vec())).unwrap(), [0, 1, 2]);
        ranks.agree("data", || unreachable!("nobody is there to disagree")).unwrap();
    }
}
