//! For build servers: checks as JUnit's XML.

use super::escape::escape;
use crate::report::{Check, Outcome};

/// A suite of checks.
pub fn junit(suite: &str, checks: &[Check]) -> String {
    let broken = checks.iter().filter(|check| check.outcome == Outcome::Broken).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{broken}\">\n  \
         <testsuite name=\"{1}\" tests=\"{0}\" failures=\"{broken}\">\n",
        checks.len(),
        xml(suite)
    );
    for check in checks {
        let (name, sentence) = (xml(&check.name), xml(&check.sentence));
        out += &match check.outcome {
            Outcome::Kept => format!("    <testcase classname=\"{}\" name=\"{name}\"/>\n", xml(suite)),
            Outcome::Broken => format!(
                "    <testcase classname=\"{}\" name=\"{name}\">\n      <failure message=\"{sentence}\"/>\n    </testcase>\n",
                xml(suite)
            ),
        };
    }
    out + "  </testsuite>\n</testsuites>\n"
}

/// Text within an attribute: XML finds nothing in it to act upon, and no character that it forbids.
fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in escape(text).chars() {
        match letter {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&apos;",
            '\u{fffe}' | '\u{ffff}' => out.extend(letter.escape_unicode()),
            other => out.push(other),
        }
    }
    out
}
