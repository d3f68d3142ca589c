//! The pictures of a report, and the sentences beside them.

use super::super::WIDE;
use super::super::figures::{self, Learning, OfVariant};
use super::super::test_set::SHOWN;
use super::block::{Block, Figure};
use super::marked::{Marked, marked};
use super::writer::Writer;
use crate::error::Result;
use crate::language::text;
use crate::plot::panels::{self, Panel};

impl Writer<'_> {
    /// The bottleneck curve.
    pub fn by_length(&self) -> Result<Vec<Block>> {
        let svg = figures::by_length(&self.report.results.rows, self.language)?;
        let caption = self
            .said("The score by the length of the source, with bands of 95 %.", "得分与源句长度，带 95% 置信带。");
        Ok(vec![Block::Figures(vec![self.figure("length", svg, caption)])])
    }

    pub fn learning(&self) -> Result<Vec<Block>> {
        let draw = |shown| figures::learning_of(&self.report.results.rows, shown, self.language);
        let loss = self.said("Loss on the dev set by updates.", "开发集损失与更新次数。");
        let bleu = self
            .said("BLEU of greedy translations of the dev set by updates.", "开发集贪心译文的 BLEU 与更新次数。");
        Ok(vec![
            self.heading("How they learnt", "学习过程"),
            Block::Figures(vec![
                self.figure("learning-loss", draw(Learning::Loss)?, loss),
                self.figure("learning-bleu", draw(Learning::Bleu)?, bleu),
            ]),
        ])
    }

    /// How large C must be, where it was trained in several sizes besides the wide one.
    pub fn sizes(&self) -> Result<Vec<Block>> {
        let sized = |variant: &&OfVariant<'_>| variant.name != WIDE && figures::is_vector(variant.rows[0]);
        if self.variants.iter().filter(sized).count() < 2 {
            return Ok(Vec::new());
        }
        let caption = self.said(
            "The score of the longest sentences by the size of C; encoder and decoder grow with it. Variants that look are \
             drawn across, at the size that they have.",
            "最长句子的得分与 C 的大小；编码器和解码器随之增大。有注意力的变体按其自身大小画成横线。",
        );
        let svg = figures::sizes(&self.report.results.rows, self.language)?;
        Ok(vec![
            self.heading("How large must C be?", "C 需要多大？"),
            Block::Figures(vec![self.figure("sizes", svg, caption)]),
        ])
    }

    /// Sentences with where each variant looks and what it wrote.
    pub fn sentences(&self) -> Result<Vec<Block>> {
        let lengths = SHOWN.map(|length| length.to_string()).join(", ");
        let [frames, framed] = match self.report.test.gold {
            Some(_) => ["; frames are gold links", "，方框是标准对齐"],
            None => ["", ""],
        };
        let mut blocks = vec![
            self.heading("Where they looked, and what they wrote", "看了哪里，写了什么"),
            self.say(&text!(
                "Of the test set, the first sentence nearest to each of {lengths} words; nobody chose them. Rows are words of \
                 the reference, columns source words{frames}. What a translation does not have in common with \
                 the reference is marked. All with the first seed.",
                "测试集中词数最接近 {lengths} 的第一个句子，没有挑选。行是参考译文的词，列是源句的词{framed}。\
                 译文中与参考译文不同的部分有标记。均为第一个种子。"
            )),
        ];
        let (test, results) = (self.report.test, self.report.results);
        for (n, &place) in (1..).zip(&test.shown) {
            let pair = &test.pairs[place];
            let whole = |text: &str| vec![Marked { text: text.to_owned(), right: true }];
            let mut wrote = vec![
                (self.said("source", "源句"), whole(&pair.source)),
                (self.said("reference", "参考译文"), whole(&pair.target)),
            ];
            let mut pictures = Vec::new();
            for (row, variant) in self.firsts() {
                wrote.push((variant.to_owned(), marked(&results.translations[row][place], &pair.target)));
                pictures.extend(self.alignment(n, place, row, variant)?);
            }
            blocks.push(Block::Wrote(wrote));
            blocks.push(Block::Figures(pictures));
        }
        Ok(blocks)
    }

    /// The row of each variant's first seed.
    fn firsts(&self) -> impl Iterator<Item = (usize, &str)> {
        let rows = &self.report.results.rows;
        let first = |name: &str| rows.iter().position(|row| row.variant == name);
        self.variants.iter().filter_map(move |variant| Some((first(variant.name)?, variant.name)))
    }

    /// Where a variant looked in a sentence; nothing of one that does not look.
    fn alignment(&self, n: usize, place: usize, row: usize, variant: &str) -> Result<Option<Figure>> {
        let shown = self.report.results.shown[row].iter().find(|(shown, _)| *shown == place);
        let Some((_, alignment)) = shown.filter(|(_, alignment)| !alignment.weights.is_empty()) else {
            return Ok(None);
        };
        let [source, output] = [self.said("source", "源句"), self.said("reference", "参考译文")];
        let panel = Panel {
            title: variant,
            axes: [&source, &output],
            columns: &alignment.source,
            rows: &alignment.target,
            values: &alignment.weights,
            most: 1.0,
            gold: self.report.test.gold.as_ref().map(|gold| &gold[place]),
        };
        let svg = panels::svg(&format!("{variant}: {}", alignment.source.join(" ")), &[panel])?;
        Ok(Some(self.figure(&format!("alignment-{n}-{variant}"), svg, format!("`{variant}`"))))
    }
}
