//! Hermes Agent: the database of all sessions (`~/.hermes/state.db`), snapshots of sessions (`sessions/session_<id>.json`), the gateway's messages a line each
//! (`sessions/<id>.jsonl`), and what `hermes sessions export` prints, a session a line.
//!
//! Messages are OpenAI's. Usage is kept per session, summed up: it is a call's where the session has no other. A compaction goes on in a new session, or in the
//! same one behind copies of what stayed.

#[cfg(feature = "sqlite")]
mod rows;
mod session;

#[cfg(not(feature = "sqlite"))]
use crate::format::ground::sqlite as rows;
use crate::format::ground::sqlite::{self, has_magic};
use crate::format::ground::{Count, Lose, ReadError, Source, Words, moment, wire};
use crate::format::marks::{Mark, Marked};
use crate::format::reader::{Claim, Reader};
use crate::format::recorder::{Recorder, end};
use crate::format::usage::{Cached, Reported};
use crate::transcript::{Scale, Transcript, project};
use serde_json::value::RawValue;
use session::{Row, Session};

/// Sessions of Hermes Agent.
pub const READER: Reader =
    Reader { name: "hermes", about: "Hermes Agent sessions (~/.hermes/state.db, sessions/*.json, *.jsonl, exports)", claims, read };

const TABLES: [&str; 4] = ["sessions", "messages", "schema_version", "messages_fts"];

const SNAPSHOT: &str = "session_id model platform session_start last_updated";

const MARKS: &[Mark] = &[Mark::Inside("... [OUTPUT TRUNCATED - # chars omitted out of # total] ...")];

fn claims(source: &Source) -> Claim {
    if let Some(claim) = Claim::of_database(source, &TABLES) {
        return claim;
    }
    let outline = source.outline();
    let name = source.name();
    if outline.shows(SNAPSHOT) {
        let held = is_in_database(source, outline.text("session_id"));
        return if held { Claim::Companion } else { Claim::Yes };
    }
    // A channel that the gateway posts to begins with what it posted, and a session that it resumes with a message.
    let begins = outline.shows("role=session_meta platform");
    if let Some(id) = name.strip_suffix(".jsonl").filter(|_| begins || outline.shows("role content|tool_calls")) {
        let snapshot = source.beside(&source.path.with_file_name(format!("session_{id}.json")));
        if snapshot.is_ok_and(|snapshot| snapshot.outline().shows(SNAPSHOT)) || is_in_database(source, id) {
            return Claim::Companion;
        }
    }
    if begins {
        return Claim::Yes;
    }
    Claim::when(outline.shows("source started_at parent_session_id api_call_count|input_tokens message_count"))
}

/// Does the database of the agent, a folder above, hold this session?
fn is_in_database(source: &Source, id: &str) -> bool {
    let database = source.path.parent().and_then(|folder| folder.parent()).map(|home| home.join("state.db"));
    database
        .and_then(|path| source.beside(&path).ok())
        .is_some_and(|mut database| sqlite::finds(&mut database, "SELECT 1 FROM sessions WHERE id = ?1", id))
}

wire! {
    /// What stands of a session before its messages, or a message by itself.
    struct Line<'a> {
        role: Words<'a>,
        id: Words<'a> = "session_id" | "id",
        parent: Words<'a> = "parent_session_id",
        model: Words<'a>,
        host: Words<'a> = "billing_provider",
        system_prompt: Words<'a>,
        tools: Option<&'a RawValue>,
        cwd: Words<'a>,
        began: Option<&'a RawValue> = "session_start" | "started_at",
        changed: Option<&'a RawValue> = "last_updated",
        input_tokens: Count,
        output_tokens: Count,
        cache_read_tokens: Count,
        cache_write_tokens: Count,
        reasoning_tokens: Count,
        api_call_count: Count,
        messages: Option<Vec<&'a RawValue>>,
    }

    /// What stands beside a message.
    struct Aside<'a> { timestamp: Option<&'a RawValue>, display_kind: Words<'a> }
}

fn read(source: &mut Source, scale: &dyn Scale, hand_over: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let scale = &Marked::new(MARKS, scale);
    if has_magic(source.head()) {
        return rows::read(source, scale, hand_over);
    }
    let name = source.name();
    let id = name.strip_suffix(".jsonl").unwrap_or_default();
    let mut lines = Session::new(Recorder::new(READER.name, id.to_owned(), scale));
    let mut whole = 0;
    source.each_text(&[], |source, text, number, at_end| {
        let mut made = Vec::new();
        source.values_of(text, number, at_end, |value: &RawValue, lose| {
            let Ok(line) = serde_json::from_str::<Line>(value.get()) else { return lose("record of an unexpected shape") };
            let Some(messages) = &line.messages else { return message(&mut lines, value, &line, lose) };
            let mut session = Session::new(Recorder::new(READER.name, line.id.to_string(), scale));
            session.made.transcript.parent = line.parent.some_id().map(str::to_owned);
            session.made.transcript.project = project(&line.cwd);
            session.begin(&line.model, &line.host, &line.system_prompt, line.tools);
            messages.iter().for_each(|message| self::message(&mut session, message, &Line::default(), lose));
            session.spend(&line.reported(), line.api_call_count);
            session.lasted(moment(line.began), moment(line.changed));
            made.push(session.finish(lose));
        });
        whole += made.len();
        made.into_iter().for_each(|session| end(session, number, source, hand_over));
    })?;
    let lines = lines.finish(&mut |reason| source.lose(0, reason));
    if whole == 0 || lines.is_some() {
        end(lines, 0, source, hand_over);
    }
    Ok(())
}

fn message(session: &mut Session<'_>, value: &RawValue, line: &Line<'_>, lose: Lose<'_>) {
    if &*line.role == "session_meta" {
        return session.begin(&line.model, "", "", line.tools);
    }
    let (Ok(message), Ok(aside)) = (serde_json::from_str(value.get()), serde_json::from_str::<Aside>(value.get())) else {
        return lose("record of an unexpected shape");
    };
    let row = Row { message, time: moment(aside.timestamp), hidden: &*aside.display_kind == "hidden", ..Row::default() };
    session.row(&row, lose);
}

impl Line<'_> {
    fn reported(&self) -> Reported {
        Reported {
            input: self.input_tokens,
            cache_read: self.cache_read_tokens,
            cache_write: self.cache_write_tokens,
            cached: Cached::Beside,
            output: self.output_tokens,
            reasoning: self.reasoning_tokens,
            ..Reported::default()
        }
    }
}
