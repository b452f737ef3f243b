//! What `cargo package` would publish: all that the program is built from, its licences, and nothing that only the repository needs.

use crate::support::{names_below, project, skip};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;

/// Registries take packages up to 10 MB; ours stays far below.
const PACKED_AT_MOST: usize = 4_000_000;

/// The files of the package. None where there is no cargo to ask.
fn listed() -> Option<Vec<String>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let asked = Command::new(cargo)
        .current_dir(project())
        .args(["package", "-p", "ctxsim", "--list", "--offline", "--allow-dirty", "--quiet"])
        .output();
    let Ok(output) = asked else {
        skip("CTXSIM_REQUIRE_PROGRAMS", "no cargo that lists the package");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap().lines().map(|line| line.replace('\\', "/")).collect())
}

#[test]
fn the_package_holds_what_it_needs_and_nothing_else() {
    let Some(listed) = listed() else { return };
    let needed = [
        "Cargo.lock",
        "LICENSE-APACHE",
        "LICENSE-MIT",
        "THIRD-PARTY.md",
        "licences/llama3.txt",
        "README.md",
        "CHANGELOG.md",
        "assets/uplot/LICENSE",
        "src/render/chart/font/LICENSE",
        "src/main.rs",
        "docs/commands.md",
        "transcripts/SOURCES.md",
    ];
    for name in needed {
        assert!(listed.iter().any(|known| known == name), "{name} is missing");
    }
    let unwanted = [".cargo/", "reports/", "tests/", "fuzz/", ".ci/", ".github/", "packaging/", "python/", "target/"];
    let strangers: Vec<&String> = listed.iter().filter(|name| unwanted.iter().any(|folder| name.starts_with(folder))).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    // A first minute with the package needs the samples: all of them are in it.
    let samples = names_below(&project().join("transcripts"));
    assert!(samples.len() > 10 && samples.iter().all(|name| listed.contains(&format!("transcripts/{name}"))), "{samples:?}");
}

/// Whatever is compiled in stands in the package.
#[test]
fn what_is_compiled_in_is_packed() {
    let Some(listed) = listed() else { return };
    let mut included = 0;
    for name in listed.iter().filter(|name| name.starts_with("src/") && name.ends_with(".rs")) {
        let source = fs::read_to_string(project().join(name)).unwrap();
        let folder = Path::new(name).parent().unwrap();
        for (_, after) in
            ["include_str!(\"", "include_bytes!(\""].iter().flat_map(|word| source.split(word).skip(1).map(move |after| (word, after)))
        {
            let path = folder.join(after.split('"').next().unwrap());
            let mut plain: Vec<&str> = Vec::new();
            for piece in path.to_str().unwrap().split('/') {
                if piece == ".." { plain.truncate(plain.len() - 1) } else { plain.push(piece) }
            }
            assert!(listed.contains(&plain.join("/")), "{name} includes {}", path.display());
            included += 1;
        }
    }
    assert!(included > 30, "{included}");
}

/// A compressed archive of the same files is as large as the package.
#[test]
fn the_package_is_small_enough_to_be_published() {
    let Some(listed) = listed() else { return };
    let mut packed = GzEncoder::new(Vec::new(), Compression::default());
    let mut whole = 0;
    for name in &listed {
        // What cargo writes itself (the original manifest, the commit) stands in no folder.
        let Ok(bytes) = fs::read(project().join(name)) else { continue };
        whole += bytes.len();
        packed.write_all(&bytes).unwrap();
    }
    let size = packed.finish().unwrap().len();
    println!("{} files, {whole} bytes, packed {size}", listed.len());
    assert!(size < PACKED_AT_MOST, "{size} of {whole} bytes");
}
