//! Numbers in, pictures out: SVG with real text, PNG rendered from the same SVG, and the terminal.

pub mod colour;
pub mod curves;
pub mod heatmap;
pub mod lines;
#[cfg(feature = "png")]
pub mod png;
mod svg;
pub mod terminal;
