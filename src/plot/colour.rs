//! A scale from nothing to one that also reads in grey and by the colour-blind: white, then ever darker blue.

/// Text.
pub const INK: &str = "#222222";
/// Text that is not read first.
pub const FAINT: &str = "#666666";
/// Lines behind what is drawn.
pub const GRID: &str = "#e8e8e8";

/// The stops of the scale, evenly spaced (ColorBrewer's Blues).
const STOPS: [[f32; 3]; 5] = [
    [255.0, 255.0, 255.0],
    [198.0, 219.0, 239.0],
    [107.0, 174.0, 214.0],
    [33.0, 113.0, 181.0],
    [8.0, 48.0, 107.0],
];

/// The colour of a weight in 0..=1 as `#rrggbb`; what is outside counts as the nearest end, NaN as 0.
pub fn of(weight: f32) -> String {
    let place = if weight > 0.0 { weight.min(1.0) * (STOPS.len() - 1) as f32 } else { 0.0 };
    let stop = (place as usize).min(STOPS.len() - 2);
    let between = place - stop as f32;
    let mix = |i: usize| (STOPS[stop][i] + between * (STOPS[stop + 1][i] - STOPS[stop][i])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

/// Whether white text reads better on the colour of a weight.
pub fn is_dark(weight: f32) -> bool {
    weight > 0.55
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_white_and_dark_blue() {
        assert_eq!(
            [0.0, 1.0, 7.0, -1.0, f32::NAN].map(of),
            ["#ffffff", "#08306b", "#08306b", "#ffffff", "#ffffff"]
        );
        assert_eq!(of(0.5), "#6baed6");
    }
}
