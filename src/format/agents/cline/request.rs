//! The user's side of a request in the agent's text protocol: what a tool returned is said in the user's name.

use crate::transcript::{Message, Part, Role, Scale};

/// What the program adds to each request.
const SURROUNDINGS: &str = "<environment_details>";

/// The tools with which the model hands over to the person, and what the agent puts a person's words in.
const HANDS_OVER: [&str; 3] = ["attempt_completion", "ask_followup_question", "plan_mode_respond"];
const WORDS: [&str; 3] = ["<feedback>", "<answer>", "<user_message>"];

/// How the program begins what it says by itself: that a task goes on, that a reply called no tool.
const PROGRAM: [&str; 2] = ["[TASK RESUMPTION]", "[ERROR]"];

/// The message that these texts of the user's side make. The results of tools begin with the tool in brackets; what a person answers
/// to the model comes as one, and is the person's all the same.
pub fn message(texts: &[&str], scale: &dyn Scale) -> Message {
    let spoken = texts.iter().filter(|text| !text.starts_with(SURROUNDINGS)).any(|text| WORDS.iter().any(|mark| text.contains(mark)));
    let tool = texts.first().and_then(|first| tool(first)).filter(|name| !(spoken && HANDS_OVER.contains(name)));
    let Some(name) = tool else {
        let own = texts.first().is_some_and(|first| PROGRAM.iter().any(|mark| first.starts_with(mark)));
        let parts = texts.iter().map(|text| Part::Text(scale.weigh(text))).collect();
        return Message { synthetic: own && !spoken, ..Message::new(Role::User, parts) };
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
