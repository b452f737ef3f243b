//! Which files a run looks at: paths, folders, globs, standard input, and the agents' own folders.

use super::gathered::Skipped;
use crate::reading;
use globset::{GlobBuilder, GlobMatcher};
use ignore::WalkBuilder;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What agents call their sessions within a folder of their own, which holds their settings too.
const PARTS: [&str; 7] = ["projects", "sessions", "archived_sessions", "session-state", "agents", "tasks", "tmp"];

/// What a list of paths led to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Files, each once, in the order of their names; `-` is standard input.
    pub files: Vec<PathBuf>,
    /// Paths that led to no file.
    pub missing: Vec<Skipped>,
    /// Hidden folders below the named ones, which are passed over.
    pub hidden: Vec<String>,
}

/// An agent's default folder of sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// The agent, as its reader names it.
    pub agent: &'static str,
    /// Default folder of the agent's sessions.
    pub path: PathBuf,
    /// Where the agent keeps its settings, the first of them that is there; empty where it has none that a preset reads.
    pub settings: Vec<PathBuf>,
}

impl Home {
    /// The agent's own folder: the one that its sessions have a part of, else that of the sessions.
    pub fn folder(&self) -> &Path {
        let is_part = self.path.file_name().is_some_and(|name| PARTS.iter().any(|part| name == *part));
        self.path.parent().filter(|_| is_part).unwrap_or(&self.path)
    }
}

/// Finds the files that paths, folders and globs name. Folders are walked; hidden ones below them only where they are named themselves.
/// Links within them are not followed; those that lead nowhere, or out of the folder, are named among the missing.
pub fn discover(paths: &[String]) -> Found {
    let mut files = BTreeSet::new();
    let (mut missing, mut hidden) = (Vec::new(), BTreeSet::new());
    for path in paths {
        let as_path = &*reading::path_of(path);
        if reading::is_standard_input(as_path) {
            files.insert(PathBuf::from("-"));
        } else if reading::is_readable(as_path) {
            files.insert(as_path.to_owned());
        } else if as_path.is_dir() {
            files.extend(walk(as_path, &mut missing, &mut hidden));
        } else if path.contains(['*', '?', '[', '{']) {
            match glob(path, &mut missing) {
                Ok(found) if found.is_empty() => missing.push(nowhere(path, "no file matches the pattern")),
                Ok(found) => files.extend(found),
                Err(reason) => missing.push(nowhere(path, &reason)),
            }
        } else {
            let reason = if as_path.exists() { "is a device or a socket, which is not read" } else { "no such file or folder" };
            missing.push(nowhere(path, reason));
        }
    }
    // The same file under two names is read once, under the first of them.
    let mut seen = BTreeSet::new();
    let once = |file: &PathBuf| seen.insert(file.canonicalize().unwrap_or_else(|_| file.clone()));
    // What lies in one may be named itself.
    let named: Vec<PathBuf> = paths.iter().filter_map(|path| reading::path_of(path).canonicalize().ok()).collect();
    hidden.retain(|folder| folder.canonicalize().is_ok_and(|folder| !named.iter().any(|path| path.starts_with(&folder))));
    let hidden = hidden.into_iter().map(|folder| folder.to_string_lossy().into_owned()).collect();
    Found { files: files.into_iter().filter(once).collect(), missing, hidden }
}

fn nowhere(path: &str, reason: &str) -> Skipped {
    Skipped { path: path.to_owned(), reason: reason.to_owned() }
}

/// What programs keep of a project's own files beside them: no agent logs there.
const OF_VERSIONS: [&str; 3] = [".git", ".hg", ".svn"];

/// The hidden folders of a folder.
fn hidden_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let is_hidden = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.starts_with('.') && !OF_VERSIONS.contains(&name.as_str()) && path.is_dir() && !path.is_symlink()
    };
    reading::entries(folder).unwrap_or_default().into_iter().filter(is_hidden)
}

fn walk(folder: &Path, missing: &mut Vec<Skipped>, hidden: &mut BTreeSet<PathBuf>) -> Vec<PathBuf> {
    let (files, links) = files_and_links(folder, missing, &mut |walked| hidden.extend(hidden_in(walked)));
    missing.extend(links.iter().filter_map(|path| link(folder, path)));
    files
}

