//! One session, put together from its rows.

use crate::format::ground::yaml::binary;
use crate::format::ground::{ABSURD, ATTACHED, Lose, Words, image, wire};
use crate::format::recorder::Recorder;
use crate::format::sums::SUM_ALONE;
use crate::format::usage::{Reported, TOKEN_BYTES};
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Transcript};
use serde_json::value::RawValue;

/// A row of the table of sessions.
pub struct SessionRow {
    pub id: String,
    pub parent: Option<String>,
    /// The message that the context starts with since the last summary.
    pub summary_message: Option<String>,
    /// Usage of the last call.
    pub last: Reported,
    /// Is that the sum of all calls, and not the last one's own?
    pub is_sum: bool,
    /// What the session and those that it started cost by its own word, in thousand-millionths of a dollar.
    pub cost: Option<i64>,
}

/// A row of the table of messages.
pub struct MessageRow<'r> {
    pub id: &'r str,
    pub role: &'r str,
    /// A JSON list of parts.
    pub parts: &'r str,
    pub model: &'r str,
    /// The provider that served it; `None` where none is noted.
    pub host: Option<&'r str>,
    pub time: Option<i64>,
    pub is_summary: bool,
    /// Was it written at once? A reply is begun empty, and bears the time of its end later.
    pub is_whole: bool,
}

wire! {
    struct Piece<'a> { kind: Words<'a> = "type", data: PieceData<'a> }

    struct PieceData<'a> {
        text: Words<'a>,
        thinking: Words<'a>,
        signature: Words<'a>,
        id: Words<'a>,
        name: Words<'a>,
        input: Option<&'a RawValue>,
        tool_call_id: Words<'a>,
        content: Words<'a>,
        is_error: Option<bool>,
        reason: Words<'a>,
        url: Words<'a>,
        // Attached files are written in Go's own capital letters.
        bytes: Words<'a> = "Data" | "data",
        mime_type: Words<'a> = "MIMEType" | "mime_type",
        path: Words<'a> = "Path" | "path",
        command: Words<'a>,
        output: Words<'a>,
        exit_code: Option<i64>,
    }
}

/// What the program says before the text files of a message (`PromptWithTextAttachments` of `internal/message/content.go`, since December 2025).
const BEFORE_FILES: &str = "\n<system_info>The files below have been attached by the user, consider them in your response</system_info>\n";

impl Piece<'_> {
    /// An attached file of text as the prompt holds it: long texts that a person pastes are such files.
    fn text_file(&self) -> Option<String> {
        let data = &self.data;
        let is_text = &*self.kind == "binary" && data.mime_type.starts_with("text/");
        let head = if data.path.is_empty() { "<file>".to_owned() } else { format!("<file path='{}'>", &*data.path) };
        is_text.then(|| format!("{head}\n\n{}\n</file>\n", binary(&data.bytes)))
    }
}

pub struct Session<'s> {
    made: Recorder<'s>,
    summary_message: Option<String>,
    /// The role of the row before.
    last: Option<Role>,
}

