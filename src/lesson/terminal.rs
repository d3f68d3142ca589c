//! A lesson as text, as it would stand on a board.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::board::{Compared, Language, Lesson, Matrix, Part, Text};

/// Columns that a paragraph is folded to.
const WIDTH: usize = 96;

/// A lesson as text; every line ends with LF.
pub fn told(lesson: &Lesson, language: Language) -> String {
    let mut text = format!("{}\n", lesson.title.to(language));
    for part in &lesson.parts {
        text.push('\n');
        text += &match part {
            Part::Step(step) => format!("── {}\n", step.to(language)),
            Part::Say(said) => folded(said.to(language), WIDTH),
            Part::Matrix(matrix) => drawn(matrix, language),
            Part::Table(rows) => aligned(&in_language(rows, language)),
            Part::Compared(compared) => both(compared, language),
        };
    }
    text
}

/// A number as it stands on the board: whole ones as they are, others with four decimals.
pub(super) fn cell(value: f64, whole: bool) -> String {
    if whole { format!("{value:.0}") } else { format!("{value:.4}") }
}

/// Whether all numbers of a matrix are whole.
pub(super) fn is_whole(matrix: &Matrix) -> bool {
    matrix.values.iter().flatten().all(|x| x.fract() == 0.0)
}

fn in_language(rows: &[Vec<Text>], language: Language) -> Vec<Vec<String>> {
    rows.iter().map(|row| row.iter().map(|cell| cell.to(language).to_owned()).collect()).collect()
}

fn drawn(matrix: &Matrix, language: Language) -> String {
    let whole = is_whole(matrix);
    let name = |name: &Text| name.to(language).to_owned();
    let head = std::iter::once(String::new()).chain(matrix.columns.iter().map(name)).collect();
    let rows =
        matrix.rows.iter().zip(&matrix.values).map(|(row, values)| {
            std::iter::once(name(row)).chain(values.iter().map(|&x| cell(x, whole))).collect()
        });
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    format!("{}\n{}", matrix.name.to(language), aligned(&rows))
}

/// Columns as wide as their widest cell, those of numbers flush right.
fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let body = |column: usize| rows.iter().skip(1).filter_map(move |row| row.get(column));
    let numbers: Vec<bool> = (0..columns).map(|column| body(column).all(|cell| is_number(cell))).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for ((cell, &width), &number) in row.iter().zip(&widths).zip(&numbers) {
            let space = " ".repeat(width.saturating_sub(cell.width()));
            let (before, after) = if number { (space, String::new()) } else { (String::new(), space) };
            line += &format!("  {before}{cell}{after}");
        }
        text += &format!("{}\n", line.trim_end());
    }
    text
}

/// Whether a cell is flush right: it begins as a number does, or is empty.
pub(super) fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell.starts_with(|c: char| c.is_ascii_digit() || "−-–".contains(c))
}

/// What the two sides of a comparison are called.
pub(super) fn sides(language: Language) -> [&'static str; 2] {
    match language {
        Language::English => ["course", "right"],
        Language::Chinese => ["课程", "应为"],
    }
}

/// Whether the sides agree, in words.
pub(super) fn verdict(compared: &Compared, language: Language) -> String {
    let verdict = match (language, compared.agrees) {
        (Language::English, true) => "They agree. ",
        (Language::English, false) => "They differ. ",
        (Language::Chinese, true) => "两者一致。",
        (Language::Chinese, false) => "两者不同。",
    };
    verdict.to_owned()
}

fn both(compared: &Compared, language: Language) -> String {
    let [course, right] = sides(language);
    let width = course.width().max(right.width());
    let line = |name: &str, text: &str| format!("  {name}{}  {text}\n", " ".repeat(width - name.width()));
    let why = verdict(compared, language) + compared.why.to(language);
    format!(
        "{}\n{}{}{}",
        compared.what.to(language),
        line(course, compared.printed.to(language)),
        line(right, &compared.computed),
        folded(&why, WIDTH - 2).lines().map(|line| format!("  {line}\n")).collect::<String>()
    )
}

/// A paragraph in lines of so many columns, broken at spaces and, in Chinese, between characters.
fn folded(paragraph: &str, width: usize) -> String {
    let mut lines = vec![String::new()];
    for word in words(paragraph) {
        let line = lines.len() - 1;
        if lines[line].width() + word.trim_end().width() > width && !lines[line].is_empty() {
            lines.push(String::new());
        }
        let line = lines.len() - 1;
        lines[line] += word;
    }
    lines.iter().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// What must not be broken: words with the space after them, single wide characters with the punctuation after them.
fn words(paragraph: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut before) = (0, None::<char>);
    for (at, c) in paragraph.char_indices() {
        let wide = |c: char| c.width() == Some(2);
        // Formulas stay whole.
        let equals = paragraph[..at].ends_with("= ") || paragraph[at..].starts_with('=');
        let begins = before.is_some_and(|before| {
            (before == ' ' && c != ' ' && !equals)
                || ((wide(c) || wide(before))
                    && !"，。；：、）”！？,.;:)".contains(c)
                    && !"（“".contains(before)
                    && c != ' ')
        });
        if begins {
            found.push(&paragraph[start..at]);
            start = at;
        }
        before = Some(c);
    }
    found.push(&paragraph[start..]);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::board::Printed;

    #[test]
    fn columns_line_up_and_paragraphs_fold() {
        let mut lesson = Lesson::new("x", Text::new("Title", "标题"));
        lesson.matrix(Text::new("w", "权重"), &["猫", "eats"], &["a", "深圳"], &[vec![0.5, 0.25], vec![1.0, 0.0]]);
        lesson.compare(
            Text::new("w", "权重"),
            &Printed("0.5 0.3"),
            &[vec![0.5, 0.25]],
            Text::new("Why.", "原因。"),
        );
        let right = "Title\n\nw\n             a    深圳\n  猫    0.5000  0.2500\n  eats  1.0000  0.0000\n\nw\n  course  0.5 0.3\n  \
                     right   0.5000 0.2500\n  They differ. Why.\n";
        assert_eq!(told(&lesson, Language::English), right);
        assert!(
            told(&lesson, Language::Chinese)
                .contains("  课程  0.5 0.3\n  应为  0.5000 0.2500\n  两者不同。原因。\n")
        );
        assert_eq!(folded("aa bb cc", 5), "aa bb\ncc\n");
        assert_eq!(folded("注意力是软的。", 6), "注意力\n是软\n的。\n");
    }
}
