//! Writing SVG: well-formed whatever the text, with real text in the viewer's fonts.

use std::io;

use quick_xml::Writer;
use quick_xml::events::BytesText;
use unicode_width::UnicodeWidthStr;

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
    /// A colour.
    pub fill: &'static str,
    /// Degrees clockwise about the text's own place.
    pub turn: f32,
}

impl Svg {
    /// A white page.
    pub fn new(width: f32, height: f32, title: &str) -> io::Result<Self> {
        let mut svg = Self { writer: Writer::new_with_indent(Vec::new(), b' ', 1) };
        let open = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" font-family=\"{FONTS}\">\n"
        );
        svg.writer.get_mut().extend(open.into_bytes());
        svg.writer.create_element("title").write_text_content(BytesText::new(&printable(title)))?;
        svg.rect([0.0, 0.0, width, height], "#ffffff", None)?;
        Ok(svg)
    }

    /// A filled rectangle `[x, y, width, height]`; a title is shown when pointed at.
    pub fn rect(&mut self, [x, y, width, height]: [f32; 4], fill: &str, title: Option<&str>) -> io::Result<()> {
        let numbers = [x, y, width, height].map(|n| n.to_string());
        let element = self.writer.create_element("rect").with_attributes([
            ("x", numbers[0].as_str()),
            ("y", numbers[1].as_str()),
            ("width", numbers[2].as_str()),
            ("height", numbers[3].as_str()),
            ("fill", fill),
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

    /// A line through points.
    pub fn line(&mut self, points: &[[f32; 2]], stroke: &str, width: f32) -> io::Result<()> {
        let points: Vec<String> = points.iter().map(|[x, y]| format!("{x},{y}")).collect();
        self.writer
            .create_element("polyline")
            .with_attributes([
                ("points", points.join(" ").as_str()),
                ("fill", "none"),
                ("stroke", stroke),
                ("stroke-width", width.to_string().as_str()),
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
            ("fill", set.fill),
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

/// About how wide a text is, in pixels: Chinese characters fill a square, others about six tenths of one.
pub fn width(text: &str, size: f32) -> f32 {
    0.6 * size * text.width() as f32 * if text.is_ascii() { 1.0 } else { 0.92 }
}

/// XML 1.0 can't hold most control characters at all, not even escaped: the replacement character
/// stands for them.
fn printable(text: &str) -> String {
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{FFFD}' | '\u{10000}'..);
    text.chars().map(|c| if allowed(c) { c } else { '\u{FFFD}' }).collect()
}
