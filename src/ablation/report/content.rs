//! What a report says, block by block, whatever it is written as.

use super::super::figures::{self, Learning, OfVariant, by_variant};
use super::super::{BASELINE, Measure, Row, WIDE};
use super::marked::{Marked, marked};
use super::{Report, words};
use crate::error::Result;
use crate::language::{Language, Text, text};
use crate::metrics::resample::Difference;
use crate::plot::panels::{self, Panel};

/// A part of a report.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A paragraph; what stands between backticks is code.
    Say(String),
    /// A table, its first row the head, its first column names.
    Table(Vec<Vec<String>>),
    /// Pictures beside each other.
    Figures(Vec<Figure>),
    /// Texts under each other with what is wrong in them marked, each with its name.
    Wrote(Vec<(String, Vec<Marked>)>),
    /// Lines to type.
    Code(Vec<String>),
}

/// A picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name of its file, without what it ends in.
    pub name: String,
    /// It.
    pub svg: String,
    /// What it shows.
    pub caption: String,
}

impl Figure {
    /// The file of a form.
    pub fn file(&self, form: &str) -> String {
        format!("{}.{form}", self.name)
    }
}

impl Block {
    /// Its pictures.
    pub fn figures(&self) -> &[Figure] {
        match self {
            Self::Figures(figures) => figures,
            _ => &[],
        }
    }
}

/// A report in a language.
pub fn blocks(report: &Report<'_>, language: Language) -> Result<Vec<Block>> {
    let writer = Writer { report, language, variants: by_variant(&report.results.rows) };
    let mut blocks = writer.lead();
    blocks.push(Block::Figures(vec![
        writer.figure(
            "length",
            figures::by_length(&report.results.rows, language)?,
            text!("The score by the length of the source, with bands of 95 %.", "得分与源句长度，带 95% 误差带。")
                .to(language),
        ),
    ]));
    blocks.extend(writer.table());
    blocks.extend(writer.controls());
    blocks.extend(writer.lengths());
    blocks.extend(writer.learning()?);
    blocks.extend(writer.sizes()?);
    blocks.extend(writer.sentences()?);
    blocks.extend(writer.differences());
    blocks.extend(writer.method());
    Ok(blocks)
}

struct Writer<'a> {
    report: &'a Report<'a>,
    language: Language,
    variants: Vec<OfVariant<'a>>,
}

