//! What a launcher tells the processes that it starts, in their environment.

use std::env;

/// How many processes were started together: Open MPI's `mpirun`, Slurm's `srun` with PMIx or PMI2, and MPICH's.
pub(super) fn size() -> Option<usize> {
    number(&["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"])
        // PMIx alone tells the rank and not the size, which is Slurm's to tell.
        .or_else(|| env::var_os("PMIX_RANK").and(number(&["SLURM_NTASKS", "SLURM_NPROCS"])))
}

/// The place of this process among those on its machine, where it has company there.
pub fn local_rank() -> Option<usize> {
    size()?;
    number(&["OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"])
}

/// How many of the processes share this machine.
pub fn local_ranks() -> Option<usize> {
    size()?;
    number(&["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"])
}

fn number(names: &[&str]) -> Option<usize> {
    names.iter().find_map(|name| env::var(name).ok()?.parse().ok())
}
