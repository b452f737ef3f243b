//! GitHub Copilot CLI: `~/.copilot/session-state/<id>/events.jsonl`, one event a line.
//!
//! The log names what a reply cost in output, but not what its prompt was: only the totals at a clean exit do. They are
//! shared out among the calls since the exit before, where those are as many as the requests that they count. What stands beside the
//! conversation the agent itself counts at exits and compactions. The limit that it names is that of prompts, which is what it goes by.
//!
//! The host is GitHub Copilot unless a session chose another tier of contexts than the default: the log does not name a provider of the user's own.

use crate::format::ground::{ABSURD, Absurd, Count, Lose, ReadError, Source, Words, image, millis, sound, text_or_json, wire};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::{Chain, NO_MESSAGES, Recorder};
use crate::format::sums::{Among, SUM_ALONE, share_out};
use crate::format::usage::Reported;
use crate::format::wire::held;
use crate::transcript::{Call, Compaction, Message, Part, Role, Scale, Transcript, Usage};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Event logs of GitHub Copilot CLI.
pub const READER: Reader =
    Reader { name: "copilot-cli", about: "GitHub Copilot CLI (~/.copilot/session-state/*/events.jsonl)", claims, read };

fn claims(source: &Source) -> Claim {
    let event = "type=session.*,system.message*,user.message*,assistant.*,tool.execution_* data parentId timestamp";
    Claim::when(source.has_line(20, &[event]))
}

wire! {
    struct Event<'a> {
        kind: Words<'a> = "type",
        id: Words<'a>,
        timestamp: Words<'a>,
        /// The sub-agent that the event is of.
        agent_id: Words<'a> = "agentId",
        data: Option<&'a RawValue>,
    }

    /// What events hold, as far as it is read: every kind has its own few of these.
    struct Data<'a> {
        session_id: Words<'a> = "sessionId",
        copilot_version: Words<'a> = "copilotVersion",
        content: Option<&'a RawValue>,
        transformed_content: Words<'a> = "transformedContent",
        attachments: Option<Vec<&'a RawValue>>,
        source: Option<&'a RawValue>,
        parent_tool_call_id: Words<'a> = "parentToolCallId",
        message_id: Words<'a> = "messageId",
        api_call_id: Words<'a> = "apiCallId",
        model: Words<'a>,
        previous_model: Words<'a> = "previousModel",
        new_model: Words<'a> = "newModel",
        current_model: Words<'a> = "currentModel",
        /// Which limits of the model hold: `default`, or those of long contexts at a price of their own.
        context_tier: Words<'a> = "contextTier",
        reasoning_text: Words<'a> = "reasoningText",
        reasoning_opaque: Words<'a> = "reasoningOpaque",
        encrypted_content: Words<'a> = "encryptedContent",
        tool_requests: Option<Vec<ToolRequest<'a>>> = "toolRequests",
        tool_call_id: Words<'a> = "toolCallId",
        tool_name: Words<'a> = "toolName",
        result: Option<ToolAnswer<'a>>,
        success: Option<bool>,
        error: Option<&'a RawValue>,
        trigger: Words<'a>,
        pre_compaction_tokens: Count = "preCompactionTokens",
        post_compaction_tokens: Count = "postCompactionTokens",
        summary_content: Words<'a> = "summaryContent",
        compaction_tokens_used: Option<Tokens<'a>> = "compactionTokensUsed",
        request_id: Words<'a> = "requestId",
        token_limit: Count = "tokenLimit",
        output_tokens: Count = "outputTokens",
        current_tokens: Count = "currentTokens",
        system_tokens: Count = "systemTokens",
        conversation_tokens: Count = "conversationTokens",
        tool_definitions_tokens: Count = "toolDefinitionsTokens",
        pre_truncation_tokens_in_messages: Count = "preTruncationTokensInMessages",
        post_truncation_tokens_in_messages: Count = "postTruncationTokensInMessages",
        messages_removed_during_truncation: Count = "messagesRemovedDuringTruncation",
        up_to_event_id: Words<'a> = "upToEventId",
        model_metrics: Option<BTreeMap<String, Metrics<'a>>> = "modelMetrics",
    }

    struct ToolRequest<'a> {
        tool_call_id: Words<'a> = "toolCallId",
        name: Words<'a>,
        arguments: Option<&'a RawValue>,
    }

    /// `content` goes to the model; `detailedContent` is for the screen.
    struct ToolAnswer<'a> { content: Words<'a>, pictures: Vec<Binary<'a>> = "binaryResultsForLlm" }

    /// What a tool gives the model beside its text.
    struct Binary<'a> { data: Words<'a>, mime_type: Words<'a> = "mimeType" }

    struct Metrics<'a> { requests: Requests, usage: Tokens<'a> }

    struct Requests { count: Count }

    /// The input includes what was read from the cache and written to it, whoever the provider is. Older logs name things shorter.
    struct Tokens<'a> {
        model: Words<'a>,
        input_tokens: Count = "inputTokens" | "input",
        output_tokens: Count = "outputTokens" | "output",
        cache_read_tokens: Count = "cacheReadTokens" | "cachedInput",
        cache_write_tokens: Count = "cacheWriteTokens",
        reasoning_tokens: Count = "reasoningTokens",
    }
}

