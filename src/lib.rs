//! **ctxsim** is a trace-driven simulator for the context windows of LLM agents. A recorded session is read, measured, replayed through a policy and
//! summed up; each of these steps is a room of its own.
//!
//! 1. [`mod@format`] turns a file into a [`transcript::Transcript`]: recorded facts, no judgement.
//! 2. [`measure`] turns a transcript into a [`trace::Trace`]: token counts anchored on the recorded usage, numbers only.
//!    [`corpus`] does both for whole folders, on all cores, each message once.
//! 3. [`policy`] loads what an agent does to stay inside its window: a preset or a TOML document.
//! 4. [`sim`] takes one trace and one policy and gives one outcome: each call, what fired, what overflowed.
//!    [`cost`] prices it, after the fact.
//! 5. [`experiment`] asks the questions that take many replays: replay, backtest, drift, sweep, tune, gate, curve, diff.
//!    [`advice`] says what is to be said of policies themselves.
//! 6. [`report`] makes tables and charts of the answers, and [`render`] writes them as text, Markdown, CSV, JSON, SVG, PNG or a page.
//!
//! ```
//! use ctxsim::corpus::{ReadSettings, read};
//! use ctxsim::experiment::{ReplaySettings, replay};
//! use ctxsim::{catalog::Catalog, policy::Policy};
//!
//! let catalog = Catalog::builtin()?;
//! let corpus = read(&["transcripts".to_owned()], &ReadSettings::new(&catalog))?;
//! let policies = [Policy::load("none")?, Policy::load("opencode")?];
//! for replay in replay(&corpus, &policies, &ReplaySettings::new(&catalog))? {
//!     println!("{}: {} prompt tokens simulated, {} overflows", replay.policy, replay.totals.prompt_tokens, replay.totals.overflows);
//! }
//! # assert!(!corpus.traces.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! On no road of their own: [`context`] (what stands in a window), [`estimate`] (what texts cost by the agents' estimates), [`statistics`] (how sure a
//! figure is), [`mod@catalog`] (models, prices, windows), [`reading`] (the one door to files), [`decode`] (documents to records), [`units`].
//!
//! The library prints nothing, asks no environment and opens no file for writing: the program does, in the hidden room `cli`. The architecture, its floors
//! and its invariants stand in `ARCHITECTURE.md`.

#![warn(clippy::indexing_slicing)]
#![forbid(unsafe_code)]

pub mod advice;
pub mod catalog;
// The program, and no part of the library: what is generic and used by both is compiled once if it stands here.
#[doc(hidden)]
pub mod cli;
pub mod context;
pub mod corpus;
pub mod cost;
pub mod decode;
pub mod estimate;
pub mod experiment;
pub mod format;
pub mod list;
pub mod measure;
mod names;
pub mod policy;
pub mod reading;
pub mod render;
pub mod report;
pub mod sim;
pub mod statistics;
pub mod trace;
pub mod transcript;
pub mod units;
