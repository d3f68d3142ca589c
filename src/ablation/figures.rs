//! The pictures of a report, from its figures alone.

use std::collections::{BTreeMap, BTreeSet};

use super::row::{Bin, Measure, Point, Row};
use crate::error::Result;
use crate::language::{Language, Text, text};
use crate::plot::curves::{self, Chart, Scale, Series};

/// Everything of one variant.
#[derive(Clone, Debug)]
pub struct OfVariant<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its rows, one a seed.
    pub rows: Vec<&'a Row>,
}

impl OfVariant<'_> {
    /// The mean over the seeds of what can be told of every one.
    pub fn mean(&self, of: impl Fn(&Row) -> Option<f64>) -> Option<f64> {
        let told: Option<Vec<f64>> = self.rows.iter().map(|row| of(row)).collect();
        told.filter(|told| !told.is_empty()).map(|told| mean(&told))
    }

    /// The score over all lengths.
    pub fn score(&self) -> f64 {
        self.mean(|row| Some(row.measure.of(&row.all))).unwrap_or(f64::NAN)
    }

    /// The score of the longest sentences.
    pub fn at_longest(&self) -> f64 {
        self.mean(|row| row.by_length.last().map(|bin| row.measure.of(bin))).unwrap_or(f64::NAN)
    }

    /// The standard deviation between seeds; nothing of a single one.
    pub fn spread(&self, of: impl Fn(&Row) -> f64) -> Option<f64> {
        let told: Vec<f64> = self.rows.iter().map(|row| of(row)).collect();
        let mean = mean(&told);
        let squares: f64 = told.iter().map(|x| (x - mean).powi(2)).sum();
        (told.len() > 1).then(|| (squares / (told.len() - 1) as f64).sqrt())
    }
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

/// Rows by variant, in the order of their first.
pub fn by_variant(rows: &[Row]) -> Vec<OfVariant<'_>> {
    let mut variants: Vec<OfVariant<'_>> = Vec::new();
    for row in rows {
        match variants.iter_mut().find(|variant| variant.name == row.variant) {
            Some(variant) => variant.rows.push(row),
            None => variants.push(OfVariant { name: &row.variant, rows: vec![row] }),
        }
    }
    variants
}

impl Measure {
    /// What it is called.
    pub fn name(self) -> Text {
        match self {
            Self::Bleu => text!("BLEU", "BLEU"),
            Self::TokenAccuracy => text!("token accuracy", "词元准确率"),
        }
    }

    /// The same at the head of numbers, with their unit.
    pub fn head(self) -> Text {
        match self {
            Self::Bleu => self.name(),
            Self::TokenAccuracy => text!("token accuracy, %", "词元准确率（%）"),
        }
    }

    /// It, 0 to 100.
    pub fn of(self, bin: &Bin) -> f64 {
        match self {
            Self::Bleu => bin.bleu,
            Self::TokenAccuracy => 100.0 * bin.token_accuracy.unwrap_or(f64::NAN),
        }
    }
}

/// The bottleneck curve: the score by source length, with bands.
///
/// # Errors
/// None that a user could cause.
pub fn by_length(rows: &[Row], language: Language) -> Result<String> {
    let Some(first) = rows.first() else { return empty() };
    let places: Vec<String> = first.by_length.iter().map(lengths).collect();
    let series: Vec<Series> = by_variant(rows).iter().map(|variant| length_curve(variant, places.len())).collect();
    let x: Vec<f64> = (0..places.len()).map(|place| place as f64).collect();
    curves::svg(&Chart {
        title: text!("Score by the length of the source", "得分与源句长度").to(language),
        axes: [text!("source words", "源句词数").to(language), first.measure.head().to(language)],
        scales: [Scale::Linear; 2],
        x: &x,
        places: &places,
        series: &series,
    })
}

/// The lengths of a bin.
pub fn lengths(bin: &Bin) -> String {
    format!("{}–{}", bin.from, bin.to)
}

fn length_curve(variant: &OfVariant<'_>, places: usize) -> Series {
    let at = |place: usize, of: &dyn Fn(&Row, &Bin) -> f64| {
        variant.mean(|row| row.by_length.get(place).map(|bin| of(row, bin))).unwrap_or(f64::NAN)
    };
    Series {
        name: variant.name.to_owned(),
        values: (0..places).map(|place| at(place, &|row, bin| row.measure.of(bin))).collect(),
        band: (0..places).map(|place| [0, 1].map(|side| at(place, &|_, bin| bin.band[side]))).collect(),
        colour: None,
    }
}

/// What a learning curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Learning {
    /// Cross-entropy on the dev set.
    Loss,
    /// BLEU of greedy translations of the dev set.
    Bleu,
}

/// Who learns.
#[derive(Clone, Debug)]
pub struct Learner<'a> {
    /// Its name.
    pub name: String,
    /// The curve of each of its runs.
    pub runs: Vec<&'a [Point]>,
}

