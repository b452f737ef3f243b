//! How sure a share of independent cases is.

use super::normal::NORMAL;

/// Wilson's interval for a share, at the level of all intervals, in millionths (E. B. Wilson, "Probable Inference", 1927). `None` of nothing.
pub fn wilson(part: u64, whole: u64) -> Option<(u64, u64)> {
    if whole == 0 {
        return None;
    }
    let z = *NORMAL;
    let (n, share) = (whole as f64, part as f64 / whole as f64);
    let centre = share + z * z / (2.0 * n);
    let half = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let edge = |value: f64| ((value / (1.0 + z * z / n)).clamp(0.0, 1.0) * 1e6).round() as u64;
    Some((edge(centre - half), edge(centre + half)))
}
