//! Marks of truncation: what an agent writes into a result that it cuts. The limits of that agent have had their say about such a result.

use crate::transcript::{Scale, Text};
use memchr::memmem::Finder;

/// A mark, by where it stands in the result. `#` in it stands for a number.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// The result begins with the mark.
    Start(&'static str),
    /// A line of the result begins with it.
    Line(&'static str),
    /// The mark stands anywhere in the result.
    Inside(&'static str),
    /// The result ends with the mark.
    End(&'static str),
}

/// A scale that knows the marks of one agent.
pub struct Marked<'s> {
    scale: &'s dyn Scale,
    marks: Vec<Wanted>,
}

/// A mark, and what finds its head.
struct Wanted {
    mark: Mark,
    head: Finder<'static>,
}

impl<'s> Marked<'s> {
    /// Weighs as `scale` does, and notes which results bear one of the marks.
    pub fn new(marks: &'static [Mark], scale: &'s dyn Scale) -> Marked<'s> {
        Marked { scale, marks: marks.iter().map(|mark| mark.wanted()).collect() }
    }
}

impl Scale for Marked<'_> {
    fn weigh(&self, text: &str) -> Text {
        self.scale.weigh(text)
    }

    fn weigh_json(&self, text: &str) -> Text {
        self.scale.weigh_json(text)
    }

    fn weigh_result(&self, text: &str) -> Text {
        Text { truncated: self.marks.iter().any(|mark| mark.is_in(text)), ..self.scale.weigh_result(text) }
    }

    fn vocabulary(&self) -> Option<&'static str> {
        self.scale.vocabulary()
    }
}

impl Mark {
    fn wanted(self) -> Wanted {
        let (Mark::Start(words) | Mark::Line(words) | Mark::Inside(words) | Mark::End(words)) = self;
        Wanted { mark: self, head: Finder::new(words.split('#').next().unwrap_or(words)) }
    }
}

impl Wanted {
    fn is_in(&self, text: &str) -> bool {
        let found = |mark: &'static str, fits: fn(&str) -> bool| {
            // Whole letters stand on both sides of what is found: the head is whole letters itself.
            self.head
                .find_iter(text.as_bytes())
                .filter_map(|at| text.split_at_checked(at))
                .any(|(before, rest)| fits(before) && begins(rest, mark))
        };
        match self.mark {
            Mark::Start(mark) => begins(text, mark),
            Mark::Line(mark) => found(mark, |before| before.is_empty() || before.ends_with('\n')),
            Mark::Inside(mark) => found(mark, |_| true),
            Mark::End(mark) => text.trim_end().ends_with(mark),
        }
    }
}

/// Does the text begin with the mark, any number in the place of each `#`?
fn begins(text: &str, mark: &str) -> bool {
    let mut pieces = mark.split('#');
    let first = pieces.next().unwrap_or_default();
    let Some(rest) = text.strip_prefix(first) else { return false };
    let mut rest = rest;
    for piece in pieces {
        let after = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ','));
        match after.strip_prefix(piece).filter(|_| after.len() < rest.len()) {
            Some(behind) => rest = behind,
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_known_where_it_stands_and_a_quotation_is_none() {
        let line = Mark::Line("... [# lines truncated] ...").wanted();
        assert!(line.is_in("a\n\n... [269 lines truncated] ...\nShell cwd was reset"));
        assert!(!line.is_in("log: ... [269 lines truncated] ..."));
        assert!(!line.is_in("a\n... [many lines truncated] ..."));
        let inside = Mark::Inside("…# tokens truncated…").wanted();
        assert!(inside.is_in("head…12 tokens truncated…tail"));
        assert!(inside.is_in("one … two…12 tokens truncated…tail"));
        assert!(!inside.is_in("…{} tokens truncated…"));
        assert!(
            Mark::Start("Output too large to read at once (# KB)")
                .wanted()
                .is_in("Output too large to read at once (28.7 KB). Saved to: /tmp/x")
        );
        assert!(Mark::End("...(truncated)").wanted().is_in("text...(truncated)\n"));
        assert!(!Mark::End("...(truncated)").wanted().is_in("text...(truncated) and more"));
    }
}
