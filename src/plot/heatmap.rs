//! Matrices as heat maps: alignments, with a row for each output token and a column for each source token, and
//! what lessons compute.

use super::colour::{self, FAINT, GRID, INK};
use super::svg::{Svg, Type, width};
use super::{check, failed};
use crate::alignment::Alignment;
use crate::error::Result;

const CELL: f32 = 36.0;
const FONT: f32 = 15.0;
const SMALL: f32 = 11.0;
const MARGIN: f32 = 14.0;
/// More cells than this a side, and the numbers in them are left out.
const MOST_NUMBERS: usize = 20;

/// Panels beside each other before the next row of them begins.
const PANELS: usize = 3;

/// One matrix to draw, with its names.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    /// What it is; empty for nothing.
    pub title: &'a str,
    /// The names of the axes: of what the columns are, and the rows.
    pub axes: [&'a str; 2],
    /// One name a column.
    pub columns: &'a [String],
    /// One name a row.
    pub rows: &'a [String],
    /// `values[row][column]`.
    pub values: &'a [Vec<f32>],
    /// The value of the darkest colour.
    pub most: f32,
}

/// Draws an alignment as SVG; of several heads the mean and each. Labels are text, in the viewer's fonts.
///
/// # Errors
/// An alignment without weights (of a model without attention).
pub fn svg(alignment: &Alignment) -> Result<String> {
    check(alignment)?;
    let names: Vec<String> = (1..=alignment.heads.len()).map(|head| format!("head {head}")).collect();
    let panel = |title, values| Panel {
        title,
        axes: ["source", "output"],
        columns: &alignment.source,
        rows: &alignment.target,
        values,
        most: 1.0,
    };
    let mean = if names.is_empty() { "" } else { "mean" };
    let heads = names.iter().zip(&alignment.heads).map(|(name, head)| panel(name, head));
    let panels: Vec<Panel<'_>> = std::iter::once(panel(mean, &alignment.weights)).chain(heads).collect();
    let title = format!("{} → {}", alignment.source.join(" "), alignment.target.join(" "));
    self::panels(&title, &panels)
}

