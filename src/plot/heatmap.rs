//! Alignments as heat maps: a row for each output token, a column for each source token, as the papers draw them.

use super::check;
use super::panels::{self, Panel};
use crate::alignment::{Alignment, SentenceLinks};
use crate::error::Result;

/// Draws an alignment as SVG; of several heads the mean and each. Gold links are framed. Labels are text, in the viewer's
/// fonts.
///
/// # Errors
/// An alignment without weights (of a model without attention).
pub fn svg(alignment: &Alignment, gold: Option<&SentenceLinks>) -> Result<String> {
    check(alignment)?;
    let names: Vec<String> = (1..=alignment.heads.len()).map(|head| format!("head {head}")).collect();
    let panel = |title, values| Panel {
        title,
        axes: ["source", "output"],
        columns: &alignment.source,
        rows: &alignment.target,
        values,
        most: 1.0,
        gold,
    };
    let mean = if names.is_empty() { "" } else { "mean" };
    let heads = names.iter().zip(&alignment.heads).map(|(name, head)| panel(name, head));
    let panels: Vec<Panel<'_>> = std::iter::once(panel(mean, &alignment.weights)).chain(heads).collect();
    let title = format!("{} → {}", alignment.source.join(" "), alignment.target.join(" "));
    panels::svg(&title, &panels)
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
        let (texts, titles) = parse(&svg(&alignment, None).unwrap());
        assert_eq!(texts[..2], ["source", "output"]);
        for told in ["t0 ← s0: 0.900", "t0 ← s1: 0.100", "t1 ← s1: 0.800", "t2 ← s0: 0.500"] {
            assert!(titles.iter().any(|title| title == told), "{told}");
        }
        let document = svg(&alignment, None).unwrap();
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
        let drawn = svg(&alignment, None).unwrap();
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
        assert!(svg(&alignment, None).unwrap_err().to_string().contains("no attention"));
        assert!(svg(&Alignment::default(), None).is_ok());
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
        let drawn = svg(&alignment, None).unwrap();
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

    /// Sure links are framed, possible ones with dashes, each on its own cell.
    #[test]
    fn gold_links_are_framed() {
        let alignment = Alignment {
            source: words("s0 s1"),
            target: words("t0 t1 t2"),
            weights: vec![vec![0.9, 0.1], vec![0.2, 0.8], vec![0.5, 0.5]],
            heads: vec![],
        };
        let gold = SentenceLinks::parse("1-0 0p2 5-5", 0).unwrap();
        let drawn = svg(&alignment, Some(&gold)).unwrap();
        let document = roxmltree::Document::parse(&drawn).unwrap();
        let place = |node: &roxmltree::Node<'_, '_>| {
            ["x", "y"].map(|axis| node.attribute(axis).unwrap().parse::<f32>().unwrap().round())
        };
        let cell = |title: &str| {
            let named =
                document.descendants().find(|node| node.has_tag_name("title") && node.text() == Some(title));
            place(&named.unwrap().parent().unwrap())
        };
        let frames: Vec<_> =
            document.descendants().filter(|node| node.attribute("class") == Some("frame")).collect();
        assert_eq!(frames.len(), 2, "what is outside the sentence is not drawn");
        for (frame, title, dashed) in [(&frames[0], "t2 ← s0: 0.500", true), (&frames[1], "t0 ← s1: 0.100", false)]
        {
            let ([x, y], [left, top]) = (place(frame), cell(title));
            assert!((x - left).abs() <= 2.0 && (y - top).abs() <= 2.0, "{title}");
            assert_eq!(frame.attribute("stroke-dasharray").is_some(), dashed, "{title}");
        }
    }
}