impl Data<'_> {
    /// The system prompt and the definitions of the tools, as the agent counts them.
    fn overhead(&self) -> Option<u64> {
        let [system, tools, current, conversation] =
            [self.system_tokens, self.tool_definitions_tokens, self.current_tokens, self.conversation_tokens]
                .map(|count| count.known().ok().flatten());
        match (system, tools) {
            (None, None) => current?.checked_sub(conversation?),
            (system, tools) => Some(system.unwrap_or(0) + tools.unwrap_or(0)),
        }
        .filter(|tokens| *tokens > 0)
    }
}

impl Tokens<'_> {
    fn usage(&self) -> Result<Option<Usage>, Absurd> {
        Reported {
            input: self.input_tokens,
            cache_read: self.cache_read_tokens,
            cache_write: self.cache_write_tokens,
            output: self.output_tokens,
            reasoning: self.reasoning_tokens,
            ..Reported::default()
        }
        .usage()
    }
}

const MARKS: &[Mark] = &[Mark::Start("Output too large to read at once (# KB)"), Mark::Line("[Output truncated")];

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    let mut log = Log {
        scale,
        id: source.name(),
        version: String::new(),
        sessions: Vec::new(),
        exits: Vec::new(),
        last_model: String::new(),
        other_tier: false,
    };
    source.each_line(|source, line| source.values(line, |event: Event, lose| log.event(&event, lose)))?;
    log.finish(source, hand_over);
    Ok(())
}

/// The file: the session itself and the sub-agents that write into it.
struct Log<'s> {
    scale: &'s dyn Scale,
    id: String,
    version: String,
    /// By the id of the tool call that started the sub-agent; empty for the session itself.
    sessions: Vec<(String, Session<'s>)>,
    exits: Vec<Exit>,
    /// The model at the last exit; empty where none says it.
    last_model: String,
    /// Did the session choose other limits than the host's default ones?
    other_tier: bool,
}

/// What a clean exit says of the calls since the one before.
struct Exit {
    /// How many messages each session had.
    ends: Vec<usize>,
    /// Requests and their usage together, by model.
    totals: BTreeMap<String, (u64, Usage)>,
}

struct Session<'s> {
    made: Recorder<'s>,
    /// How many messages there were when an event came, by its id.
    places: HashMap<String, usize>,
    /// The models that the log names, by the message from which on each is used.
    models: BTreeMap<usize, String>,
    rewind: Option<usize>,
    compaction_began: Option<usize>,
}

