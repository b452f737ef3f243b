//! Names beside what they name, none over another one.

use super::frame::Measures;
use super::picture::{Area, Picture, Point};
use crate::list::Arrange;
use crate::report::chart::Hue;
use plotters::style::text_anchor::HPos;

/// A name beside the end of a line.
pub struct Beside<'a> {
    /// The place where the line ends.
    pub at: Point,
    /// The words that name the line.
    pub name: &'a str,
    /// The line's hue, which its name is written in.
    pub hue: Hue,
}

/// Writes names to the right of the plane, from the top down in the order of their lines, each as near to its line as the others let it.
pub fn beside(picture: &mut Picture, measures: &Measures, plane: Area, names: Vec<Beside<'_>>, right: f64) {
    // The count below must live as long as the names do.
    let mut names = names;
    names.arrange_by(|one, other| one.at.1.total_cmp(&other.at.1));
    let pitch = measures.small * 1.25;
    let (top, bottom) = (plane.top + pitch * 0.3, plane.bottom - pitch * 0.2);
    // More names than there is room for are counted in the last row.
    let room = (((bottom - top) / pitch).floor().max(0.0) as usize) + 1;
    let more = format!("and {} more", names.len().saturating_sub(room.saturating_sub(1)));
    if names.len() > room {
        names.truncate(room);
        if let Some(last) = names.last_mut() {
            *last = Beside { at: (plane.right, bottom), name: &more, hue: Hue::Limit };
        }
    }
    let wanted: Vec<f64> = names.iter().map(|name| name.at.1).collect();
    let left = plane.right + measures.letters * 1.4;
    let hand = measures.hand(picture.theme.ink());
    for (name, y) in names.iter().zip(spread(&wanted, pitch, top, bottom)) {
        let colour = picture.theme.colour(name.hue);
        let (x, end) = name.at;
        // Up to the edge the line does not go on: what leads to its name is no part of it.
        picture.line(vec![(x, end), (plane.right, end)], picture.theme.rule(), measures.line * 0.5, &[1.0, 3.0]);
        picture.line(vec![(plane.right, end), (left - 3.0, y)], colour, measures.line * 0.6, &[]);
        picture.write(name.name, (left, y + measures.small * 0.34), HPos::Left, hand, right - left);
    }
}

/// Moves sorted places apart until they keep their distance, and back into their bounds as far as that goes.
pub fn spread(wanted: &[f64], pitch: f64, top: f64, bottom: f64) -> Vec<f64> {
    // Groups of places that touch: where the first one stands without moving, summed, and how many there are.
    let mut groups: Vec<(f64, usize)> = Vec::new();
    for y in wanted {
        let mut group = (*y, 1);
        // Within a group, place n stands n pitches below the first: the mean of what all of them want decides.
        while let Some((sum, count)) = groups.last().copied() {
            let end = sum / count as f64 + count as f64 * pitch;
            if end <= group.0 / group.1 as f64 {
                break;
            }
            groups.pop();
            group = (sum + group.0 - (count * group.1) as f64 * pitch, count + group.1);
        }
        groups.push(group);
    }
    let mut places = Vec::with_capacity(wanted.len());
    for (sum, count) in groups {
        let first = sum / count as f64;
        places.extend((0..count).map(|place| first + place as f64 * pitch));
    }
    let mut least = top;
    for place in &mut places {
        *place = place.max(least);
        least = *place + pitch;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - pitch;
    }
    places
}

/// Where names and dots stand already.
pub struct Spots {
    bounds: Area,
    taken: Vec<Area>,
}

impl Spots {
    /// Room in these bounds, with nothing in it.
    pub fn new(bounds: Area) -> Spots {
        Spots { bounds, taken: Vec::new() }
    }

    /// Takes the square around a point, so that no name is put there.
    pub fn take_around(&mut self, (x, y): Point, radius: f64) {
        self.taken.push(Area { left: x - radius, top: y - radius, right: x + radius, bottom: y + radius });
    }

