//! What lies beside a session: its description, and the log of all requests.

use crate::format::ground::{Absurd, Figures, Source, Words, at, sound, wire};
use crate::format::usage::Reported;
use crate::reading::is_beside;
use crate::transcript::{Call, Transcript, Usage};
use std::path::{Path, PathBuf};

/// The session's id and the model that it uses now.
pub fn summary(source: &mut Source) -> Option<(String, String)> {
    let path = source.path.with_file_name("summary.json");
    let summary = source.record_beside(&path, "summary of the session that cannot be read", &mut String::new())?;
    Some((at(&summary, "/info/id").to_string(), at(&summary, "/current_model_id").to_string()))
}

wire! {
    struct Line<'a> {
        ts: Words<'a>,
        sid: Words<'a>,
        msg: Words<'a>,
        ctx: Option<Figures>,
    }
}

/// The prompt holds what was read from the cache, the completion the reasoning.
fn usage(tokens: &Figures) -> Result<Option<Usage>, Absurd> {
    Reported {
        input: tokens.count("prompt_tokens"),
        cache_read: tokens.count("cached_prompt_tokens"),
        output: tokens.count("completion_tokens"),
        reasoning: tokens.count("reasoning_tokens"),
        ..Reported::default()
    }
    .usage()
}

/// The log of the program to which the session belongs, where the session lies in its place.
fn log_path(path: &Path) -> Option<PathBuf> {
    let sessions = path.ancestors().nth(3).filter(|folder| folder.file_name().is_some_and(|name| name == "sessions"))?;
    Some(sessions.parent()?.join("logs/unified.jsonl")).filter(|path| is_beside(path))
}

/// The requests of a session in order of time; `None` where there is no log of them.
pub fn requests(source: &mut Source, session: &str) -> Option<Vec<Call>> {
    const DONE: &str = "shell.turn.inference_done";
    const UNREADABLE: &str = "log of requests that cannot be read";
    let mut log = source.beside(&log_path(&source.path)?).inspect_err(|_| source.lose(0, UNREADABLE)).ok()?;
    let mut calls = Vec::new();
    let read = log.each_line(|_, line| {
        // Most lines are other sessions', or about other things.
        if !line.text.contains(DONE) || !line.text.contains(session) {
            return;
        }
        source.values(line, |done: Line, lose| {
            let own = &*done.msg == DONE && &*done.sid == session;
            if let Some(usage) = done.ctx.filter(|_| own).and_then(|tokens| sound(usage(&tokens), lose)) {
                let id = format!("{session}@{}", &*done.ts);
                calls.push(Call { id, usage: Some(usage), ..Call::default() });
            }
        });
    });
    if read.is_err() {
        source.lose(0, UNREADABLE);
    }
    Some(calls)
}

/// Gives each reply its request where there are as many of them; else they are calls on the side.
pub fn matched(transcript: &mut Transcript, requests: Vec<Call>, lose: &mut dyn FnMut(&str)) {
    let mut replies: Vec<&mut Call> = transcript.messages.iter_mut().filter_map(|message| message.call.as_deref_mut()).collect();
    if replies.len() == requests.len() {
        for (reply, request) in replies.iter_mut().zip(requests) {
            (reply.id, reply.usage) = (request.id, request.usage);
        }
    } else if !requests.is_empty() {
        let model = replies.last().map(|reply| reply.model.clone()).unwrap_or_default();
        transcript.side_calls = requests.into_iter().map(|request| Call { model: model.clone(), ..request }).collect();
        lose("requests that cannot be told from which reply they are");
    }
}
