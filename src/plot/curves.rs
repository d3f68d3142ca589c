//! Curves over a common axis, as SVG.

use super::colour::{FAINT, GRID, INK};
use super::failed;
use super::svg::{Svg, Type, width};
use crate::error::Result;

/// How numbers become places on an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By their logarithm; what is not greater than 0 is left out.
    Log,
}

/// Curves to draw.
#[derive(Clone, Copy, Debug)]
pub struct Chart<'a> {
    /// What they show.
    pub title: &'a str,
    /// What the axes are: across, up.
    pub axes: [&'a str; 2],
    /// How they are scaled.
    pub scales: [Scale; 2],
    /// The places across.
    pub x: &'a [f64],
    /// Names, and a value for each place.
    pub series: &'a [(String, Vec<f64>)],
}

const WIDTH: f32 = 460.0;
const HEIGHT: f32 = 280.0;
const LEFT: f32 = 84.0;
const TOP: f32 = 40.0;
const FONT: f32 = 13.0;
/// Told apart by the colour-blind too (Okabe & Ito).
const COLOURS: [&str; 6] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];

/// Draws curves as SVG.
///
/// # Errors
/// None that a user could cause.
pub fn svg(chart: &Chart<'_>) -> Result<String> {
    draw(chart).map_err(failed)
}

fn draw(chart: &Chart<'_>) -> std::io::Result<String> {
    let names = chart.series.iter().map(|(name, _)| width(name, FONT)).fold(0.0, f32::max);
    let mut svg = Svg::new(LEFT + WIDTH + names + 60.0, TOP + HEIGHT + 60.0, chart.title)?;
    let text = Type { size: FONT, anchor: "middle", fill: INK, turn: 0.0 };
    svg.text([LEFT + WIDTH / 2.0, 22.0], chart.title, Type { size: 15.0, ..text })?;
    let across = Axis::new(chart.scales[0], chart.x.iter().copied(), Ends::Theirs, WIDTH);
    let values = chart.series.iter().flat_map(|(_, y)| y.iter().copied());
    let up = Axis::new(chart.scales[1], values, Ends::Round, HEIGHT);
    let place = |x: f64, y: f64| Some([LEFT + across.place(x)?, TOP + HEIGHT - up.place(y)?]);

    let tick = Type { size: 11.0, fill: FAINT, ..text };
    for (y, label) in up.ticks() {
        svg.line(&[[LEFT, TOP + HEIGHT - y], [LEFT + WIDTH, TOP + HEIGHT - y]], GRID, 1.0)?;
        svg.text([LEFT - 8.0, TOP + HEIGHT - y + 4.0], &label, Type { anchor: "end", ..tick })?;
    }
    for &x in chart.x {
        if let Some(at) = across.place(x) {
            svg.text([LEFT + at, TOP + HEIGHT + 18.0], &number(x), tick)?;
        }
    }
    svg.line(&[[LEFT, TOP], [LEFT, TOP + HEIGHT], [LEFT + WIDTH, TOP + HEIGHT]], FAINT, 1.0)?;
    svg.text([LEFT + WIDTH / 2.0, TOP + HEIGHT + 42.0], chart.axes[0], text)?;
    svg.text([18.0, TOP + HEIGHT / 2.0], chart.axes[1], Type { turn: -90.0, ..text })?;

    for (i, (name, values)) in chart.series.iter().enumerate() {
        let colour = COLOURS[i % COLOURS.len()];
        let points: Vec<[f32; 2]> = chart.x.iter().zip(values).filter_map(|(&x, &y)| place(x, y)).collect();
        svg.line(&points, colour, 2.0)?;
        for &[x, y] in &points {
            svg.rect([x - 2.5, y - 2.5, 5.0, 5.0], colour, None)?;
        }
        let y = TOP + 10.0 + i as f32 * (FONT + 8.0);
        svg.rect([LEFT + WIDTH + 14.0, y - 8.0, 10.0, 10.0], colour, None)?;
        svg.text([LEFT + WIDTH + 30.0, y + 2.0], name, Type { anchor: "start", ..text })?;
    }
    Ok(svg.finish())
}

/// Where an axis ends.
#[derive(Clone, Copy)]
enum Ends {
    /// At the least and the greatest number.
    Theirs,
    /// At round numbers beyond them, or at 0.
    Round,
}

/// From numbers to places.
struct Axis {
    scale: Scale,
    from: f64,
    to: f64,
    length: f32,
}

