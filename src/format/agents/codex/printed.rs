//! What Codex prints with `exec --json`: the events of a turn, one a line (`thread.started`, `item.completed`, `turn.completed`).
//!
//! The events name neither the requests nor the model, and the person's words are not among them. A reply begins with its words or reasoning or, where it
//! has none, with a call of a tool, and goes on until a tool answers.

use super::record::TokenUsage;
use super::session::AGENT;
use crate::format::ground::{ABSURD, Lose, ReadError, Source, Words, compact, image, text_or_json, wire};
use crate::format::recorder::Recorder;
use crate::format::sums::{Among, SUM_ALONE, share_out};
use crate::format::wire::blocks::Blocks;
use crate::format::wire::held;
use crate::transcript::{Message, Part, Role, Scale, Transcript, Trust, Usage};
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// BaseAgent prints events of the same names, but its threads have ids of their own.
pub const SIGNATURE: &str = "type=thread.started thread_id !thread_id=sess_*";

/// The tool that the provider runs itself, named as in rollouts.
const SEARCH: &str = "web_search";

const NOT_PRINTED: &str = "result that is not printed";

wire! {
    struct Event<'a> {
        kind: Words<'a> = "type",
        thread_id: Words<'a>,
        item: Option<Item<'a>>,
        usage: Option<TokenUsage>,
        error: Option<held::Message<'a>>,
    }

    /// An item, with the fields of all kinds.
    struct Item<'a> {
        id: Words<'a>,
        kind: Words<'a> = "type",
        text: Words<'a>,
        status: Words<'a>,
        command: Words<'a>,
        aggregated_output: Words<'a>,
        changes: Option<&'a RawValue>,
        server: Words<'a>,
        tool: Words<'a>,
        arguments: Option<&'a RawValue>,
        result: Option<Answer<'a>>,
        error: Option<held::Message<'a>>,
        /// Of a search on the web.
        query: Words<'a>,
        action: Option<&'a RawValue>,
        /// Of a plan.
        items: Option<&'a RawValue>,
        /// Of a call to another agent.
        prompt: Words<'a>,
        agents_states: Option<&'a RawValue>,
    }

    /// What a tool of an MCP server returned.
    struct Answer<'a> { content: Option<&'a RawValue>, structured_content: Option<&'a RawValue> }

    struct Piece<'a> { kind: Words<'a> = "type", text: Words<'a>, data: Words<'a> }
}

impl Answer<'_> {
    /// The result as Codex hands it to the model: the structured content, else the list of blocks as JSON, unless there are pictures among them.
    fn text(&self, pictures: &mut Vec<Part>) -> String {
        let structured = text_or_json(self.structured_content);
        if !structured.is_empty() {
            return structured;
        }
        let content = self.content.map_or("", RawValue::get);
        let blocks = serde_json::from_str::<Blocks<Piece>>(content).unwrap_or_default();
        pictures.extend(blocks.objects().filter(|piece| &*piece.kind == "image").map(|piece| Part::Image(image::from_base64(&piece.data))));
        if pictures.is_empty() {
            compact(content).into_owned()
        } else {
            blocks.joined(|piece| Some(&*piece.text).filter(|text| !text.is_empty()))
        }
    }
}

/// Reads the threads of a file. A run that takes up the thread of the last one goes on with its session, and one that takes up an earlier thread with its sums.
pub fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let name = source.name();
    let mut thread = Thread::new(scale, name.clone());
    let mut spent = HashMap::new();
    source.each_line(|source, line| {
        source.values(line, |event: Event, lose| {
            if &*event.kind == "thread.started" && thread.begun && thread.made.transcript.id != event.thread_id.id() {
                let over = std::mem::replace(&mut thread, Thread::new(scale, name.clone()));
                spent.insert(over.made.transcript.id.clone(), over.spent);
                thread.spent = spent.get(event.thread_id.id()).copied().unwrap_or_default();
                over.made.finish().into_iter().for_each(&mut *hand_over);
            }
            thread.event(&event, lose);
        });
    })?;
    thread.made.end(source, hand_over);
    Ok(())
}

struct Thread<'s> {
    made: Recorder<'s>,
    begun: bool,
    /// Items whose call stands in the session, and whose result does not yet.
    called: HashSet<String>,
    /// The thread's usage so far, as its last turn reports it.
    spent: TokenUsage,
    /// The replies since that report.
    replies: Vec<usize>,
    /// A turn has failed since then: what it used is not reported by itself.
    failed: bool,
}

