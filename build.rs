//! Lays out, while the program is built, what counting in `o200k_base` starts with: to take the vocabulary out of its crate takes a tenth of a second,
//! which is more than most sessions take to be counted; and the kinds of characters for all patterns.

use regex_syntax::hir::{Class, HirKind};
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

/// The kinds of characters that the patterns of vocabularies tell apart, in the order of `src/estimate/letters.rs`.
const KINDS: [&str; 7] = [r"[\p{Lu}\p{Lt}]", r"\p{Ll}", r"[\p{Lm}\p{Lo}]", r"\p{M}", r"\p{N}", r"\s", r"[\p{P}\p{S}]"];

/// So many ranks without a token are passed over at most.
const MOST_GAPS: u32 = 16;

/// Characters of one page of the table of kinds.
const PAGE: usize = 256;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let folder = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo names no folder")?);
    fs::write(folder.join("o200k_base.tokens"), tokens()?)?;
    fs::write(folder.join("letters.kinds"), kinds()?)?;
    Ok(())
}

/// All tokens in the order of their ranks, each behind its length in two bytes; a rank without a token has length 0.
fn tokens() -> Result<Vec<u8>, Box<dyn Error>> {
    let engine = tiktoken::encoding::o200k_base();
    let size = engine.vocab_size();
    let (mut found, mut listing) = (0, Vec::new());
    for rank in 0..u32::try_from(size)? + MOST_GAPS {
        if found == size {
            return Ok(listing);
        }
        let token = engine.decode(&[rank]);
        found += usize::from(!token.is_empty());
        listing.extend(u16::try_from(token.len())?.to_le_bytes());
        listing.extend(token);
    }
    Err("the ranks of the vocabulary have too many gaps".into())
}

/// The page of each 256 characters, then the pages, each of which stands there once: the kind of each character.
fn kinds() -> Result<Vec<u8>, Box<dyn Error>> {
    let mut kinds = vec![0_u8; 0x11_0000];
    for (kind, class) in (1..).zip(KINDS) {
        let hir = regex_syntax::parse(class)?;
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else { return Err("no class of characters".into()) };
        for range in class.ranges() {
            kinds[range.start() as usize..=range.end() as usize].fill(kind);
        }
    }
    let mut pages: Vec<&[u8]> = Vec::new();
    let mut table = Vec::new();
    for page in kinds.chunks(PAGE) {
        let place = pages.iter().position(|known| *known == page).unwrap_or_else(|| {
            pages.push(page);
            pages.len() - 1
        });
        table.push(u8::try_from(place)?);
    }
    table.extend(pages.concat());
    Ok(table)
}
