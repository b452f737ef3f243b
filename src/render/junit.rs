//! For build servers: checks as JUnit's XML.

use super::escape::markup;
use crate::report::{Check, Outcome};

/// A suite of checks.
pub fn junit(suite: &str, checks: &[Check]) -> String {
    let broken = checks.iter().filter(|check| check.outcome == Outcome::Broken).count();
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{0}\" failures=\"{broken}\">\n  \
         <testsuite name=\"{1}\" tests=\"{0}\" failures=\"{broken}\">\n",
        checks.len(),
        markup(suite)
    );
    for check in checks {
        let (name, sentence) = (markup(&check.name), markup(&check.sentence));
        out += &match check.outcome {
            Outcome::Kept => format!("    <testcase classname=\"{}\" name=\"{name}\"/>\n", markup(suite)),
            Outcome::CannotTell => format!(
                "    <testcase classname=\"{}\" name=\"{name}\">\n      <skipped message=\"{sentence}\"/>\n    </testcase>\n",
                markup(suite)
            ),
            Outcome::Broken => format!(
                "    <testcase classname=\"{}\" name=\"{name}\">\n      <failure message=\"{sentence}\"/>\n    </testcase>\n",
                markup(suite)
            ),
        };
    }
    out + "  </testsuite>\n</testsuites>\n"
}
