//! What letters are drawn with.

/// Something that draws outlines.
pub trait Pen {
    /// Begins a contour.
    fn move_to(&mut self, at: (f64, f64));
    /// Draws a straight line.
    fn line_to(&mut self, at: (f64, f64));
    /// Draws a curve with one control point.
    fn quad_to(&mut self, control: (f64, f64), at: (f64, f64));
    /// Ends the contour.
    fn close(&mut self);
}