/// Learning curves: of each learner the mean over its runs, with a band from the lowest to the highest.
///
/// # Errors
/// None that a user could cause.
pub fn learning(learners: &[Learner<'_>], shown: Learning, language: Language) -> Result<String> {
    let of = |point: &Point| match shown {
        Learning::Loss => point.loss,
        Learning::Bleu => point.bleu,
    };
    // Every name's values by updates, over its runs.
    let by_step = |learner: &Learner<'_>| {
        let mut values: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        for point in learner.runs.iter().copied().flatten() {
            values.entry(point.step).or_default().push(of(point));
        }
        values
    };
    let all: Vec<BTreeMap<usize, Vec<f64>>> = learners.iter().map(by_step).collect();
    let steps: BTreeSet<usize> = all.iter().flat_map(BTreeMap::keys).copied().collect();
    let series = |(learner, values): (&Learner<'_>, &BTreeMap<usize, Vec<f64>>)| {
        let at = |step: &usize, told: fn(&[f64]) -> f64| values.get(step).map_or(f64::NAN, |values| told(values));
        let ends: [fn(&[f64]) -> f64; 2] = [
            |values| values.iter().copied().fold(f64::INFINITY, f64::min),
            |values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        ];
        let band = steps.iter().map(|step| ends.map(|end| at(step, end)));
        Series {
            name: learner.name.clone(),
            values: steps.iter().map(|step| at(step, mean)).collect(),
            band: if learner.runs.len() > 1 { band.collect() } else { Vec::new() },
            colour: None,
        }
    };
    let series: Vec<Series> = learners.iter().zip(&all).map(series).collect();
    let x: Vec<f64> = steps.iter().map(|&step| step as f64).collect();
    let (title, up) = match shown {
        Learning::Loss => {
            (text!("Learning: loss on the dev set", "学习曲线：开发集损失"), text!("nats a token", "纳特/词元"))
        }
        Learning::Bleu => (
            text!("Learning: BLEU on the dev set", "学习曲线：开发集 BLEU"),
            text!("BLEU (greedy)", "BLEU（贪心）"),
        ),
    };
    curves::svg(&Chart {
        title: title.to(language),
        axes: [text!("updates", "更新次数").to(language), up.to(language)],
        scales: [Scale::Linear; 2],
        x: &x,
        places: &[],
        series: &series,
    })
}

/// Learning curves of an ablation's variants.
///
/// # Errors
/// As for [`learning`].
pub fn learning_of(rows: &[Row], shown: Learning, language: Language) -> Result<String> {
    let learners: Vec<Learner<'_>> = by_variant(rows).into_iter().map(learner).collect();
    learning(&learners, shown, language)
}

fn learner<'a>(variant: OfVariant<'a>) -> Learner<'a> {
    let runs = variant.rows.into_iter().map(|row| row.train.curve.as_slice());
    Learner { name: variant.name.to_owned(), runs: runs.collect() }
}

/// How large the single vector must be: the score of the longest sentences by the size of C, beside variants that look
/// and have one size.
///
/// # Errors
/// None that a user could cause.
pub fn sizes(rows: &[Row], language: Language) -> Result<String> {
    let Some(first) = rows.first() else { return empty() };
    let variants = by_variant(rows);
    let (vectors, lookers): (Vec<_>, Vec<_>) =
        variants.iter().enumerate().partition(|(_, variant)| is_vector(variant.rows[0]));
    let mut of_size: Vec<(usize, f64)> =
        vectors.iter().map(|(_, variant)| (variant.rows[0].context, variant.at_longest())).collect();
    of_size.sort_by_key(|(size, _)| *size);
    let x: Vec<f64> = of_size.iter().map(|(size, _)| *size as f64).collect();
    let vector = Series {
        name: text!("none, by its size", "none（按大小）").to(language).to_owned(),
        values: of_size.iter().map(|(_, score)| *score).collect(),
        colour: vectors.first().map(|(place, _)| *place),
        ..Series::default()
    };
    // In the colours that they have in the other pictures.
    let flat = |(place, variant): &(usize, &OfVariant<'_>)| Series {
        name: format!("{} ({})", variant.name, variant.rows[0].context),
        values: vec![variant.at_longest(); x.len()],
        colour: Some(*place),
        ..Series::default()
    };
    let series: Vec<Series> = std::iter::once(vector).chain(lookers.iter().map(flat)).collect();
    let lengths = first.by_length.last().map(lengths).unwrap_or_default();
    curves::svg(&Chart {
        title: text!("How large must C be? Sources of {lengths} words", "C 需要多大？源句 {lengths} 词")
            .to(language),
        axes: [
            text!("size of the context vector C", "上下文向量 C 的大小").to(language),
            first.measure.head().to(language),
        ],
        scales: [Scale::Log, Scale::Linear],
        x: &x,
        places: &[],
        series: &series,
    })
}

/// Whether a row is of a single vector for all steps.
pub fn is_vector(row: &Row) -> bool {
    row.attention == super::BASELINE
}

fn empty() -> Result<String> {
    Err(crate::Error::Model("there is no row to draw".into()))
}
