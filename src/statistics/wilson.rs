//! How sure a share of independent cases is.

/// Wilson's interval for a share, 95 %, in millionths (E. B. Wilson, "Probable Inference", 1927). `None` of nothing.
pub fn wilson(part: u64, whole: u64) -> Option<(u64, u64)> {
    const Z: f64 = 1.959_964;
    if whole == 0 {
        return None;
    }
    let (n, share) = (whole as f64, part as f64 / whole as f64);
    let centre = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    let edge = |value: f64| ((value / (1.0 + Z * Z / n)).clamp(0.0, 1.0) * 1e6).round() as u64;
    Some((edge(centre - half), edge(centre + half)))
}
