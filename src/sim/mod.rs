//! ONE TRACE x ONE POLICY -> OUTCOME. The loop is in `run`; [`simulate`] is one way into it, a replay of many policies ([`SharedSession`]) another.
//!
//! To read: `run` (the calls in order), `arrive` (messages enter), `checkpoint` (the rules of one place), `act` and `summarise` (what a rule does),
//! `attempt` (the call, refused or made). What they work on: `window` (the context), `belief` (what the policy knows and estimates), `ledger` (what is
//! written down). `many/` runs settings together that act alike; `hindsight/` asks what could have been kept.

mod act;
mod arrive;
mod ask;
mod attempt;
mod belief;
mod candidates;
mod carry;
mod checkpoint;
mod conditions;
mod drift;
mod edit;
mod estimates;
mod event;
mod follow;
mod guard;
pub mod hindsight;
mod inputs;
mod intake;
mod judge;
mod kept_view;
mod known;
mod ledger;
mod many;
mod needs;
mod note;
mod observer;
mod outcome;
mod probe;
mod refetch;
mod request;
mod retention;
mod run;
mod state;
mod summarise;
mod summary;
mod sums;
mod talk;
mod totals;
mod uncut;
mod warning;
mod whole;
mod window;

pub use conditions::{Conditions, Guesses, Refetching};
pub use drift::{Drift, LARGEST_RATIO};
pub use estimates::estimate_requests;
pub use event::{Cause, Event, EventKind, Lasts, Warning};
pub use hindsight::in_hindsight;
pub use many::{Account, Batch, BatchOutcome, SharedSession};
pub use outcome::{Behind, CallOutcome, Outcome, Refetch, SummaryCall};
pub use probe::{Probe, Standing};
pub use refetch::{MOST_IN_A_CALL, MOST_IN_A_SESSION};
pub use retention::{Broken, Category, Fate, Fates, Retention, fate};
pub use run::{follow, simulate, watch, watch_anew};
pub use summary::RecordedSummary;
pub use totals::{AfterEnd, Carried, Refetches, Totals};
pub use whole::Whole;
