//! The text of an attachment that the model reads: reminders, hook output, lists of skills and tools, files.

use crate::format::wire::anthropic::gather;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The fields that hold text.
const READ: [&str; 11] = [
    "filename",
    "content",
    "addedLines",
    "addedBlocks",
    "snippet",
    "prompt",
    "planContent",
    "blockingError",
    "skills",
    "memories",
    "files",
];

/// The text that reaches the model, empty where none does; `None` where the attachment cannot be decoded.
///
/// The log holds the parts, not the sentences that are put around them: the text is a lower bound.
pub(super) fn text(attachment: &RawValue) -> Option<String> {
    let attachment: Map<String, Value> = serde_json::from_str(attachment.get()).ok()?;
    let word = |name: &str| attachment.get(name).and_then(Value::as_str).unwrap_or_default();
    let reaches_model = match word("type") {
        // For the person's eyes, or settings.
        "hook_system_message" | "hook_non_blocking_error" | "hook_cancelled" | "command_permissions" => false,
        "hook_success" => matches!(word("hookEvent"), "SessionStart" | "UserPromptSubmit"),
        _ => true,
    };
    let mut texts = Vec::new();
    if reaches_model {
        // The raw content repeats the content; base64 is no text.
        let is_unread = |key: &str| matches!(key, "type" | "rawContent" | "uuid" | "path" | "globs" | "base64" | "data" | "command");
        READ.iter().filter_map(|name| attachment.get(*name)).for_each(|field| gather(field, is_unread, &mut texts));
    }
    Some(texts.join("\n"))
}
