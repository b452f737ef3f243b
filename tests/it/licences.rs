//! `THIRD-PARTY.md` names all that the program is made of, with its licences, and is made here: `CTXSIM_WRITE=1 cargo test --test it licences`.
//! No package that is built in has an open advisory, by a dated copy of RustSec's list.

use crate::support::{project, skip};
use ctxsim::estimate::Vocabulary;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The vocabularies: name, of what, where it was published, terms, and the text of the terms.
const VOCABULARIES: [(Vocabulary, &str, &str, &str, &str); 8] = [
    (Vocabulary::O200kBase, "OpenAI: GPT-4o and later", "github.com/openai/tiktoken", "MIT", "licences/openai-tiktoken.txt"),
    (Vocabulary::Cl100kBase, "OpenAI: GPT-4 and GPT-3.5", "github.com/openai/tiktoken", "MIT", "licences/openai-tiktoken.txt"),
    (
        Vocabulary::DeepseekV3,
        "DeepSeek: V3 and R1",
        "huggingface.co/deepseek-ai/DeepSeek-V3",
        "DeepSeek License Agreement 1.0, with the use restrictions of its Attachment A",
        "licences/deepseek.txt",
    ),
    (Vocabulary::Qwen2, "Alibaba Cloud: Qwen 2 and later", "huggingface.co/Qwen/Qwen2.5-7B", "Apache-2.0", "LICENSE-APACHE"),
    (
        Vocabulary::Llama3,
        "Meta: Llama 3",
        "huggingface.co/meta-llama/Llama-3.1-8B",
        "Meta Llama 3 Community License Agreement",
        "licences/llama3.txt",
    ),
    (Vocabulary::MistralV3, "Mistral AI: Tekken", "github.com/mistralai/mistral-common", "Apache-2.0", "LICENSE-APACHE"),
    (Vocabulary::KimiK2, "Moonshot AI: Kimi K2", "huggingface.co/moonshotai/Kimi-K2-Base", "Modified MIT", "licences/kimi-k2.txt"),
    (
        Vocabulary::Glm4,
        "Z.ai: GLM 4.5 to 4.7",
        "huggingface.co/zai-org/GLM-4.5",
        "MIT, and Apache-2.0 for its code",
        "licences/glm-4.5.txt",
    ),
];

/// What else is built in and is no package: what, terms, and their text.
const ASSETS: [(&str, &str, &str); 2] = [
    (
        "DejaVu Sans, regular and bold, subsets (letters of charts)",
        "Bitstream Vera and Arev licences, public domain",
        "src/render/chart/font/LICENSE",
    ),
    ("uPlot (plots of the page)", "MIT", "assets/uplot/LICENSE"),
];

const HEAD: &str = "# Third-party material\n\n\
    Built with Meta Llama 3.\n\n\
    Meta Llama 3 is licensed under the Meta Llama 3 Community License, Copyright © Meta Platforms, Inc. All Rights Reserved.\n\n\
    The program is under MIT or Apache-2.0. What it is made of has terms of its own, which are listed here, with their texts below.\n\
    This file is made by `tests/it/licences.rs` from what Cargo says of the packages, for Linux on x86-64.\n";

fn read(path: &Path) -> String {
    String::from_utf8_lossy(&std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).into_owned()
}

/// The packages that stand in the program. None where there is no cargo to ask.
fn packages() -> Option<Vec<Value>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["metadata", "--format-version", "1", "--offline", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"];
    let Ok(output) = Command::new(cargo).current_dir(project()).args(words).output() else {
        skip("CTXSIM_REQUIRE_PROGRAMS", "no cargo that lists packages");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let nodes: BTreeMap<&str, &Value> =
        found["resolve"]["nodes"].as_array().unwrap().iter().map(|node| (node["id"].as_str().unwrap(), node)).collect();
    let own = found["resolve"]["root"].as_str().unwrap();
    let mut shipped = BTreeSet::new();
    let mut awaited = vec![own];
    while let Some(id) = awaited.pop() {
        for dependency in nodes[id]["deps"].as_array().unwrap() {
            let is_built_in = dependency["dep_kinds"].as_array().unwrap().iter().any(|kind| kind["kind"].is_null());
            let id = dependency["pkg"].as_str().unwrap();
            if is_built_in && shipped.insert(id) {
                awaited.push(id);
            }
        }
    }
    let all = found["packages"].as_array().unwrap().iter();
    let mut packages: Vec<Value> = all.filter(|package| shipped.contains(package["id"].as_str().unwrap())).cloned().collect();
    packages.sort_by_key(|package| (package["name"].to_string(), package["version"].to_string()));
    Some(packages)
}

fn text<'v>(package: &'v Value, key: &str) -> &'v str {
    package[key].as_str().unwrap_or_default()
}

