//! PNG from SVG, with the system's fonts; tells which characters no font has.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::fontdb::Database;
use resvg::usvg::{Options, Tree};
use skrifa::{FontRef, MetadataProvider};

use crate::error::{Error, Result};
use crate::text::is_unspaced;

/// Twice as many pixels a side as the SVG asks for: sharp on today's screens.
const SCALE: f32 = 2.0;

/// A rendered picture.
#[derive(Debug)]
pub struct Rendered {
    /// The file's bytes.
    pub png: Vec<u8>,
    /// Characters that no font of this system has, which show as boxes or not at all.
    pub missing: Vec<char>,
}

impl Rendered {
    /// A warning about missing characters that names the package which brings them.
    pub fn warning(&self) -> Option<String> {
        if self.missing.is_empty() {
            return None;
        }
        let named: String = self.missing.iter().take(20).collect();
        let more = if self.missing.len() > 20 { "…" } else { "" };
        let package = if self.missing.iter().any(|&c| is_unspaced(c) || ('\u{FF00}'..'\u{FFF0}').contains(&c)) {
            "a Chinese font (Debian and Ubuntu: fonts-noto-cjk)"
        } else if self.missing.iter().any(|&c| c >= '\u{1F000}') {
            "an emoji font (Debian and Ubuntu: fonts-noto-color-emoji)"
        } else {
            "a font that has them (Debian and Ubuntu: fonts-noto)"
        };
        Some(format!(
            "no font here has {named}{more}: install {package}, or use .svg, which leaves fonts to the viewer"
        ))
    }
}

/// Looked for once; a report has many pictures.
static SYSTEM_FONTS: LazyLock<Database> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    fonts
});

/// Renders an SVG.
///
/// # Errors
/// An SVG that is none, or a picture too large for memory.
pub fn render(svg: &str) -> Result<Rendered> {
    render_with(svg, SYSTEM_FONTS.clone())
}

fn render_with(svg: &str, mut fonts: Database) -> Result<Rendered> {
    let failed = |why: String| Error::Model(format!("can't render the plot: {why}"));
    let missing = missing(svg, &fonts);
    // Names in the SVG that are not there fall back to this one, and from it to any font with the glyph.
    let any = fonts.faces().flat_map(|face| &face.families).map(|(name, _)| name.clone()).next();
    if let Some(family) = any {
        fonts.set_sans_serif_family(family.clone());
        fonts.set_serif_family(family);
    }
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options).map_err(|why| failed(why.to_string()))?;
    let size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).ok_or_else(|| failed(format!("{width} × {height} pixels")))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    let png = pixels.encode_png().map_err(|why| failed(why.to_string()))?;
    Ok(Rendered { png, missing })
}

/// The characters of an SVG's text that no font has.
fn missing(svg: &str, fonts: &Database) -> Vec<char> {
    let Ok(document) = resvg::usvg::roxmltree::Document::parse(svg) else { return Vec::new() };
    let texts = document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text());
    let mut wanted: BTreeSet<char> =
        texts.flat_map(str::chars).filter(|c| !c.is_whitespace() && !is_invisible(*c)).collect();
    for face in fonts.faces() {
        if wanted.is_empty() {
            break;
        }
        fonts.with_face_data(face.id, |data, index| {
            if let Ok(font) = FontRef::from_index(data, index) {
                let glyphs = font.charmap();
                wanted.retain(|&c| glyphs.map(c).is_none());
            }
        });
    }
    wanted.into_iter().collect()
}

/// Characters that fonts need not draw: joiners, variation selectors, marks of direction.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known fault A8: without a font nothing is drawn as boxes in silence: every character is named.
    #[test]
    fn missing_characters_are_named_with_the_package_that_brings_them() {
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20"><text>我爱 x</text></svg>"#;
        let rendered = render_with(svg, Database::new()).unwrap();
        assert!(rendered.png.starts_with(b"\x89PNG"));
        assert_eq!(rendered.missing, ['x', '我', '爱']);
        let warning = rendered.warning().unwrap();
        assert!(warning.contains("我爱") && warning.contains("fonts-noto-cjk"), "{warning}");
        let emoji = Rendered { png: vec![], missing: vec!['🙂'] };
        assert!(emoji.warning().unwrap().contains("fonts-noto-color-emoji"));
        assert!(Rendered { png: vec![], missing: vec![] }.warning().is_none());
    }
}
