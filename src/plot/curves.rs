//! Curves over a common axis, with bands around them, as SVG.

use super::colour::Paint;
use super::failed;
use super::svg::{Stroke, Svg, Type, width};
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
    /// What the places are called, one each; empty for their numbers.
    pub places: &'a [String],
    /// The curves.
    pub series: &'a [Series],
}

/// One curve.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What it is called.
    pub name: String,
    /// A value for each place; NaN, or nothing at the end, where there is none.
    pub values: Vec<f64>,
    /// What it may as well be, from and to, for each place; empty for nothing.
    pub band: Vec<[f64; 2]>,
    /// Its colour by number, where it has another place in other pictures; else that of its place in this one.
    pub colour: Option<usize>,
}

const WIDTH: f32 = 460.0;
const HEIGHT: f32 = 280.0;
const LEFT: f32 = 84.0;
const TOP: f32 = 40.0;
const FONT: f32 = 13.0;
const SMALL: f32 = 11.0;
/// More places than this are not named one by one.
const MOST_PLACES: usize = 12;
/// With the colours, for eyes that tell few of them apart, and for grey printers.
const DASHES: [&str; 4] = ["", "7 3", "3 2", "9 3 2 3"];

/// Draws curves as SVG.
///
/// # Errors
/// None that a user could cause.
pub fn svg(chart: &Chart<'_>) -> Result<String> {
    draw(chart).map_err(failed)
}

fn draw(chart: &Chart<'_>) -> std::io::Result<String> {
    let names = chart.series.iter().map(|series| width(&series.name, FONT)).fold(0.0, f32::max);
    // A title may be wider than what it stands over.
    let right = (LEFT + WIDTH + names + 64.0).max(LEFT + WIDTH / 2.0 + width(chart.title, TITLE) / 2.0 + 8.0);
    let mut svg = Svg::new(right, TOP + HEIGHT + 60.0, chart.title)?;
    let by_ticks = chart.x.len() > MOST_PLACES && chart.places.is_empty();
    let ends = if by_ticks { Ends::Round } else { Ends::Theirs };
    let across = Axis::new(chart.scales[0], chart.x.iter().copied(), ends, WIDTH);
    let bands = chart.series.iter().flat_map(|series| series.band.iter().flatten());
    let values = chart.series.iter().flat_map(|series| &series.values).chain(bands).copied();
    let up = Axis::new(chart.scales[1], values, Ends::Round, HEIGHT);
    axes(&mut svg, chart, &across, &up)?;
    let place = |x: f64, y: f64| Some([LEFT + across.place(x)?, TOP + HEIGHT - up.place(y)?]);
    let coloured = || chart.series.iter().enumerate().map(|(i, series)| (i, series.colour.unwrap_or(i), series));
    for (_, colour, series) in coloured() {
        let edge = |side: usize| {
            let points = chart.x.iter().zip(&series.band).filter_map(move |(&x, band)| place(x, band[side]));
            points.collect::<Vec<_>>()
        };
        let (low, high) = (edge(0), edge(1));
        if !low.is_empty() {
            svg.area(&low.into_iter().chain(high.into_iter().rev()).collect::<Vec<_>>(), Paint::Curve(colour))?;
        }
    }
    for (i, colour, series) in coloured() {
        let points: Vec<[f32; 2]> =
            chart.x.iter().zip(&series.values).filter_map(|(&x, &y)| place(x, y)).collect();
        let stroke = Stroke { paint: Paint::Curve(colour), width: 2.0, dashes: DASHES[colour % DASHES.len()] };
        svg.line(&points, stroke)?;
        if chart.x.len() <= MOST_PLACES {
            for &[x, y] in &points {
                svg.rect([x - 2.5, y - 2.5, 5.0, 5.0], Paint::Curve(colour), None)?;
            }
        }
        let y = TOP + 10.0 + i as f32 * (FONT + 8.0);
        svg.line(&[[LEFT + WIDTH + 12.0, y - 3.0], [LEFT + WIDTH + 38.0, y - 3.0]], stroke)?;
        let name = Type { size: FONT, anchor: "start", fill: Paint::Ink, turn: 0.0 };
        svg.text([LEFT + WIDTH + 44.0, y + 2.0], &series.name, name)?;
    }
    Ok(svg.finish())
}

const TITLE: f32 = 15.0;

