//! Writes the sample corpus that ships with the program: `cargo run --release --example make_transcripts -- transcripts/`.
//!
//! The same bytes come out each time: everything is drawn from one seed, and the token counts come from a fixed stand-in for the
//! providers (`corpus/provider.rs`). The table of what was written goes to `SOURCES.md` in the same folder and to the terminal.

mod corpus;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

fn main() -> ExitCode {
    let Some(folder) = env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: make_transcripts FOLDER");
        return ExitCode::from(2);
    };
    let files = corpus::files();
    if let Err(error) = write(&folder, &files) {
        eprintln!("{}: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    for file in files.iter().filter(|file| file.path.ends_with(".md")) {
        print!("{}", file.content);
    }
    ExitCode::SUCCESS
}

fn write(folder: &Path, files: &[corpus::File]) -> io::Result<()> {
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, &file.content)?;
    }
    Ok(())
}
