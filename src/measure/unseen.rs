//! Logs that begin in the middle of their conversation: what they do not hold was part of the first prompts, and is no hidden overhead. One message at
//! the front stands for it, so that policies can take it out as they would take out what it was.
//!
//! How much of the first prompt was hidden overhead is told by the session's own compactions: what was left behind one held the overhead, the summary and
//! what the log shows. Where it has none, other sessions of the same agent tell it (`experiment`).

use super::contexts::{contexts, differ};
use crate::trace::{BaseFrom, CompactionRow, PartKind, PartRow, Trace, Unseen};
use crate::transcript::{Call, CompactionKind, Message, Part, Role, Text, Transcript, Trust};

/// Puts an empty message in front of a conversation whose beginning its log does not hold, behind the system messages. Its place, where there is one.
pub(super) fn make_room(transcript: &mut Transcript) -> Option<usize> {
    if !begins_in_middle(transcript) {
        return None;
    }
    let place = transcript.messages.each().take_while(|message| message.role == Role::System).count();
    let behind = |index: usize| index + usize::from(index >= place);
    transcript.messages.change(|message| {
        // What goes back to the beginning of the log leaves the unseen part behind too.
        message.rewind = message.rewind.map(|index| if index == place { index } else { behind(index) });
        message.copy_of = message.copy_of.map(behind);
    });
    transcript.refusals.iter_mut().for_each(|index| *index = behind(*index));
    for compaction in &mut transcript.compactions {
        compaction.before = behind(compaction.before);
        compaction.kept_from = compaction.kept_from.map(behind);
        compaction.taken.iter_mut().for_each(|(message, _)| *message = behind(*message));
    }
    let unseen = Message { synthetic: true, ..Message::new(Role::User, vec![Part::Other(Text::default())]) };
    transcript.messages.insert(place, unseen);
    Some(place)
}

/// Does the log say so, does it begin behind a compaction, or was its first prompt larger than one behind a compaction while it shows too little for that?
fn begins_in_middle(transcript: &Transcript) -> bool {
    // A result that comes first answers a call that the log does not hold.
    let answers_nothing =
        transcript.messages.each().find(|message| message.role != Role::System).is_some_and(|message| message.role == Role::Tool);
    let goes_on = transcript.begins_in_middle || answers_nothing;
    let prompts = || {
        transcript.messages.each().enumerate().filter_map(|(index, message)| {
            let call = message.call.as_ref()?;
            Some((index, prompt_of(call)?, call.model.clone()))
        })
    };
    let Some((first, prompt, model)) = prompts().next() else { return false };
    let compacted = transcript.compactions.iter().find(|event| event.kind == CompactionKind::Compact).map(|event| event.before);
    let Some(compacted) = compacted else { return goes_on };
    let behind = prompts().filter(|(index, _, of)| *index >= compacted && *of == model).map(|(_, prompt, _)| prompt).min();
    // In the vocabulary that each part was counted in.
    let tokens = |part: &Part| part.text().map_or(0, |text| u64::from(text.tokens));
    let shown: u64 = transcript.messages.each().take(first).map(|message| message.parts.iter().map(tokens).sum::<u64>()).sum();
    goes_on || compacted <= first || behind.is_some_and(|behind| behind < prompt.saturating_sub(shown))
}

fn prompt_of(call: &Call) -> Option<u64> {
    call.usage.filter(|usage| usage.trust == Trust::Provider && usage.prompt > 0).map(|usage| usage.prompt)
}

/// Sizes the unseen message by the session's own compactions, where it has any.
pub(super) fn settle(trace: &mut Trace) {
    let base = trace.unseen.and_then(|_| behind_compactions(trace));
    if let Some(base) = base {
        unseen_above(trace, base, BaseFrom::Session);
    }
}

/// What the first recorded prompt carried beside what the log shows, unseen conversation not counted. `None` where no prompt was recorded.
pub fn overhead(trace: &Trace) -> Option<u64> {
    trace.calls.iter().find(|call| call.anchor().is_some()).map(|call| call.hidden)
}

/// Gives the unseen message of a session all of the first prompt's overhead above this base, which was learned from there. A session whose log holds its
/// beginning stays as it is.
pub fn unseen_above(trace: &mut Trace, base: u64, from: BaseFrom) {
    let Some((unseen, overhead)) = trace.unseen.zip(overhead(trace)) else { return };
    let tokens = (unseen.tokens + overhead).saturating_sub(base);
    trace.unseen = Some(Unseen { tokens, base: from, ..unseen });
    let part = trace.messages.get(unseen.message as usize).map(|row| row.first_part as usize);
    if let Some(part) = part {
        trace.parts.change(part, |part| *part = PartRow::stand_in(PartKind::Other, tokens));
    }
    contexts(trace);
}

/// The least that a prompt behind a compaction carried beside the summary, what stayed and what arrived since; for the model of the first prompt.
fn behind_compactions(trace: &Trace) -> Option<u64> {
    let model = trace.calls.iter().find(|call| call.anchor().is_some())?.model.get();
    let of_model = trace.calls.iter().filter(|call| !differ(call.model.get(), model));
    let prompts: Vec<(u32, u64)> = of_model.filter_map(|call| Some((call.message, call.anchor()?.prompt))).collect();
    // Tokens in front of each message, and in front of the end.
    let mut sum = 0;
    let mut until = vec![sum];
    until.extend(trace.messages.iter().map(|row| {
        sum += trace.parts_of(row).map(|part| part.truth).sum::<u64>();
        sum
    }));
    let carried = |event: &CompactionRow| {
        let (message, prompt) = prompts.get(prompts.partition_point(|(message, _)| *message < event.before))?;
        let stayed = event.kept_from.map_or(event.before, |kept| kept.min(event.before));
        let shown = until.get(*message as usize)? - until.get(stayed as usize)?;
        Some(prompt.saturating_sub(event.summary_tokens.or_else(|| event.usage.and_then(|usage| usage.written())).unwrap_or(0) + shown))
    };
    trace.compactions.iter().filter(|event| event.kind == CompactionKind::Compact).filter_map(carried).min()
}