impl Axis {
    fn new(scale: Scale, numbers: impl Iterator<Item = f64>, ends: Ends, length: f32) -> Self {
        let usable = numbers.filter(|x| x.is_finite() && (scale == Scale::Linear || *x > 0.0));
        let (from, to) = usable.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let (from, to) = match (ends, scale) {
            (Ends::Theirs, _) => (from, to),
            (Ends::Round, Scale::Log) => (10f64.powf(from.log10().floor()), 10f64.powf(to.log10().ceil())),
            (Ends::Round, Scale::Linear) => {
                let (from, to) = (from.min(0.0), to.max(0.0));
                let step = step(to - from);
                (step * (from / step).floor(), step * (to / step).ceil())
            }
        };
        // A single number, or none, stands in the middle of something.
        let (from, to) = if from < to { (from, to) } else { (0.5, 1.5) };
        Self { scale, from, to, length }
    }

    fn place(&self, x: f64) -> Option<f32> {
        let share = match self.scale {
            Scale::Linear => (x - self.from) / (self.to - self.from),
            Scale::Log if x > 0.0 => (x / self.from).ln() / (self.to / self.from).ln(),
            Scale::Log => return None,
        };
        share.is_finite().then_some(share as f32 * self.length)
    }

    fn ticks(&self) -> Vec<(f32, String)> {
        let numbers: Vec<f64> = match self.scale {
            Scale::Linear => {
                let step = step(self.to - self.from);
                let first = (self.from / step).ceil() as i64;
                (first..).map(|i| i as f64 * step).take_while(|x| *x <= self.to + step * 1e-9).collect()
            }
            Scale::Log => {
                let (first, last) = (self.from.log10().round() as i32, self.to.log10().round() as i32);
                let step = ((last - first) / 5).max(1) as usize;
                (first..=last).step_by(step).map(|power| 10f64.powi(power)).collect()
            }
        };
        numbers.into_iter().filter_map(|x| Some((self.place(x)?, number(x)))).collect()
    }
}

/// The step of about five ticks in a length: 1, 2 or 5 times a power of ten.
fn step(length: f64) -> f64 {
    let rough = if length > 0.0 { length / 5.0 } else { 1.0 };
    let power = 10f64.powf(rough.log10().floor());
    let times = [1.0, 2.0, 5.0].into_iter().find(|times| times * power >= rough * (1.0 - 1e-9)).unwrap_or(10.0);
    times * power
}

fn number(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if !(1e-3..1e5).contains(&size) => format!("{x:.0e}"),
        _ => {
            let text = format!("{x:.3}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_numbers_stand_higher_and_zeros_are_left_out_of_logarithms() {
        let axis = Axis::new(Scale::Log, [0.0, 2.0, 500.0].into_iter(), Ends::Round, 300.0);
        assert_eq!((axis.from, axis.to), (1.0, 1000.0));
        assert_eq!(axis.place(0.0), None);
        assert!((axis.place(10.0).unwrap() - 100.0).abs() < 1e-3);
        assert_eq!(
            axis.ticks().iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(),
            ["1", "10", "100", "1000"]
        );
        let axis = Axis::new(Scale::Linear, [2.0, 3.9].into_iter(), Ends::Round, 300.0);
        assert_eq!((axis.place(0.0), axis.place(4.0)), (Some(0.0), Some(300.0)));
        assert_eq!(
            axis.ticks().iter().map(|(_, label)| label.as_str()).collect::<Vec<_>>(),
            ["0", "1", "2", "3", "4"]
        );
        // Log-probabilities: nothing above 0.
        let axis = Axis::new(Scale::Linear, [-3.9, -1.0].into_iter(), Ends::Round, 300.0);
        assert_eq!((axis.place(-4.0), axis.place(0.0)), (Some(0.0), Some(300.0)));
        assert_eq!(axis.ticks().len(), 5);
        let axis = Axis::new(Scale::Log, [4.0, 1024.0].into_iter(), Ends::Theirs, 300.0);
        assert_eq!((axis.place(4.0), axis.place(64.0), axis.place(1024.0)), (Some(0.0), Some(150.0), Some(300.0)));
    }

    #[test]
    fn curves_are_well_formed_whatever_they_are_called() {
        let series = [("<a>".to_owned(), vec![1.0, f64::NAN]), ("概率".to_owned(), vec![])];
        let chart =
            Chart { title: "R&D", axes: ["x", "y"], scales: [Scale::Linear; 2], x: &[1.0, 2.0], series: &series };
        let drawn = svg(&chart).unwrap();
        let document = roxmltree::Document::parse(&drawn).unwrap();
        for text in ["R&D", "<a>", "概率"] {
            assert!(
                document.descendants().any(|node| node.has_tag_name("text") && node.text() == Some(text)),
                "{text}"
            );
        }
        let one = svg(&Chart { x: &[], series: &[], ..chart }).unwrap();
        assert!(roxmltree::Document::parse(&one).is_ok());
    }
}
