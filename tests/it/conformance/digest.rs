//! Long texts of vectors are given by their SHA-256: a text against its digest.

use serde_json::Value;

/// Is this the text that the vector describes? `Err` says in what they differ.
pub fn same(text: &str, expected: &Value) -> Result<(), String> {
    same_bytes(text.as_bytes(), expected)
}

/// As [`same`], for outputs that are not always text.
pub fn same_bytes(bytes: &[u8], expected: &Value) -> Result<(), String> {
    if let Some(text) = expected["text"].as_str() {
        let got = String::from_utf8_lossy(bytes);
        return if got == text { Ok(()) } else { Err(format!("{got:?} instead of {text:?}")) };
    }
    let (got, wanted) = (sha256(bytes), expected["sha256"].as_str().unwrap_or("no digest"));
    if got == wanted {
        return Ok(());
    }
    let text = String::from_utf8_lossy(bytes);
    let tail: String = text.chars().skip(text.chars().count().saturating_sub(60)).collect();
    Err(format!("{} bytes ending in {tail:?} instead of {} bytes ending in {:?}", bytes.len(), expected["bytes"], expected["tail"]))
}

/// FIPS 180-4, with constants worked out from the primes that they come from.
fn sha256(message: &[u8]) -> String {
    let primes: Vec<u64> = (2..312).filter(|n| (2..*n).take_while(|d| d * d <= *n).all(|d| n % d != 0)).collect();
    let constants: Vec<u32> = primes[..64].iter().map(|prime| root_fraction(*prime, 3)).collect();
    let mut state: Vec<u32> = primes[..8].iter().map(|prime| root_fraction(*prime, 2)).collect();
    let mut padded = message.to_vec();
    padded.push(0x80);
    while padded.len() % 64 != 56 {
        padded.push(0);
    }
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    for block in padded.chunks(64) {
        let mut words: Vec<u32> = block.chunks(4).map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).collect();
        for t in 16..64 {
            let (a, b) = (words[t - 15], words[t - 2]);
            let low = a.rotate_right(7) ^ a.rotate_right(18) ^ (a >> 3);
            let high = b.rotate_right(17) ^ b.rotate_right(19) ^ (b >> 10);
            words.push(words[t - 16].wrapping_add(low).wrapping_add(words[t - 7]).wrapping_add(high));
        }
        let mut v = state.clone();
        for t in 0..64 {
            let mix = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let choice = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let first = v[7].wrapping_add(mix).wrapping_add(choice).wrapping_add(constants[t]).wrapping_add(words[t]);
            let mix = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let second = mix.wrapping_add((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
            v.rotate_right(1);
            v[0] = first.wrapping_add(second);
            v[4] = v[4].wrapping_add(first);
        }
        state.iter_mut().zip(v).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
    }
    state.iter().map(|word| format!("{word:08x}")).collect()
}

/// The first 32 bits of the fraction of a square or cube root.
fn root_fraction(prime: u64, degree: u32) -> u32 {
    let wanted = u128::from(prime) << (32 * degree);
    let (mut low, mut high) = (0_u128, 1 << 38);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if middle.pow(degree) <= wanted { low = middle } else { high = middle }
    }
    low as u32
}

#[test]
fn digests_are_those_of_the_standard() {
    assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}
