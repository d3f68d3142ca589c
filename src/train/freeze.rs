//! Parts of a model that stay as they are.

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::Tensor;

use crate::error::{Error, Result};
use crate::model::names::{Path, is_in, named};

/// A model whose parts of these names (`encoder`, `decoder.attention`, …) do not learn.
///
/// # Errors
/// A name that is no part, with those that are.
pub fn frozen<M: Module>(model: M, parts: &[String]) -> Result<M> {
    check(&model, parts)?;
    Ok(if parts.is_empty() { model } else { model.map(&mut Freeze { path: Path::default(), parts }) })
}

/// Refuses names that are no part of a model, and to freeze all of it.
///
/// # Errors
/// Names what is wrong, and the parts.
pub fn check<M: Module>(model: &M, parts: &[String]) -> Result<()> {
    let params = named(model);
    if let Some(part) = parts.iter().find(|part| !params.iter().any(|param| is_in(&param.name, part))) {
        let mut known: Vec<&str> = params.iter().filter_map(|param| param.name.split('.').next()).collect();
        known.dedup();
        return Err(Error::Config(format!(
            "train.freeze: this model has no part `{part}`; it has {} and what is in them, such as {}",
            known.join(", "),
            params.last().map_or("", |param| &param.name)
        )));
    }
    if params.iter().all(|param| parts.iter().any(|part| is_in(&param.name, part))) {
        return Err(Error::Config("train.freeze: nothing would be left to learn".into()));
    }
    Ok(())
}

struct Freeze<'a> {
    path: Path,
    parts: &'a [String],
}

impl ModuleMapper for Freeze<'_> {
    fn enter_module(&mut self, name: &str, kind: &str) {
        self.path.enter(name, kind);
    }

    fn exit_module(&mut self, _: &str, kind: &str) {
        self.path.exit(kind);
    }

    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let name = self.path.name();
        let stays = self.parts.iter().any(|part| is_in(&name, part));
        let (id, tensor, mapper) = param.consume();
        let learns = tensor.is_require_grad() && !stays;
        // From its values: a tensor keeps what it was told first.
        let tensor = Tensor::from_inner(tensor.inner()).set_require_grad(learns);
        Param::from_mapped_value(id, tensor, mapper).set_require_grad(learns)
    }
}
