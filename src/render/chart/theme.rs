//! Colours, dashes and symbols. The colours are those of Okabe and Ito ("Color Universal Design", 2008), which people with any kind of
//! colour blindness can tell apart; dashes and symbols do the same on grey paper.

use crate::report::chart::{Hue, Symbol};

/// What a chart is drawn on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// White paper, under dark letters.
    #[default]
    Light,
    /// A dark screen, under light letters.
    Dark,
}

/// A colour by its shares of red, green and blue, of 255 each.
pub use plotters::style::RGBColor as Colour;

const fn rgb(code: u32) -> Colour {
    Colour((code >> 16) as u8, (code >> 8) as u8, code as u8)
}

/// On white: Okabe and Ito's colours less yellow, sky blue and orange a little darker so that lines stand out.
const ON_LIGHT: [Colour; 6] = [rgb(0x0072b2), rgb(0xd55e00), rgb(0x009e73), rgb(0xb8578e), rgb(0xc98500), rgb(0x2f8fc4)];

/// On dark: the same hues, lighter.
const ON_DARK: [Colour; 6] = [rgb(0x4aa8e8), rgb(0xff8a3d), rgb(0x2ec79a), rgb(0xe79bc6), rgb(0xf0b429), rgb(0x9fd8ff)];

/// From nothing to all, even in lightness: light to dark on paper, dark to light on a screen.
const RAMP_ON_LIGHT: [Colour; 5] = [rgb(0xeef3f8), rgb(0xbcd3e8), rgb(0x7fadd3), rgb(0x3f7fb5), rgb(0x0b3d70)];
const RAMP_ON_DARK: [Colour; 5] = [rgb(0x1e2a38), rgb(0x23507a), rgb(0x3a80b8), rgb(0x7db6e0), rgb(0xdcefff)];

/// Dashes, in widths of the line.
const DASHES: [&[f64]; 6] = [&[], &[5.0, 2.0], &[1.2, 1.8], &[7.0, 2.0, 1.5, 2.0], &[3.0, 1.5], &[9.0, 3.0]];

const SYMBOLS: [Symbol; 6] = [Symbol::Disc, Symbol::Square, Symbol::Up, Symbol::Diamond, Symbol::Down, Symbol::Ring];

impl Theme {
    /// What lies behind everything.
    pub fn background(self) -> Colour {
        self.of(0xffffff, 0x14181e)
    }

    /// Titles, names and what was recorded.
    pub fn ink(self) -> Colour {
        self.of(0x1b1f24, 0xe9edf2)
    }

    /// Text that stands back. It keeps a contrast of 7 to 1.
    pub fn soft(self) -> Colour {
        self.of(0x4f5861, 0xaab4c0)
    }

    /// Lines of the grid.
    pub fn grid(self) -> Colour {
        self.of(0xe3e7eb, 0x2b323b)
    }

    /// The lines of axes, and limits.
    pub fn rule(self) -> Colour {
        self.of(0x77808a, 0x7f8a97)
    }

    /// The colour of a hue.
    pub fn colour(self, hue: Hue) -> Colour {
        match hue {
            Hue::Recorded => self.ink(),
            Hue::Limit => self.rule(),
            Hue::Own => self.of(0x8a1c5f, 0xff9ed6),
            Hue::Gone => self.of(0xc6ccd2, 0x3d4550),
            Hue::Alarm => self.of(0xc7321b, 0xff6b57),
            Hue::Other(place) => {
                let colours = if self == Theme::Light { ON_LIGHT } else { ON_DARK };
                colours.get(place % colours.len()).copied().unwrap_or(self.ink())
            }
        }
    }

    /// A colour for this part of the way from nothing to all.
    pub fn ramp(self, share: f64) -> Colour {
        let ramp = if self == Theme::Light { RAMP_ON_LIGHT } else { RAMP_ON_DARK };
        let place = share.clamp(0.0, 1.0) * (ramp.len() - 1) as f64;
        let (low, part) = (place.floor() as usize, place.fract());
        let colour = |place: usize| ramp.get(place.min(ramp.len() - 1)).copied().unwrap_or(self.ink());
        let (one, other) = (colour(low), colour(low + 1));
        let mixed = |one: u8, other: u8| (f64::from(one) + (f64::from(other) - f64::from(one)) * part).round() as u8;
        Colour(mixed(one.0, other.0), mixed(one.1, other.1), mixed(one.2, other.2))
    }

    fn of(self, light: u32, dark: u32) -> Colour {
        rgb(if self == Theme::Light { light } else { dark })
    }
}

/// Black or white, whichever is easier to read on a colour, by its relative luminance (WCAG 2).
pub fn legible(Colour(red, green, blue): Colour) -> Colour {
    let part = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.03928 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    let luminance = 0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue);
    if luminance > 0.18 { Colour(0x10, 0x14, 0x18) } else { Colour(0xff, 0xff, 0xff) }
}

/// The dash of a hue's lines, in widths of the line.
pub fn dash(hue: Hue) -> &'static [f64] {
    match hue {
        Hue::Recorded | Hue::Own | Hue::Alarm => &[],
        Hue::Limit | Hue::Gone => &[4.0, 3.0],
        Hue::Other(place) => DASHES.get((place + place / DASHES.len()) % DASHES.len()).copied().unwrap_or(&[]),
    }
}

/// The symbol of a hue's dots.
pub fn symbol(hue: Hue) -> Symbol {
    match hue {
        // None of a policy's own.
        Hue::Recorded => Symbol::Plus,
        Hue::Own => Symbol::Star,
        Hue::Limit | Hue::Gone => Symbol::Speck,
        Hue::Alarm => Symbol::Cross,
        Hue::Other(place) => SYMBOLS.get((place + place / SYMBOLS.len()) % SYMBOLS.len()).copied().unwrap_or(Symbol::Disc),
    }
}
