//! Outlines and widths of letters from a TrueType file of ours. The form is that of the OpenType specification, as far as those files use it: tables
//! `cmap` (formats 4 and 12), `head`, `hhea`, `hmtx`, `loca` and `glyf`. What lies outside of the file is taken for absent.

use super::pen::Pen;

/// A glyph made of others goes no deeper.
const DEEPEST: u8 = 4;

/// A font file.
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

/// From the units of a glyph to the place where it is drawn: two columns and a shift.
type Matrix = [f32; 6];

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
            match u16_at(map, 0)? {
                4 => in_segments(map, u16::try_from(letter as u32).ok()?),
                12 => in_groups(map, letter as u32),
                _ => None,
            }
        });
        found.filter(|glyph| *glyph > 0).map(Glyph)
    }

    /// The width of a glyph, in units.
    pub fn advance(&self, glyph: Glyph) -> Option<u16> {
        u16_at(self.table(b"hmtx")?, 4 * usize::from(glyph.0.min(self.widths.checked_sub(1)?)))
    }

    /// Draws the outline of a glyph, in units, y pointing up. A glyph without one draws nothing.
    pub fn draw(&self, glyph: Glyph, pen: &mut dyn Pen) {
        let _ = self.draw_at(glyph, pen, [1.0, 0.0, 0.0, 1.0, 0.0, 0.0], 0);
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

    fn draw_at(&self, glyph: Glyph, pen: &mut dyn Pen, matrix: Matrix, depth: u8) -> Option<()> {
        let outline = self.outline(glyph)?;
        match u16_at(outline, 0)? as i16 {
            contours @ 0.. => simple(outline, contours as usize, pen, matrix),
            _ if depth < DEEPEST => self.composite(outline, pen, matrix, depth),
            _ => None,
        }
    }

    /// A glyph that is put together of others, each moved and perhaps scaled.
    fn composite(&self, outline: &[u8], pen: &mut dyn Pen, matrix: Matrix, depth: u8) -> Option<()> {
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
            let inner = [a, b, c, d, f32::from(shift[0]), f32::from(shift[1])];
            // A part that lies outside of the file is left out.
            let _ = self.draw_at(part, pen, joined(matrix, inner), depth + 1);
            if flags & 0x20 == 0 {
                return Some(());
            }
        }
    }
}

fn joined(outer: Matrix, inner: Matrix) -> Matrix {
    let [a, b, c, d, ..] = outer;
    let column = |x: f32, y: f32| [a * x + c * y, b * x + d * y];
    let ([ia, ib], [ic, id]) = (column(inner[0], inner[1]), column(inner[2], inner[3]));
    let (x, y) = moved(outer, inner[4], inner[5]);
    [ia, ib, ic, id, x, y]
}

fn moved([a, b, c, d, e, f]: Matrix, x: f32, y: f32) -> (f32, f32) {
    (a * x + c * y + e, b * x + d * y + f)
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

/// Format 12: groups of neighbouring letters.
fn in_groups(map: &[u8], letter: u32) -> Option<u16> {
    let groups = (0..u32_at(map, 12)? as usize).map(|group| 16 + 12 * group);
    let within =
        |group: &usize| u32_at(map, *group).zip(u32_at(map, group + 4)).is_some_and(|(first, last)| (first..=last).contains(&letter));
    let group = groups.into_iter().take_while(|group| map.len() > *group).find(within)?;
    u16::try_from(u32_at(map, group + 8)? + letter - u32_at(map, group)?).ok()
}

/// A glyph of contours: the last point of each, a program that is passed over, flags, then x and y as differences.
fn simple(outline: &[u8], contours: usize, pen: &mut dyn Pen, matrix: Matrix) -> Option<()> {
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
        let mut contour = Contour { pen: &mut *pen, begun: None, first_off: None, last_off: None };
        for place in first..=end {
            contour.point(moved(matrix, *xs.get(place)?, *ys.get(place)?), flags.get(place)? & 1 != 0);
        }
        contour.close();
        first = end + 1;
    }
    Some(())
}

/// A contour on its way: between two points off the curve lies one on it.
struct Contour<'p> {
    pen: &'p mut dyn Pen,
    begun: Option<(f32, f32)>,
    first_off: Option<(f32, f32)>,
    last_off: Option<(f32, f32)>,
}

fn between(one: (f32, f32), other: (f32, f32)) -> (f32, f32) {
    (one.0 + 0.5 * (other.0 - one.0), one.1 + 0.5 * (other.1 - one.1))
}

fn wide((x, y): (f32, f32)) -> (f64, f64) {
    (f64::from(x), f64::from(y))
}

impl Contour<'_> {
    fn curve(&mut self, control: (f32, f32), to: (f32, f32)) {
        self.pen.quad_to(wide(control), wide(to));
    }

    fn begin(&mut self, at: (f32, f32)) {
        self.begun = Some(at);
        self.pen.move_to(wide(at));
    }

    fn point(&mut self, at: (f32, f32), on_curve: bool) {
        match (self.begun, on_curve) {
            (None, true) => self.begin(at),
            (None, false) => match self.first_off {
                Some(off) => {
                    self.begin(between(off, at));
                    self.last_off = Some(at);
                }
                None => self.first_off = Some(at),
            },
            (Some(_), true) => match self.last_off.take() {
                Some(off) => self.curve(off, at),
                None => self.pen.line_to(wide(at)),
            },
            (Some(_), false) => {
                if let Some(off) = self.last_off.replace(at) {
                    self.curve(off, between(off, at));
                }
            }
        }
    }

    fn close(mut self) {
        let Some(begun) = self.begun else { return };
        if let (Some(first), Some(last)) = (self.first_off, self.last_off) {
            self.last_off = None;
            self.curve(last, between(last, first));
        }
        match self.first_off.or(self.last_off) {
            Some(off) => self.curve(off, begun),
            None => self.pen.line_to(wide(begun)),
        }
        self.pen.close();
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}
