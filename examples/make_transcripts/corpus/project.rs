//! The invented project: `tidewatch`, a service in Python that collects and checks the readings of tide gauges.

use super::random::Random;
use super::words::{AREAS, ERRORS, FIELDS, NOUNS, TYPES, VERBS};
use std::collections::BTreeMap;

/// The files of the project as they stand.
#[derive(Clone, Debug)]
pub struct Project {
    /// Lines by path, relative to the project.
    pub files: BTreeMap<String, Vec<String>>,
}

impl Project {
    /// A project with so many modules, each about `lines` lines long.
    pub fn new(random: &mut Random, modules: usize, lines: usize) -> Project {
        let mut files = BTreeMap::new();
        for number in 0..modules {
            let area = AREAS[number % AREAS.len()];
            let noun = NOUNS[(number * 7 + 3) % NOUNS.len()];
            let path = format!("src/tidewatch/{area}/{noun}_{}.py", VERBS[number % VERBS.len()]);
            let length = lines * random.between(60, 140) as usize / 100;
            files.insert(path, module(random, area, noun, length));
        }
        files.insert("README.md".to_owned(), readme(random));
        Project { files }
    }

    /// Paths of the modules, in order.
    pub fn paths(&self) -> Vec<String> {
        self.files.keys().filter(|path| path.ends_with(".py")).cloned().collect()
    }

    /// The lines of a file; none for a path that does not exist.
    pub fn lines(&self, path: &str) -> &[String] {
        self.files.get(path).map_or(&[], Vec::as_slice)
    }

    /// At most `limit` lines that hold a word: path, line number, line.
    pub fn search(&self, word: &str, limit: usize) -> Vec<(String, usize, String)> {
        let hits = self.files.iter().flat_map(|(path, lines)| lines.iter().enumerate().map(move |(index, line)| (path, index + 1, line)));
        hits.filter(|(_, _, line)| line.contains(word))
            .map(|(path, number, line)| (path.clone(), number, line.clone()))
            .take(limit)
            .collect()
    }
}

/// `tidal_window` becomes `TidalWindow`.
pub fn camel(name: &str) -> String {
    let parts = name.split('_').filter(|part| !part.is_empty());
    parts.map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}

fn readme(random: &mut Random) -> Vec<String> {
    let mut lines = vec!["# tidewatch".to_owned(), String::new(), "Collects, checks and publishes the readings of tide gauges.".to_owned()];
    for area in AREAS {
        lines.push(String::new());
        lines.push(format!("## {}", camel(area)));
        lines.push(format!(
            "The {area} package keeps at most {} readings in memory and writes the rest to the spool.",
            random.between(200, 9000)
        ));
    }
    lines
}

fn module(random: &mut Random, area: &str, noun: &str, length: usize) -> Vec<String> {
    let class = format!("{}{}", camel(noun), camel(random.pick(&["store", "policy", "tracker", "buffer", "reader"])));
    let other = random.pick(NOUNS);
    let mut lines = vec![
        format!("\"\"\"{} of the {area} package: keeps the {noun} of each station in step with its {other}.\"\"\"", camel(noun)),
        "from __future__ import annotations".to_owned(),
        String::new(),
        "import logging".to_owned(),
        "from dataclasses import dataclass, field".to_owned(),
        "from datetime import datetime, timedelta, timezone".to_owned(),
        format!("from tidewatch.{}.{other} import {}, {}", random.pick(AREAS), camel(other), random.pick(ERRORS)),
        String::new(),
        "logger = logging.getLogger(__name__)".to_owned(),
        format!("{}_LIMIT = {}", noun.to_uppercase(), random.between(12, 9999)),
        format!("{}_GRACE = timedelta(seconds={})", noun.to_uppercase(), random.between(5, 900)),
        String::new(),
        "@dataclass(slots=True)".to_owned(),
        format!("class {class}:"),
        format!("    \"\"\"One {noun} as the {area} package sees it.\"\"\""),
    ];
    let first = random.index(FIELDS.len());
    let fields: Vec<&str> = (0..6).map(|step| FIELDS[(first + step * 3) % FIELDS.len()]).collect();
    for name in &fields {
        let (kind, default) = TYPES[random.index(TYPES.len())];
        lines.push(format!("    {name}: {kind} = {default}"));
    }
    while lines.len() < length {
        lines.push(String::new());
        method(random, noun, &fields, &mut lines);
    }
    lines
}

fn method(random: &mut Random, noun: &str, fields: &[&str], lines: &mut Vec<String>) {
    let verb = random.pick(VERBS);
    let target = random.pick(NOUNS);
    let (left, right) = (random.pick(fields), random.pick(fields));
    lines.push(format!(
        "    def {verb}_{target}(self, {target}: {}, limit: int = {}) -> {}:",
        camel(target),
        random.between(2, 4000),
        camel(noun)
    ));
    lines.push(format!("        \"\"\"{} the {target} against the stored {noun}, oldest {left} first.\"\"\"", camel(verb)));
    for _ in 0..random.between(4, 8) {
        let value = random.between(2, 99_999);
        let error = random.pick(ERRORS);
        let other = random.pick(NOUNS);
        match random.below(9) {
            0 => {
                lines.push(format!("        if self.{left} is None or {target}.{right} < {value}:"));
                lines.push(format!("            raise {error}(f\"{{{target}.station_id}}: {right} below {value} in {verb}_{target}\")"));
            }
            1 => {
                lines.push(format!("        for {other} in {target}.{other}s[:limit]:"));
                lines.push(format!("            self.{left} += {other}.{right} * {}.{:03}", random.below(9), random.below(1000)));
            }
            2 => lines.push(format!(
                "        logger.debug(\"{verb} %s after %d {other}s (bucket {value})\", {target}.station_id, len(self.pending_{other}))"
            )),
            3 => lines.push(format!("        {other} = self._{}_{other}({target}.{right}, floor={value})", random.pick(VERBS))),
            4 => {
                lines.push(format!(
                    "        if {target}.sampled_at - self.last_{other} > {}_GRACE * {}:",
                    noun.to_uppercase(),
                    random.between(2, 40)
                ));
                lines.push(format!("            self.pending_{other}.append(({target}.sequence, 0x{}))", random.hex(8)));
            }
            5 => lines.push(format!(
                "        {left}_by_{other} = {{entry.{right}: entry for entry in {target}.{other}s if entry.{left} >= {value}}}"
            )),
            6 => lines.push(format!("        self.{left} = max(self.{left}, {target}.{right} - {value})")),
            7 => {
                lines.push(format!("        with self._{other}_lock:"));
                lines.push(format!("            self.{other}_cursor = min({target}.sequence, self.{other}_cursor + {value})"));
            }
            _ => lines.push(format!(
                "        # The {other} of gauges before firmware {}.{} counts from {value}.",
                random.between(1, 9),
                random.below(30)
            )),
        }
    }
    lines.push(format!("        return {}({left}=self.{left}, {right}={target}.{right})", camel(noun)));
}
