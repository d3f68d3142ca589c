//! An alignment as a heat map: a row for each output token, a column for each source token.

use super::colour;
use super::svg::{Svg, Type, width};
use crate::alignment::Alignment;
use crate::error::{Error, Result};

const CELL: f32 = 36.0;
const FONT: f32 = 15.0;
const SMALL: f32 = 11.0;
const MARGIN: f32 = 14.0;
/// More cells than this a side, and the numbers in them are left out.
const MOST_NUMBERS: usize = 20;
const INK: &str = "#222222";
const FAINT: &str = "#666666";
const GRID: &str = "#e8e8e8";

/// Draws an alignment as SVG. Labels are text, in the viewer's fonts.
///
/// # Errors
/// An alignment without weights (of a model without attention).
pub fn svg(alignment: &Alignment) -> Result<String> {
    if alignment.weights.len() != alignment.target.len() {
        return Err(Error::Model("there is no alignment to draw: this model has no attention".into()));
    }
    draw(alignment).map_err(|why| Error::Model(format!("can't draw: {why}")))
}

fn draw(alignment: &Alignment) -> std::io::Result<String> {
    let (columns, rows) = (alignment.source.len(), alignment.target.len());
    let widest = |labels: &[String]| labels.iter().map(|label| width(label, FONT)).fold(0.0, f32::max);
    // Source labels are turned when one is wider than its column.
    let turned = widest(&alignment.source) > CELL - 4.0;
    let header = if turned { widest(&alignment.source) * 0.75 + FONT } else { FONT + 6.0 };
    let left = MARGIN + SMALL + 10.0 + widest(&alignment.target) + 8.0;
    let top = MARGIN + SMALL + 8.0 + header;
    let overhang = if turned { widest(&alignment.source) * 0.75 } else { 0.0 };
    let right = (left + columns as f32 * CELL).max(left + 120.0) + overhang.max(MARGIN);
    let bottom = top + rows as f32 * CELL;
    let title = format!("{} → {}", alignment.source.join(" "), alignment.target.join(" "));
    let mut svg = Svg::new(right + MARGIN, bottom + MARGIN + SMALL + 16.0, &title)?;

    let axis = Type { size: SMALL, anchor: "middle", fill: FAINT, turn: 0.0 };
    svg.text([left + columns as f32 * CELL / 2.0, MARGIN + SMALL], "source", axis)?;
    let middle = top + rows as f32 * CELL / 2.0;
    svg.text([MARGIN + SMALL, middle], "output", Type { turn: -90.0, ..axis })?;
    for (s, label) in alignment.source.iter().enumerate() {
        let x = left + (s as f32 + 0.5) * CELL;
        let set = Type { size: FONT, anchor: "middle", fill: INK, turn: 0.0 };
        if turned {
            svg.text([x + 4.0, top - 6.0], label, Type { anchor: "start", turn: -45.0, ..set })?;
        } else {
            svg.text([x, top - 7.0], label, set)?;
        }
    }
    // Shows through between the cells as a grid.
    svg.rect([left, top, columns as f32 * CELL, rows as f32 * CELL], GRID, None)?;
    for (t, (label, row)) in alignment.target.iter().zip(&alignment.weights).enumerate() {
        let y = top + t as f32 * CELL;
        let set = Type { size: FONT, anchor: "end", fill: INK, turn: 0.0 };
        svg.text([left - 8.0, y + CELL / 2.0 + FONT / 3.0], label, set)?;
        for (s, &weight) in row.iter().enumerate() {
            let x = left + s as f32 * CELL;
            let told = format!("{label} ← {}: {weight:.3}", alignment.source[s]);
            svg.rect([x + 0.5, y + 0.5, CELL - 1.0, CELL - 1.0], &colour::of(weight), Some(&told))?;
            if columns.max(rows) <= MOST_NUMBERS && weight >= 0.005 {
                let fill = if colour::is_dark(weight) { "#ffffff" } else { FAINT };
                let number = Type { size: SMALL, anchor: "middle", fill, turn: 0.0 };
                svg.text([x + CELL / 2.0, y + CELL / 2.0 + SMALL / 3.0], &format!("{weight:.2}"), number)?;
            }
        }
    }
    legend(&mut svg, left, bottom + 10.0)?;
    Ok(svg.finish())
}

