//! Matrices beside each other, with a shade for each number.

use super::colour::Paint;
use super::failed;
use super::svg::{Stroke, Svg, Type, width};
use crate::alignment::SentenceLinks;
use crate::error::Result;

/// Panels beside each other before the next row of them begins.
const PANELS: usize = 3;
/// More cells than this a side, and the numbers in them are left out.
const MOST_NUMBERS: usize = 20;
const MARGIN: f32 = 14.0;
const TITLE: f32 = 15.0;
const SMALL: f32 = 11.0;

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
    /// Cells that people linked, source for columns and target for rows; they are framed.
    pub gold: Option<&'a SentenceLinks>,
}

/// Draws matrices beside each other.
///
/// # Errors
/// None that a user could cause.
pub fn svg(title: &str, panels: &[Panel<'_>]) -> Result<String> {
    draw(title, panels).map_err(failed)
}

fn draw(title: &str, panels: &[Panel<'_>]) -> std::io::Result<String> {
    let largest = panels.iter().map(|panel| panel.rows.len().max(panel.columns.len())).max().unwrap_or(0);
    let cells = Cells::of(largest);
    let shapes: Vec<Shape> = panels.iter().map(|panel| panel.shape(cells)).collect();
    // Every panel stands in a place as large as the largest.
    let width = shapes.iter().map(|shape| shape.right).fold(0.0, f32::max);
    let height = shapes.iter().map(|shape| shape.bottom + MARGIN).fold(0.0, f32::max);
    let (across, down) = (panels.len().min(PANELS), panels.len().div_ceil(PANELS));
    let (right, bottom) = (across as f32 * width, down as f32 * height - MARGIN);
    let mut svg = Svg::new(right + MARGIN, bottom + MARGIN + SMALL + 16.0, title)?;
    for (i, (panel, shape)) in panels.iter().zip(&shapes).enumerate() {
        let origin = [(i % PANELS) as f32 * width, (i / PANELS) as f32 * height];
        panel.draw(&mut svg, cells, shape, origin)?;
    }
    let left = shapes.first().map_or(MARGIN, |shape| shape.left);
    if panels.iter().all(|panel| panel.most == 1.0) {
        legend(&mut svg, left, bottom + 10.0)?;
    }
    Ok(svg.finish())
}

/// How large cells and their names are.
#[derive(Clone, Copy)]
struct Cells {
    side: f32,
    font: f32,
    numbers: bool,
}

impl Cells {
    /// Long sentences are drawn small, so that the whole is still seen at once.
    fn of(largest: usize) -> Self {
        let (side, font) = match largest {
            0..=20 => (36.0, 15.0),
            21..=36 => (22.0, 13.0),
            37..=70 => (14.0, 10.0),
            _ => (9.0, 7.0),
        };
        Self { side, font, numbers: largest <= MOST_NUMBERS }
    }
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
    fn shape(&self, Cells { side, font, .. }: Cells) -> Shape {
        let widest = |labels: &[String]| labels.iter().map(|label| width(label, font)).fold(0.0, f32::max);
        let turned = widest(self.columns) > side - 4.0;
        let header = if turned { widest(self.columns) * 0.75 + font } else { font + 6.0 };
        let title = if self.title.is_empty() { 0.0 } else { TITLE + 8.0 };
        let left = MARGIN + SMALL + 10.0 + widest(self.rows) + 8.0;
        let top = MARGIN + title + SMALL + 8.0 + header;
        let overhang = if turned { widest(self.columns) * 0.75 } else { 0.0 };
        let cells = left + self.columns.len() as f32 * side;
        let right = cells.max(left + 120.0).max(left + width(self.title, TITLE)) + overhang.max(MARGIN);
        Shape { left, top, right, bottom: top + self.rows.len() as f32 * side, turned }
    }

    fn draw(&self, svg: &mut Svg, cells: Cells, shape: &Shape, [x0, y0]: [f32; 2]) -> std::io::Result<()> {
        let Cells { side, font, .. } = cells;
        let (columns, rows) = (self.columns.len(), self.rows.len());
        let (left, top) = (x0 + shape.left, y0 + shape.top);
        self.names(svg, shape, [x0, y0], side)?;
        for (s, label) in self.columns.iter().enumerate() {
            let x = left + (s as f32 + 0.5) * side;
            let set = Type { size: font, anchor: "middle", fill: Paint::Ink, turn: 0.0 };
            if shape.turned {
                svg.text([x + font / 4.0, top - 6.0], label, Type { anchor: "start", turn: -45.0, ..set })?;
            } else {
                svg.text([x, top - 7.0], label, set)?;
            }
        }
        // Shows through between the cells as a grid.
        svg.rect([left, top, columns as f32 * side, rows as f32 * side], Paint::Grid, None)?;
        for (t, (label, row)) in self.rows.iter().zip(self.values).enumerate() {
            let y = top + t as f32 * side;
            let set = Type { size: font, anchor: "end", fill: Paint::Ink, turn: 0.0 };
            svg.text([left - 8.0, y + side / 2.0 + font / 3.0], label, set)?;
            for (s, &value) in row.iter().enumerate() {
                let name = format!("{label} ← {}", self.columns[s]);
                self.cell(svg, cells, [left + s as f32 * side, y], &name, value)?;
            }
        }
        self.frames(svg, side, [left, top])
    }

    /// The title and what columns and rows are.
    fn names(&self, svg: &mut Svg, shape: &Shape, [x0, y0]: [f32; 2], side: f32) -> std::io::Result<()> {
        let (left, top) = (x0 + shape.left, y0 + shape.top);
        let axis = Type { size: SMALL, anchor: "middle", fill: Paint::Faint, turn: 0.0 };
        let mut head = y0 + MARGIN + SMALL;
        if !self.title.is_empty() {
            let set = Type { size: TITLE, anchor: "start", fill: Paint::Ink, turn: 0.0 };
            svg.text([left, head + 2.0], self.title, set)?;
            head += TITLE + 8.0;
        }
        svg.text([left + self.columns.len() as f32 * side / 2.0, head], self.axes[0], axis)?;
        let middle = top + self.rows.len() as f32 * side / 2.0;
        svg.text([x0 + MARGIN + SMALL, middle], self.axes[1], Type { turn: -90.0, ..axis })
    }

    fn cell(&self, svg: &mut Svg, cells: Cells, [x, y]: [f32; 2], name: &str, value: f32) -> std::io::Result<()> {
        let Cells { side, numbers, .. } = cells;
        let shade = value / self.most;
        let told = format!("{name}: {value:.3}");
        svg.rect([x + 0.5, y + 0.5, side - 1.0, side - 1.0], Paint::Weight(shade), Some(&told))?;
        if numbers && value >= 0.005 {
            let number = Type { size: SMALL, anchor: "middle", fill: Paint::OnWeight(shade), turn: 0.0 };
            svg.text([x + side / 2.0, y + side / 2.0 + SMALL / 3.0], &format!("{value:.2}"), number)?;
        }
        Ok(())
    }

    /// Frames around what people linked: whole where they were sure, dashed where it is possible.
    fn frames(&self, svg: &mut Svg, side: f32, [left, top]: [f32; 2]) -> std::io::Result<()> {
        let Some(gold) = self.gold else { return Ok(()) };
        let width = if side > 20.0 { 2.0 } else { 1.5 };
        let inside = gold.iter().filter(|link| link.source < self.columns.len() && link.target < self.rows.len());
        for link in inside {
            let (x, y) = (left + link.source as f32 * side, top + link.target as f32 * side);
            let dashes = if gold.is_sure(link) { "" } else { "3 2" };
            let stroke = Stroke { paint: Paint::Gold, width, dashes };
            svg.frame([x + 1.0, y + 1.0, side - 2.0, side - 2.0], stroke)?;
        }
        Ok(())
    }
}

/// The scale of colours, with its ends.
fn legend(svg: &mut Svg, x: f32, y: f32) -> std::io::Result<()> {
    const STEPS: u8 = 20;
    let set = Type { size: SMALL, anchor: "start", fill: Paint::Faint, turn: 0.0 };
    svg.text([x, y + SMALL], "0", set)?;
    for step in 0..STEPS {
        let at = x + 10.0 + f32::from(step) * 4.0;
        svg.rect([at, y + 1.0, 4.0, SMALL], Paint::Weight(f32::from(step) / f32::from(STEPS - 1)), None)?;
    }
    svg.text([x + 14.0 + f32::from(STEPS) * 4.0, y + SMALL], "1", set)
}