/// The files with terms that a package holds. Of several to choose from, MIT's is taken.
fn terms(package: &Value) -> Vec<PathBuf> {
    let folder = Path::new(text(package, "manifest_path")).parent().unwrap().to_owned();
    let named = |path: &Path| {
        let name = path.file_name().unwrap().to_string_lossy().to_uppercase();
        ["LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE"].iter().any(|start| name.starts_with(start)) && !name.ends_with(".RS")
    };
    let unwanted = |path: &Path| path.iter().any(|part| part == "tests" || part == "benches" || part == "examples");
    let walk = ignore::WalkBuilder::new(&folder).standard_filters(false).max_depth(Some(4)).build();
    let found = walk.flatten().map(ignore::DirEntry::into_path);
    let mut files: Vec<PathBuf> =
        found.filter(|path| path.is_file() && named(path) && !unwanted(path.strip_prefix(&folder).unwrap())).collect();
    files.sort();
    let is_mit = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().to_uppercase().contains("MIT"));
    let choice = text(package, "license").contains(" OR ") || text(package, "license").contains('/');
    if choice && text(package, "license").contains("MIT") && files.iter().any(is_mit) {
        let is_other = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().to_uppercase().contains("APACHE"));
        files.retain(|path| !is_other(path));
    }
    files
}

/// Texts are the same where their words are.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The whole file.
fn made(packages: &[Value]) -> String {
    let mut page = HEAD.to_owned();
    // Text by its words, and who stands under it.
    let mut texts: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    let mut under =
        |who: &str, content: String| texts.entry(words(&content)).or_insert_with(|| (content, Vec::new())).1.push(who.to_owned());
    page.push_str("\n## Vocabularies\n\n| name | of | published at | terms | text |\n|---|---|---|---|---|\n");
    for (vocabulary, of, source, terms, file) in VOCABULARIES {
        let name = vocabulary.name();
        writeln!(page, "| `{name}` | {of} | {source} | {terms} | [{file}]({file}) |").unwrap();
    }
    page.push_str(
        "\nThe token lists were changed in form only: the package `tiktoken` packs them anew. Whoever passes this program on passes these terms on, \
         among them the use restrictions of DeepSeek (Attachment A) and Meta (Acceptable Use Policy).\n",
    );
    page.push_str("\n## Letters and scripts\n\n| what | terms | text |\n|---|---|---|\n");
    for (what, terms, file) in ASSETS {
        writeln!(page, "| {what} | {terms} | [{file}]({file}) |").unwrap();
    }
    page.push_str("\n## Packages\n\n| package | version | terms | from |\n|---|---|---|---|\n");
    for package in packages {
        let (name, version) = (text(package, "name"), text(package, "version"));
        let repository = text(package, "repository").trim_start_matches("https://").trim_end_matches(".git");
        writeln!(page, "| {name} | {version} | {} | {repository} |", text(package, "license")).unwrap();
        let files = terms(package);
        for file in &files {
            under(&format!("{name} {version}"), read(file));
        }
        if files.is_empty() {
            under(&format!("{name} {version} (its package holds no text; these are its terms)"), read(&project().join(fallback(package))));
        }
    }
    page.push_str(
        "\nThe package `libsqlite3-sys` holds SQLite, which is in the public domain; `libmimalloc-sys` holds mimalloc, under MIT.\n\n## Texts of the packages\n",
    );
    let mut texts: Vec<(String, Vec<String>)> = texts.into_values().collect();
    texts.sort_by(|one, other| one.1.cmp(&other.1));
    for (content, who) in texts {
        let lines = content.lines().map(str::trim_end).collect::<Vec<_>>().join("\n");
        writeln!(page, "\n### {}\n\n~~~~text\n{}\n~~~~", who.join(", "), lines.trim_matches('\n')).unwrap();
    }
    page
}

/// A package without a text stands under one that we hold.
fn fallback(package: &Value) -> &'static str {
    let terms = text(package, "license");
    match terms {
        _ if terms.contains("Apache-2.0") => "LICENSE-APACHE",
        _ if terms.contains("MIT") => "licences/mit.txt",
        _ => panic!("{} has terms without a text: {terms}", text(package, "name")),
    }
}

