//! Outlines and widths of letters from a TrueType file of ours. The form is that of the OpenType specification, as far as those files use it: tables
//! `cmap` (format 4), `head`, `hhea`, `hmtx`, `loca` and `glyf`. What lies outside of the file is taken for absent.

use tiny_skia::{PathBuilder, Point, Transform};

/// A glyph made of others goes no deeper.
const DEEPEST: u8 = 4;

/// A font file of ours, with what is read of its tables at once.
#[derive(Clone, Copy, Debug)]
pub struct Face {
    file: &'static [u8],
    /// Units of the square that letters are drawn in.
    pub units: u16,
    has_long_places: bool,
    widths: u16,
}

/// A glyph of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyph(u16);

impl Face {
    /// Opens a file; `None` where a table is missing.
    pub fn new(file: &'static [u8]) -> Option<Face> {
        let face = Face { file, units: 0, has_long_places: false, widths: 0 };
        let (head, hhea) = (face.table(b"head")?, face.table(b"hhea")?);
        let units = u16_at(head, 18).filter(|units| *units > 0)?;
        Some(Face { units, has_long_places: u16_at(head, 50)? == 1, widths: u16_at(hhea, 34)?, ..face })
    }

    fn table(&self, name: &[u8; 4]) -> Option<&'static [u8]> {
        let entries = (0..usize::from(u16_at(self.file, 4)?)).map(|entry| 12 + 16 * entry);
        let entry = entries.into_iter().find(|entry| self.file.get(*entry..entry + 4) == Some(name))?;
        let start = u32_at(self.file, entry + 8)? as usize;
        self.file.get(start..start.checked_add(u32_at(self.file, entry + 12)? as usize)?)
    }

    /// The glyph of a letter; `None` where the font lacks it.
    pub fn glyph(&self, letter: char) -> Option<Glyph> {
        let cmap = self.table(b"cmap")?;
        let records = (0..usize::from(u16_at(cmap, 2)?)).map(|record| 4 + 8 * record);
        let mut unicode =
            records.filter(|record| matches!((u16_at(cmap, *record), u16_at(cmap, record + 2)), (Some(0), _) | (Some(3), Some(1 | 10))));
        let found = unicode.find_map(|record| {
            let map = cmap.get(u32_at(cmap, record + 4)? as usize..)?;
            if u16_at(map, 0)? == 4 { in_segments(map, u16::try_from(letter as u32).ok()?) } else { None }
        });
        found.filter(|glyph| *glyph > 0).map(Glyph)
    }

    /// The width of a glyph, in units.
    pub fn advance(&self, glyph: Glyph) -> Option<u16> {
        u16_at(self.table(b"hmtx")?, 4 * usize::from(glyph.0.min(self.widths.checked_sub(1)?)))
    }

    /// Draws the outline of a glyph, which is in units and points up. A glyph without one draws nothing.
    pub fn draw(&self, glyph: Glyph, pen: &mut PathBuilder, at: Transform) {
        let _ = self.draw_at(glyph, pen, at, 0);
    }

    fn outline(&self, glyph: Glyph) -> Option<&'static [u8]> {
        let places = self.table(b"loca")?;
        let place = |number: usize| match self.has_long_places {
            true => u32_at(places, 4 * number).map(|place| place as usize),
            false => u16_at(places, 2 * number).map(|half| 2 * usize::from(half)),
        };
        let number = usize::from(glyph.0);
        self.table(b"glyf")?.get(place(number)?..place(number + 1)?)
    }

    fn draw_at(&self, glyph: Glyph, pen: &mut PathBuilder, at: Transform, depth: u8) -> Option<()> {
        let outline = self.outline(glyph)?;
        match u16_at(outline, 0)? as i16 {
            contours @ 0.. => simple(outline, contours as usize, pen, at),
            _ if depth < DEEPEST => self.composite(outline, pen, at, depth),
            _ => None,
        }
    }

    /// A glyph that is put together of others, each moved and perhaps scaled.
    fn composite(&self, outline: &[u8], pen: &mut PathBuilder, outer: Transform, depth: u8) -> Option<()> {
        let mut at = 10;
        loop {
            let (flags, part) = (u16_at(outline, at)?, Glyph(u16_at(outline, at + 2)?));
            at += 4;
            let shift = if flags & 1 != 0 {
                at += 4;
                [u16_at(outline, at - 4)? as i16, u16_at(outline, at - 2)? as i16]
            } else {
                at += 2;
                [i16::from(*outline.get(at - 2)? as i8), i16::from(*outline.get(at - 1)? as i8)]
            };
            // Two bits before the point, fourteen behind it.
            let mut scale = || {
                at += 2;
                u16_at(outline, at - 2).map(|value| f32::from(value as i16) / 16_384.0)
            };
            let [a, b, c, d] = if flags & 0x08 != 0 {
                let both = scale()?;
                [both, 0.0, 0.0, both]
            } else if flags & 0x40 != 0 {
                [scale()?, 0.0, 0.0, scale()?]
            } else if flags & 0x80 != 0 {
                [scale()?, scale()?, scale()?, scale()?]
            } else {
                [1.0, 0.0, 0.0, 1.0]
            };
            let inner = Transform::from_row(a, b, c, d, f32::from(shift[0]), f32::from(shift[1]));
            // A part that lies outside of the file is left out.
            let _ = self.draw_at(part, pen, outer.pre_concat(inner), depth + 1);
            if flags & 0x20 == 0 {
                return Some(());
            }
        }
    }
}

