//! The user's side of a request in the agent's text protocol: what a tool returned is said in the user's name.

use crate::transcript::{Message, Part, Role, Scale};

/// What the program adds to each request.
const SURROUNDINGS: &str = "<environment_details>";

/// The message that these texts of the user's side make. The results of tools begin with the tool in brackets.
pub fn message(texts: &[&str], scale: &dyn Scale) -> Message {
    let Some(name) = texts.first().and_then(|first| tool(first)) else {
        return Message::new(Role::User, texts.iter().map(|text| Part::Text(scale.weigh(text))).collect());
    };
    let (beside, answer): (Vec<&str>, Vec<&str>) = texts.iter().partition(|text| text.starts_with(SURROUNDINGS));
    let text = scale.weigh_result(&answer.join("\n\n"));
    let mut parts = vec![Part::ToolResult { call_id: String::new(), name: name.to_owned(), text, error: false }];
    parts.extend(beside.iter().map(|text| Part::Text(scale.weigh(text))));
    Message::new(Role::Tool, parts)
}

/// `[read_file for 'a.rs'] Result:` names the tool.
fn tool(text: &str) -> Option<&str> {
    let (head, rest) = text.strip_prefix('[')?.split_once("] Result:")?;
    let line = head.lines().count() == 1 || rest.is_empty();
    let name = head.split_whitespace().next()?;
    (line && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')).then_some(name)
}
