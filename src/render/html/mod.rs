//! For browsers: one page that holds all it needs. No request leaves it, nothing in it but our own script runs, and without that script
//! it is still complete: tables, sentences, pictures.

mod body;
mod calls;
mod shell;

pub use shell::GENERATOR;

use super::error::RenderError;
use crate::report::Story;

/// The story as a page.
pub fn html(story: &Story<'_>) -> Result<String, RenderError> {
    let calls = story.browser.as_ref().map(calls::packed).transpose()?;
    Ok(shell::page(story, &body::body(story, calls.as_ref()), calls.as_ref()))
}
