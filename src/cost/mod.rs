//! OUTCOME -> BILL, after the fact: what the calls of a replay cost, with a prompt cache and without. Re-pricing needs no replay.

mod bill;
mod break_even;
mod cache;
mod calibration;
mod check;
mod recorded;
mod session;
mod tariff;

pub use bill::{Bill, Bills, BillsSoFar, CacheKind, Charge, bills, splits};
pub use break_even::{Prune, Prunes, prunes};
pub use cache::{Ages, Lifetime, PromptCache, Request, Split};
pub use calibration::{Calibration, Measured};
pub use check::{BLOCK, Check, OwnError, SharedCalls, call_prices, check, check_by, summariser_nano_usd};
pub use tariff::{Known, Models, Tariff, asks_for_no_cache};
