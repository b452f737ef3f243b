//! What sub-agents said to the model, as far as the log of the session that started them shows it: progress records mirror their messages.

use super::record::{SYNTHETIC, Wire};
use crate::format::ground::{Lose, Words, wire};
use crate::transcript::Call;
use serde_json::value::RawValue;
use std::collections::HashMap;

wire! {
    /// The data of a progress record. Those of tools have no message.
    struct Progress<'a> { kind: Words<'a> = "type", message: Option<&'a RawValue> }

    /// A record of the sub-agent's log.
    struct Mirrored<'a> {
        kind: Words<'a> = "type",
        uuid: Words<'a>,
        request_id: Words<'a> = "requestId",
        is_api_error_message: Option<bool> = "isApiErrorMessage",
        message: Option<Wire<'a>>,
    }
}

/// The mirrored calls of one conversation.
#[derive(Default)]
pub(super) struct Mirror {
    calls: Vec<Call>,
    /// Places of those calls, by their ids.
    places: HashMap<String, usize>,
}

impl Mirror {
    /// Takes in the data of a progress record.
    pub fn progress(&mut self, data: &RawValue, lose: Lose<'_>) {
        let Ok(progress) = serde_json::from_str::<Progress<'_>>(data.get()) else { return };
        let Some(message) = progress.message.filter(|message| message.get().starts_with('{')) else {
            if &*progress.kind == "agent_progress" {
                lose(LEFT_OUT);
            }
            return;
        };
        lose(LEFT_OUT);
        match serde_json::from_str::<Mirrored<'_>>(message.get()) {
            Ok(record) if &*record.kind == "assistant" => self.reply(&record, lose),
            Ok(_) => {}
            Err(_) => lose("mirrored record of an unexpected shape"),
        }
    }

    /// A line of a reply. Lines of one reply agree on its prompt; the largest count of its output is the latest.
    fn reply(&mut self, record: &Mirrored<'_>, lose: Lose<'_>) {
        let Some(wire) = record.message.as_ref().filter(|wire| &*wire.model != SYNTHETIC) else { return };
        let usage = wire.usage.as_ref().filter(|_| record.is_api_error_message != Some(true)).and_then(|usage| usage.reported(lose));
        let Some(usage) = usage else { return };
        let id = [&wire.id, &record.uuid, &record.request_id].into_iter().find_map(Words::some_id).unwrap_or_default();
        let known = self.places.get(id).and_then(|place| self.calls.get_mut(*place)).and_then(|call| call.usage.as_mut());
        match known.filter(|_| !id.is_empty()) {
            Some(known) => {
                let output = known.output.max(usage.output);
                if usage.prompt > known.prompt {
                    *known = usage;
                }
                known.output = output;
            }
            None => {
                self.places.insert(id.to_owned(), self.calls.len());
                self.calls.push(Call {
                    id: id.to_owned(),
                    model: wire.billed_model(),
                    usage: Some(usage),
                    unchained: true,
                    ..Call::default()
                });
            }
        }
    }

    /// The calls, in the order of the log.
    pub fn finish(self) -> Vec<Call> {
        self.calls
    }
}

const LEFT_OUT: &str = "sub-agent traffic mirrored in progress records (left out)";
