//! A file of `opencode export`: one object with the session and all its messages.

use super::record::SessionInfo;
use super::second::Second;
use super::session::{Session, Stored};
use super::sniff::banner;
use crate::format::ground::{ODD, ReadError, Source, Take, each_piece};
use crate::format::recorder::end;
use crate::transcript::{Scale, Transcript};

/// Reads the session of an export file.
pub fn read(source: &mut Source, scale: &dyn Scale, give: &mut dyn FnMut(Transcript)) -> Result<(), ReadError> {
    let mut session = Session::new(source.name(), scale);
    source.pass_over(banner(source))?;
    each_piece(source, &[("info", Take::Whole), ("messages", Take::Elements)], |source, piece| match piece.key {
        "info" => piece.take(source, |info: SessionInfo, _| session.describe(&info)),
        _ => {
            let lose = &mut |reason: &str| source.lose(piece.number, reason);
            match serde_json::from_str::<Stored>(piece.text) {
                Ok(stored) => session.stored(&stored, lose),
                Err(_) => match serde_json::from_str::<Second>(piece.text) {
                    Ok(second) if !second.kind.is_empty() => session.second(&second, second.id.id(), &second.kind, lose),
                    _ => lose(ODD),
                },
            }
        }
    });
    end(session.finish(&mut |reason| source.lose(0, reason)), 0, source, give);
    Ok(())
}
