//! OUTCOME -> BILL, after the fact: what the calls of a replay cost, with a prompt cache and without. Re-pricing needs no replay.

mod bill;
mod break_even;
mod cache;
mod check;
mod tariff;

pub use bill::{Bill, Bills, CacheKind, Charge, bills, splits};
pub use break_even::{Prune, Prunes, prunes};
pub use cache::{Lifetime, PromptCache, Request, Split};
pub use check::{Check, check};
pub use tariff::{Known, Tariff};
