//! For browsers: one page that holds all it needs. No request leaves it, nothing in it but our own script runs, and without that script
//! it is still complete: tables, sentences, pictures.

mod body;
mod calls;
mod shell;

pub use shell::GENERATOR;

use super::RenderError;
use super::escape::escape;
use crate::report::Story;

/// The story as a page.
pub fn html(story: &Story<'_>) -> Result<String, RenderError> {
    let calls = story.browser.as_ref().map(calls::packed).transpose()?;
    Ok(shell::page(story, &body::body(story, calls.as_ref()), calls.as_ref()))
}

/// Text in which HTML finds nothing to act upon, within an element or an attribute's quotes.
pub(super) fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in escape(text).chars() {
        match letter {
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '&' => out += "&amp;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            other => out.push(other),
        }
    }
    out
}
