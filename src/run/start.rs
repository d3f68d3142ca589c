//! First weights that are not drawn: of another run, and vectors of words.

use std::collections::HashMap;
use std::path::Path;

use burn::tensor::{Tensor, TensorData};

use super::RunDir;
use crate::config::Config;
use crate::corpus::location::expand;
use crate::corpus::vectors;
use crate::error::{Error, Result};
use crate::model::Seq2Seq;
use crate::model::embedding::Embedding;
use crate::prepare::{self, Prepared, prepare_with};
use crate::text::words::SPACE_MARK;
use crate::text::{Tokenizer, UNK};

/// Reads and prepares the data of a config, with the vocabularies of the run to start from, if there is one.
///
/// # Errors
/// As for [`prepare::prepare`]; a run that can't be read.
pub fn prepare(config: &Config) -> Result<Prepared> {
    // A wrong file is told before all the data is read.
    for file in [&config.start.source_vectors, &config.start.target_vectors].into_iter().flatten() {
        vectors::check(&expand(file)?, config.embedding.size)?;
    }
    match &config.start.run {
        None => prepare::prepare(config),
        Some(run) => prepare_with(config, find(run)?.tokenizers()?),
    }
}

fn find(run: &str) -> Result<RunDir> {
    let path = expand(run)?;
    RunDir::find(Some(&path), Path::new(""))
}

/// A freshly drawn model with what is taken from elsewhere in its place, and what that was, for people.
///
/// # Errors
/// What can't be read or does not fit.
pub(super) fn started(model: Seq2Seq, config: &Config, data: &Prepared) -> Result<(Seq2Seq, Vec<String>)> {
    let (mut model, mut told) = (model, Vec::new());
    if let Some(run) = &config.start.run {
        let dir = find(run)?;
        let theirs = dir.read_manifest()?.1;
        if [&theirs.source_tokenizer, &theirs.target_tokenizer] != [&data.source.hash()?, &data.target.hash()?] {
            let message = format!("start.run = {run}: the data was cut with other vocabularies than that run's");
            return Err(Error::Config(message));
        }
        let (filled, taken, left) = dir.weights_that_fit(model)?;
        if taken == 0 {
            return Err(Error::Config(format!("start.run = {run}: nothing of its model has a place in this one")));
        }
        let drawn = if left.is_empty() { "none is".to_owned() } else { format!("{} are", left.join(", ")) };
        told.push(format!("{taken} tensors are those of {run}; {drawn} drawn"));
        model = filled;
    }
    let sides = [
        ("source", &config.start.source_vectors, &data.source),
        ("target", &config.start.target_vectors, &data.target),
    ];
    for (side, file, tokenizer) in sides {
        let Some(file) = file else { continue };
        let embedding = match (side, &mut model.source_embedding) {
            ("source", Some(source)) => source,
            _ => &mut model.target_embedding,
        };
        let found = put_vectors(embedding, &expand(file)?, tokenizer)?;
        told.push(format!("{found} of the {side}'s {} vectors are those of {file}", tokenizer.size()));
    }
    Ok((model, told))
}

/// Puts vectors in the places of their words; how many there were. The piece that begins a word has the vector of what it
/// says, if the piece itself has none.
fn put_vectors(embedding: &mut Embedding, path: &Path, tokenizer: &Tokenizer) -> Result<usize> {
    let mut ids: HashMap<&str, Vec<usize>> = HashMap::new();
    for id in UNK + 1..tokenizer.size() {
        let piece = tokenizer.piece(id);
        ids.entry(piece).or_default().push(id);
        if let Some(word) = piece.strip_prefix(SPACE_MARK).filter(|word| !word.is_empty()) {
            ids.entry(word).or_default().push(id);
        }
    }
    let weight = embedding.weight.val();
    let ([rows, size], device) = (weight.dims(), weight.device());
    let vectors = vectors::read(path, size, |word| ids.contains_key(word))?;
    let mut values: Vec<f32> = weight.into_data().iter().collect();
    let mut found = 0;
    for id in UNK + 1..tokenizer.size().min(rows) {
        let piece = tokenizer.piece(id);
        let vector = vectors.get(piece).or_else(|| vectors.get(piece.strip_prefix(SPACE_MARK)?));
        if let Some(vector) = vector {
            values[id * size..][..size].copy_from_slice(vector);
            found += 1;
        }
    }
    if found == 0 {
        return Err(Error::data(path, "none of its words is in the vocabulary: is it of the other language?"));
    }
    embedding.weight =
        embedding.weight.clone().map(|_| Tensor::from_data(TensorData::new(values, [rows, size]), &device));
    Ok(found)
}