/// Format 4: segments of neighbouring letters, each with a shift or a list.
fn in_segments(map: &[u8], letter: u16) -> Option<u16> {
    let twice = usize::from(u16_at(map, 6)?);
    let ends = 14;
    let place = (0..twice / 2).find(|place| u16_at(map, ends + 2 * place).is_some_and(|end| end >= letter))?;
    let start_at = ends + twice + 2 + 2 * place;
    let (start, shift, range_at) = (u16_at(map, start_at)?, u16_at(map, start_at + twice)?, start_at + 2 * twice);
    let offset = letter.checked_sub(start)?;
    match u16_at(map, range_at)? {
        0 => Some(letter.wrapping_add(shift)),
        range => {
            let glyph = u16_at(map, range_at + usize::from(range) + 2 * usize::from(offset))?;
            Some(if glyph == 0 { 0 } else { glyph.wrapping_add(shift) })
        }
    }
}

/// A glyph of contours: the last point of each, a program that is passed over, flags, then x and y as differences.
fn simple(outline: &[u8], contours: usize, pen: &mut PathBuilder, placed: Transform) -> Option<()> {
    let ends = (0..contours).map(|contour| u16_at(outline, 10 + 2 * contour).map(usize::from)).collect::<Option<Vec<usize>>>()?;
    let points = ends.last().map_or(0, |last| last + 1);
    let mut at = 12 + 2 * contours + usize::from(u16_at(outline, 10 + 2 * contours)?);
    let mut flags = Vec::with_capacity(points);
    while flags.len() < points {
        let flag = *outline.get(at)?;
        at += 1;
        let mut times = 1;
        if flag & 8 != 0 {
            times += usize::from(*outline.get(at)?);
            at += 1;
        }
        flags.extend(std::iter::repeat_n(flag, times));
    }
    flags.truncate(points);
    let mut coordinates = |short: u8, same: u8| {
        let mut now = 0_i16;
        let each = |flag: &u8| {
            let difference = match (flag & short != 0, flag & same != 0) {
                (true, positive) => {
                    at += 1;
                    let size = i16::from(*outline.get(at - 1)?);
                    if positive { size } else { -size }
                }
                (false, true) => 0,
                (false, false) => {
                    at += 2;
                    u16_at(outline, at - 2)? as i16
                }
            };
            now = now.wrapping_add(difference);
            Some(f32::from(now))
        };
        flags.iter().map(each).collect::<Option<Vec<f32>>>()
    };
    let (xs, ys) = (coordinates(2, 16)?, coordinates(4, 32)?);
    let mut first = 0;
    for end in ends {
        let point = |place: usize| {
            let mut point = Point::from_xy(*xs.get(place)?, *ys.get(place)?);
            placed.map_point(&mut point);
            Some((point, flags.get(place)? & 1 != 0))
        };
        let _ = contour(&(first..=end).map(point).collect::<Option<Vec<_>>>()?, pen);
        first = end + 1;
    }
    Some(())
}

/// Draws a closed contour through points that lie on it or off it: between two off it lies one on it.
fn contour(points: &[(Point, bool)], pen: &mut PathBuilder) -> Option<()> {
    let mut all: Vec<(Point, bool)> = Vec::with_capacity(2 * points.len());
    for ((one, is_on), (other, is_next_on)) in points.iter().zip(points.iter().cycle().skip(1)) {
        all.push((*one, *is_on));
        if !is_on && !is_next_on {
            all.push((Point::from_xy(one.x + 0.5 * (other.x - one.x), one.y + 0.5 * (other.y - one.y)), true));
        }
    }
    let begun = all.iter().position(|(_, is_on)| *is_on)?;
    all.rotate_left(begun);
    let first = *all.first()?;
    pen.move_to(first.0.x, first.0.y);
    let mut control: Option<Point> = None;
    for (at, is_on) in all.into_iter().skip(1).chain([first]) {
        match (is_on, control.take()) {
            (true, Some(off)) => pen.quad_to(off.x, off.y, at.x, at.y),
            (true, None) => pen.line_to(at.x, at.y),
            (false, _) => control = Some(at),
        }
    }
    pen.close();
    Some(())
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
