//! Numbers in, pictures out: SVG with real text, PNG rendered from the same SVG, and the terminal.

pub mod colour;
pub mod curves;
pub mod heatmap;
pub mod lines;
pub mod panels;
#[cfg(feature = "png")]
pub mod png;
mod svg;
pub mod terminal;

use crate::alignment::Alignment;
use crate::error::{Error, Result};

/// Refuses an alignment without weights (of a model without attention).
fn check(alignment: &Alignment) -> Result<()> {
    if alignment.weights.len() == alignment.target.len() {
        return Ok(());
    }
    Err(Error::Model("there is no alignment to draw: this model has no attention".into()))
}

/// What writing a picture says if it can't.
fn failed(why: std::io::Error) -> Error {
    Error::Model(format!("can't draw: {why}"))
}
