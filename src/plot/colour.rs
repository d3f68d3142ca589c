//! The colours of pictures, on a light and on a dark ground. Weights are a scale that also reads in grey; curves are told
//! apart by the colour-blind too.

/// What is painted, whatever the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Paint {
    /// The ground itself.
    Paper,
    /// Text and lines.
    Ink,
    /// Text that is not read first, axes.
    Faint,
    /// Lines behind what is drawn.
    Grid,
    /// A weight in 0..=1; what is outside counts as the nearest end, NaN as 0.
    Weight(f32),
    /// Text on the colour of a weight.
    OnWeight(f32),
    /// The n-th curve.
    Curve(usize),
    /// What people said is right.
    Gold,
}

/// From nothing to one, evenly spaced: white, then ever darker blue (ColorBrewer's Blues).
const LIGHT_SCALE: [[f32; 3]; 5] = [
    [255.0, 255.0, 255.0],
    [198.0, 219.0, 239.0],
    [107.0, 174.0, 214.0],
    [33.0, 113.0, 181.0],
    [8.0, 48.0, 107.0],
];
/// The same on a dark ground: ever lighter.
const DARK_SCALE: [[f32; 3]; 5] =
    [[27.0, 30.0, 36.0], [24.0, 58.0, 97.0], [38.0, 106.0, 170.0], [107.0, 174.0, 214.0], [222.0, 238.0, 250.0]];

/// Okabe & Ito's, without yellow, which no white page carries.
const LIGHT_CURVES: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"];
/// The same, lighter where a dark page would swallow them.
const DARK_CURVES: [&str; 7] = ["#3d9fe0", "#f07f32", "#2fc394", "#dd9cc0", "#f2b93b", "#8ccff5", "#d8d8d8"];

impl Paint {
    /// On a light ground, as `#rrggbb`.
    pub fn light(self) -> String {
        match self {
            Self::Paper => "#ffffff".into(),
            Self::Ink => "#222222".into(),
            Self::Faint => "#666666".into(),
            Self::Grid => "#e8e8e8".into(),
            Self::Weight(weight) => mixed(&LIGHT_SCALE, weight),
            Self::OnWeight(weight) if weight > 0.66 => "#ffffff".into(),
            Self::OnWeight(weight) if weight > 0.25 => Self::Ink.light(),
            Self::OnWeight(_) => Self::Faint.light(),
            Self::Curve(n) => LIGHT_CURVES[n % LIGHT_CURVES.len()].into(),
            Self::Gold => "#d55e00".into(),
        }
    }

    /// On a dark ground, as `#rrggbb`.
    pub fn dark(self) -> String {
        match self {
            Self::Paper => "#15171c".into(),
            Self::Ink => "#e6e8ec".into(),
            Self::Faint => "#a3a9b3".into(),
            Self::Grid => "#2f343d".into(),
            Self::Weight(weight) => mixed(&DARK_SCALE, weight),
            Self::OnWeight(weight) if weight > 0.55 => "#10131a".into(),
            Self::OnWeight(weight) if weight > 0.25 => Self::Ink.dark(),
            Self::OnWeight(_) => Self::Faint.dark(),
            Self::Curve(n) => DARK_CURVES[n % DARK_CURVES.len()].into(),
            Self::Gold => "#f07f32".into(),
        }
    }
}

fn mixed(stops: &[[f32; 3]; 5], weight: f32) -> String {
    let place = if weight > 0.0 { weight.min(1.0) * (stops.len() - 1) as f32 } else { 0.0 };
    let stop = (place as usize).min(stops.len() - 2);
    let between = place - stop as f32;
    let mix = |i: usize| (stops[stop][i] + between * (stops[stop + 1][i] - stops[stop][i])).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_are_white_and_dark_blue() {
        let light = |weight| Paint::Weight(weight).light();
        assert_eq!(
            [0.0, 1.0, 7.0, -1.0, f32::NAN].map(light),
            ["#ffffff", "#08306b", "#08306b", "#ffffff", "#ffffff"]
        );
        assert_eq!(light(0.5), "#6baed6");
    }

    /// WCAG 2.1, 1.4.3: the contrast of text with what is behind it is at least 4.5 (numbers in cells: 3.8).
    #[test]
    fn text_can_be_read_on_its_ground() {
        let luminance = |colour: &str| {
            let channel = |i: usize| {
                let c = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap()) / 255.0;
                if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
        };
        let contrast = |a: &str, b: &str| {
            let [a, b] = [luminance(a), luminance(b)];
            (a.max(b) + 0.05) / (a.min(b) + 0.05)
        };
        let grounds = [Paint::light as fn(Paint) -> String, Paint::dark];
        for told in grounds {
            for text in [Paint::Ink, Paint::Faint] {
                assert!(contrast(&told(text), &told(Paint::Paper)) >= 4.5, "{text:?}");
            }
            for curve in 0..LIGHT_CURVES.len() {
                assert!(contrast(&told(Paint::Curve(curve)), &told(Paint::Paper)) >= 2.1, "curve {curve}");
            }
            for weight in (0..=100).map(|percent| percent as f32 / 100.0) {
                let contrast = contrast(&told(Paint::OnWeight(weight)), &told(Paint::Weight(weight)));
                assert!(contrast >= 3.8, "{weight}: {contrast}");
            }
        }
    }
}