impl<'s> Session<'s> {
    pub fn new(row: &SessionRow, agent: &str, scale: &'s dyn Scale) -> Session<'s> {
        let mut made = Recorder::new(agent, row.id.clone(), scale);
        made.transcript.parent.clone_from(&row.parent);
        Session { made, summary_message: row.summary_message.clone(), last: None }
    }

    pub fn message(&mut self, row: &MessageRow<'_>, lose: Lose<'_>) {
        let Ok(pieces) = serde_json::from_str::<Vec<Piece<'_>>>(row.parts) else { return lose("message of an unexpected shape") };
        let Some(role) = Role::of(row.role, &[Role::System, Role::User, Role::Assistant, Role::Tool]) else {
            return lose("message of an unknown role");
        };
        let before = self.last.replace(role);
        let mut finish = None;
        let mut parts = Vec::new();
        for piece in &pieces {
            if &*piece.kind == "finish" {
                finish = Some(piece.data.reason.to_string());
            } else {
                parts.extend(self.part(piece, lose));
                // A picture that a tool returned stands beside its words.
                if &*piece.kind == "tool_result" && piece.data.mime_type.starts_with("image/") {
                    parts.push(Part::Image(image::from_base64(&piece.data.bytes)));
                }
            }
        }
        let files: String = pieces.iter().filter_map(Piece::text_file).collect();
        if !files.is_empty() {
            parts.push(self.made.text(&format!("{BEFORE_FILES}{files}")));
        }
        // Until August 2025 the session names its last summary alone. The program writes no reply but summaries at once, behind a finished turn.
        let ended = role == Role::Assistant && before == Some(Role::Assistant) && finish.as_deref() == Some("end_turn");
        if row.is_summary || row.is_whole && ended || self.summary_message.as_deref() == Some(row.id) {
            return self.summary(row, &parts);
        }
        // The agent goes on by itself with the first prompt of the turn, behind a note.
        let note = "The previous session was interrupted because it got too long";
        let goes_on = role == Role::User && pieces.iter().any(|piece| piece.data.text.starts_with(note));
        let next = self.made.next();
        if let Some(last) = self.made.transcript.compactions.last_mut().filter(|last| goes_on && last.before == next) {
            last.automatic = Some(true);
        }
        if role == Role::Tool {
            return self.results(row, parts);
        }
        let call = if role == Role::Assistant { self.call(row, finish.as_deref()) } else { None };
        if parts.is_empty() && call.is_none() {
            return;
        }
        self.made.push(Message { id: row.id.to_owned(), time: row.time, call: call.map(Box::new), ..Message::new(role, parts) });
    }

    /// A message for each result, as all other logs have them: the program keeps those of one reply in one row, and what counts messages is not to depend on who wrote the log.
    fn results(&mut self, row: &MessageRow<'_>, parts: Vec<Part>) {
        let mut results: Vec<Vec<Part>> = Vec::new();
        for part in parts {
            match results.last_mut() {
                Some(result) if !matches!(part, Part::ToolResult { .. }) => result.push(part),
                _ => results.push(vec![part]),
            }
        }
        for (parts, number) in results.into_iter().zip(1..) {
            let id = if number == 1 { row.id.to_owned() } else { format!("{}#{number}", row.id) };
            self.made.push(Message { id, time: row.time, ..Message::new(Role::Tool, parts) });
        }
    }

    fn part(&mut self, piece: &Piece<'_>, lose: Lose<'_>) -> Option<Part> {
        let data = &piece.data;
        Some(match &*piece.kind {
            "text" if data.text.is_empty() => return None,
            "text" => self.made.text(&data.text),
            "reasoning" => self.made.thinking(&data.thinking, data.signature.len()),
            "tool_call" => self.made.tool_call(&data.id, &data.name, data.input),
            "tool_result" => Part::ToolResult {
                call_id: data.tool_call_id.to_string(),
                name: self.made.tools.name(&data.tool_call_id).unwrap_or(&data.name).to_owned(),
                text: self.made.scale.weigh_result(&data.content),
                error: data.is_error.unwrap_or_default(),
            },
            "shell_command" => {
                self.made.text(&format!("$ {}\n{}\n(exit code {})", &*data.command, &*data.output, data.exit_code.unwrap_or_default()))
            }
            "image_url" => Part::Image(image::from_data_url(&data.url)),
            "binary" if data.mime_type.starts_with("image/") => Part::Image(image::from_base64(&data.bytes)),
            "binary" if data.mime_type.starts_with("text/") => return None,
            "binary" => {
                lose(ATTACHED);
                return None;
            }
            _ => {
                lose("unknown content part");
                return None;
            }
        })
    }

    /// The request behind a reply, which may be empty; none where it did not end, was stopped or failed.
    fn call(&mut self, row: &MessageRow<'_>, finish: Option<&str>) -> Option<Call> {
        let answered = finish.is_some_and(|reason| !matches!(reason, "canceled" | "cancelled" | "error"));
        if !answered {
            self.made.chain.broken = true;
            return None;
        }
        let unchained = self.made.chain.link(row.model);
        if let Some(host) = row.host.filter(|host| !host.is_empty()) {
            self.made.hosts.push((row.model.to_owned(), host.to_owned()));
        }
        Some(Call { id: row.id.to_owned(), model: row.model.to_owned(), usage: None, unchained, ..Call::default() })
    }

    /// The context starts anew with this message: what was said before it stays in the list.
    fn summary(&mut self, row: &MessageRow<'_>, parts: &[Part]) {
        let before = self.made.next();
        let text = parts.iter().find_map(|part| if let Part::Text(text) = part { Some(text.clone()) } else { None });
        self.made.cut(Compaction {
            summary: text,
            kept_from: Some(before),
            call: Some(Call { id: row.id.to_owned(), model: row.model.to_owned(), usage: None, unchained: true, ..Call::default() }),
            time: row.time,
            ..Compaction::default()
        });
    }

    /// The session; `None` where nothing was said.
    ///
    /// The database keeps the usage of the last call alone, and before May 2025 the sum of all (`TrackUsage` of `internal/llm/agent/agent.go`), but where all replies have
    /// more words than that. Some versions add what was read from the cache to the reply: a reply of more tokens than it has bytes, and of as many as a cache can be read for,
    /// is such a sum, and says nothing of the prompt. Later ones leave out what was written to the cache: a prompt of fewer tokens than its words alone must have is such a rest.
    pub fn finish(mut self, last: &Reported, is_sum: bool, lose: Lose<'_>) -> Option<Transcript> {
        let replies = || self.made.transcript.messages.iter().filter(|message| message.call.is_some());
        let said: u64 = replies().flat_map(|message| &message.parts).map(bytes).sum();
        let holds = last.usage().is_ok_and(|usage| usage.is_none_or(|usage| usage.output.saturating_mul(TOKEN_BYTES) >= said));
        if is_sum && holds && replies().nth(1).is_some() {
            if last.usage() != Ok(None) {
                lose(SUM_ALONE);
            }
            return self.made.finish();
        }
        let first = self.made.transcript.compactions.last().and_then(|last| last.kept_from).unwrap_or(0);
        // What the messages up to each reply say in words.
        let (mut words, mut read) = (0, 0);
        for message in self.made.transcript.messages.iter().skip(first) {
            read = if message.call.is_some() { words } else { read };
            words += message.parts.iter().map(bytes).sum::<u64>();
        }
        let reply = self.made.transcript.messages.iter_mut().rev().find(|message| message.call.is_some());
        match (last.usage(), reply) {
            (Err(_), _) => lose(ABSURD),
            (Ok(Some(usage)), Some(Message { call: Some(call), parts, .. }))
                if usage.output < least_read(&call.model) || usage.output <= parts.iter().map(bytes).sum() =>
            {
                if usage.prompt.saturating_mul(TOKEN_BYTES) >= read {
                    call.usage = Some(usage);
                } else {
                    lose("usage of the session's last call alone, without what was written to the cache");
                }
            }
            (Ok(Some(_)), _) => lose("usage of the session's last call alone, what was read from the cache among the reply"),
            (Ok(None), _) => {}
        }
        self.made.finish()
    }
}

/// The fewest tokens that a cache is read for: 1,024 at OpenAI, Anthropic and Google, steps of 64 at others, as DeepSeek.
fn least_read(model: &str) -> u64 {
    if ["gpt", "claude", "gemini"].iter().any(|family| model.contains(family)) { 1_024 } else { 64 }
}

/// Bytes of what a part of a reply says.
fn bytes(part: &Part) -> u64 {
    let name = if let Part::ToolCall { name, .. } = part { name.len() as u64 } else { 0 };
    name + part.text().map_or(0, |text| u64::from(text.length.bytes))
}