/// The title, the axes with their names, and the places on them.
fn axes(svg: &mut Svg, chart: &Chart<'_>, across: &Axis, up: &Axis) -> std::io::Result<()> {
    let text = Type { size: FONT, anchor: "middle", fill: Paint::Ink, turn: 0.0 };
    svg.text([LEFT + WIDTH / 2.0, 22.0], chart.title, Type { size: TITLE, ..text })?;
    let tick = Type { size: SMALL, fill: Paint::Faint, ..text };
    let thin = |paint| Stroke { paint, width: 1.0, dashes: "" };
    for (y, label) in up.ticks() {
        svg.line(&[[LEFT, TOP + HEIGHT - y], [LEFT + WIDTH, TOP + HEIGHT - y]], thin(Paint::Grid))?;
        svg.text([LEFT - 8.0, TOP + HEIGHT - y + 4.0], &label, Type { anchor: "end", ..tick })?;
    }
    let named = |(i, &x): (usize, &f64)| {
        Some((across.place(x)?, chart.places.get(i).cloned().unwrap_or_else(|| number(x))))
    };
    // Of many places that have names, as many are named as there is room for; of other many, round numbers.
    let every = chart.x.len().div_ceil(MOST_PLACES).max(1);
    let places: Vec<(f32, String)> = match chart.x.len() {
        many if many > MOST_PLACES && chart.places.is_empty() => across.ticks(),
        _ => chart.x.iter().enumerate().step_by(every).filter_map(named).collect(),
    };
    for (x, label) in places {
        svg.text([LEFT + x, TOP + HEIGHT + 18.0], &label, tick)?;
    }
    svg.line(&[[LEFT, TOP], [LEFT, TOP + HEIGHT], [LEFT + WIDTH, TOP + HEIGHT]], thin(Paint::Faint))?;
    svg.text([LEFT + WIDTH / 2.0, TOP + HEIGHT + 42.0], chart.axes[0], text)?;
    svg.text([18.0, TOP + HEIGHT / 2.0], chart.axes[1], Type { turn: -90.0, ..text })
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
                // 100.00000000000001 is 100.
                (step * (from / step + 1e-9).floor(), step * (to / step - 1e-9).ceil())
            }
        };
        // A single number stands in the middle.
        let (from, to) = match (scale, from.is_finite()) {
            _ if from < to => (from, to),
            (Scale::Linear, true) => (from - 0.5, from + 0.5),
            (Scale::Log, true) => (from / 2.0, from * 2.0),
            (_, false) => (0.5, 1.5),
        };
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
        let axis = Axis::new(Scale::Linear, [100.000_000_000_000_01].into_iter(), Ends::Round, 300.0);
        assert_eq!(axis.place(100.0), Some(300.0), "no room above 100 for a rounding error");
        for (scale, x) in [(Scale::Linear, 0.0), (Scale::Log, 128.0)] {
            let axis = Axis::new(scale, [x].into_iter(), Ends::Theirs, 300.0);
            assert!((axis.place(x).unwrap() - 150.0).abs() < 1e-3, "one place is in the middle");
        }
        // Log-probabilities: nothing above 0.
        let axis = Axis::new(Scale::Linear, [-3.9, -1.0].into_iter(), Ends::Round, 300.0);
        assert_eq!((axis.place(-4.0), axis.place(0.0)), (Some(0.0), Some(300.0)));
        assert_eq!(axis.ticks().len(), 5);
        let axis = Axis::new(Scale::Log, [4.0, 1024.0].into_iter(), Ends::Theirs, 300.0);
        assert_eq!((axis.place(4.0), axis.place(64.0), axis.place(1024.0)), (Some(0.0), Some(150.0), Some(300.0)));
    }

    fn series(name: &str, values: &[f64]) -> Series {
        Series { name: name.into(), values: values.to_vec(), ..Series::default() }
    }

    #[test]
    fn curves_are_well_formed_whatever_they_are_called() {
        let all = [series("<a>", &[1.0, f64::NAN]), series("概率", &[])];
        let axes = ["x", "y"];
        let chart =
            Chart { title: "R&D", axes, scales: [Scale::Linear; 2], x: &[1.0, 2.0], places: &[], series: &all };
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

    /// A band runs along its lower edge and back along its upper one, around its curve.
    #[test]
    fn bands_lie_around_their_curves() {
        let curve = Series { band: vec![[0.0, 50.0], [80.0, 100.0]], ..series("a", &[25.0, 90.0]) };
        let places = ["1–10".to_owned(), "11–20".to_owned()];
        let drawn = svg(&Chart {
            title: "t",
            axes: ["x", "y"],
            scales: [Scale::Linear; 2],
            x: &[5.0, 15.0],
            places: &places,
            series: &[curve],
        })
        .unwrap();
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let area = document.descendants().find(|node| node.has_tag_name("polygon")).unwrap();
        let (left, right, bottom) = (LEFT, LEFT + WIDTH, TOP + HEIGHT);
        let y = |value: f32| bottom - value / 100.0 * HEIGHT;
        let right = format!("{left},{} {right},{} {right},{} {left},{}", y(0.0), y(80.0), y(100.0), y(50.0));
        assert_eq!(area.attribute("points"), Some(right.as_str()));
        assert!(document.descendants().any(|node| node.text() == Some("11–20")));
    }

    /// Of many named places some are named, and none by its number.
    #[test]
    fn many_places_keep_their_names() {
        let x: Vec<f64> = (0..30).map(f64::from).collect();
        let places: Vec<String> = (0..30).map(|place| format!("p{place}")).collect();
        let drawn = svg(&Chart {
            title: "t",
            axes: ["x", "y"],
            scales: [Scale::Linear; 2],
            x: &x,
            places: &places,
            series: &[series("a", &x)],
        })
        .unwrap();
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let bottom = (TOP + HEIGHT + 18.0).to_string();
        let named: Vec<&str> = document
            .descendants()
            .filter(|node| node.has_tag_name("text") && node.attribute("y") == Some(&bottom))
            .filter_map(|node| node.text())
            .collect();
        assert_eq!(named, ["p0", "p3", "p6", "p9", "p12", "p15", "p18", "p21", "p24", "p27"]);
    }
}
