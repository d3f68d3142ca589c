//! An alignment in the terminal: a row for each output token, a column for each source token, percent and
//! a shade in each cell.

use unicode_width::UnicodeWidthStr;

use crate::alignment::Alignment;

/// Shades of a cell, from 0 to 1.
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
/// The widest label; longer ones are cut.
const WIDEST: usize = 14;

/// Draws an alignment; every line ends with LF. Without attention there is nothing to draw.
pub fn draw(alignment: &Alignment) -> String {
    if alignment.target.is_empty() {
        return String::new();
    }
    if alignment.weights.is_empty() {
        return "(no attention: the model saw one fixed vector)\n".to_owned();
    }
    let left = alignment.target.iter().map(|label| cut(label).width()).max().unwrap_or(0);
    let widths: Vec<usize> = alignment.source.iter().map(|label| cut(label).width().max(4)).collect();
    let header = alignment.source.iter().zip(&widths).map(|(label, &width)| padded(&cut(label), width));
    let mut drawn = line(&" ".repeat(left), header);
    for (label, row) in alignment.target.iter().zip(&alignment.weights) {
        let cells = row.iter().zip(&widths).map(|(&weight, &width)| padded(&cell(weight), width));
        drawn += &line(&padded(&cut(label), left), cells);
    }
    drawn
}

fn line(label: &str, cells: impl Iterator<Item = String>) -> String {
    let line = cells.fold(label.to_owned(), |line, cell| line + "  " + &cell);
    line.trim_end().to_owned() + "\n"
}

fn cell(weight: f32) -> String {
    let percent = (100.0 * weight).round();
    if percent < 1.0 {
        return "·".into();
    }
    let shade = SHADES[((weight * SHADES.len() as f32) as usize).min(SHADES.len() - 1)];
    format!("{shade}{percent:>3}")
}

fn cut(label: &str) -> String {
    if label.width() <= WIDEST {
        return label.to_owned();
    }
    let mut kept = String::new();
    for c in label.chars() {
        if kept.width() + unicode_width::UnicodeWidthChar::width(c).unwrap_or(0) >= WIDEST {
            break;
        }
        kept.push(c);
    }
    kept + "…"
}

fn padded(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(text.width()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up_in_chinese_too() {
        let alignment = Alignment {
            source: vec!["welcome".into(), "to".into(), "深圳".into()],
            target: vec!["欢迎".into(), "x".into()],
            weights: vec![vec![0.97, 0.03, 0.0], vec![0.0, 0.4, 0.6]],
            heads: vec![],
        };
        let expected = "      welcome  to    深圳\n欢迎  █ 97        3  ·\nx     ·        ▒ 40  ▓ 60\n";
        assert_eq!(draw(&alignment), expected);
    }

    /// Known fault D11, in labels.
    #[test]
    fn long_labels_are_cut_between_characters() {
        for label in ["antidisestablishmentarianism", "门🙂abc门门门门门门门门", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦👨‍👩‍👧‍👦"]
        {
            let cut = cut(label);
            assert!(cut.width() <= WIDEST && label.starts_with(cut.trim_end_matches('…')), "{cut}");
        }
    }
}