impl<'s> Thread<'s> {
    fn new(scale: &'s dyn Scale, name: String) -> Thread<'s> {
        let mut made = Recorder::new(AGENT, name, scale);
        made.transcript.printed = true;
        Thread { made, begun: false, called: HashSet::new(), spent: TokenUsage::default(), replies: Vec::new(), failed: false }
    }

    fn event(&mut self, event: &Event<'_>, lose: Lose<'_>) {
        match (&*event.kind, &event.item) {
            ("thread.started", _) => {
                self.begun = true;
                self.made.identify(event.thread_id.id());
            }
            // What the person says is not printed.
            ("turn.started", _) => self.made.chain.broken = self.made.next() > 0,
            ("turn.completed", _) => event.usage.iter().for_each(|usage| self.report(usage, lose)),
            ("turn.failed", _) => {
                self.failed = true;
                let told = event.error.as_ref().map_or("", |error| &error.message);
                if told.contains("ran out of room in the model's context window") {
                    self.made.refuse();
                }
            }
            ("item.started", Some(item)) => self.item(item, false, lose),
            ("item.completed", Some(item)) => self.item(item, true, lose),
            // Items that go on, but for a plan's, and what is said to the person alone.
            ("item.updated", Some(item)) if &*item.kind == "todo_list" => self.item(item, false, lose),
            ("item.updated" | "error", _) => {}
            _ => lose("unknown record type"),
        }
    }

    fn item(&mut self, item: &Item<'_>, over: bool, lose: Lose<'_>) {
        let scale = self.made.scale;
        match (&*item.kind, over) {
            ("agent_message", true) => self.words(self.made.text(&item.text)),
            ("reasoning", true) => self.words(self.made.thinking(&item.text, 0)),
            // The provider searches within the request: nothing answers.
            ("web_search", true) => {
                let sought = if item.query.is_empty() { text_or_json(item.action) } else { item.query.to_string() };
                let call = self.made.tools.call(&item.id, SEARCH, scale.weigh(&sought));
                self.reply(call, true);
            }
            // Each state of the plan is a call. The last one is printed again at the end of the turn.
            ("todo_list", false) => {
                let call = self.made.tool_call(&item.id, "update_plan", item.items);
                self.reply(call, true);
                self.answer(item, String::new(), false, Vec::new());
                lose(NOT_PRINTED);
            }
            ("agent_message" | "reasoning" | "web_search", false) | ("todo_list", true) | ("error", _) => {}
            ("command_execution" | "file_change" | "mcp_tool_call" | "collab_tool_call", over) => {
                if self.called.insert(item.id.to_string()) {
                    let call = self.call(item);
                    self.reply(call, true);
                }
                if over {
                    self.called.remove(&*item.id);
                    self.result(item, lose);
                }
            }
            _ => lose("unknown item"),
        }
    }

    fn call(&mut self, item: &Item<'_>) -> Part {
        let scale = self.made.scale;
        match &*item.kind {
            // Tools of servers have this name for the model; those of the program have a server without being of one.
            "mcp_tool_call" if item.server.is_empty() || &*item.server == AGENT => {
                self.made.tool_call(&item.id, &item.tool, item.arguments)
            }
            "mcp_tool_call" => self.made.tool_call(&item.id, &format!("mcp__{}__{}", &*item.server, &*item.tool), item.arguments),
            "collab_tool_call" => self.made.tools.call(&item.id, &item.tool, scale.weigh(&item.prompt)),
            "file_change" => self.made.tool_call(&item.id, "apply_patch", item.changes),
            _ => self.made.tools.call(&item.id, "shell", scale.weigh(&item.command)),
        }
    }

    fn result(&mut self, item: &Item<'_>, lose: Lose<'_>) {
        let failed = matches!(&*item.status, "failed" | "declined");
        let mut pictures = Vec::new();
        let text = match (&*item.kind, &item.result) {
            ("command_execution", _) => item.aggregated_output.to_string(),
            ("collab_tool_call", _) => text_or_json(item.agents_states),
            ("mcp_tool_call", Some(answer)) => answer.text(&mut pictures),
            ("mcp_tool_call", None) if item.error.is_some() => item.error.iter().map(|error| &*error.message).collect(),
            _ => {
                lose(NOT_PRINTED);
                String::new()
            }
        };
        self.answer(item, text, failed, pictures);
    }

    fn answer(&mut self, item: &Item<'_>, text: String, failed: bool, pictures: Vec<Part>) {
        let result = self.made.result(&item.id, &text, failed);
        self.made.list(Role::Tool, std::iter::once(result).chain(pictures).collect());
    }

    /// Words and reasoning go on with a reply that has said nothing yet, whatever the provider has searched for.
    fn words(&mut self, part: Part) {
        let silent = |part: &Part| match part {
            Part::Thinking { .. } => true,
            Part::ToolCall { name, .. } => name == SEARCH,
            _ => false,
        };
        let goes_on = self.made.transcript.messages.last().is_some_and(|last| last.parts.iter().all(silent));
        self.reply(part, goes_on);
    }

    /// Adds to the reply that stands last, where it may go on, or begins one. None goes on into another turn: the person's words are between.
    fn reply(&mut self, part: Part, goes_on: bool) {
        let goes_on = goes_on && !self.made.chain.broken;
        match self.made.transcript.messages.last_mut().filter(|last| goes_on && last.role == Role::Assistant) {
            Some(reply) => reply.parts.push(part),
            None => {
                self.made.transcript.refused = false;
                self.replies.push(self.made.next());
                let call = self.made.call("", "", None);
                self.made.push(Message { call: Some(Box::new(call)), ..Message::new(Role::Assistant, vec![part]) });
            }
        }
    }

    /// A turn reports what the thread has used so far. What came since the last report is shared out among the replies, where nothing stands behind the last one:
    /// what a tool returned goes into another request.
    fn report(&mut self, total: &TokenUsage, lose: Lose<'_>) {
        let replies = std::mem::take(&mut self.replies);
        let failed = std::mem::take(&mut self.failed);
        let usage = total.since(&std::mem::replace(&mut self.spent, *total)).usage();
        let sum = match usage {
            Err(_) => return lose(ABSURD),
            Ok(None) => return,
            Ok(Some(sum)) => sum,
        };
        // A run that takes up a thread does not say so, and reports what the earlier ones used, too.
        let trust = if replies.len() == 1 { Trust::Partial } else { sum.trust };
        let ended = replies.first().filter(|_| !failed && replies.last().is_some_and(|last| last + 1 == self.made.next()));
        let replies = ended.map(|first| *first..self.made.next());
        let shared =
            replies.is_some_and(|replies| share_out(&mut [Among { made: &mut self.made, replies }], "", None, Usage { trust, ..sum }));
        match shared {
            true => self.made.chain.broken = true,
            false => lose(SUM_ALONE),
        }
    }
}
