//! What a mistyped name most likely stands for.

/// So many bytes may a word have that is taken for a mistyped name.
const LONGEST: usize = 128;

/// "; did you mean `x`?" for the known name that is nearest to an unknown one, or nothing where none is near.
pub fn suggestion<'a>(unknown: &str, known: impl Iterator<Item = &'a str>) -> String {
    // No name is so long, and comparing takes the product of both lengths.
    if unknown.len() > LONGEST {
        return String::new();
    }
    // Whoever stops early means the shortest name that goes on so.
    let rank = |name: &'a str| {
        let goes_on = unknown.len() >= 3 && name.starts_with(unknown);
        (if goes_on { 0 } else { strsim::damerau_levenshtein(unknown, name) }, name.len(), name)
    };
    match known.map(rank).min() {
        Some((distance, _, name)) if distance <= 2 || distance * 3 <= unknown.len() => format!("; did you mean `{name}`?"),
        _ => String::new(),
    }
}
