//! Texts without what only a terminal makes use of.

/// The text without terminal colours and with at most one blank line in a row; `None` where that is the text itself.
pub fn cleaned(text: &str) -> Option<String> {
    let plain = without_colours(text);
    let source = plain.as_deref().unwrap_or(text);
    if memchr::memmem::find(source.as_bytes(), b"\n\n\n").is_none() {
        return plain;
    }
    let mut cleaned = String::with_capacity(source.len());
    let mut newlines = 0;
    for line in source.split_inclusive('\n') {
        newlines = if line == "\n" { newlines + 1 } else { usize::from(line.ends_with('\n')) };
        if newlines <= 2 {
            cleaned.push_str(line);
        }
    }
    Some(cleaned)
}

/// The text without `ESC [ digits and semicolons m`; `None` where there is none.
fn without_colours(text: &str) -> Option<String> {
    let mut kept: Option<String> = None;
    let (mut from, mut search) = (0, 0);
    while let Some(start) =
        text.as_bytes().get(search..).and_then(|rest| memchr::memmem::find(rest, b"\x1b[")).map(|offset| search + offset)
    {
        let parameters = text.get(start + 2..).unwrap_or_default();
        let end = parameters.find(|character: char| !character.is_ascii_digit() && character != ';');
        search = start + 2;
        if let Some(end) = end.filter(|&end| parameters.as_bytes().get(end) == Some(&b'm')) {
            kept.get_or_insert_default().push_str(text.get(from..start).unwrap_or_default());
            from = start + 2 + end + 1;
            search = from;
        }
    }
    let mut kept = kept?;
    kept.push_str(text.get(from..).unwrap_or_default());
    Some(kept)
}
