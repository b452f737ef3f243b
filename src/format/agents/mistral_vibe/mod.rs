//! Mistral Vibe: a folder a session, of version 3 (`~/.vibe/logs/session/unified/<id>/`) and of version 2 (`~/.vibe/logs/session/session_*/`, with
//! `messages.jsonl` and `meta.json`), and the one document of versions before 2.0 (`session_*.json`). Read from the published source.
//!
//! Messages are OpenAI's. Usage is kept of the last request, and summed up over the session and those that it goes on with. What was cached is not counted.

mod unified;

use crate::format::ground::{Count, Lose, ReadError, Source, Words, fault, millis, sound, wire};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::{Recorder, definitions};
use crate::format::usage::Reported;
use crate::format::wire::chat::{Chat, ChatMessage, text_of};
use crate::transcript::{Call, Compaction, Image, Message, Part, Role, Scale, Transcript, project};
use serde_json::value::RawValue;
use unified::{AGENT, SUMMED};

/// Sessions with usage for the last request alone.
pub const READER: Reader = Reader {
    name: AGENT,
    about: "Mistral Vibe sessions (~/.vibe/logs/session: unified/*/CURRENT, */messages.jsonl with meta.json)",
    claims,
    read,
};

/// The file of the messages, and the one beside it that describes the session.
const MESSAGES: &str = "messages.jsonl";
const ABOUT: &str = "meta.json";

/// A result lists the fields of what a tool returned.
const MARKS: &[Mark] = &[Mark::Line("was_truncated: True")];

/// How a summary is introduced, and what stands around one that comes with earlier prompts.
const INTRODUCED: &str = "Another language model started to solve this problem and produced a summary";
const ENCLOSED: &str = "<compaction_summary>";

fn claims(source: &Source) -> Claim {
    if unified::is_main(source) {
        return Claim::Yes;
    }
    if unified::is_part(source) {
        return Claim::Companion;
    }
    let is_about = |source: &Source| source.outline().shows("session_id start_time environment");
    let outline = source.outline();
    match source.name().as_str() {
        MESSAGES => {
            let beside = source.beside(&source.path.with_file_name(ABOUT));
            Claim::when(outline.has("role") && beside.is_ok_and(|beside| is_about(&beside)))
        }
        ABOUT if is_about(source) => Claim::Companion,
        _ => Claim::when(outline.shows("metadata.session_id metadata.start_time metadata.environment")),
    }
}

wire! {
    struct About<'a> {
        session_id: Words<'a>,
        start_time: Words<'a>,
        end_time: Words<'a>,
        environment: Option<Environment<'a>>,
        stats: Option<Stats>,
        system_prompt: Option<ChatMessage<'a>>,
        tools_available: Option<&'a RawValue>,
        config: Option<Config<'a>> = "config" | "agent_config",
    }

    struct Environment<'a> { working_directory: Words<'a> }

    #[derive(Clone, Copy)]
    struct Stats { session_prompt_tokens: Count, last_turn_prompt_tokens: Count, last_turn_completion_tokens: Count }

    /// The model by the name that the settings have for it.
    struct Config<'a> { active_model: Words<'a>, models: Vec<Model<'a>> }

    struct Model<'a> { name: Words<'a>, alias: Words<'a> }

    struct Aside<'a> { injected: Option<bool>, message_id: Words<'a>, images: Vec<&'a RawValue> }

    struct Older<'a> { metadata: About<'a>, messages: Vec<&'a RawValue> }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    if unified::is_main(source) {
        return unified::read(source, scale, hand_over);
    }
    let mut session = Session { made: Recorder::new(AGENT, String::new(), scale), chat: Chat::default() };
    if source.outline().has("metadata") {
        let text = source.document()?;
        let older: Older = serde_json::from_str(&text).map_err(|error| ReadError::Damaged(fault(&error, false).to_owned()))?;
        session.begin(&older.metadata);
        for (number, message) in (1..).zip(&older.messages) {
            session.message(message, &mut |reason| source.lose(number, reason));
        }
        session.end(&older.metadata, &mut |reason| source.lose(0, reason));
    } else {
        let (reason, mut held) = ("description beside the messages that cannot be read", String::new());
        let about: About = source.record_beside(&source.path.with_file_name(ABOUT), reason, &mut held).unwrap_or_default();
        session.begin(&about);
        session.made.transcript.parent = starter(source);
        source.each_line(|source, line| source.values(line, |value: &RawValue, lose| session.message(value, lose)))?;
        session.end(&about, &mut |reason| source.lose(0, reason));
    }
    session.made.end_spoken(source, hand_over);
    Ok(())
}