/// The files below a folder, and the links; what cannot be walked is named among the missing.
fn files_and_links(folder: &Path, missing: &mut Vec<Skipped>, enter: &mut dyn FnMut(&Path)) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let walker = WalkBuilder::new(folder).standard_filters(false).hidden(true).follow_links(false).build();
    let (mut files, mut links) = (Vec::new(), Vec::new());
    for entry in walker {
        match entry {
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_file()) => files.push(entry.into_path()),
            Ok(entry) if entry.path_is_symlink() && entry.depth() > 0 => links.push(entry.into_path()),
            Ok(entry) if entry.file_type().is_some_and(|kind| kind.is_dir()) => enter(entry.path()),
            Ok(_) => {}
            Err(error) => missing.push(unwalked(folder, &error)),
        }
    }
    (files, links)
}

/// What could not be walked, by its own name where the error has it.
fn unwalked(folder: &Path, error: &ignore::Error) -> Skipped {
    match error {
        ignore::Error::WithDepth { err, .. } => unwalked(folder, err),
        ignore::Error::WithPath { path, err } => unwalked(path, err),
        ignore::Error::Io(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            nowhere(&folder.to_string_lossy(), "cannot be walked: permission denied")
        }
        error => nowhere(&folder.to_string_lossy(), &format!("cannot be walked: {error}")),
    }
}

/// Why what a link leads to is not read; `None` where it is read under its own name.
fn link(folder: &Path, link: &Path) -> Option<Skipped> {
    let name = link.to_string_lossy();
    match (link.canonicalize(), folder.canonicalize()) {
        (Err(_), _) => Some(nowhere(&name, "is a symbolic link that leads nowhere")),
        (Ok(target), Ok(folder)) if target.starts_with(&folder) => None,
        (Ok(_), _) => Some(nowhere(&name, "is a symbolic link out of the folder, which is not followed; name it itself")),
    }
}

fn glob(pattern: &str, missing: &mut Vec<Skipped>) -> Result<Vec<PathBuf>, String> {
    let matcher = matcher(pattern)?;
    let fixed: PathBuf = Path::new(pattern).iter().take_while(|part| !part.to_string_lossy().contains(['*', '?', '[', '{'])).collect();
    let root = if fixed.as_os_str().is_empty() { Path::new(".") } else { fixed.as_path() };
    let without_dot = |path: &Path| path.strip_prefix("./").map(Path::to_owned).unwrap_or_else(|_| path.to_owned());
    let (files, links) = files_and_links(root, missing, &mut |_| {});
    let named = |path: PathBuf| if fixed.as_os_str().is_empty() { without_dot(&path) } else { path };
    // Of links those are told that the pattern means, or that lead to a folder in which it may mean something.
    let meant = |path: &PathBuf| matcher.is_match(path) || path.is_dir() && leads_into(pattern, path);
    missing.extend(links.into_iter().map(named).filter(meant).filter_map(|path| link(root, &path)));
    // A folder that the pattern means is walked, as one that a shell hands over is.
    let is_meant = |path: &PathBuf| path.ancestors().any(|above| above != Path::new("") && matcher.is_match(above));
    Ok(files.into_iter().map(named).filter(is_meant).collect())
}

fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    Ok(GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| error.to_string())?.compile_matcher())
}

/// Could something below this folder match the pattern? Its first parts decide; `**` stands for any number of them.
fn leads_into(pattern: &str, folder: &Path) -> bool {
    let depth = folder.iter().count();
    let first: Vec<_> = Path::new(pattern).iter().take(depth).collect();
    let start = first.iter().collect::<PathBuf>();
    first.iter().any(|part| *part == "**") || matcher(&start.to_string_lossy()).is_ok_and(|start| start.is_match(folder))
}

