//! The scale: what is kept of a text when its words are let go.

use crate::estimate::{Counter, cleaned, seam, tally};
use crate::transcript::{LONG_LINE, Length, Scale, Shape, Step, Text};
use std::sync::Arc;

/// What becomes of the words of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// They are kept beside the numbers.
    Keep,
    /// They are let go.
    Drop,
}

/// Measures texts in one vocabulary.
#[derive(Clone)]
pub struct TextScale {
    counter: Arc<Counter>,
    content: Content,
}

/// A text of more bytes than this has a [`Shape`].
const SHORT: usize = 2_000;

/// Bytes between the steps of a shape. Near the two ends of a text they stand closer, by [`NEARNESS`]: where a part is small, so
/// must be the error of its size.
const WIDEST_STEP: usize = 1024;
const NARROWEST_STEP: usize = 64;
const NEARNESS: usize = 32;

/// A chunk longer than this has steps in its midst, although no place there is a seam.
const LONG_CHUNK: usize = 2 * WIDEST_STEP;

impl TextScale {
    /// A scale that counts with this counter.
    pub fn new(counter: Arc<Counter>, content: Content) -> TextScale {
        TextScale { counter, content }
    }

    fn count(&self, text: &str) -> u32 {
        u32::try_from(self.counter.count(text)).unwrap_or(u32::MAX)
    }

    fn size(&self, text: &str) -> Step {
        Step { length: Length::of(text), tokens: self.count(text) }
    }

    /// Cumulative sizes. The text is counted in chunks that end at seams, so that their sum is the exact size of the whole; steps
    /// stand at line starts, so that whole lines are sized well, and where there is none in reach at the seams themselves.
    fn steps(&self, text: &str) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut so_far = Step::default();
        let mut at = 0;
        while at < text.len() {
            let (step, end) = next_step(text, at);
            let chunk = text.get(at..end).unwrap_or_default();
            let size = self.size(chunk);
            if chunk.len() > LONG_CHUNK {
                self.inner_steps(chunk, so_far, size, &mut steps);
            }
            so_far = so_far.plus(size);
            let behind = text.get(step..end).unwrap_or_default();
            steps.push(if behind.is_empty() { so_far } else { so_far.less(self.size(behind)) });
            at = end;
        }
        if steps.last().is_none_or(|step| step.length.bytes < so_far.length.bytes) {
            steps.push(so_far);
        }
        steps
    }

    /// Steps within a long chunk. Cutting it costs a few tokens, so what its pieces have is scaled to what the chunk has.
    fn inner_steps(&self, chunk: &str, before: Step, whole: Step, steps: &mut Vec<Step>) {
        let mut pieces = Vec::new();
        let mut so_far = Step::default();
        let mut rest = chunk;
        while let Some((piece, after)) = rest.split_at_checked(rest.floor_char_boundary(WIDEST_STEP)) {
            if after.is_empty() {
                break;
            }
            so_far = so_far.plus(self.size(piece));
            pieces.push(so_far);
            rest = after;
        }
        let sum = u64::from(so_far.tokens) + self.counter.count(rest);
        steps.extend(pieces.into_iter().map(|piece| {
            let tokens = (u64::from(piece.tokens) * u64::from(whole.tokens)).checked_div(sum).unwrap_or(0);
            before.plus(Step { tokens: u32::try_from(tokens).unwrap_or(u32::MAX), ..piece })
        }));
    }
}

/// Where the next step stands and where its chunk ends: at the first line start behind the wanted width and the first seam behind
/// that, or else both at the first seam.
fn next_step(text: &str, at: usize) -> (usize, usize) {
    let nearest_end = at.min(text.len() - at);
    let width = (nearest_end / NEARNESS).clamp(NARROWEST_STEP, WIDEST_STEP);
    let reach = text.as_bytes().get(at + width - 1..).map_or(&[][..], |rest| rest.get(..width).unwrap_or(rest));
    let line_start = memchr::memchr(b'\n', reach).map(|newline| at + width + newline);
    line_start
        .map(|line_start| (line_start, seam::next_seam(text, line_start)))
        .filter(|(line_start, end)| end - line_start <= NARROWEST_STEP)
        .unwrap_or_else(|| {
            let end = seam::next_seam(text, at + width);
            (end, end)
        })
}

impl Scale for TextScale {
    fn weigh(&self, text: &str) -> Text {
        let content = (self.content == Content::Keep).then(|| Box::from(text));
        let (whole, shape) = if text.len() <= SHORT {
            (self.size(text), None)
        } else {
            let steps = self.steps(text);
            let whole = steps.last().copied().unwrap_or_default();
            let cleaned = cleaned(text).map(|cleaned| self.size(&cleaned));
            (whole, Some(Box::new(Shape { steps, long_lines: long_lines(text), cleaned })))
        };
        Text {
            length: whole.length,
            tokens: whole.tokens,
            json_bytes: json_bytes(text),
            words: words(text),
            non_ascii: whole.length.chars.saturating_sub(tally(text.as_bytes(), |byte| byte.is_ascii())),
            shape,
            content,
        }
    }
}

/// Bytes of the text inside a compact JSON string, as serde_json and JavaScript write it: control characters as six bytes, those
/// with a short escape, the quote and the backslash as two, all else as it is.
fn json_bytes(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let short = tally(bytes, |byte| matches!(byte, b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c));
    let long = tally(bytes, |byte| byte < 0x20 && !matches!(byte, b'\n' | b'\r' | b'\t' | 0x08 | 0x0c));
    u32::try_from(bytes.len()).unwrap_or(u32::MAX).saturating_add(short).saturating_add(long.saturating_mul(5))
}

/// What whitespace divides.
fn words(text: &str) -> u32 {
    if !text.is_ascii() {
        return u32::try_from(text.split_whitespace().count()).unwrap_or(u32::MAX);
    }
    let space = |byte: u8| matches!(byte, b' ' | 0x09..=0x0d);
    let Some((&first, rest)) = text.as_bytes().split_first() else {
        return 0;
    };
    // A word begins wherever no space follows a space; counted in blocks, as in `tally`.
    let blocks = text.as_bytes().chunks(255).zip(rest.chunks(255));
    blocks.fold(u32::from(!space(first)), |words, (before, after)| {
        let begun: u8 = before.iter().zip(after).map(|(&before, &after)| u8::from(space(before) & !space(after))).sum();
        words.saturating_add(u32::from(begun))
    })
}

/// Code points of each line longer than [`LONG_LINE`].
fn long_lines(text: &str) -> Vec<u32> {
    text.split('\n')
        .filter(|line| line.len() > LONG_LINE as usize)
        .map(|line| Length::of(line).chars)
        .filter(|&chars| chars > LONG_LINE)
        .collect()
}
