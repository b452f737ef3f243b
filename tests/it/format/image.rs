use ctxsim::format::ground::image::{from_base64, from_data_url};
use ctxsim::transcript::Image;

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let value = group.iter().fold(0u32, |value, byte| value << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let sextet = (value >> (18 - 6 * place) & 63) as usize;
            text.push(if place <= group.len() { ALPHABET[sextet] as char } else { '=' });
        }
    }
    text
}

fn size(bytes: &[u8]) -> (u32, u32) {
    let image = from_base64(&base64(bytes));
    (image.width, image.height)
}

#[test]
fn sizes_of_the_four_formats() {
    assert_eq!(size(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x03\x20\0\0\x02\x58"), (800, 600));
    assert_eq!(size(b"GIF89a\x20\x03\x58\x02"), (800, 600));
    assert_eq!(size(b"RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x1f\x03\0\x57\x02\0"), (800, 600));
    assert_eq!(size(b"RIFF\0\0\0\0WEBPVP8 \0\0\0\0\0\0\0\x9d\x01\x2a\x20\x03\x58\x02"), (800, 600));
    let bits: u32 = 799 | 599 << 14;
    let lossless = [b"RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f".as_slice(), &bits.to_le_bytes()].concat();
    assert_eq!(size(&lossless), (800, 600));
    // A JPEG whose frame header lies behind a long segment with data of the camera.
    let camera = [b"\xff\xd8\xff\xe1\x13\x88".as_slice(), &[7; 4998]].concat();
    let jpeg = [camera.as_slice(), b"\xff\xff\xc2\0\x11\x08\x02\x58\x03\x20"].concat();
    assert_eq!(size(&jpeg), (800, 600));
}

#[test]
fn wrapped_lines_and_addresses() {
    let text = base64(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x03\x20\0\0\x02\x58");
    let wrapped = format!("{}\r\n{}", &text[..10], &text[10..]);
    assert_eq!(from_base64(&wrapped), Image { width: 800, height: 600, bytes: wrapped.len() as u32, address: 0 });
    assert_eq!(
        from_data_url(&format!("data:image/png;base64,{text}")),
        Image { width: 800, height: 600, bytes: text.len() as u32, address: 22 }
    );
    let url = "https://example.org/a.png";
    assert_eq!(from_data_url(url), Image { address: url.len() as u32, ..Image::default() });
    // Data that is no base64 is as long as it is written.
    let drawn = "data:image/svg+xml,<svg/>";
    assert_eq!(from_data_url(drawn), Image { address: drawn.len() as u32, ..Image::default() });
    let odd = format!("DATA:image/png;name=a;BASE64,{text}");
    assert_eq!(from_data_url(&odd), Image { width: 800, height: 600, bytes: text.len() as u32, address: 29 });
}

#[test]
fn what_is_no_picture_has_no_size() {
    for text in ["", "=", "iVBO", "####", "/9j/", "R0lGODlh", "UklGRgAAAABXRUJQVlA4WA", "ünï"] {
        let image = from_base64(text);
        assert_eq!((image.width, image.height), (0, 0), "{text}");
    }
}
