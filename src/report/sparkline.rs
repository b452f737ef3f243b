//! A session's context over its calls in a few letters, for tables on a terminal.

use super::document::{Cell, Column, Provenance};
use crate::sim::Outcome;

/// Letters of a line at most.
const CELLS: usize = 12;

/// From the window nearly empty to nearly full.
pub const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The column that shows the window over the calls.
pub const COLUMN: Column = Column {
    meaning: "the window over the calls, from empty (▁) to full (█); × where a call overflows",
    provenance: Provenance::Simulated,
    priority: 1,
    pictures: true,
    asked: false,
    ..Column::name("window_filled", "window filled")
};

/// The cell of one session.
pub fn cell(outcome: &Outcome) -> Cell {
    Cell::Name(letters(outcome, CELLS))
}

/// So many letters at most: each stands for the fullest of as many calls.
pub fn letters(outcome: &Outcome, most: usize) -> String {
    let each = outcome.calls.len().div_ceil(most).max(1);
    let limit = outcome.prompt_limit.max(1);
    let letter = |calls: &[crate::sim::CallOutcome]| {
        let fullest = calls.iter().map(|call| call.attempted).max().unwrap_or(0);
        let level = u128::from(fullest) * LEVELS.len() as u128 / u128::from(limit);
        let level = usize::try_from(level).unwrap_or(usize::MAX).min(LEVELS.len() - 1);
        let refused = calls.iter().any(|call| call.refused > 0);
        if refused { '×' } else { LEVELS.get(level).copied().unwrap_or(' ') }
    };
    outcome.calls.chunks(each).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::CallOutcome;

    fn outcome(contexts: &[u64]) -> Outcome {
        let call = |tokens: &u64| CallOutcome { attempted: *tokens, refused: u32::from(*tokens > 800), ..CallOutcome::default() };
        Outcome { prompt_limit: 800, calls: contexts.iter().map(call).collect::<Vec<_>>().into(), ..Outcome::default() }
    }

    #[test]
    fn a_line_has_a_letter_for_as_many_calls_and_shows_the_fullest() {
        assert_eq!(cell(&outcome(&[0, 99, 100, 799, 800, 801])), Cell::Name("▁▁▂██×".to_owned()));
        let many: Vec<u64> = (0..24).map(|call| if call == 3 { 700 } else { 1 }).collect();
        assert_eq!(cell(&outcome(&many)), Cell::Name("▁█▁▁▁▁▁▁▁▁▁▁".to_owned()));
        assert_eq!(cell(&outcome(&[])), Cell::Name(String::new()));
    }
}
