//! `report`: everything that a replay has to say, in the order in which a reader asks: the verdict, the policies, what overflows, what
//! is saved and what it costs, how far estimates can be trusted, session by session, and how it was made.

mod browser;
mod chapters;
mod overflows;
mod page;
mod series;
mod told;
mod verdict;

pub use browser::{Browser, Overview};
pub use chapters::story;
pub use page::{Chapter, Story};
pub use series::SessionSeries;
pub use told::{Shown, Told};