/// The scale of colours, with its ends.
fn legend(svg: &mut Svg, x: f32, y: f32) -> std::io::Result<()> {
    const STEPS: u8 = 20;
    let set = Type { size: SMALL, anchor: "start", fill: FAINT, turn: 0.0 };
    svg.text([x, y + SMALL], "0", set)?;
    for step in 0..STEPS {
        let at = x + 10.0 + f32::from(step) * 4.0;
        svg.rect([at, y + 1.0, 4.0, SMALL], &colour::of(f32::from(step) / f32::from(STEPS - 1)), None)?;
    }
    svg.text([x + 14.0 + f32::from(STEPS) * 4.0, y + SMALL], "1", set)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    fn parse(svg: &str) -> (Vec<String>, Vec<String>) {
        let document = roxmltree::Document::parse(svg).unwrap();
        let text = |name: &str| -> Vec<String> {
            let nodes = document.descendants().filter(|node| node.has_tag_name(name));
            nodes.filter_map(|node| node.text()).map(str::to_owned).collect()
        };
        (text("text"), text("title"))
    }

    /// Known fault A5: rows are output tokens and columns source tokens, and the axes say so.
    #[test]
    fn rows_are_output_and_columns_are_source() {
        let alignment = Alignment {
            source: words("s0 s1"),
            target: words("t0 t1 t2"),
            weights: vec![vec![0.9, 0.1], vec![0.2, 0.8], vec![0.5, 0.5]],
            heads: vec![],
        };
        let (texts, titles) = parse(&svg(&alignment).unwrap());
        assert_eq!(texts[..2], ["source", "output"]);
        for told in ["t0 ← s0: 0.900", "t0 ← s1: 0.100", "t1 ← s1: 0.800", "t2 ← s0: 0.500"] {
            assert!(titles.iter().any(|title| title == told), "{told}");
        }
        let document = svg(&alignment).unwrap();
        let document = roxmltree::Document::parse(&document).unwrap();
        let place = |label: &str, axis: &str| -> f32 {
            let node = document.descendants().find(|node| node.text() == Some(label) && node.has_tag_name("text"));
            node.unwrap().attribute(axis).unwrap().parse().unwrap()
        };
        assert!(place("s0", "x") < place("s1", "x") && place("s0", "y") == place("s1", "y"));
        assert!(place("t0", "y") < place("t2", "y") && place("t0", "x") == place("t2", "x"));
    }

    /// Known faults P8 and A8: whatever the text, the SVG is well-formed and shows it as text.
    #[test]
    fn any_text_is_text() {
        let hostile =
            ["a\" onmouseover=\"alert(1)", "<script>alert(1)</script>", "R&D <3", "x\u{1}y", "我爱北京", "🙂"];
        let alignment = Alignment {
            source: hostile.map(str::to_owned).to_vec(),
            target: vec!["]]>".into()],
            weights: vec![vec![0.1; hostile.len()]],
            heads: vec![],
        };
        let drawn = svg(&alignment).unwrap();
        let (texts, _) = parse(&drawn);
        for text in hostile.map(|text| text.replace('\u{1}', "\u{FFFD}")) {
            assert!(texts.contains(&text), "{text} in {texts:?}");
        }
        let document = roxmltree::Document::parse(&drawn).unwrap();
        for node in document.descendants() {
            assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")));
            assert_ne!(node.tag_name().name(), "script");
        }
    }

    #[test]
    fn nothing_to_draw_is_said() {
        let alignment = Alignment { source: words("a"), target: words("b"), ..Alignment::default() };
        assert!(svg(&alignment).unwrap_err().to_string().contains("no attention"));
        assert!(svg(&Alignment::default()).is_ok());
    }
}