/// Draws matrices beside each other.
///
/// # Errors
/// None that a user could cause.
pub fn panels(title: &str, panels: &[Panel<'_>]) -> Result<String> {
    draw(title, panels).map_err(failed)
}

fn draw(title: &str, panels: &[Panel<'_>]) -> std::io::Result<String> {
    let shapes: Vec<Shape> = panels.iter().map(Panel::shape).collect();
    // Every panel stands in a cell as large as the largest.
    let width = shapes.iter().map(|shape| shape.right).fold(0.0, f32::max);
    let height = shapes.iter().map(|shape| shape.bottom + MARGIN).fold(0.0, f32::max);
    let (across, down) = (panels.len().min(PANELS), panels.len().div_ceil(PANELS));
    let (right, bottom) = (across as f32 * width, down as f32 * height - MARGIN);
    let mut svg = Svg::new(right + MARGIN, bottom + MARGIN + SMALL + 16.0, title)?;
    for (i, (panel, shape)) in panels.iter().zip(&shapes).enumerate() {
        let origin = [(i % PANELS) as f32 * width, (i / PANELS) as f32 * height];
        panel.draw(&mut svg, shape, origin)?;
    }
    let left = shapes.first().map_or(MARGIN, |shape| shape.left);
    if panels.iter().all(|panel| panel.most == 1.0) {
        legend(&mut svg, left, bottom + 10.0)?;
    }
    Ok(svg.finish())
}

/// Where a panel's cells are, from its own corner.
struct Shape {
    left: f32,
    top: f32,
    right: f32,
    bottom: f32,
    /// Whether column names are turned: when one is wider than its column.
    turned: bool,
}

impl Panel<'_> {
    fn shape(&self) -> Shape {
        let widest = |labels: &[String]| labels.iter().map(|label| width(label, FONT)).fold(0.0, f32::max);
        let turned = widest(self.columns) > CELL - 4.0;
        let header = if turned { widest(self.columns) * 0.75 + FONT } else { FONT + 6.0 };
        let title = if self.title.is_empty() { 0.0 } else { FONT + 8.0 };
        let left = MARGIN + SMALL + 10.0 + widest(self.rows) + 8.0;
        let top = MARGIN + title + SMALL + 8.0 + header;
        let overhang = if turned { widest(self.columns) * 0.75 } else { 0.0 };
        let cells = left + self.columns.len() as f32 * CELL;
        let right = cells.max(left + 120.0).max(left + width(self.title, FONT)) + overhang.max(MARGIN);
        Shape { left, top, right, bottom: top + self.rows.len() as f32 * CELL, turned }
    }

    fn draw(&self, svg: &mut Svg, shape: &Shape, [x0, y0]: [f32; 2]) -> std::io::Result<()> {
        let (columns, rows) = (self.columns.len(), self.rows.len());
        let (left, top) = (x0 + shape.left, y0 + shape.top);
        let axis = Type { size: SMALL, anchor: "middle", fill: FAINT, turn: 0.0 };
        let mut head = y0 + MARGIN + SMALL;
        if !self.title.is_empty() {
            let set = Type { size: FONT, anchor: "start", fill: INK, turn: 0.0 };
            svg.text([left, head + 2.0], self.title, set)?;
            head += FONT + 8.0;
        }
        svg.text([left + columns as f32 * CELL / 2.0, head], self.axes[0], axis)?;
        let middle = top + rows as f32 * CELL / 2.0;
        svg.text([x0 + MARGIN + SMALL, middle], self.axes[1], Type { turn: -90.0, ..axis })?;
        for (s, label) in self.columns.iter().enumerate() {
            let x = left + (s as f32 + 0.5) * CELL;
            let set = Type { size: FONT, anchor: "middle", fill: INK, turn: 0.0 };
            if shape.turned {
                svg.text([x + 4.0, top - 6.0], label, Type { anchor: "start", turn: -45.0, ..set })?;
            } else {
                svg.text([x, top - 7.0], label, set)?;
            }
        }
        // Shows through between the cells as a grid.
        svg.rect([left, top, columns as f32 * CELL, rows as f32 * CELL], GRID, None)?;
        for (t, (label, row)) in self.rows.iter().zip(self.values).enumerate() {
            let y = top + t as f32 * CELL;
            let set = Type { size: FONT, anchor: "end", fill: INK, turn: 0.0 };
            svg.text([left - 8.0, y + CELL / 2.0 + FONT / 3.0], label, set)?;
            for (s, &value) in row.iter().enumerate() {
                self.cell(svg, [left + s as f32 * CELL, y], &format!("{label} ← {}", self.columns[s]), value)?;
            }
        }
        Ok(())
    }

    fn cell(&self, svg: &mut Svg, [x, y]: [f32; 2], name: &str, value: f32) -> std::io::Result<()> {
        let shade = value / self.most;
        let told = format!("{name}: {value:.3}");
        svg.rect([x + 0.5, y + 0.5, CELL - 1.0, CELL - 1.0], &colour::of(shade), Some(&told))?;
        if self.columns.len().max(self.rows.len()) <= MOST_NUMBERS && value >= 0.005 {
            let fill = match shade {
                _ if colour::is_dark(shade) => "#ffffff",
                _ if shade > 0.25 => INK,
                _ => FAINT,
            };
            let number = Type { size: SMALL, anchor: "middle", fill, turn: 0.0 };
            svg.text([x + CELL / 2.0, y + CELL / 2.0 + SMALL / 3.0], &format!("{value:.2}"), number)?;
        }
        Ok(())
    }
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

    /// Every head has a panel of its own under its name, with its own numbers.
    #[test]
    fn heads_are_drawn_beside_their_mean() {
        let head = |weight: f32| vec![vec![weight, 1.0 - weight]];
        let alignment = Alignment {
            source: words("a b"),
            target: words("x"),
            weights: head(0.55),
            heads: vec![head(0.875), head(0.25), head(0.5), head(0.625)],
        };
        let drawn = svg(&alignment).unwrap();
        let (texts, titles) = parse(&drawn);
        for (name, told) in [("mean", "x ← a: 0.550"), ("head 1", "x ← a: 0.875"), ("head 4", "x ← b: 0.375")]
        {
            assert!(texts.iter().any(|text| text == name) && titles.iter().any(|title| title == told), "{name}");
        }
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let place = |label: &str, axis: &str| -> f32 {
            let node = document.descendants().find(|node| node.text() == Some(label) && node.has_tag_name("text"));
            node.unwrap().attribute(axis).unwrap().parse().unwrap()
        };
        assert!(place("mean", "x") < place("head 1", "x") && place("head 1", "x") < place("head 2", "x"));
        assert!(place("mean", "x") == place("head 3", "x") && place("mean", "y") < place("head 3", "y"));
    }
}
