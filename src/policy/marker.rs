//! The text that stands for what was cut: a template whose braces hold formulas over what was there, what is left and the limits.

use super::action::Truncate;
use super::expression::{Expression, Scope};
use super::suggestion::suggestion;
use crate::list::Gather;
use crate::transcript::Length;
use crate::units::grouped;

/// A text before and after a cut, for markers that name it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extents {
    /// The text as it was.
    pub whole: Length,
    /// Does it end in a newline?
    pub ends_in_newline: bool,
    /// What is left of it.
    pub kept: Length,
    /// Lines of which something is left.
    pub kept_lines: u32,
}

/// The template with its formulas worked out. Known names: `bytes`, `chars`, `utf16`, `lines` (what newlines separate), `rows` (the same
/// without an empty last one), each of the first four with `kept_` and `removed_`; `keep`, and `from_start`, the units of it at the start; `max`, `max_lines`; `by_lines`, 1 where the
/// limit of lines was the one that ended it. `{unit}` is `lines` or `bytes`, `{removed}` the number of them that went. A comma before a
/// formula divides its thousands: `{,max}`.
/// What is no formula stays as it is written.
pub fn marker(template: &str, limits: &Truncate, extents: &Extents) -> String {
    if !template.contains('{') {
        return template.to_owned();
    }
    let scope = scope(limits, extents);
    let by_lines = scope.get("by_lines") == Some(&1.0);
    let mut text = String::with_capacity(template.len());
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((formula, behind)) = after.split_once('}') else { break };
        text.push_str(before);
        match formula {
            "unit" => text.push_str(if by_lines { "lines" } else { "bytes" }),
            _ => {
                let bare = formula.strip_prefix(',');
                match Expression::parse(bare.unwrap_or(formula)).and_then(|formula| formula.value(&scope)) {
                    Ok(value) if bare.is_some() => text.push_str(&grouped(value.max(0.0) as u64)),
                    Ok(value) => text.push_str(&(value.max(0.0) as u64).to_string()),
                    Err(_) => text.extend(["{", formula, "}"]),
                }
            }
        }
        rest = behind;
    }
    text.push_str(rest);
    text
}

/// A name of a formula in a template that none of the sizes has, and the nearest that one has.
pub(super) fn unknown_name(template: &str) -> Option<(String, String)> {
    let known = scope(&Truncate::default(), &Extents::default());
    let formulas = template.split('{').skip(1).filter_map(|after| Some(after.split_once('}')?.0)).filter(|formula| *formula != "unit");
    let parsed = formulas.filter_map(|formula| Expression::parse(formula.strip_prefix(',').unwrap_or(formula)).ok());
    let unknown = parsed.flat_map(|formula| formula.names()).find(|name| !known.contains_key(name))?;
    let hint = suggestion(&unknown, known.keys().map(String::as_str));
    Some((unknown, hint))
}

fn scope(limits: &Truncate, extents: &Extents) -> Scope {
    let Extents { whole, kept, kept_lines, ends_in_newline } = *extents;
    let lines = whole.newlines.saturating_add(1);
    let by_lines = limits.max_lines.is_some_and(|max| u64::from(kept_lines) >= max && u64::from(lines) > max);
    let removed_bytes = whole.bytes.saturating_sub(kept.bytes);
    let removed_lines = lines.saturating_sub(kept_lines);
    let sizes = [
        ("bytes", whole.bytes),
        ("chars", whole.chars),
        ("utf16", whole.utf16),
        ("lines", lines),
        ("rows", if ends_in_newline || whole.bytes == 0 { whole.newlines } else { lines }),
        ("kept_bytes", kept.bytes),
        ("kept_chars", kept.chars),
        ("kept_utf16", kept.utf16),
        ("kept_lines", kept_lines),
        ("removed_bytes", removed_bytes),
        ("removed_chars", whole.chars.saturating_sub(kept.chars)),
        ("removed_utf16", whole.utf16.saturating_sub(kept.utf16)),
        ("removed_lines", removed_lines),
        ("removed", if by_lines { removed_lines } else { removed_bytes }),
        ("by_lines", u32::from(by_lines)),
    ];
    let amount = limits.keep.or(limits.max);
    let from_start = amount.map(|amount| (amount as f64 * limits.head.clamp(0.0, 1.0)).floor() as u64);
    let limits = [("keep", amount), ("from_start", from_start), ("max", limits.max), ("max_lines", limits.max_lines)];
    let sizes = sizes.into_iter().map(|(name, size)| (name.to_owned(), f64::from(size)));
    sizes.chain(limits.into_iter().map(|(name, limit)| (name.to_owned(), limit.unwrap_or(0) as f64))).gather()
}
