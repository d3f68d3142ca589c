//! Writing SVG: well-formed whatever the text, with real text in the viewer's fonts.

use std::io;

use quick_xml::events::BytesText;
use quick_xml::writer::{ElementWriter, Writer};
use unicode_width::UnicodeWidthStr;

use super::colour::Paint;
use crate::text::normalize::printable;

/// Families that have Chinese glyphs on the usual systems, then whatever there is.
pub const FONTS: &str = "'Noto Sans CJK SC', 'Noto Sans SC', 'Source Han Sans SC', 'PingFang SC', \
                         'Microsoft YaHei', 'WenQuanYi Micro Hei', 'DejaVu Sans', sans-serif";

/// An SVG that is being written.
pub struct Svg {
    writer: Writer<Vec<u8>>,
}

/// How a text is set.
#[derive(Clone, Copy)]
pub struct Type {
    /// In pixels.
    pub size: f32,
    /// `start`, `middle` or `end`.
    pub anchor: &'static str,
    /// Its colour.
    pub fill: Paint,
    /// Degrees clockwise about the text's own place.
    pub turn: f32,
}

/// How a line is drawn.
#[derive(Clone, Copy)]
pub struct Stroke {
    /// Its colour.
    pub paint: Paint,
    /// In pixels.
    pub width: f32,
    /// Lengths of dashes and gaps, as SVG writes them; empty for none.
    pub dashes: &'static str,
}

/// Where a page is dark, every element has the colour that it keeps for that. What reads no style sees the light one.
const DARK: &str = "@media screen and (prefers-color-scheme:dark){\
.zhuyi rect,.zhuyi text,.zhuyi polygon{fill:var(--d)}\
.zhuyi polyline,.zhuyi .frame{stroke:var(--d)}.zhuyi .frame{fill:none}}";

impl Svg {
    /// A page of the ground's colour.
    pub fn new(width: f32, height: f32, title: &str) -> io::Result<Self> {
        let mut svg = Self { writer: Writer::new_with_indent(Vec::new(), b' ', 1) };
        let open = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"zhuyi\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\">\n"
        );
        svg.writer.get_mut().extend(open.into_bytes());
        svg.writer.create_element("title").write_text_content(BytesText::new(&printable(title)))?;
        svg.writer.create_element("style").write_text_content(BytesText::new(DARK))?;
        svg.rect([0.0, 0.0, width, height], Paint::Paper, None)?;
        Ok(svg)
    }

    /// A filled rectangle `[x, y, width, height]`; a title is shown when pointed at.
    pub fn rect(&mut self, place: [f32; 4], fill: Paint, title: Option<&str>) -> io::Result<()> {
        let [x, y, width, height] = place.map(|n| n.to_string());
        let element = self.writer.create_element("rect").with_attributes([
            ("x", x.as_str()),
            ("y", y.as_str()),
            ("width", width.as_str()),
            ("height", height.as_str()),
            ("fill", fill.light().as_str()),
            ("style", dark(fill).as_str()),
        ]);
        match title {
            None => element.write_empty()?,
            Some(title) => element.write_inner_content(|inside| {
                inside.create_element("title").write_text_content(BytesText::new(&printable(title)))?;
                Ok(())
            })?,
        };
        Ok(())
    }

    /// The outline of a rectangle `[x, y, width, height]`.
    pub fn frame(&mut self, place: [f32; 4], stroke: Stroke) -> io::Result<()> {
        let [x, y, width, height] = place.map(|n| n.to_string());
        let rect = self.writer.create_element("rect").with_attributes([
            ("class", "frame"),
            ("x", x.as_str()),
            ("y", y.as_str()),
            ("width", width.as_str()),
            ("height", height.as_str()),
        ]);
        stroked(rect, stroke).write_empty()?;
        Ok(())
    }

    /// A line through points.
    pub fn line(&mut self, points: &[[f32; 2]], stroke: Stroke) -> io::Result<()> {
        let line = self.writer.create_element("polyline").with_attribute(("points", listed(points).as_str()));
        stroked(line, stroke).write_empty()?;
        Ok(())
    }

    /// An area that what is behind shows through.
    pub fn area(&mut self, points: &[[f32; 2]], fill: Paint) -> io::Result<()> {
        self.writer
            .create_element("polygon")
            .with_attributes([
                ("points", listed(points).as_str()),
                ("fill", fill.light().as_str()),
                ("fill-opacity", "0.18"),
                ("style", dark(fill).as_str()),
            ])
            .write_empty()?;
        Ok(())
    }

    /// A line of text with its anchor at `[x, y]`.
    pub fn text(&mut self, [x, y]: [f32; 2], text: &str, set: Type) -> io::Result<()> {
        let (x, y, size) = (x.to_string(), y.to_string(), set.size.to_string());
        let turn = format!("rotate({} {x} {y})", set.turn);
        let mut element = self.writer.create_element("text").with_attributes([
            ("x", x.as_str()),
            ("y", y.as_str()),
            ("font-size", size.as_str()),
            ("text-anchor", set.anchor),
            ("fill", set.fill.light().as_str()),
            ("style", dark(set.fill).as_str()),
        ]);
        if set.turn != 0.0 {
            element = element.with_attribute(("transform", turn.as_str()));
        }
        element.write_text_content(BytesText::new(&printable(text)))?;
        Ok(())
    }

    /// The finished picture.
    pub fn finish(self) -> String {
        String::from_utf8_lossy(&self.writer.into_inner()).into_owned() + "\n</svg>\n"
    }
}

fn dark(paint: Paint) -> String {
    format!("--d:{}", paint.dark())
}

fn listed(points: &[[f32; 2]]) -> String {
    points.iter().map(|[x, y]| format!("{x},{y}")).collect::<Vec<_>>().join(" ")
}

fn stroked<'a>(element: ElementWriter<'a, Vec<u8>>, stroke: Stroke) -> ElementWriter<'a, Vec<u8>> {
    let element = element.with_attributes([
        ("fill", "none"),
        ("stroke", stroke.paint.light().as_str()),
        ("stroke-width", stroke.width.to_string().as_str()),
        ("style", dark(stroke.paint).as_str()),
    ]);
    if stroke.dashes.is_empty() { element } else { element.with_attribute(("stroke-dasharray", stroke.dashes)) }
}

/// About how wide a text is, in pixels: Chinese characters fill a square, others about six tenths of one.
pub fn width(text: &str, size: f32) -> f32 {
    0.6 * size * text.width() as f32 * if text.is_ascii() { 1.0 } else { 0.92 }
}