/// The session whose folder this one lies in, as those of sub-agents do. The parent that a session names itself is the one that it goes on with.
fn starter(source: &mut Source) -> Option<String> {
    let agents = source.path.parent()?.parent().filter(|folder| folder.ends_with("agents"))?;
    let (path, mut held) = (agents.with_file_name(ABOUT), String::new());
    let about: About = source.record_beside(&path, "description of the session above that cannot be read", &mut held)?;
    about.session_id.some_id().map(str::to_owned)
}

struct Session<'s> {
    made: Recorder<'s>,
    chat: Chat,
}

impl Session<'_> {
    fn begin(&mut self, about: &About<'_>) {
        self.made.identify(about.session_id.id());
        self.made.transcript.project = about.environment.as_ref().and_then(|environment| project(&environment.working_directory));
        let said = about.system_prompt.as_ref().map(|prompt| text_of(&prompt.content)).filter(|said| !said.is_empty());
        let said = said.map(|said| self.made.text(&said));
        let parts: Vec<Part> = said.into_iter().chain(definitions(self.made.scale, about.tools_available)).collect();
        if !parts.is_empty() {
            self.made.list(Role::System, parts);
        }
    }

    fn message(&mut self, value: &RawValue, lose: Lose<'_>) {
        let (Ok(written), Ok(aside)) = (serde_json::from_str::<ChatMessage>(value.get()), serde_json::from_str::<Aside>(value.get()))
        else {
            return lose("record of an unexpected shape");
        };
        let injected = aside.injected.unwrap_or_default();
        let text = if &*written.role == "user" { text_of(&written.content) } else { String::new() };
        if text.starts_with(INTRODUCED) || injected && text.contains(ENCLOSED) {
            // What it stands for is in the session before this one.
            let (summary, next) = (self.made.scale.weigh_summary(&text), self.made.next());
            return self.made.cut(Compaction { summary, kept_from: Some(next), ..Compaction::default() });
        }
        let Some(mut message) = self.chat.message(&written, self.made.scale, lose) else { return lose("message of an unknown role") };
        // Older versions list the instructions as a message.
        if message.role == Role::System && self.made.next() > 0 {
            return;
        }
        message.parts.extend(aside.images.iter().map(|_| Part::Image(Image::default())));
        aside.message_id.id().clone_into(&mut message.id);
        let call = (message.role == Role::Assistant).then(|| Box::new(self.made.call("", "", None)));
        self.made.push(Message { call, synthetic: injected, ..message });
    }

    /// Gives the last request its usage, and all of them the model.
    fn end(&mut self, about: &About<'_>, lose: Lose<'_>) {
        let stats = about.stats.unwrap_or_default();
        let reported = Reported { input: stats.last_turn_prompt_tokens, output: stats.last_turn_completion_tokens, ..Reported::default() };
        let usage = sound(reported.usage(), lose);
        let config = about.config.as_ref();
        let alias = config.map(|config| &*config.active_model).unwrap_or_default();
        let named = config.and_then(|config| config.models.iter().find(|model| &*model.alias == alias));
        let model = named.map_or(alias, |model| &model.name);
        let transcript = &mut self.made.transcript;
        let mut calls: Vec<_> = transcript.messages.iter_mut().filter_map(|message| message.call.as_mut()).collect();
        calls.iter_mut().for_each(|call| model.clone_into(&mut call.model));
        let is_replied = !calls.is_empty();
        match (calls.last_mut(), transcript.compactions.last_mut()) {
            (Some(call), _) => call.usage = usage,
            // The last request is the one that made the summary.
            (None, Some(compaction)) => {
                let call = |usage| Call { model: model.to_owned(), usage: Some(usage), unchained: true, ..Call::default() };
                compaction.call = usage.map(call);
            }
            (None, None) => {}
        }
        if is_replied && stats.session_prompt_tokens.or_zero().is_ok_and(|sum| sum > usage.map_or(0, |usage| usage.prompt)) {
            lose(SUMMED);
        }
        let messages = &mut transcript.messages;
        if let Some(first) = messages.get_mut(0) {
            first.time = millis(&about.start_time);
        }
        if let Some(last) = messages.last_mut() {
            last.time = millis(&about.end_time).or(last.time);
        }
    }
}
