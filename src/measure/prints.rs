//! Hashes of a conversation, by which a session is known in another file where ids do not tell.

use super::pieces::Pieces;
use crate::trace::{Key, Trace};
use rustc_hash::FxHashMap;
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// For each message the hash of the conversation up to it. None where all messages and calls have ids, which tell copies better. `tool_calls`: the parts that
/// are calls of tools, by the hashes of their ids.
pub fn of(trace: &Trace, held: &Pieces, tool_calls: &FxHashMap<u64, u32>) -> Vec<u64> {
    if trace.messages.iter().all(|row| row.key.is_some()) && trace.calls.iter().all(|call| call.key.is_some()) {
        return Vec::new();
    }
    let id = |key: Option<Key>| key.map_or([0; 2], |key| [(key.get() >> 64) as u64, key.get() as u64]);
    let ids: FxHashMap<u32, u64> = tool_calls.iter().map(|(id, part)| (*part, *id)).collect();
    let mut calls = trace.calls.iter().peekable();
    let mut hash = Xxh3::new();
    hash.update(trace.agent.as_bytes());
    let of_message = |(index, row): (u32, &crate::trace::MessageRow)| {
        let mut add = |number: u64| hash.update(&number.to_le_bytes());
        add(row.role as u64);
        id(row.key).into_iter().for_each(&mut add);
        add(row.time.get().map_or(0, i64::cast_unsigned));
        add(row.rewind.get().map_or(0, |from| u64::from(from) + 1));
        for (place, part) in (row.first_part..).zip(trace.parts_of(row)) {
            add(part.kind as u64);
            // Two runs may say the same, and call the same tools: who replied gave the calls their ids.
            ids.get(&place).into_iter().for_each(|id| add(*id));
            add(u64::from(part.text.length.bytes));
            add(held.identity(place));
            add(u64::from(part.sealed_bytes));
            let image = part.image.get();
            [image.width, image.height, image.bytes].into_iter().for_each(|number| add(u64::from(number)));
            let tool = part.tool.get().and_then(|tool| trace.tools.get(tool as usize)).map_or("", String::as_str);
            hash_of_name(tool).into_iter().for_each(&mut add);
        }
        if let Some(call) = calls.next_if(|call| call.message == index) {
            id(call.key).into_iter().for_each(&mut add);
            let usage = call.usage.get().unwrap_or_default();
            [usage.prompt, usage.cache_read, usage.output].into_iter().for_each(&mut add);
            let model = trace.model_of(call).unwrap_or_default();
            hash_of_name(model).into_iter().for_each(&mut add);
        }
        hash.digest()
    };
    (0..).zip(&trace.messages).map(of_message).collect()
}

/// The sessions of one file: runs that are alike are told apart by how many stood before them, so that the same file in two parts of a corpus is known.
#[derive(Default)]
pub struct Runs(FxHashMap<u64, u64>);

impl Runs {
    /// Takes in the next session of the file.
    pub fn number(&mut self, trace: &mut Trace) {
        let Some(whole) = trace.prints.last_mut() else { return };
        let before = self.0.entry(*whole).or_default();
        if *before > 0 {
            *whole = xxh3_64(&[whole.to_le_bytes(), before.to_le_bytes()].concat());
        }
        *before += 1;
    }
}

fn hash_of_name(name: &str) -> Option<u64> {
    (!name.is_empty()).then(|| xxh3_64(name.as_bytes()))
}
