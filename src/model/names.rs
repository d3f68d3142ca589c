//! Parameters by name: the same names in files, configs and messages.

use burn::module::{Module, ModuleVisitor, Param, ParamId};
use burn::tensor::Tensor;

/// A parameter of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Where it stands in the model, such as `encoder.layers.0.forward.input_weight`.
    pub name: String,
    /// By which gradients and optimizers know it.
    pub id: ParamId,
    /// Its shape.
    pub shape: Vec<usize>,
}

impl Named {
    /// How many numbers it has.
    pub fn values(&self) -> usize {
        self.shape.iter().product()
    }
}

/// Whether a parameter's name is that of a part of a model, such as `encoder`, or in it.
pub fn is_in(name: &str, part: &str) -> bool {
    name.strip_prefix(part).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The parameters of a model in their order.
pub fn named<M: Module>(model: &M) -> Vec<Named> {
    let mut visitor = Visitor::default();
    model.visit(&mut visitor);
    visitor.found
}

#[derive(Default)]
struct Visitor {
    path: Path,
    found: Vec<Named>,
}

impl ModuleVisitor for Visitor {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let shape = param.shape().as_slice().to_vec();
        self.found.push(Named { name: self.path.name(), id: param.id, shape });
    }

    fn enter_module(&mut self, name: &str, kind: &str) {
        self.path.enter(name, kind);
    }

    fn exit_module(&mut self, _: &str, kind: &str) {
        self.path.exit(kind);
    }
}

/// Where a visitor or mapper stands in a model.
#[derive(Debug, Default)]
pub struct Path(Vec<String>);

impl Path {
    /// Goes into a module.
    pub fn enter(&mut self, name: &str, kind: &str) {
        if !is_variant(kind) {
            self.0.push(name.to_owned());
        }
    }

    /// Leaves it.
    pub fn exit(&mut self, kind: &str) {
        if !is_variant(kind) {
            self.0.pop();
        }
    }

    /// The name of what is here.
    pub fn name(&self) -> String {
        self.0.join(".")
    }
}

/// Names of enum variants (which score it is) are not part of a tensor's name.
fn is_variant(kind: &str) -> bool {
    kind.starts_with("Enum:")
}
