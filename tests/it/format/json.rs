use ctxsim::format::ground::{Lines, close, compact, values};
use std::io::Cursor;

#[test]
fn compact_drops_space_between_tokens_and_spells_letters_out() {
    let cases = [
        ("{ \"a\" : [ 1 , 2 ],\n \"b c\": \" d \" }", "{\"a\":[1,2],\"b c\":\" d \"}"),
        (r#"{"a":"caf\u00e9 \ud83d\ude00 \n \"q\" \\u00e9"}"#, r#"{"a":"café 😀 \n \"q\" \\u00e9"}"#),
        (r#""\u0007\u001b""#, r#""\u0007\u001b""#),
        ("", ""),
        (" ", ""),
        (r#""ends with \"#, r#""ends with \"#),
        (r#"["\ud83d", "\u12"]"#, r#"["\ud83d","\u12"]"#),
    ];
    for (raw, expected) in cases {
        assert_eq!(compact(raw), expected);
    }
}

#[test]
fn half_characters_do_not_cost_their_line() {
    let text = "{\"a\":\"\\ud83d x \\ud83d\\ude00 \\udc00 \\\\ud83d\"}\n{\"a\":\"é\\ud8\"}\n";
    let mut lines = Lines::new(Box::new(Cursor::new(text)), 1 << 20);
    let line = lines.next_line().unwrap().unwrap();
    assert_eq!(line.text, "{\"a\":\"\\ufffd x \\ud83d\\ude00 \\ufffd \\\\ud83d\"}");
    assert!(line.damage.is_some());
    assert!(values::<serde_json::Value>(&line.text).all(|value| value.is_ok()));
    // An escape that is cut short is left as it is: that line is broken anyway.
    assert!(lines.next_line().unwrap().unwrap().damage.is_none());
}

#[test]
fn a_document_that_was_cut_is_closed_after_its_last_whole_element() {
    let whole = r#"{"info":{"tags":[{"a":"]"},{"b":1}]},"messages":[{"content":[{"t":1}]},{"content":[{"t":2}]}],"end":{"x":[1]}}"#;
    assert_eq!(close(whole), None);
    let cases = [
        (r#"{"info":{"tags":[{"a":"]"},{"b""#, Some(r#"{"info":{"tags":[{"a":"]"}]}}"#)),
        (r#"{"info":{"tags":[{"a":"]"},{"b":1}]},"messages":[{"content":[{"#, Some(r#"{"info":{"tags":[{"a":"]"},{"b":1}]}}"#)),
        (
            r#"{"info":{"tags":[{"a":1}]},"messages":[{"content":[{"t":1}]},{"content":[{"t":2}"#,
            Some(r#"{"info":{"tags":[{"a":1}]},"messages":[{"content":[{"t":1}]}]}"#),
        ),
        (r#"[{"role":"user"},{"role":"assistant","content":"}]\"}]\\","x":"}]\""#, Some(r#"[{"role":"user"}]"#)),
        (r#"{"a":"#, None),
        ("", None),
        ("not JSON", None),
    ];
    for (cut, expected) in cases {
        assert_eq!(close(cut).as_deref(), expected, "{cut}");
    }
    for end in 0..whole.len() {
        assert!(close(&whole[..end]).is_none_or(|closed| serde_json::from_str::<serde_json::Value>(&closed).is_ok()));
    }
}