impl Writer<'_> {
    fn measure(&self) -> Measure {
        self.report.test.measure
    }

    fn figure(&self, name: &str, svg: String, caption: &str) -> Figure {
        let language = match self.language {
            Language::English => "",
            Language::Chinese => ".zh",
        };
        Figure { name: format!("{name}{language}"), svg, caption: caption.into() }
    }

    fn heading(&self, english: &str, chinese: &str) -> Block {
        Block::Heading(self.said(english, chinese))
    }

    fn said(&self, english: &str, chinese: &str) -> String {
        Text::new(english, chinese).to(self.language).to_owned()
    }

    /// The lengths of the longest sentences.
    fn longest(&self) -> String {
        self.report
            .results
            .rows
            .first()
            .and_then(|row| row.by_length.last())
            .map(figures::lengths)
            .unwrap_or_default()
    }

    fn score_at_longest(&self, variant: &OfVariant<'_>) -> f64 {
        let score = |row: &Row| row.by_length.last().map(|bin| self.measure().of(bin));
        variant.mean(score).unwrap_or(f64::NAN)
    }

    fn score(&self, variant: &OfVariant<'_>) -> f64 {
        variant.mean(|row| Some(self.measure().of(&row.all))).unwrap_or(f64::NAN)
    }

    /// How far `a` is ahead of `b`, over all lengths or in the bin of the longest sentences.
    fn difference(&self, a: &str, b: &str, longest: bool) -> Option<Difference> {
        let mut of_both = self.report.results.comparisons.iter().filter_map(|found| {
            let turned = |d: Difference| Difference { difference: -d.difference, low: -d.high, high: -d.low, ..d };
            match (found.a == a && found.b == b, found.a == b && found.b == a) {
                (true, _) => Some(found.difference),
                (_, true) => Some(turned(found.difference)),
                _ => None,
            }
        });
        of_both.nth(usize::from(longest))
    }

    /// What the figures say in two sentences.
    fn lead(&self) -> Vec<Block> {
        let lengths = self.longest();
        let baseline = self.variants.iter().find(|variant| variant.name == BASELINE);
        let (Some(best), Some(baseline)) = (self.best(), baseline) else { return Vec::new() };
        let Some(told) = self.difference(best.name, BASELINE, true) else { return Vec::new() };
        let measure = self.measure().name();
        let measure = measure.to(self.language);
        let (name, reached, vector) = (best.name, self.score_at_longest(best), self.score_at_longest(baseline));
        let Difference { difference, low, high, p } = told;
        let verdict = match (low > 0.0, high < 0.0) {
            (true, _) => text!(
                "One vector can't carry what attention looks up.",
                "一个向量装不下注意力随时可以查到的东西。"
            ),
            (_, true) => text!("Here attention is worth less than nothing.", "在这里，注意力反而有害。"),
            _ => text!(
                "That is no difference which these sentences can tell from none.",
                "凭这些句子，还分不清这个差别是否存在。"
            ),
        };
        let mut said = text!(
            "On sources of {lengths} words, `{name}` reaches {reached:.1} ({measure}) and the single vector {vector:.1}: a \
             difference of {difference:.1}, and from {low:.1} to {high:.1} in 95 of 100 samples of these sentences (p = {p:.3}). ",
            "源句为 {lengths} 词时，`{name}` 达到 {reached:.1}（{measure}），单个向量为 {vector:.1}：相差 {difference:.1}，\
             对这些句子的抽样中 95% 介于 {low:.1} 和 {high:.1} 之间（p = {p:.3}）。"
        )
        .to(self.language)
        .to_owned();
        said += verdict.to(self.language);
        std::iter::once(said).chain(self.wide(best.name)).map(Block::Say).collect()
    }

    /// Whether it is only the number of parameters.
    fn wide(&self, best: &str) -> Option<String> {
        let wide = self.variants.iter().find(|variant| variant.name == WIDE)?;
        let told = self.difference(best, WIDE, true)?;
        let (reached, parameters) = (self.score_at_longest(wide), grouped(wide.rows[0].parameters));
        let context = wide.rows[0].context;
        let Difference { difference, low, .. } = told;
        let so = match low > 0.0 {
            true => text!("so it is not the parameters", "所以不是参数多少的问题"),
            false => text!("so parameters may be all there is to it", "所以可能只是参数多少的问题"),
        };
        let so = so.to(self.language);
        let said = text!(
            "A vector widened to {context} numbers, with {parameters} parameters in all, reaches {reached:.1} there; `{best}` \
             is {difference:.1} ahead of it, {so}.",
            "把向量加宽到 {context} 个数、共 {parameters} 个参数，在此达到 {reached:.1}；`{best}` 领先 {difference:.1}，{so}。"
        );
        Some(said.to(self.language).to_owned())
    }

    /// A row for each variant.
    fn table(&self) -> Vec<Block> {
        let measure = self.measure();
        let name = measure.name().to(self.language).to_owned();
        let longest = self.longest();
        let mut head = vec![
            self.said("variant", "变体"),
            self.said("C", "C"),
            self.said("parameters", "参数"),
            name.clone(),
            self.said(&format!("at {longest} words"), &format!("{longest} 词")),
            self.said("ahead of none (p)", "领先 none（p）"),
        ];
        if measure == Measure::Bleu {
            head.push("chrF2".into());
        }
        head.extend([
            self.said("exact, %", "完全正确（%）"),
            self.said("perplexity", "困惑度"),
            self.said("AER", "AER"),
            self.said("entropy", "熵"),
            self.said("tokens/s", "词元/秒"),
        ]);
        let rows = self.variants.iter().map(|variant| self.table_row(variant));
        vec![self.heading("The variants", "各变体"), Block::Table(std::iter::once(head).chain(rows).collect())]
    }

    fn table_row(&self, variant: &OfVariant<'_>) -> Vec<String> {
        let measure = self.measure();
        let or_dash = |told: Option<String>| told.unwrap_or_else(|| "–".into());
        let spread = |of: &dyn Fn(&Row) -> f64| {
            variant.spread(of).map(|spread| format!(" ± {spread:.2}")).unwrap_or_default()
        };
        let at_longest = |row: &Row| row.by_length.last().map_or(f64::NAN, |bin| measure.of(bin));
        let ahead = self.difference(variant.name, BASELINE, false);
        let mut row = vec![
            format!("`{}`", variant.name),
            variant.rows[0].context.to_string(),
            grouped(variant.rows[0].parameters),
            format!("{:.2}{}", self.score(variant), spread(&|row| measure.of(&row.all))),
            format!("{:.2}{}", self.score_at_longest(variant), spread(&at_longest)),
            or_dash(ahead.map(|told| format!("{:+.2} ({:.3})", told.difference, told.p))),
        ];
        if measure == Measure::Bleu {
            row.push(or_dash(variant.mean(|row| Some(row.all.chrf)).map(|chrf| format!("{chrf:.2}"))));
        }
        let speed = self.report.results.times.iter().filter(|times| times.variant == variant.name);
        let speed: Vec<f64> = speed.map(|times| times.tokens_per_second).collect();
        row.extend([
            or_dash(variant.mean(|row| Some(row.all.exact_match)).map(|exact| format!("{:.1}", 100.0 * exact))),
            or_dash(variant.mean(|row| Some(row.all.loss)).map(|loss| format!("{:.3}", loss.exp()))),
            or_dash(variant.mean(|row| row.all.aer).map(|aer| format!("{aer:.3}"))),
            or_dash(variant.mean(|row| row.all.entropy).map(|entropy| format!("{entropy:.3}"))),
            grouped((speed.iter().sum::<f64>() / speed.len().max(1) as f64).round() as usize),
        ]);
        row
    }

    /// What controls can't do, and what they did here.
    fn controls(&self) -> Vec<Block> {
        let controls =
            self.variants.iter().filter_map(|variant| Some((variant, words::limit(&variant.rows[0].attention)?)));
        let said = |(variant, limit): (&OfVariant<'_>, Text)| {
            let here = self.outcome(variant).map(|here| here.to(self.language).to_owned()).unwrap_or_default();
            Block::Say(format!("{}{here}", limit.to(self.language)))
        };
        controls.map(said).collect()
    }

    /// Whether a control is nearer to the single vector or to the best of those that compare contents.
    fn outcome(&self, variant: &OfVariant<'_>) -> Option<Text> {
        let (best, baseline) = (self.best()?, self.variants.iter().find(|variant| variant.name == BASELINE)?);
        let [reached, most, least] = [variant, best, baseline].map(|variant| self.score_at_longest(variant));
        let (lengths, name) = (self.longest(), best.name);
        let like_vector = text!(
            " Here it reaches {reached:.1} at {lengths} words, nearer to the single vector ({least:.1}) than to `{name}` \
             ({most:.1}).",
            "在这里，源句为 {lengths} 词时它达到 {reached:.1}，更接近单个向量（{least:.1}），而不是 `{name}`（{most:.1}）。"
        );
        if reached - least < most - reached {
            return Some(like_vector);
        }
        let aer = |variant: &OfVariant<'_>| variant.mean(|row| row.all.aer);
        let links = match (aer(variant), aer(best)) {
            (Some(its), Some(right)) => text!(
                " Its links are another matter: an error rate of {its:.3}, against {right:.3} for `{name}`.",
                "对齐则是另一回事：错误率 {its:.3}，而 `{name}` 为 {right:.3}。"
            ),
            _ => Text::default(),
        };
        let [english, chinese] = [links.to(Language::English), links.to(Language::Chinese)];
        Some(text!(
            " Here that is enough: at {lengths} words it reaches {reached:.1} (`{name}`: {most:.1}; the single vector: \
             {least:.1}), for where the next word stands can be told from how far the translation has got.{english}",
            "在这里，这已足够：源句为 {lengths} 词时它达到 {reached:.1}（`{name}`：{most:.1}；单个向量：{least:.1}），\
             因为从译文写到哪里就能知道下一个词在哪里。{chinese}"
        ))
    }

    /// The variant that looks at contents and does best on the longest sentences.
    fn best(&self) -> Option<&OfVariant<'_>> {
        let looks = |variant: &&OfVariant<'_>| {
            let row = variant.rows[0];
            !figures::is_vector(row) && words::limit(&row.attention).is_none()
        };
        let better =
            |a: &&OfVariant<'_>, b: &&OfVariant<'_>| self.score_at_longest(a).total_cmp(&self.score_at_longest(b));
        self.variants.iter().filter(looks).max_by(better)
    }

    /// The score by source length, in numbers.
    fn lengths(&self) -> Vec<Block> {
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
                format!("{score:.1} ({low:.1}–{high:.1})")
            };
            std::iter::once(format!("`{}`", variant.name)).chain((0..first.by_length.len()).map(cell)).collect()
        };
        let rows = self.variants.iter().map(row);
        let name = measure.name();
        vec![
            Block::Heading(self.said(
                &format!("By the length of the source: {}, with its band of 95 %", name.to(Language::English)),
                &format!("按源句长度：{}（括号内为 95% 误差带）", name.to(Language::Chinese)),
            )),
            Block::Table([head, counts].into_iter().chain(rows).collect()),
        ]
    }

    fn learning(&self) -> Result<Vec<Block>> {
        let rows = &self.report.results.rows;
        let draw = |shown| figures::learning_of(rows, shown, self.language);
        let loss = self.said("Loss on the dev set by updates.", "开发集损失与更新次数。");
        let bleu = self
            .said("BLEU of greedy translations of the dev set by updates.", "开发集贪心译文的 BLEU 与更新次数。");
        Ok(vec![
            self.heading("How they learnt", "学习过程"),
            Block::Figures(vec![
                self.figure("learning-loss", draw(Learning::Loss)?, &loss),
                self.figure("learning-bleu", draw(Learning::Bleu)?, &bleu),
            ]),
        ])
    }

    /// How large C must be, where it was trained in several sizes besides the wide one.
    fn sizes(&self) -> Result<Vec<Block>> {
        let sized = |variant: &&OfVariant<'_>| {
            variant.name != WIDE && variant.rows.iter().all(|row| figures::is_vector(row))
        };
        if self.variants.iter().filter(sized).count() < 2 {
            return Ok(Vec::new());
        }
        let caption = self.said(
            "The score of the longest sentences by the size of C; encoder and decoder grow with it. Variants that look are \
             drawn across at the size that they have.",
            "最长句子的得分与 C 的大小；编码器和解码器随之增大。有注意力的变体以其自身大小画成横线。",
        );
        Ok(vec![
            self.heading("How large must C be?", "C 需要多大？"),
            Block::Figures(vec![self.figure(
                "sizes",
                figures::sizes(&self.report.results.rows, self.language)?,
                &caption,
            )]),
        ])
    }

    /// Sentences with where each variant looks and what it wrote.
    fn sentences(&self) -> Result<Vec<Block>> {
        let mut blocks = vec![
            self.heading("Where they looked, and what they wrote", "看了哪里，写了什么"),
            Block::Say(self.said(
                "The first sentences of the test set of these lengths; nobody chose them. Rows are words of the reference, \
                 columns source words; frames are gold links. What a translation does not have in common with the reference \
                 is marked. All with the first seed.",
                "测试集中这些长度的第一个句子，没有挑选。行是参考译文的词，列是源句的词，方框是标准对齐。译文中与参考译文不同的部分有标记。均为第一个种子。",
            )),
        ];
        let (test, results) = (self.report.test, self.report.results);
        for (n, &place) in (1..).zip(&test.shown) {
            let pair = &test.pairs[place];
            let source = vec![Marked { text: pair.source.clone(), right: true }];
            let reference = vec![Marked { text: pair.target.clone(), right: true }];
            let mut wrote =
                vec![(self.said("source", "源句"), source), (self.said("reference", "参考译文"), reference)];
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
        self.variants
            .iter()
            .filter_map(|variant| Some((rows.iter().position(|row| row.variant == variant.name)?, variant.name)))
    }

    fn alignment(&self, n: usize, place: usize, row: usize, variant: &str) -> Result<Option<Figure>> {
        let shown = self.report.results.shown[row].iter().find(|(shown, _)| *shown == place);
        let Some((_, alignment)) = shown.filter(|(_, alignment)| !alignment.weights.is_empty()) else {
            return Ok(None);
        };
        let gold = self.report.test.gold.as_ref().map(|gold| &gold[place]);
        let [source, output] = [self.said("source", "源句"), self.said("reference", "参考译文")];
        let panel = Panel {
            title: variant,
            axes: [&source, &output],
            columns: &alignment.source,
            rows: &alignment.target,
            values: &alignment.weights,
            most: 1.0,
            gold,
        };
        let svg = panels::svg(&format!("{variant}: {}", alignment.source.join(" ")), &[panel])?;
        let name = format!("alignment-{n}-{variant}");
        Ok(Some(self.figure(&name, svg, &format!("`{variant}`"))))
    }

    /// Every two variants.
    fn differences(&self) -> Vec<Block> {
        let mut head = vec![String::new()];
        head.extend(self.variants.iter().map(|variant| format!("`{}`", variant.name)));
        let row = |a: &OfVariant<'_>| {
            let cell = |b: &OfVariant<'_>| {
                let told = self.difference(a.name, b.name, false);
                told.map_or("–".to_owned(), |told| format!("{:+.2} ({:.3})", told.difference, told.p))
            };
            std::iter::once(format!("`{}`", a.name)).chain(self.variants.iter().map(cell)).collect()
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

    fn method(&self) -> Vec<Block> {
        let Report { results, plan, test, command } = self.report;
        let mut blocks = vec![self.heading("How this was made", "如何得出")];
        if let (Some(variant), Some(row)) = (plan.variants.first(), results.rows.first()) {
            let data = &variant.config.data;
            let (train, dev) = (&data.train, &data.dev);
            let judged = data.test.as_ref().map(ToString::to_string).unwrap_or_default();
            let (pairs, sentences) = (grouped(row.train.pairs as usize), grouped(test.pairs.len()));
            let (steps, seeds) = (grouped(row.train.steps as usize), &plan.seeds);
            let signature = test.bleu.signature(1);
            blocks.push(Block::Say(
                text!(
                    "Trained on {pairs} pairs (`{train}`) for {steps} updates with seeds {seeds:?}; the model was chosen on \
                     `{dev}` and judged on {sentences} sentences of `{judged}`. BLEU: `{signature}`.",
                    "在 {pairs} 对句子（`{train}`）上训练，更新 {steps} 次，种子 {seeds:?}；用 `{dev}` 选模型，\
                     用 `{judged}` 的 {sentences} 句评判。BLEU：`{signature}`。"
                )
                .to(self.language)
                .to_owned(),
            ));
        }
        blocks.extend(
            words::method(plan.seeds.len()).iter().map(|said| Block::Say(said.to(self.language).to_owned())),
        );
        blocks.push(Block::Say(self.said(
            "The command that made this report, one that trains a run of it again, and one that draws its first picture:",
            "生成本报告的命令、重新训练其中一次的命令、重画第一张图的命令：",
        )));
        let again = results
            .rows
            .first()
            .map_or_else(String::new, |row| format!("zhuyi train --config {}/config.toml --run again", row.run));
        blocks.push(Block::Code(vec![(*command).to_owned(), again, "zhuyi plot curves results.json".into()]));
        blocks
    }
}

/// A count with commas between thousands.
fn grouped(n: usize) -> String {
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