#[test]
fn every_vocabulary_package_and_asset_has_its_terms() {
    for vocabulary in Vocabulary::ALL {
        assert!(VOCABULARIES.iter().any(|(known, ..)| *known == vocabulary), "{}", vocabulary.name());
    }
    for file in VOCABULARIES.iter().map(|entry| entry.4).chain(ASSETS.iter().map(|entry| entry.2)) {
        assert!(read(&project().join(file)).len() > 500, "{file}");
    }
    // All that is compiled in and is not code of ours stands in a folder with its terms.
    assert!(read(&project().join("assets/uplot/uPlot.iife.min.js")).contains("uPlot"));
    let Some(packages) = packages() else { return };
    assert!(packages.len() > 60, "{}", packages.len());
    for package in &packages {
        assert!(!text(package, "license").is_empty(), "{} names no terms", text(package, "name"));
    }
    let (path, page) = (project().join("THIRD-PARTY.md"), made(&packages));
    if std::env::var_os("CTXSIM_WRITE").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let line = known.lines().zip(page.lines()).position(|(known, made)| known != made);
    assert!(known == page, "THIRD-PARTY.md is not up to date (first at line {line:?}): CTXSIM_WRITE=1 cargo test --test it licences");
}

/// Advisories that are known and do not touch us, each with the reason.
const ACCEPTED: [(&str, &str); 0] = [];

/// Name and version of the packages that Cargo.lock pins.
fn locked() -> Vec<(String, [u64; 3])> {
    let lock: toml::Table = read(&project().join("Cargo.lock")).parse().unwrap();
    let packages = lock["package"].as_array().unwrap().iter();
    packages.map(|package| (package["name"].as_str().unwrap().to_owned(), version(package["version"].as_str().unwrap()))).collect()
}

fn version(text: &str) -> [u64; 3] {
    let plain = text.split(['-', '+']).next().unwrap();
    let mut parts = plain.split('.').map(|part| part.trim().parse().unwrap_or(0));
    std::array::from_fn(|_| parts.next().unwrap_or(0))
}

/// Does a version satisfy a requirement as Cargo writes it: `>= 1.2, < 2`, `^0.3.1`?
fn satisfies(own: [u64; 3], requirement: &str) -> bool {
    requirement.split(',').map(str::trim).all(|one| {
        let digits = one.find(|letter: char| letter.is_ascii_digit()).unwrap_or(one.len());
        let (sign, wanted) = (one[..digits].trim(), version(&one[digits..]));
        match sign {
            ">=" => own >= wanted,
            ">" => own > wanted,
            "<" => own < wanted,
            "<=" => own <= wanted,
            "=" => own == wanted,
            // The first number that is not zero stays.
            "^" | "" => own >= wanted && (0..3).find(|place| wanted[*place] != 0).is_none_or(|place| own[..=place] == wanted[..=place]),
            "~" => own >= wanted && own[..2] == wanted[..2],
            other => panic!("an unknown sign `{other}` in {requirement}"),
        }
    })
}

#[test]
fn no_package_has_an_open_advisory() {
    let table = read(&project().join("tests/data/advisories.tsv"));
    assert!(table.starts_with("# RustSec's advisory-db of 20"), "the table has a date");
    let locked = locked();
    let mut open = Vec::new();
    let mut looked = 0;
    for line in table.lines().skip(3) {
        let [id, package, kind, patched, unaffected, title] = line.split('\t').collect::<Vec<_>>()[..] else { panic!("{line}") };
        looked += 1;
        for (name, own) in locked.iter().filter(|(name, _)| name == package) {
            let fixed = [patched, unaffected].iter().flat_map(|list| list.split(" | ")).any(|one| !one.is_empty() && satisfies(*own, one));
            if !fixed && !ACCEPTED.iter().any(|(known, _)| *known == id) {
                open.push(format!("{id} {name} {own:?} ({kind}): {title}"));
            }
        }
    }
    assert!(looked > 10, "{looked}");
    assert!(open.is_empty(), "{}", open.join("\n"));
    assert!(satisfies([1, 2, 3], ">= 1.2, < 2") && !satisfies([0, 4, 0], "^0.3.1") && satisfies([0, 3, 5], "^0.3.1"));
}
