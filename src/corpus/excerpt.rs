//! How texts begin: the one place where content is read again, for users who ask to see it.

use super::gathered::Corpus;
use crate::format::{Reader, Source, sniff};
use crate::list::each_of;
use crate::trace::Trace;
use crate::transcript::{Part, Scale, Text, Transcript};
use std::collections::BTreeMap;
use std::path::Path;

/// So many characters of a text are shown.
const SHOWN: usize = 240;

/// The first characters of each text of a corpus.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Excerpts {
    /// By session and part. Empty for sessions whose log could not be read again, such as measured traces and standard input; an empty
    /// text where a part has no words.
    pub texts: Vec<Vec<String>>,
    /// Number of sessions whose log could not be read again.
    pub unread: u64,
}

/// Keeps so many characters of each text, or all of it, and measures nothing.
struct Words(Option<usize>);

impl Scale for Words {
    fn weigh(&self, text: &str) -> Text {
        let end = self.0.and_then(|most| text.char_indices().nth(most)).map(|(end, _)| end);
        let begins = end.and_then(|end| text.get(..end)).map_or_else(|| text.to_owned(), |start| format!("{start}…"));
        Text { content: Some(begins.into()), ..Text::default() }
    }
}

/// Reads the logs of a corpus once more.
pub fn excerpts(corpus: &Corpus, format: Option<&'static Reader>) -> Excerpts {
    let mut by_source: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, trace) in corpus.traces.each().enumerate() {
        by_source.entry(trace.source.clone()).or_default().push(place);
    }
    let by_source: Vec<(String, Vec<usize>)> = by_source.into_iter().collect();
    let found = each_of(&by_source, |(source, places)| read(corpus, source, places.clone(), format));
    let mut texts = vec![Vec::new(); corpus.traces.len()];
    for (place, beginnings) in found.into_iter().flatten() {
        if let Some(slot) = texts.get_mut(place) {
            *slot = beginnings;
        }
    }
    let unread = texts.iter().zip(corpus.traces.each()).filter(|(texts, trace)| texts.is_empty() && !trace.parts.is_empty()).count() as u64;
    Excerpts { texts, unread }
}

fn read(corpus: &Corpus, source: &str, mut places: Vec<usize>, format: Option<&'static Reader>) -> Vec<(usize, Vec<String>)> {
    let Some((mut source, reader)) = opened(source, format) else { return Vec::new() };
    let mut found = Vec::new();
    // What breaks off has been reported when the log was read for the first time.
    let _ = reader.sessions(&mut source, &Words(Some(SHOWN)), &mut |transcript| {
        let same = |place: &usize| corpus.traces.at(*place).is_some_and(|trace| is_of(&trace, &transcript));
        if let Some(index) = places.iter().position(same) {
            let place = places.remove(index);
            found.extend(corpus.traces.at(place).map(|trace| (place, beginnings(&trace, &transcript))));
        }
    });
    found
}

/// The log once more, and who reads it.
fn opened(source: &str, format: Option<&'static Reader>) -> Option<(Source, &'static Reader)> {
    // A stream is gone by now.
    let source = Some(Path::new(source)).filter(|path| path.is_file()).and_then(|path| Source::open(path).ok())?;
    let reader = format.or_else(|| sniff(&source).map(|(reader, _)| reader))?;
    Some((source, reader))
}

/// All texts of the sessions in a log: by session its id, and its texts by part, as a trace has them. Empty where the log cannot be read again.
pub fn words_in(source: &str, format: Option<&'static Reader>) -> Vec<(String, Vec<String>)> {
    let Some((mut source, reader)) = opened(source, format) else { return Vec::new() };
    let mut found = Vec::new();
    let _ = reader.sessions(&mut source, &Words(None), &mut |transcript| {
        let mut texts = Vec::new();
        for message in transcript.messages.each() {
            texts.extend(message.parts.iter().map(words));
            // Reasoning that was billed and not shown is a part without words.
            let reasoning = message.call.as_ref().and_then(|call| call.usage?.reasoning).unwrap_or(0);
            let shown = message.parts.iter().any(|part| matches!(part, Part::Thinking { .. }));
            texts.extend((reasoning > 0 && !shown).then(String::new));
        }
        found.push((transcript.id, texts));
    });
    found
}

fn is_of(trace: &Trace, transcript: &Transcript) -> bool {
    trace.id == transcript.id && trace.messages.len() == transcript.messages.len()
}

fn beginnings(trace: &Trace, transcript: &Transcript) -> Vec<String> {
    let mut texts = vec![String::new(); trace.parts.len()];
    for (row, message) in trace.messages.iter().zip(transcript.messages.each()) {
        // A trace may hold one part more: reasoning that was billed and not shown.
        let slots = texts.iter_mut().skip(row.first_part as usize).take(row.part_count as usize);
        slots.zip(&message.parts).for_each(|(slot, part)| *slot = words(part));
    }
    texts
}

fn words(part: &Part) -> String {
    part.text().map_or_else(String::new, |text| text.as_str().to_owned())
}
