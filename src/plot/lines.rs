//! An alignment as lines between two columns of words, as thick as the weights: the picture of papers on
//! self-attention.

use super::colour::Paint;
use super::svg::{Stroke, Svg, Type, width};
use super::{check, failed};
use crate::alignment::Alignment;
use crate::error::Result;

const ROW: f32 = 30.0;
const FONT: f32 = 15.0;
const SMALL: f32 = 11.0;
const MARGIN: f32 = 16.0;
/// Between the columns.
const GAP: f32 = 220.0;
/// The line of a weight of 1.
const THICKEST: f32 = 9.0;
/// Weights below this are left out: they would be a haze.
const LEAST: f32 = 0.03;

/// Draws an alignment as SVG: the source on the left, the output on the right. Labels are text, in the viewer's fonts.
///
/// # Errors
/// An alignment without weights (of a model without attention).
pub fn svg(alignment: &Alignment) -> Result<String> {
    check(alignment)?;
    draw(alignment).map_err(failed)
}

fn draw(alignment: &Alignment) -> std::io::Result<String> {
    let widest = |labels: &[String]| labels.iter().map(|label| width(label, FONT)).fold(60.0, f32::max);
    let rows = alignment.source.len().max(alignment.target.len()) as f32;
    let (left, top) = (MARGIN + widest(&alignment.source), MARGIN + SMALL + 16.0);
    let right = left + GAP;
    let title = format!("{} → {}", alignment.source.join(" "), alignment.target.join(" "));
    let mut svg = Svg::new(right + widest(&alignment.target) + MARGIN, top + rows * ROW + MARGIN, &title)?;
    let axis = Type { size: SMALL, anchor: "end", fill: Paint::Faint, turn: 0.0 };
    svg.text([left - 8.0, MARGIN + SMALL], "source", axis)?;
    svg.text([right + 8.0, MARGIN + SMALL], "output", Type { anchor: "start", ..axis })?;

    // The shorter column stands in the middle of the longer one.
    let place = |i: usize, n: usize| top + ((rows - n as f32) / 2.0 + i as f32 + 0.5) * ROW;
    let [sources, targets] = [alignment.source.len(), alignment.target.len()];
    let mut lines: Vec<(f32, usize, usize)> = Vec::new();
    for (t, row) in alignment.weights.iter().enumerate() {
        lines.extend(
            row.iter().enumerate().filter(|(_, weight)| **weight >= LEAST).map(|(s, &weight)| (weight, s, t)),
        );
    }
    // Strong lines over weak ones.
    lines.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (weight, s, t) in lines {
        let points = [[left, place(s, sources)], [right, place(t, targets)]];
        let paint = Paint::Weight(0.25 + 0.75 * weight);
        svg.line(&points, Stroke { paint, width: (weight * THICKEST).max(0.5), dashes: "" })?;
    }
    let word = Type { size: FONT, anchor: "end", fill: Paint::Ink, turn: 0.0 };
    for (s, label) in alignment.source.iter().enumerate() {
        svg.text([left - 8.0, place(s, sources) + FONT / 3.0], label, word)?;
    }
    for (t, label) in alignment.target.iter().enumerate() {
        svg.text([right + 8.0, place(t, targets) + FONT / 3.0], label, Type { anchor: "start", ..word })?;
    }
    Ok(svg.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    /// Known fault A5: a line joins the words that its weight is of; not square, so that a transpose shows.
    #[test]
    fn lines_join_their_words_and_are_as_thick_as_their_weight() {
        let alignment = Alignment {
            source: words("s0 s1"),
            target: words("t0 t1 t2"),
            weights: vec![vec![0.9, 0.1], vec![0.0, 1.0], vec![0.5, 0.01]],
            heads: vec![],
        };
        let drawn = svg(&alignment).unwrap();
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let y = |label: &str| -> f32 {
            let node = document.descendants().find(|node| node.has_tag_name("text") && node.text() == Some(label));
            node.unwrap().attribute("y").unwrap().parse::<f32>().unwrap() - FONT / 3.0
        };
        let lines: Vec<(f32, f32, f32)> = document
            .descendants()
            .filter(|node| node.has_tag_name("polyline"))
            .map(|node| {
                let points: Vec<f32> =
                    node.attribute("points").unwrap().split([' ', ',']).map(|x| x.parse().unwrap()).collect();
                (points[1], points[3], node.attribute("stroke-width").unwrap().parse().unwrap())
            })
            .collect();
        let has = |source: &str, target: &str, weight: f32| {
            lines.iter().any(|(from, to, width)| {
                (from - y(source)).abs() < 0.01
                    && (to - y(target)).abs() < 0.01
                    && (width - 9.0 * weight).abs() < 0.01
            })
        };
        assert!(has("s0", "t0", 0.9) && has("s1", "t0", 0.1) && has("s1", "t1", 1.0) && has("s0", "t2", 0.5));
        // Nothing for 0 and 0.01.
        assert_eq!(lines.len(), 4);
    }

    #[test]
    fn nothing_to_draw_is_said_and_any_text_is_text() {
        let without = Alignment { source: words("a"), target: words("b"), ..Alignment::default() };
        assert!(svg(&without).unwrap_err().to_string().contains("no attention"));
        let hostile = Alignment {
            source: vec!["<b>".into(), "我".into()],
            target: vec!["]]>".into()],
            weights: vec![vec![0.5, 0.5]],
            heads: vec![],
        };
        let drawn = svg(&hostile).unwrap();
        let document = roxmltree::Document::parse(&drawn).unwrap();
        assert!(document.descendants().any(|node| node.text() == Some("<b>")));
    }
}