/// The agents' default folders, moved by the environment variables that the agents themselves honour. `variable` looks one up;
/// whoever calls this owns the environment.
pub fn homes(variable: &dyn Fn(&str) -> Option<String>) -> Vec<Home> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    // Without a home there are no folders below it: a relative path would belong to another account.
    let home = set("HOME").or_else(|| set("USERPROFILE")).unwrap_or_default();
    let data = set("XDG_DATA_HOME").unwrap_or_else(|| home.join(".local/share"));
    let config = set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let mut homes = Vec::new();
    let opencode = config.join("opencode");
    let mut add = |agent: &'static str, path: PathBuf| {
        let beside = |name: &str| path.parent().map(|folder| folder.join(name)).into_iter().collect();
        let settings = match agent {
            "claude-code" | "pi" | "gemini-cli" | "qwen-code" => beside("settings.json"),
            "codex" => beside("config.toml"),
            "opencode" => vec![opencode.join("opencode.json"), opencode.join("opencode.jsonc")],
            _ => Vec::new(),
        };
        homes.push(Home { agent, path, settings });
    };
    match set("CLAUDE_CONFIG_DIR") {
        Some(folder) => add("claude-code", folder.join("projects")),
        None => {
            add("claude-code", home.join(".claude/projects"));
            add("claude-code", config.join("claude/projects"));
        }
    }
    add("claude-code", home.join(".iflow/projects"));
    let codex = set("CODEX_HOME").unwrap_or_else(|| home.join(".codex"));
    add("codex", codex.join("sessions"));
    add("codex", codex.join("archived_sessions"));
    add("pi", set("PI_CODING_AGENT_DIR").unwrap_or_else(|| home.join(".pi/agent")).join("sessions"));
    add("pi", home.join(".omp/agent/sessions"));
    for name in [".openclaw", ".clawdbot", ".moltbot"] {
        add("pi", home.join(name).join("agents"));
    }
    let letta = set("LETTA_LOCAL_BACKEND_DIR").unwrap_or_else(|| home.join(".letta/lc-local-backend"));
    add("pi", letta.join("conversations"));
    add("opencode", data.join("opencode"));
    add("gemini-cli", set("GEMINI_CLI_HOME").unwrap_or_else(|| home.clone()).join(".gemini/tmp"));
    add("qwen-code", home.join(".qwen/projects"));
    add("copilot-cli", home.join(".copilot/session-state"));
    add("goose", data.join("goose/sessions"));
    add("kimi-cli", home.join(".kimi/sessions"));
    add("kimi-code", set("KIMI_CODE_HOME").unwrap_or_else(|| home.join(".kimi-code")).join("sessions"));
    add("factory-droid", home.join(".factory/sessions"));
    add("cline-cli", set("CLINE_DIR").unwrap_or_else(|| home.join(".cline")).join("data/sessions"));
    add("continue", set("CONTINUE_GLOBAL_DIR").unwrap_or_else(|| home.join(".continue")).join("sessions"));
    add("grok-cli", home.join(".grok/sessions"));
    add("junie", home.join(".junie/sessions"));
    add("mistral-vibe", set("VIBE_HOME").unwrap_or_else(|| home.join(".vibe")).join("logs/session"));
    add("muse", data.join("muse/sessions"));
    let hermes = set("HERMES_HOME").unwrap_or_else(|| home.join(".hermes"));
    add("hermes", hermes.join("state.db"));
    add("hermes", hermes.join("sessions"));
    add("zed", data.join("zed/threads"));
    add("zed", home.join("Library/Application Support/Zed/threads"));
    add("kiro-cli", home.join(".kiro/sessions"));
    add("kiro-cli", data.join("kiro-cli"));
    if let Some(folder) = set("LOCALAPPDATA") {
        add("kiro-cli", folder.join("Kiro-Cli"));
        add("zed", folder.join("Zed/threads"));
    }
    // Extensions of an editor keep their tasks where the editor says.
    for editor in [config.join("Code"), home.join("Library/Application Support/Code"), set("APPDATA").unwrap_or_default().join("Code")] {
        for extension in ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"] {
            add("cline", editor.join("User/globalStorage").join(extension).join("tasks"));
        }
    }
    homes.retain(|home| home.path.is_absolute());
    homes
}
