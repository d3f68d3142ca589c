//! A lesson's picture.

use super::board::{Curves, Figure, Language, Lesson, Text};
use crate::error::Result;
use crate::plot::curves::{self, Chart, Scale, Series};
use crate::plot::panels::{self, Panel};

/// The picture of a lesson as SVG, if it has one.
///
/// # Errors
/// None that a user could cause.
pub fn svg(lesson: &Lesson, language: Language) -> Result<Option<String>> {
    match &lesson.figure {
        None => Ok(None),
        Some(Figure::Curves(curves)) => drawn(curves, language).map(Some),
        Some(Figure::Panels([across, down], matrices)) => {
            let narrow = |values: &[Vec<f64>]| -> Vec<Vec<f32>> {
                values.iter().map(|row| row.iter().map(|&x| x as f32).collect()).collect()
            };
            let values: Vec<Vec<Vec<f32>>> = matrices.iter().map(|(matrix, _)| narrow(&matrix.values)).collect();
            let names = |names: &[Text]| names.iter().map(|name| name.to(language).to_owned()).collect();
            let labels: Vec<[Vec<String>; 2]> =
                matrices.iter().map(|(matrix, _)| [names(&matrix.columns), names(&matrix.rows)]).collect();
            let panels: Vec<Panel<'_>> = matrices
                .iter()
                .zip(&values)
                .zip(&labels)
                .map(|(((matrix, most), values), [columns, rows])| Panel {
                    title: matrix.name.to(language),
                    axes: [across.to(language), down.to(language)],
                    columns,
                    rows,
                    values,
                    most: *most as f32,
                    gold: None,
                })
                .collect();
            panels::svg(lesson.title.to(language), &panels).map(Some)
        }
    }
}

fn drawn(curves: &Curves, language: Language) -> Result<String> {
    let one = |(name, values): &(Text, Vec<f64>)| Series {
        name: name.to(language).to_owned(),
        values: values.clone(),
        ..Series::default()
    };
    let series: Vec<Series> = curves.series.iter().map(one).collect();
    curves::svg(&Chart {
        title: curves.title.to(language),
        axes: [curves.axes[0].to(language), curves.axes[1].to(language)],
        scales: curves.logarithmic.map(|is| if is { Scale::Log } else { Scale::Linear }),
        x: &curves.x,
        places: &[],
        series: &series,
    })
}
