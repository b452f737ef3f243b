//! TRAJECTORIES of benchmarks, evaluations and data sets: one file or folder a form. None knows another.

pub mod atif;
pub mod inspect;
pub mod plain_talk;
pub mod sharegpt;
pub mod tau2;
pub mod tau_bench;
