//! What is known of models: windows, limits, tokenizer families, what a picture costs, what becomes of reasoning,
//! what tokens cost, how prompt caches work.
//!
//! The data are the tables in `catalog/`, embedded in the program; where each figure comes from stands there.
//! The caller builds the [`Catalog`] once and asks it with the model's name as a log spells it:
//!
//! ```
//! let catalog = ctxsim::catalog::Catalog::builtin()?;
//! let model = catalog.find("openrouter/anthropic/claude-3.7-sonnet:beta").expect("known");
//! assert_eq!((model.id.as_str(), model.prompt_limit().0), ("claude-3-7-sonnet", 200_000));
//! # Ok::<(), ctxsim::catalog::CatalogError>(())
//! ```

mod cache;
mod family;
mod host;
mod image;
mod model;
mod name;
mod price;
mod price_file;
mod prices;
mod run_length;
mod table;

pub use cache::{CacheRule, CacheRules, Hits, Refresh, Writes};
pub use family::{ContentCosts, Family, FamilyFacts, VocabularyName};
pub use host::HostLimits;
pub use image::ImageRule;
pub use model::{Model, Thinking};
pub use name::is_spelled;
pub use price::{Price, Rate, Rates};
pub use prices::Prices;
pub use run_length::{Scenario, Strategy};
pub use table::{Catalog, CatalogError};
