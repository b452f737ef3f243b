//! The data of a page: all sessions at a glance as JSON, the calls of each packed until a reader opens it.

use crate::render::error::RenderError;
use crate::render::escape::{escape, is_hazardous};
use crate::report::Browser;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;

/// So many bytes of packed calls are in a page. Sessions beyond it are left out, the least interesting first, and the page says so.
const BUDGET: usize = 6_000_000;

/// The data of a page, and how much of it was left out.
pub struct Packed {
    /// Elements that hold the data, which no browser runs.
    pub elements: String,
    /// Sessions that are not listed.
    pub unlisted: usize,
    /// Listed sessions with calls.
    pub sessions: usize,
    /// Those of them whose calls did not fit.
    pub left_out: usize,
}

/// Packs all that fits.
pub fn packed(browser: &Browser<'_>) -> Result<Packed, RenderError> {
    let shown = |text: &str| escape(text).into_owned();
    let mut room = BUDGET;
    let mut calls: BTreeMap<usize, String> = BTreeMap::new();
    let (mut sessions, mut left_out) = (0, 0);
    for number in browser.by_interest() {
        let Some(series) = browser.session(number, &shown) else { continue };
        sessions += 1;
        // A smaller session may still fit where a larger one did not; once hardly anything fits, packing the rest is idle.
        let text = if room < BUDGET / 100 { None } else { Some(pack(&series)?).filter(|text| text.len() <= room) };
        match text {
            Some(text) => {
                room -= text.len();
                calls.insert(number, text);
            }
            None => left_out += 1,
        }
    }
    let mut elements = format!("<script type=\"application/json\" id=\"overview\">{}</script>\n", inert(&browser.overview(&shown))?);
    for (number, text) in calls {
        elements += &format!("<script type=\"application/octet-stream\" id=\"calls-{number}\">{text}</script>\n");
    }
    Ok(Packed { elements, unlisted: browser.unlisted(), sessions, left_out })
}

/// JSON, deflated, in base64.
fn pack(series: &impl Serialize) -> Result<String, RenderError> {
    let mut packer = DeflateEncoder::new(Vec::new(), Compression::new(6));
    packer.write_all(serde_json::to_string(series)?.as_bytes())?;
    Ok(STANDARD.encode(packer.finish()?))
}

/// JSON that ends no element and starts none, whatever it says.
fn inert(data: &impl Serialize) -> Result<String, RenderError> {
    let plain = serde_json::to_string(data)?;
    let mut out = String::with_capacity(plain.len());
    for letter in plain.chars() {
        // None of these stands in JSON but within a string.
        match letter {
            '<' | '>' | '&' => out += &format!("\\u{:04x}", u32::from(letter)),
            _ if is_hazardous(letter) => letter.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04x}")),
            _ => out.push(letter),
        }
    }
    Ok(out)
}
