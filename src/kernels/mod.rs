//! Operations that are worth more than the sum of their parts. Each stands beside a twin of ordinary
//! tensor operations, which every device can run and which tests compare it with.

pub mod gru;
