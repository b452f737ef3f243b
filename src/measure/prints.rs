//! Hashes of a conversation, by which a session without ids is known in another file.

use crate::trace::Trace;
use xxhash_rust::xxh3::Xxh3;

/// For each message the hash of the conversation up to it. None where the log has ids, which tell copies better, and none of a single
/// reply without a time: another one may well be the same.
pub fn of(trace: &Trace) -> Vec<u64> {
    let has_ids = trace.messages.iter().any(|row| row.key.is_some()) || trace.calls.iter().any(|call| call.key.is_some());
    let tells_little = trace.calls.len() < 2 && trace.messages.iter().all(|row| row.time.is_none());
    if has_ids || tells_little {
        return Vec::new();
    }
    let mut calls = trace.calls.iter().peekable();
    let mut hash = Xxh3::new();
    hash.update(trace.agent.as_bytes());
    let of_message = |(index, row): (u32, &crate::trace::MessageRow)| {
        let mut add = |number: u64| hash.update(&number.to_le_bytes());
        add(row.role as u64);
        add(row.time.map_or(0, i64::cast_unsigned));
        add(row.rewind.map_or(0, |from| u64::from(from) + 1));
        for part in trace.parts_of(row) {
            add(part.kind as u64);
            add(u64::from(part.text.length.bytes));
            add(part.text.evidence.as_ref().map_or(0, |evidence| evidence.identity));
            add(u64::from(part.sealed_bytes));
            [part.image.width, part.image.height, part.image.bytes].into_iter().for_each(|number| add(u64::from(number)));
            let tool = part.tool.and_then(|tool| trace.tools.get(tool as usize)).map_or("", String::as_str);
            hash_of_name(tool).into_iter().for_each(&mut add);
        }
        if let Some(call) = calls.next_if(|call| call.message == index) {
            let usage = call.usage.unwrap_or_default();
            [usage.prompt, usage.cache_read, usage.output].into_iter().for_each(&mut add);
            let model = call.model.and_then(|model| trace.models.get(model as usize)).map_or("", String::as_str);
            hash_of_name(model).into_iter().for_each(&mut add);
        }
        hash.digest()
    };
    (0..).zip(&trace.messages).map(of_message).collect()
}

fn hash_of_name(name: &str) -> Option<u64> {
    (!name.is_empty()).then(|| xxhash_rust::xxh3::xxh3_64(name.as_bytes()))
}
