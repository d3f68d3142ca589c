//! What a launcher tells the processes that it starts, in their environment: Open MPI's `mpirun`, MPICH's, Slurm's `srun`.

use std::env;

/// How many processes were started together.
pub(super) fn size() -> Option<usize> {
    // Slurm tells it even where it was not asked to let them meet: then they must not all do the same.
    number(&["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"])
}

/// The place of this process among them, before they have met.
pub fn launched_as() -> Option<usize> {
    size()?;
    number(&["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"])
}

/// The place of this process among those on its machine.
pub fn local_rank() -> Option<usize> {
    size()?;
    number(&["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"])
}

/// Whether whoever ends the processes gives them but a moment: Open MPI's `mpirun` kills a second after it asked.
#[cfg(feature = "mpi")]
pub(super) fn is_impatient() -> bool {
    env::var_os("OMPI_COMM_WORLD_SIZE").is_some()
}

fn number(names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| env::var(name).ok()?.parse().ok())
}
