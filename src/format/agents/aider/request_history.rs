//! The history of requests: each prompt as it was sent, each line with its role in front, and the reply to it.
//!
//! Prompts are put together anew each time (other files, other instructions), so most requests share only a beginning with the one
//! before. What is not in a request leaves the context; what comes back is listed as a second showing.

use super::{READER, Replies};
use crate::format::ground::{ReadError, Source, millis};
use crate::format::recorder::end_said;
use crate::transcript::{Call, Message, Part, Role, Scale, Transcript};
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_128;

/// What stands between two messages.
pub const RULE: &str = "-------";

/// Is this the first line of a request?
pub fn is_request(line: &str) -> bool {
    time_of(line, "TO LLM ").is_some()
}

fn time_of(line: &str, mark: &str) -> Option<i64> {
    millis(line.strip_prefix(mark)?.trim())
}

/// Where the lines belong.
enum Place {
    Nowhere,
    Request,
    /// When it was answered, the line that says so, and the hash of the request.
    Response(i64, u64, u128),
}

/// Reads a history of requests as one session.
pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let transcript = Transcript { id: source.name(), agent: READER.name.to_owned(), ..Transcript::default() };
    let mut history = History { scale, transcript, live: Vec::new(), shown: HashMap::new(), unchained: false, replies: Replies::default() };
    let mut place = Place::Nowhere;
    let mut prompt: Vec<(Role, String)> = Vec::new();
    let mut fresh = true;
    let mut time = None;
    source.each_line(|source, line| {
        let text = line.text.as_ref();
        if let Some(sent) = time_of(text, "TO LLM ") {
            history.exchange(&place, &mut prompt, time, source);
            (place, time, fresh) = (Place::Request, Some(sent), true);
        } else if let Some(answered) = time_of(text, "LLM RESPONSE ") {
            let asked = history.request(&mut prompt, time);
            (place, fresh) = (Place::Response(answered, line.number, asked), true);
        } else if text == RULE {
            fresh = true;
        } else {
            let (role, words) = text.split_once(' ').unwrap_or((text, ""));
            let role = match role {
                "SYSTEM" => Role::System,
                "USER" => Role::User,
                "ASSISTANT" => Role::Assistant,
                "TOOL" | "FUNCTION" => Role::Tool,
                _ => return source.lose(line.number, "line without a role"),
            };
            match prompt.last_mut().filter(|(last, _)| !fresh && *last == role) {
                Some((_, message)) => {
                    message.push('\n');
                    message.push_str(words);
                }
                None => prompt.push((role, words.to_owned())),
            }
            fresh = false;
        }
    })?;
    history.exchange(&place, &mut prompt, time, source);
    end_said(history.transcript, 0, source, hand_over);
    Ok(())
}

struct History<'s> {
    scale: &'s dyn Scale,
    transcript: Transcript,
    /// The messages that stand in the context, by their words, with their places in the list.
    live: Vec<(u128, usize)>,
    /// Where a message was listed first.
    shown: HashMap<u128, usize>,
    unchained: bool,
    replies: Replies,
}

impl History<'_> {
    /// What was collected since the last mark, when the next one comes.
    fn exchange(&mut self, place: &Place, collected: &mut Vec<(Role, String)>, sent: Option<i64>, source: &mut Source) {
        match place {
            Place::Nowhere => collected.clear(),
            // A request that was never answered.
            Place::Request => {
                self.request(collected, sent);
                self.unchained = true;
            }
            Place::Response(time, line, asked) => {
                let text: Vec<String> = collected.drain(..).map(|(_, text)| text).collect();
                let text = text.join("\n");
                // Where the provider refuses a request, the program writes a response without words.
                if text.trim().is_empty() {
                    self.unchained = true;
                    return source.lose(*line, "request without a reply");
                }
                let at = self.transcript.messages.len();
                // A copy that breaks off within the reply knows the call by this too.
                let id = sent.map_or_else(String::new, |sent| format!("{sent}-{time}-{asked:x}"));
                let call = Call { id, unchained: std::mem::take(&mut self.unchained), ..Call::default() };
                let parts = vec![Part::Text(self.scale.weigh(&text))];
                self.transcript.messages.push(Message {
                    id: self.replies.next(&text),
                    time: Some(*time),
                    call: Some(Box::new(call)),
                    ..Message::new(Role::Assistant, parts)
                });
                let hash = hash(Role::Assistant, &text);
                self.live.push((hash, at));
                self.shown.insert(hash, at);
            }
        }
    }

    /// Lists what is new in a request: the hash of all that it holds.
    fn request(&mut self, prompt: &mut Vec<(Role, String)>, time: Option<i64>) -> u128 {
        let hashes: Vec<u128> = prompt.iter().map(|(role, text)| hash(*role, text)).collect();
        let asked = xxh3_128(&hashes.iter().flat_map(|hash| hash.to_le_bytes()).collect::<Vec<u8>>());
        let common = hashes.iter().zip(&self.live).take_while(|(new, (old, _))| *new == old).count();
        let mut rewind = self.live.get(common).map(|(_, index)| *index);
        self.unchained |= rewind.is_some();
        self.live.truncate(common);
        for ((role, text), hash) in prompt.drain(..).zip(hashes).skip(common) {
            let at = self.transcript.messages.len();
            let copy_of = self.shown.get(&hash).copied();
            self.shown.entry(hash).or_insert(at);
            self.live.push((hash, at));
            let parts = vec![Part::Text(self.scale.weigh(&text))];
            // The program speaks in the person's name: files, the map of the repository. The last message is the person's.
            self.transcript.messages.push(Message {
                time,
                copy_of,
                rewind: rewind.take(),
                synthetic: role == Role::User,
                ..Message::new(role, parts)
            });
        }
        if let Some(last) = self.transcript.messages.last_mut().filter(|last| last.role == Role::User) {
            last.synthetic = false;
        }
        asked
    }
}

fn hash(role: Role, text: &str) -> u128 {
    xxh3_128(format!("{role:?}\0{}", text.trim()).as_bytes())
}