    /// A line runs here, so wide: small areas along it are taken.
    pub fn take_along(&mut self, line: &[Point], width: f64) {
        const PITCH: f64 = 4.0;
        for pair in line.windows(2) {
            let [(from_x, from_y), (to_x, to_y)] = *pair else { continue };
            let steps = ((to_x - from_x).hypot(to_y - from_y) / PITCH).ceil().clamp(1.0, 4096.0) as usize;
            for step in 0..=steps {
                let part = step as f64 / steps as f64;
                self.take_around((from_x + (to_x - from_x) * part, from_y + (to_y - from_y) * part), width);
            }
        }
    }

    /// Writes a name as near to a dot as there is room; farther away with a line to it.
    pub fn name(&mut self, picture: &mut Picture, measures: &Measures, (x, y): Point, name: &str, hue: Hue) {
        let hand = measures.hand(picture.theme.ink());
        let width = picture.width_of(name, hand).min(self.bounds.width() * 0.45);
        let (up, down) = (measures.small * 0.78, measures.small * 0.24);
        let steps = [1.0, 2.0, 3.2, 4.6, 6.2, 8.0, 10.0, 13.0];
        let sides = [(1.0, 0.0), (-1.0, 0.0), (0.0, -1.0), (0.0, 1.0), (0.8, -0.8), (0.8, 0.8), (-0.8, -0.8), (-0.8, 0.8)];
        let spots = steps.iter().flat_map(|step| sides.iter().map(move |side| (*step, *side)));
        let placed = spots.map(|(step, (across, below))| {
            let away = measures.radius * 1.3 + (step - 1.0) * measures.letters * 0.75;
            let left = if across > 0.0 {
                x + across * away + 2.0
            } else if across < 0.0 {
                x + across * away - 2.0 - width
            } else {
                x - width / 2.0
            };
            let middle = y + below * (away + measures.small * 0.6);
            let baseline = middle + (up - down) / 2.0;
            (step, Area { left, top: baseline - up, right: left + width, bottom: baseline + down }, baseline)
        });
        let free = |area: &Area| area.within(&self.bounds) && !self.taken.iter().any(|taken| taken.meets(area));
        let lead = |step: f64, area: &Area| if step > 1.0 { leader((x, y), area, measures.radius * 1.3) } else { Vec::new() };
        let clear = |lead: &[Area]| !lead.iter().any(|spot| self.taken.iter().any(|taken| taken.meets(spot)));
        let possible: Vec<(f64, Area, f64)> = placed.filter(|(_, area, _)| free(area)).collect();
        // A line that crosses another name is better than no name.
        let found = possible.iter().find(|(step, area, _)| clear(&lead(*step, area))).or(possible.first());
        let Some((step, area, baseline)) = found.copied() else { return };
        if step > 1.0 {
            picture.line(vec![(x, y), nearest((x, y), &area)], picture.theme.colour(hue), measures.line * 0.5, &[]);
            self.taken.extend(leader((x, y), &area, measures.radius * 1.3));
        }
        picture.write(name, (area.left, baseline), HPos::Left, hand, width + 0.5);
        self.taken.push(area);
    }
}

/// The point of an area that is nearest to another point.
fn nearest((x, y): Point, area: &Area) -> Point {
    (x.clamp(area.left, area.right), y.clamp(area.top, area.bottom))
}

/// Small areas along the line from a dot to its name, the dot itself left out.
fn leader((x, y): Point, area: &Area, radius: f64) -> Vec<Area> {
    const SPOTS: usize = 12;
    let (to_x, to_y) = nearest((x, y), area);
    let spot = |place: usize| {
        let part = place as f64 / SPOTS as f64;
        let (x, y) = (x + (to_x - x) * part, y + (to_y - y) * part);
        Area { left: x - 1.0, top: y - 1.0, right: x + 1.0, bottom: y + 1.0 }
    };
    let away = |spot: &Area| (spot.left + 1.0 - x).hypot(spot.top + 1.0 - y) > radius;
    (0..SPOTS).map(spot).filter(away).collect()
}