impl Log<'_> {
    fn event(&mut self, event: &Event<'_>, lose: Lose<'_>) {
        // What hooks and the screen are told repeats the rest.
        let (family, _) = event.kind.split_once('.').unwrap_or((&event.kind, ""));
        if matches!(family, "hook" | "subagent" | "permission" | "skill" | "command" | "elicitation" | "external_tool" | "user_input") {
            return;
        }
        let data = match event.data.map(|data| serde_json::from_str::<Data>(data.get())) {
            Some(Ok(data)) => data,
            Some(Err(_)) => return lose("record of an unexpected shape"),
            None => Data::default(),
        };
        let agent = data.parent_tool_call_id.some_id().or(event.agent_id.some_id()).unwrap_or_default();
        let index = self.sessions.iter().position(|(known, _)| known == agent).unwrap_or_else(|| {
            let made = Recorder::new(READER.name, String::new(), self.scale);
            let session = Session { made, places: HashMap::new(), models: BTreeMap::new(), rewind: None, compaction_began: None };
            self.sessions.push((agent.to_owned(), session));
            self.sessions.len() - 1
        });
        if let (Some(overhead), Some((_, session))) = (data.overhead(), self.sessions.get_mut(index)) {
            session.made.transcript.overhead = Some(overhead);
        }
        self.other_tier |= !matches!(&*data.context_tier, "" | "default");
        match &*event.kind {
            "session.start" | "session.resume" => {
                if let Some(id) = data.session_id.some_id() {
                    self.id = id.to_owned();
                }
                if !data.copilot_version.is_empty() {
                    self.version = data.copilot_version.to_string();
                }
            }
            "session.shutdown" => self.shutdown(&data, lose),
            _ => {
                if let Some((_, session)) = self.sessions.get_mut(index) {
                    session.event(event, &data, lose);
                }
            }
        }
    }

    fn shutdown(&mut self, data: &Data<'_>, lose: Lose<'_>) {
        if !data.current_model.is_empty() {
            self.last_model = data.current_model.to_string();
        }
        let mut totals = BTreeMap::new();
        for (model, metrics) in data.model_metrics.iter().flatten() {
            match (metrics.requests.count.or_zero(), metrics.usage.usage()) {
                (Ok(requests), Ok(usage)) => totals.extend(usage.map(|usage| (model.clone(), (requests, usage)))),
                _ => lose(ABSURD),
            }
        }
        self.exits.push(Exit { ends: self.sessions.iter().map(|(_, session)| session.made.next()).collect(), totals });
    }

    /// Shares out what the exits say. Sub-agents' requests are among them.
    fn share_out(&mut self, source: &mut Source) {
        let mut begins: Vec<usize> = Vec::new();
        for Exit { ends, totals } in std::mem::take(&mut self.exits) {
            let begin = |place: usize| begins.get(place).copied().unwrap_or(0);
            let sessions = self.sessions.iter_mut().zip(&ends).enumerate();
            let mut among: Vec<Among<'_, '_>> =
                sessions.map(|(place, ((_, session), end))| Among { replies: begin(place)..*end, made: &mut session.made }).collect();
            for (model, (requests, sum)) in totals {
                if !share_out(&mut among, &model, Some(requests), sum) {
                    source.lose(0, SUM_ALONE);
                }
            }
            begins = ends;
        }
    }

    fn finish(mut self, source: &mut Source, hand_over: &mut dyn FnMut(Transcript)) {
        if self.sessions.iter().all(|(_, session)| session.made.next() == 0) {
            return source.lose(0, NO_MESSAGES);
        }
        let models: BTreeSet<&String> = self.exits.iter().flat_map(|exit| exit.totals.keys()).collect();
        if let (true, 1, Some(only)) = (self.last_model.is_empty(), models.len(), models.first()) {
            self.last_model = (*only).clone();
        }
        self.sessions.iter_mut().for_each(|(_, session)| session.name_models(&self.last_model));
        self.share_out(source);
        for (agent, session) in self.sessions.into_iter().filter(|(_, session)| session.made.next() > 0) {
            let id = if agent.is_empty() { self.id.clone() } else { format!("{}/{agent}", self.id) };
            let parent = (!agent.is_empty()).then(|| self.id.clone());
            let host = (!self.other_tier).then(|| "github-copilot".to_owned());
            hand_over(Transcript { id, parent, version: self.version.clone(), host, ..session.made.into_transcript() });
        }
    }
}

