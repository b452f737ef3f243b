//! The window as it stands in one simulation: entries and items in prompt order, the only legal edits, and running sizes.
//!
//! An *entry* is a message, an *item* one of its parts. Every edit keeps the running sums exact, so that asking for the size of the
//! context costs nothing. What policies may see of it is in [`View`]: estimates alone, never actual sizes.

mod account;
mod compact;
mod contents;
mod cow_vec;
mod entries;
mod following;
mod item;
mod items;
mod parts;
mod prefix;
mod presence;
mod region;
mod results;
mod view;

pub use contents::Context;
pub use item::{Arrival, Calling, Entry, Item, Replacement, State};
pub use prefix::Sent;
pub use presence::{Ends, Presence};
pub use region::Region;
pub use view::{Seen, SeenItem, View};
