//! The figures in rows and columns.

use super::super::figures::{self, OfVariant};
use super::super::{BASELINE, Measure, Row};
use super::block::Block;
use super::writer::{Which, Writer};
use crate::language::Language;

impl Writer<'_> {
    /// A row for each variant.
    pub fn variants(&self) -> Vec<Block> {
        let longest = self.longest();
        let mut head = vec![
            self.said("variant", "变体"),
            "C".into(),
            self.said("parameters", "参数"),
            self.told(&self.measure().head()),
            self.said(&format!("at {longest} words"), &format!("{longest} 词")),
            self.said("ahead of none (p)", "领先 none（p）"),
        ];
        if self.measure() == Measure::Bleu {
            head.push("chrF2".into());
        }
        head.extend([
            self.said("exact, %", "完全正确（%）"),
            self.said("perplexity", "困惑度"),
            "AER".into(),
            self.said("entropy", "熵"),
            self.said("tokens/s", "词元/秒"),
        ]);
        let rows = self.variants.iter().map(|variant| self.row(variant));
        vec![self.heading("The variants", "各变体"), Block::Table(std::iter::once(head).chain(rows).collect())]
    }

    fn row(&self, variant: &OfVariant<'_>) -> Vec<String> {
        let measure = self.measure();
        let or_dash = |told: Option<String>| told.unwrap_or_else(|| "–".into());
        let spread = |of: &dyn Fn(&Row) -> f64| {
            variant.spread(of).map(|spread| format!(" ± {spread:.2}")).unwrap_or_default()
        };
        let at_longest = |row: &Row| row.by_length.last().map_or(f64::NAN, |bin| measure.of(bin));
        let ahead = self.difference(variant.name, BASELINE, Which::All);
        let mut row = vec![
            code(variant.name),
            variant.rows[0].context.to_string(),
            grouped(variant.rows[0].parameters),
            format!("{:.2}{}", variant.score(), spread(&|row| measure.of(&row.all))),
            format!("{:.2}{}", variant.at_longest(), spread(&at_longest)),
            or_dash(ahead.map(|told| format!("{:+.2} ({:.3})", told.difference, told.p))),
        ];
        if measure == Measure::Bleu {
            row.push(or_dash(variant.mean(|row| Some(row.all.chrf)).map(|chrf| format!("{chrf:.2}"))));
        }
        let times = self.report.results.times.iter().filter(|times| times.variant == variant.name);
        let speeds: Vec<f64> = times.map(|times| times.tokens_per_second).collect();
        row.extend([
            or_dash(variant.mean(|row| Some(row.all.exact_match)).map(|exact| format!("{:.1}", 100.0 * exact))),
            or_dash(variant.mean(|row| Some(row.all.loss)).map(|loss| format!("{:.3}", loss.exp()))),
            or_dash(variant.mean(|row| row.all.aer).map(|aer| format!("{aer:.3}"))),
            or_dash(variant.mean(|row| row.all.entropy).map(|entropy| format!("{entropy:.3}"))),
            grouped((speeds.iter().sum::<f64>() / speeds.len().max(1) as f64).round() as usize),
        ]);
        row
    }

    /// The score by source length.
    pub fn lengths(&self) -> Vec<Block> {
        let Some(first) = self.report.results.rows.first() else { return Vec::new() };
        let measure = self.measure();
        let mut head = vec![self.said("source words", "源句词数")];
        head.extend(first.by_length.iter().map(figures::lengths));
        let mut counts = vec![self.said("sentences", "句数")];
        counts.extend(first.by_length.iter().map(|bin| bin.sentences.to_string()));
        let row = |variant: &OfVariant<'_>| {
            let cell = |place: usize| {
                let of = |told: &dyn Fn(&Row) -> f64| variant.mean(|row| Some(told(row))).unwrap_or(f64::NAN);
                let score = of(&|row| measure.of(&row.by_length[place]));
                let [low, high] = [0, 1].map(|side| of(&|row| row.by_length[place].band[side]));
                // No line ends inside a band.
                format!("{score:.1} ({low:.1}–\u{2060}{high:.1})")
            };
            std::iter::once(code(variant.name)).chain((0..first.by_length.len()).map(cell)).collect()
        };
        let rows = self.variants.iter().map(row);
        let [name, named] =
            [Language::English, Language::Chinese].map(|language| measure.name().to(language).to_owned());
        vec![
            self.heading(
                &format!("By the length of the source: {name}, with its band of 95 %"),
                &format!("按源句长度：{named}（括号内为 95% 置信带）"),
            ),
            Block::Table([head, counts].into_iter().chain(rows).collect()),
        ]
    }

    /// Every two variants.
    pub fn differences(&self) -> Vec<Block> {
        let mut head = vec![String::new()];
        head.extend(self.variants.iter().map(|variant| code(variant.name)));
        let row = |a: &OfVariant<'_>| {
            let cell = |b: &OfVariant<'_>| {
                let told = self.difference(a.name, b.name, Which::All);
                told.map_or("–".to_owned(), |told| format!("{:+.2} ({:.3})", told.difference, told.p))
            };
            std::iter::once(code(a.name)).chain(self.variants.iter().map(cell)).collect()
        };
        let rows: Vec<Vec<String>> = self.variants.iter().map(row).collect();
        vec![
            self.heading(
                "How far the row is ahead of the column, over all lengths (p)",
                "行领先列多少，所有长度合计（p）",
            ),
            Block::Table(std::iter::once(head).chain(rows).collect()),
        ]
    }
}

fn code(name: &str) -> String {
    format!("`{name}`")
}

/// A count with commas between thousands.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut told = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            told.push(',');
        }
        told.push(digit);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