impl Session<'_> {
    fn event(&mut self, event: &Event<'_>, data: &Data<'_>, lose: Lose<'_>) {
        let time = millis(&event.timestamp);
        self.places.insert(event.id.id().to_owned(), self.made.next());
        // Of usage and, in later versions, of compactions.
        if let Ok(Some(limit)) = data.token_limit.known() {
            self.made.windows.name(self.models.values().next_back().map_or("", String::as_str), limit);
        }
        match &*event.kind {
            "system.message" => self.system(self.made.text(&text_or_json(data.content)), time),
            "user.message" => {
                let text =
                    if data.transformed_content.is_empty() { text_or_json(data.content) } else { data.transformed_content.to_string() };
                data.attachments.iter().flatten().for_each(|_| lose("attachment whose size in tokens is unknown"));
                // Skills and the program itself speak in the person's name, and say so.
                let synthetic = data.source.is_some_and(|source| !matches!(text_or_json(Some(source)).as_str(), "user" | "null"));
                let message = Message::new(Role::User, vec![self.made.text(&text)]);
                self.list(Message { synthetic, ..message }, event, time);
            }
            // What the program tells the model in between: a command that ran in the background has ended, and the like.
            "system.notification" => {
                let message = Message::new(Role::User, vec![self.made.text(&text_or_json(data.content))]);
                self.list(Message { synthetic: true, ..message }, event, time);
            }
            "assistant.message" => self.assistant(event, data, time, lose),
            "tool.execution_start" => self.made.tools.note(&data.tool_call_id, &data.tool_name),
            "tool.execution_complete" => {
                // Versions up to 1.0.20 at least name the model of a reply in the results of its calls alone.
                let is_reply = |at: &usize| self.made.transcript.messages.get(*at).is_some_and(|message| message.call.is_some());
                let reply = (0..self.made.next()).rev().find(is_reply);
                self.model_from(reply, &data.model);
                let failure = data.error.and_then(|error| serde_json::from_str::<held::Message>(error.get()).ok()).unwrap_or_default();
                let text = data.result.as_ref().map_or(&failure.message, |result| &result.content);
                let mut parts = vec![self.made.result(&data.tool_call_id, text, data.success == Some(false))];
                for binary in data.result.iter().flat_map(|result| &result.pictures) {
                    match binary.mime_type.starts_with("image/") {
                        true => parts.push(Part::Image(image::from_base64(&binary.data))),
                        false => lose("attachment whose size in tokens is unknown"),
                    }
                }
                self.list(Message::new(Role::Tool, parts), event, time);
            }
            "abort" => self.made.chain.broken = true,
            "session.model_change" => {
                self.made.chain.broken = true;
                if self.models.is_empty() {
                    self.model_from(Some(0), &data.previous_model);
                }
                self.model_from(Some(self.made.next()), &data.new_model);
            }
            "assistant.usage" => self.usage(data, event.data, lose),
            "session.compaction_start" => self.compaction_began = Some(self.made.next()),
            "session.compaction_complete" => self.compaction(data, time, lose),
            "session.truncation" => self.truncation(data, time),
            // The host begins the conversation anew.
            "session.context_cleared" => {
                let kept_from = Some(self.made.next());
                self.made.cut(Compaction { automatic: Some(false), kept_from, time, ..Compaction::default() });
            }
            "session.snapshot_rewind" => {
                let from = self.places.get(data.up_to_event_id.id()).copied();
                match from {
                    Some(from) if from < self.made.next() => {
                        self.rewind = Some(self.rewind.map_or(from, |earlier| earlier.min(from)));
                        self.made.chain.broken = true;
                    }
                    Some(_) => {}
                    None => lose("step back to an event that is not in the file"),
                }
            }
            kind if kind.starts_with("session.") || kind.starts_with("assistant.") => {}
            kind if kind.starts_with("tool.") || matches!(kind, "pending_messages.modified" | "tool_search.activated") => {}
            _ => lose("unknown record type"),
        }
    }

    /// This model is used from this message on.
    fn model_from(&mut self, message: Option<usize>, model: &str) {
        if let Some(at) = message.filter(|_| !model.is_empty()) {
            self.models.insert(at, model.to_owned());
        }
    }

    /// Names the models of the calls that do not tell theirs: the one that was named last, else the first one, else `other`.
    fn name_models(&mut self, other: &str) {
        let mut chain = Chain::default();
        for (at, message) in self.made.transcript.messages.iter_mut().enumerate() {
            let Some(call) = &mut message.call else { continue };
            if call.model.is_empty() {
                let known = self.models.range(..=at).next_back().or(self.models.iter().next());
                call.model = known.map_or(other, |(_, model)| model).to_owned();
            }
            call.unchained |= chain.link(&call.model);
        }
    }

    fn list(&mut self, message: Message, event: &Event<'_>, time: Option<i64>) {
        let id = event.id.id().to_owned();
        self.made.push(Message { id, time, rewind: self.rewind.take(), ..message });
    }

    /// The whole system prompt is written at each turn; it is one message, and the last one counts.
    fn system(&mut self, part: Part, time: Option<i64>) {
        let known = self.made.transcript.messages.iter().position(|message| message.role == Role::System);
        match known.and_then(|at| self.made.transcript.messages.get_mut(at)) {
            Some(message) => {
                let changed = message.parts.first() != Some(&part);
                self.made.chain.broken |= changed;
                message.parts = vec![part];
            }
            None => self.made.push(Message { time, ..Message::new(Role::System, vec![part]) }),
        }
    }

    fn assistant(&mut self, event: &Event<'_>, data: &Data<'_>, time: Option<i64>, lose: Lose<'_>) {
        let mut parts = Vec::new();
        let sealed = data.reasoning_opaque.len() + data.encrypted_content.len();
        if !data.reasoning_text.is_empty() || sealed > 0 {
            parts.push(self.made.thinking(&data.reasoning_text, sealed));
        }
        let text = text_or_json(data.content);
        if !text.is_empty() {
            parts.push(self.made.text(&text));
        }
        for request in data.tool_requests.iter().flatten() {
            parts.push(self.made.tool_call(&request.tool_call_id, &request.name, request.arguments));
        }
        let output = sound(data.output_tokens.known(), lose);
        // A reply with long reasoning is written in pieces, an event each; the last one has its output.
        if let Some((own, call)) = data.api_call_id.some_id().and_then(|id| self.last_call(id)) {
            own.extend(parts);
            call.output = output.or(call.output);
            return;
        }
        let id = data.api_call_id.some_id().or(data.message_id.some_id()).unwrap_or_default();
        self.model_from(Some(self.made.next()), &data.model);
        // Which model it was may be known only later: the calls are linked by their models in the end.
        let call = Call { model: data.model.to_string(), output, ..self.made.call(id, "", None) };
        self.list(Message { call: Some(Box::new(call)), ..Message::new(Role::Assistant, parts) }, event, time);
    }

    /// The parts and the call of the last message, where that is of this request.
    fn last_call(&mut self, id: &str) -> Option<(&mut Vec<Part>, &mut Call)> {
        let message = self.made.transcript.messages.last_mut()?;
        Some((&mut message.parts, message.call.as_deref_mut().filter(|call| call.id == id)?))
    }

    /// Programs that drive the agent record what each request cost; the agent itself does not.
    fn usage(&mut self, data: &Data<'_>, raw: Option<&RawValue>, lose: Lose<'_>) {
        let tokens = raw.and_then(|raw| serde_json::from_str::<Tokens>(raw.get()).ok()).unwrap_or_default();
        let Ok(usage) = tokens.usage() else { return lose(ABSURD) };
        let Some(id) = data.api_call_id.some_id() else {
            let open = self.made.transcript.messages.iter_mut().rev().find_map(|message| message.call.as_mut());
            return match open.filter(|call| call.usage.is_none()) {
                Some(call) => call.usage = usage,
                None => self.made.transcript.side_calls.push(Call { model: tokens.model.to_string(), usage, ..Call::default() }),
            };
        };
        match self.made.transcript.messages.iter_mut().rev().filter_map(|message| message.call.as_mut()).find(|call| call.id == id) {
            Some(call) => call.usage = usage,
            None => {
                self.made.transcript.side_calls.push(Call { id: id.to_owned(), model: tokens.model.to_string(), usage, ..Call::default() })
            }
        }
    }

    fn compaction(&mut self, data: &Data<'_>, time: Option<i64>, lose: Lose<'_>) {
        let began = self.compaction_began.take();
        let call = data.compaction_tokens_used.as_ref().and_then(|tokens| {
            Some(Call {
                id: data.request_id.id().to_owned(),
                model: tokens.model.some_id().or(self.models.values().next_back().map(String::as_str)).unwrap_or_default().to_owned(),
                usage: Some(sound(tokens.usage(), lose)?),
                unchained: true,
                ..Call::default()
            })
        });
        if data.success == Some(false) {
            return self.made.transcript.side_calls.extend(call);
        }
        let before = self.made.next();
        self.made.cut(Compaction {
            automatic: match &*data.trigger {
                "" => None,
                trigger => Some(trigger != "manual"),
            },
            tokens_before: data.pre_compaction_tokens.known().ok().flatten(),
            tokens_after: data.post_compaction_tokens.known().ok().flatten(),
            summary: self.made.scale.weigh_summary(&data.summary_content),
            // It runs beside the conversation: what was said meanwhile stays.
            kept_from: Some(began.unwrap_or(before)),
            call,
            time,
            ..Compaction::default()
        });
    }

    /// The oldest messages left out, without a summary.
    fn truncation(&mut self, data: &Data<'_>, time: Option<i64>) {
        if data.messages_removed_during_truncation.or_zero().unwrap_or(0) == 0 {
            return;
        }
        self.made.cut(Compaction {
            automatic: Some(true),
            tokens_before: data.pre_truncation_tokens_in_messages.known().ok().flatten(),
            tokens_after: data.post_truncation_tokens_in_messages.known().ok().flatten(),
            time,
            ..Compaction::default()
        });
    }
}
