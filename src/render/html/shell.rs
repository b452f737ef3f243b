//! The shell of a page: head, style, script, and the policy that forbids all else.

use super::calls::Packed;
use crate::render::escape::markup;
use crate::report::Story;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// By this line a page is known for one of ours.
pub const GENERATOR: &str = "<meta name=\"generator\" content=\"ctxsim ";

/// The plots of sessions: uPlot, under the MIT licence, which goes with it.
const UPLOT: &str = include_str!("../../../assets/uplot/uPlot.iife.min.js");
const UPLOT_STYLE: &str = include_str!("../../../assets/uplot/uPlot.min.css");
const UPLOT_LICENCE: &str = include_str!("../../../assets/uplot/LICENSE");

const STYLE: &str = include_str!("../../../assets/page/page.css");

/// The page's own script, in the order in which its parts know each other.
const SCRIPT: [&str; 9] = [
    include_str!("../../../assets/page/numbers.js"),
    include_str!("../../../assets/page/elements.js"),
    include_str!("../../../assets/page/address.js"),
    include_str!("../../../assets/page/tables.js"),
    include_str!("../../../assets/page/series.js"),
    include_str!("../../../assets/page/sessions.js"),
    include_str!("../../../assets/page/plots.js"),
    include_str!("../../../assets/page/view.js"),
    include_str!("../../../assets/page/start.js"),
];

/// The whole page around its body.
pub fn page(story: &Story<'_>, body: &str, packed: Option<&Packed>) -> String {
    // Pages without sessions have no plots.
    let (library, library_style) = match packed {
        Some(_) => (format!("/*\n{}\n*/\n{UPLOT}\n", UPLOT_LICENCE.trim_end()), UPLOT_STYLE),
        None => (String::new(), ""),
    };
    let style = format!("{library_style}\n{STYLE}");
    let script = format!("{library}(() => {{\n\"use strict\";\n{}}})();\n", SCRIPT.concat());
    let allowed = format!(
        "default-src 'none'; img-src data:; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        digest(&style),
        digest(&script)
    );
    let version = env!("CARGO_PKG_VERSION");
    let data = packed.map_or("", |packed| packed.elements.as_str());
    let head = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{allowed}\">\n\
         {GENERATOR}{version}\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>ctxsim {}: {}</title>\n<style>{style}</style>\n</head>\n<body>\n",
        markup(story.question),
        markup(&story.title)
    );
    // A page is megabytes long: it takes the room that it needs at once.
    [head.as_str(), body, data, "<script>", &script, "</script>\n</body>\n</html>\n"].concat()
}

fn digest(text: &str) -> String {
    STANDARD.encode(Sha256::digest(text.as_bytes()))
}
