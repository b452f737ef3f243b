//! One conversation, put together message by message.

use super::record::{Answer, AnswerPiece, Line, Outcome, Piece, Totals, Visibility};
use crate::format::ground::{ABSURD, Count, Lose, image, sound};
use crate::format::recorder::Recorder;
use crate::format::usage::Reported;
use crate::format::wire::blocks::{Block, Blocks};
use crate::format::wire::chat::ChatFunction;
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Transcript, Trust};

/// The agent's name in transcripts and reports.
pub const AGENT: &str = "goose";

/// Smaller numbers are seconds.
const FIRST_MILLISECOND: i64 = 100_000_000_000;

pub struct Session<'s> {
    made: Recorder<'s>,
    totals: Totals,
    model: String,
    /// The first message that the model sees to this day, and whether the present run of messages for it alone has had its summary.
    first_visible: Option<usize>,
    summarised: bool,
    /// The requests that the program listed, in their order; empty in versions that list none.
    pub spent: Vec<Spent>,
}

/// A request as the program listed it.
pub struct Spent {
    pub model: String,
    pub reported: Reported,
    /// It made a summary.
    pub compaction: bool,
}

impl<'s> Session<'s> {
    pub fn new(id: &str, scale: &'s dyn Scale) -> Session<'s> {
        let made = Recorder::new(AGENT, id.to_owned(), scale);
        Session { made, totals: Totals::default(), model: String::new(), first_visible: None, summarised: false, spent: Vec::new() }
    }

    /// Takes over what the session's head says: usage of the whole, model, window.
    pub fn describe(&mut self, totals: Totals, model: &str, window: Count) {
        self.totals = totals;
        self.model = model.to_owned();
        self.made.transcript.window = window.known().ok().flatten();
    }

    /// Takes over which session started this one.
    #[cfg(feature = "sqlite")]
    pub fn started_by(&mut self, parent: Option<String>) {
        self.made.transcript.parent = parent.filter(|parent| !parent.is_empty());
    }

    pub fn line(&mut self, line: &Line<'_>, lose: Lose<'_>) {
        if !line.role.is_empty() {
            return self.message(line, lose);
        }
        if line.working_dir.is_empty() {
            return lose("unknown record type");
        }
        let config = line.model_config.as_ref();
        self.describe(
            line.totals(),
            config.map_or("", |config| &config.model_name),
            config.map_or(Count::Absent, |config| config.context_limit),
        );
        self.made.identify(line.id.id());
        for message in line.conversation.iter().flatten() {
            match serde_json::from_str::<Line>(message.get()) {
                Ok(message) => self.message(&message, lose),
                Err(_) => lose("message of an unexpected shape"),
            }
        }
    }

    pub fn message(&mut self, line: &Line<'_>, lose: Lose<'_>) {
        let Some(role) = Role::of(&line.role, &[Role::User, Role::Assistant]) else { return lose("message of an unknown role") };
        let time = line.created.and_then(|time| if time < FIRST_MILLISECOND { time.checked_mul(1000) } else { Some(time) });
        let id = line.id.id();
        let (mut parts, mut results) = (Vec::new(), Vec::new());
        for block in &line.content.0 {
            self.piece(block, &mut parts, &mut results, lose);
        }
        let visible = line.metadata.unwrap_or_default();
        if !visible.user_visible {
            return self.put_in(role, parts, visible, time);
        }
        self.summarised = false;
        if visible.agent_visible {
            self.first_visible.get_or_insert(self.made.next());
        }
        // Each answer is a message of its own; pictures belong to the answer before them.
        for result in results {
            match self.made.transcript.messages.last_mut() {
                Some(answer) if matches!(result, Part::Image(_)) && answer.role == Role::Tool => answer.parts.push(result),
                _ => self.made.push(Message { id: id.to_owned(), time, ..Message::new(Role::Tool, vec![result]) }),
            }
        }
        if parts.is_empty() {
            return;
        }
        let call = (role == Role::Assistant).then(|| Call {
            id: id.to_owned(),
            model: self.model.clone(),
            usage: None,
            unchained: std::mem::take(&mut self.made.chain.broken),
            ..Call::default()
        });
        self.made.push(Message { id: id.to_owned(), time, call: call.map(Box::new), ..Message::new(role, parts) });
    }

    /// A message that the person never sees: the summary of a compaction first, then what leads over from it.
    fn put_in(&mut self, role: Role, parts: Vec<Part>, visible: Visibility, time: Option<i64>) {
        let before = self.made.next();
        if role == Role::User && !self.summarised && before > 0 {
            self.summarised = true;
            let summary = parts.into_iter().find_map(|part| if let Part::Text(text) = part { Some(text) } else { None });
            self.made.cut(Compaction {
                summary,
                // Of an earlier compaction nothing tells what it kept: the next one took that away as well.
                kept_from: visible.agent_visible.then(|| self.first_visible.unwrap_or(before)),
                time,
                ..Compaction::default()
            });
        } else if !parts.is_empty() {
            self.made.push(Message { time, synthetic: role == Role::User, ..Message::new(role, parts) });
        }
    }

    fn piece(&mut self, block: &Block<'_, Piece<'_>>, parts: &mut Vec<Part>, results: &mut Vec<Part>, lose: Lose<'_>) {
        let piece = match block {
            Block::Text(text) => return parts.push(self.made.text(text)),
            Block::Object(piece) => piece,
            Block::Other => return lose("unknown content part"),
        };
        match &*piece.kind {
            "text" if piece.text.is_empty() => {}
            "text" => parts.push(self.made.text(&piece.text)),
            "image" => parts.push(Part::Image(image::from_base64(&piece.data))),
            "thinking" => parts.push(self.made.thinking(&piece.thinking, piece.signature.len())),
            "redactedThinking" => parts.push(self.made.thinking("", piece.data.len())),
            "toolRequest" | "frontendToolRequest" => {
                let request = piece.tool_call.as_ref().and_then(|call| serde_json::from_str::<ChatFunction>(call.value?.get()).ok());
                let request = request.unwrap_or_default();
                parts.push(self.made.tool_call(&piece.id, &request.name, request.arguments));
            }
            "toolResponse" => self.answer(piece, results),
            // What the screen asks and tells the person.
            "toolConfirmationRequest" | "actionRequired" | "systemNotification" | "conversationCompacted" => {}
            "contextLengthExceeded" | "summarizationRequested" | "error" => {}
            _ => lose("unknown content part"),
        }
    }

    fn answer(&self, piece: &Piece<'_>, results: &mut Vec<Part>) {
        let nothing = Outcome::default();
        let outcome = piece.tool_result.as_ref().unwrap_or(&nothing);
        let answer = outcome.value.map(|value| {
            let list = serde_json::from_str::<Blocks<AnswerPiece>>(value.get()).ok().filter(|_| value.get().starts_with('['));
            let content = list.map(|content| Answer { content, is_error: None });
            content.or_else(|| serde_json::from_str(value.get()).ok()).unwrap_or_default()
        });
        let answer = answer.unwrap_or_default();
        // What is meant for the person alone is not sent.
        let pieces: Vec<&AnswerPiece> = answer.content.objects().filter(|piece| for_the_model(piece)).collect();
        let texts: Vec<&str> = pieces
            .iter()
            .filter(|piece| &*piece.kind != "image")
            .map(|piece| piece.resource.as_ref().map_or(&*piece.text, |resource| &*resource.text))
            .collect();
        let failed = outcome.value.is_none();
        let text = if failed { outcome.error.to_string() } else { texts.join("\n") };
        results.push(self.made.result(&piece.id, &text, failed || answer.is_error.unwrap_or_default()));
        results.extend(pieces.iter().filter(|piece| &*piece.kind == "image").map(|piece| Part::Image(image::from_base64(&piece.data))));
    }

    /// A reply may be stored in several messages, one behind the other: where that makes as many replies as requests, each is one of a call.
    fn join(&mut self, requests: usize) {
        let is_call = |message: &Message| message.call.is_some();
        let calls: Vec<bool> = self.made.transcript.messages.iter().map(is_call).collect();
        let goes_on = |place: usize| place > 0 && calls.get(place - 1) == Some(&true);
        let replies = calls.iter().enumerate().filter(|(place, is_call)| **is_call && !goes_on(*place)).count();
        if replies == requests {
            for (place, message) in self.made.transcript.messages.iter_mut().enumerate().filter(|(place, _)| goes_on(*place)) {
                message.call = message.call.take().filter(|_| !goes_on(place));
            }
        }
    }

    /// Requests that made summaries: the last ones made those that there are, the others have none to show.
    fn summarised_by(&mut self, mut summaries: Vec<Spent>, lose: Lose<'_>) {
        let mut compactions: Vec<&mut Compaction> = self.made.transcript.compactions.iter_mut().collect();
        let ends = summaries.split_off(summaries.len().saturating_sub(compactions.len()));
        let first = compactions.len() - ends.len();
        let mut call = |spent: Spent| {
            let usage = sound(spent.reported.usage(), lose)?;
            Some(Call { model: spent.model, usage: Some(usage), unchained: true, ..Call::default() })
        };
        for (compaction, spent) in compactions.iter_mut().skip(first).zip(ends) {
            compaction.call = call(spent);
        }
        let further: Vec<Call> = summaries.into_iter().filter_map(call).collect();
        self.made.transcript.side_calls.extend(further);
    }

    /// The session; `None` where nothing was said.
    pub fn finish(mut self, lose: Lose<'_>) -> Option<Transcript> {
        let [input, output, ..] = self.totals;
        let listed = std::mem::take(&mut self.spent);
        let (summaries, requests): (Vec<Spent>, Vec<Spent>) = listed.into_iter().partition(|spent| spent.compaction);
        self.summarised_by(summaries, lose);
        self.join(requests.len());
        let mut calls: Vec<&mut Call> =
            self.made.transcript.messages.iter_mut().filter_map(|message| message.call.as_deref_mut()).collect();
        // Nothing but their order says which request made which reply.
        if !requests.is_empty() && requests.len() == calls.len() {
            for (call, spent) in calls.iter_mut().zip(requests) {
                call.usage = sound(spent.reported.usage(), lose);
                if !spent.model.is_empty() {
                    call.model = spent.model;
                }
            }
            return self.made.finish();
        }
        if !requests.is_empty() {
            lose("requests that are listed, and whose replies cannot be told");
            return self.made.finish();
        }
        let last = Reported { input, output, ..Reported::default() };
        match self.totals.map(Count::or_zero) {
            [Ok(prompt), Ok(output), Ok(all_prompts), Ok(all_outputs)] => match calls.as_mut_slice() {
                // The one call of a session is its sum.
                [only] if prompt > 0 && (all_prompts, all_outputs) == (prompt, output) => {
                    only.usage = last.usage().ok().flatten();
                }
                [.., call]
                    if prompt > 0 && all_prompts > prompt && all_outputs >= output && self.made.transcript.compactions.is_empty() =>
                {
                    call.usage = last.usage().ok().flatten();
                    let rest = Reported {
                        input: Count::Sound(all_prompts - prompt),
                        output: Count::Sound(all_outputs - output),
                        trust: Trust::Shared,
                        ..last
                    };
                    rest.usage().ok().flatten().into_iter().for_each(|rest| _ = self.made.share_out(rest));
                }
                _ if prompt > 0 || all_prompts > 0 => lose("usage of the whole session and of its last call alone"),
                _ => {}
            },
            _ => lose(ABSURD),
        }
        self.made.finish()
    }
}

fn for_the_model(piece: &AnswerPiece<'_>) -> bool {
    let audience = piece.annotations.as_ref().and_then(|annotations| annotations.audience.as_ref());
    audience.is_none_or(|audience| audience.is_empty() || audience.iter().any(|name| &**name == "assistant"))
}
