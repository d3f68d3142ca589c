//! Optimizers: how gradients move parameters. One file a rule, one line each in the lists below; what a rule remembers of a
//! parameter lies in named slots, so that all are saved and taken up again alike.

mod adafactor;
mod adam;
mod sgd;

use std::collections::{BTreeMap, HashMap};

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param, ParamId};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::model::names::{Named, Path, named};

/// How gradients move parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimizerKind {
    /// Kingma & Ba 2015.
    #[default]
    Adam,
    /// Adam with decay of the weights themselves (Loshchilov & Hutter 2019).
    Adamw,
    /// Stochastic gradient descent, with momentum.
    Sgd,
    /// Shazeer & Stern 2018: remembers sums of rows and columns in place of every number.
    Adafactor,
}

impl OptimizerKind {
    /// Every rule.
    pub const ALL: [Self; 4] = [Self::Adam, Self::Adamw, Self::Sgd, Self::Adafactor];

    /// The name in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adam => "adam",
            Self::Adamw => "adamw",
            Self::Sgd => "sgd",
            Self::Adafactor => "adafactor",
        }
    }
}

/// A rule with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Which.
    pub kind: OptimizerKind,
    /// What an update takes from every weight of a matrix, times the learning rate; biases are left alone.
    pub weight_decay: f64,
    /// How much of its velocity `sgd` keeps.
    pub momentum: f64,
}

/// How far a parameter moves.
#[derive(Clone, Copy, Debug)]
pub struct Move {
    /// The learning rate.
    pub rate: f64,
    /// What the gradient is multiplied by first (clipping).
    pub scale: f64,
}

impl Rule {
    /// What is remembered of a parameter of this shape, and how many numbers that is.
    fn slots(&self, shape: &[usize]) -> Vec<(&'static str, usize)> {
        let all = shape.iter().product();
        match self.kind {
            OptimizerKind::Adam | OptimizerKind::Adamw => vec![("first", all), ("second", all)],
            OptimizerKind::Sgd if self.momentum > 0.0 => vec![("velocity", all)],
            OptimizerKind::Sgd => vec![],
            OptimizerKind::Adafactor => adafactor::slots(shape),
        }
    }

    /// How many numbers are remembered of a model.
    pub fn numbers<M: Module>(&self, model: &M) -> usize {
        let of = |param: &Named| self.slots(&param.shape).iter().map(|(_, size)| size).sum::<usize>();
        named(model).iter().map(of).sum()
    }

    /// A parameter `[N]` of this shape after a move, and what is remembered of it; `time` counts its moves from 1.
    fn apply(
        &self,
        parameter: Tensor<1>,
        shape: &[usize],
        gradient: Tensor<1>,
        slots: Vec<Tensor<1>>,
        time: usize,
        how: Move,
    ) -> (Tensor<1>, Vec<Tensor<1>>) {
        // Loshchilov & Hutter 2019, algorithm 2: not through the gradient, whatever the rule.
        let decays = self.weight_decay > 0.0 && shape.len() > 1;
        let parameter = if decays { parameter.mul_scalar(1.0 - how.rate * self.weight_decay) } else { parameter };
        match self.kind {
            OptimizerKind::Adam | OptimizerKind::Adamw => adam::apply(parameter, gradient, slots, time, how),
            OptimizerKind::Sgd => sgd::apply(parameter, gradient, slots, self.momentum, how),
            OptimizerKind::Adafactor => adafactor::apply(parameter, shape, gradient, slots, time, how),
        }
    }
}

/// A rule and what it remembers of each parameter.
#[derive(Clone, Debug)]
pub struct Optimizer {
    rule: Rule,
    states: HashMap<ParamId, State>,
}

#[derive(Clone, Debug)]
struct State {
    slots: Vec<Tensor<1>>,
    /// Moves that this parameter has made.
    time: usize,
}

impl Optimizer {
    /// One that remembers nothing yet.
    pub fn new(rule: Rule) -> Self {
        Self { rule, states: HashMap::new() }
    }

    /// Moves every parameter that has a gradient.
    pub fn step<M: Module>(&mut self, model: M, gradients: GradientsParams, how: Move) -> M {
        model.map(&mut Pass { optimizer: self, gradients, how })
    }

    /// The same on another device.
    pub fn fork(mut self, device: &Device) -> Self {
        for slot in self.states.values_mut().flat_map(|state| &mut state.slots) {
            *slot = slot.clone().to_device(device);
        }
        self
    }

    /// What it remembers, by name: the slot's and the parameter's.
    pub fn tensors<M: Module>(&self, model: &M) -> Vec<(String, TensorData)> {
        let mut found = Vec::new();
        for param in named(model) {
            let Some(state) = self.states.get(&param.id) else { continue };
            for ((slot, _), tensor) in self.rule.slots(&param.shape).into_iter().zip(&state.slots) {
                found.push((format!("{slot}.{}", param.name), tensor.to_data()));
            }
        }
        found
    }

    /// How many moves each parameter has made, by name.
    pub fn moves<M: Module>(&self, model: &M) -> BTreeMap<String, usize> {
        let moves = |param: &Named| self.states.get(&param.id).map(|state| state.time);
        named(model).into_iter().filter_map(|param| Some((param.name.clone(), moves(&param)?))).collect()
    }

    /// One that remembers what [`Optimizer::tensors`] and [`Optimizer::moves`] told; `read` has a tensor of a name and a size.
    ///
    /// # Errors
    /// What can't be read.
    pub fn restore<M: Module>(
        rule: Rule,
        model: &M,
        moves: &BTreeMap<String, usize>,
        read: impl FnMut(&str, usize) -> Result<TensorData>,
    ) -> Result<Self> {
        let mut restore = Restore { rule, moves, read, path: Path::default(), done: Ok(HashMap::new()) };
        model.visit(&mut restore);
        Ok(Self { rule, states: restore.done? })
    }
}

struct Pass<'a> {
    optimizer: &'a mut Optimizer,
    gradients: GradientsParams,
    how: Move,
}

impl ModuleMapper for Pass<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let Some(gradient) = self.gradients.remove::<D>(id) else {
            return Param::from_mapped_value(id, tensor, mapper);
        };
        let (shape, device) = (tensor.dims(), tensor.device().without_autodiff());
        let n = shape.iter().product::<usize>();
        let Optimizer { rule, states } = &mut *self.optimizer;
        let fresh = || {
            let slots = rule.slots(&shape).into_iter().map(|(_, size)| Tensor::zeros([size], &device));
            State { slots: slots.collect(), time: 0 }
        };
        let State { slots, time } = states.remove(&id).unwrap_or_else(fresh);
        let (parameter, gradient) = (tensor.inner().reshape([n]), gradient.reshape([n]));
        let (parameter, slots) = rule.apply(parameter, &shape, gradient, slots, time + 1, self.how);
        states.insert(id, State { slots, time: time + 1 });
        let tensor = Tensor::from_inner(parameter.reshape(shape)).require_grad();
        Param::from_mapped_value(id, tensor, mapper)
    }
}

struct Restore<'a, F> {
    rule: Rule,
    moves: &'a BTreeMap<String, usize>,
    read: F,
    path: Path,
    done: Result<HashMap<ParamId, State>>,
}

impl<F: FnMut(&str, usize) -> Result<TensorData>> ModuleVisitor for Restore<'_, F> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let name = self.path.name();
        let (Ok(states), Some(&time)) = (&mut self.done, self.moves.get(&name)) else { return };
        let device = param.val().device().without_autodiff();
        let slots = self.rule.slots(param.shape().as_slice()).into_iter().map(|(slot, size)| {
            let data = (self.read)(&format!("{slot}.{name}"), size)?;
            Ok(Tensor::from_data(data, &device))
        });
        match slots.collect::<Result<Vec<_>>>() {
            Ok(slots) => {
                states.insert(param.id, State { slots, time });
            }
            Err(why) => self.done = Err(why),
        }
    }

    fn enter_module(&mut self, name: &str, kind: &str) {
        self.path.enter(name, kind);
    }

    fn exit_module(&mut self, _: &str, kind: &str) {
        self.path.exit(kind);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Module, Debug)]
    struct Two {
        a: Param<Tensor<2>>,
        b: Param<Tensor<1>>,
    }

    fn two() -> Two {
        let device = Device::flex().autodiff();
        Two {
            a: Param::from_tensor(Tensor::from_floats([[1.0, -2.0, 0.3], [0.5, 3.0, -1.0]], &device)),
            b: Param::from_tensor(Tensor::from_floats([0.1, 2.0], &device)),
        }
    }

    /// Of (a − 2)² and (b − 1)²; `b` has no gradient in every second step.
    fn gradients(two: &Two, step: usize) -> GradientsParams {
        let loss = two.a.val().sub_scalar(2.0).square().sum();
        let loss = if step.is_multiple_of(2) { loss + two.b.val().sub_scalar(1.0).square().sum() } else { loss };
        GradientsParams::from_grads(loss.backward(), two)
    }

    fn host(two: &Two) -> Vec<f32> {
        let all = Tensor::cat(vec![two.a.val().inner().flatten(0, 1), two.b.val().inner()], 0);
        all.into_data().try_to_vec().unwrap()
    }

    fn rules() -> Vec<Rule> {
        let decay = |kind| if kind == OptimizerKind::Adam { 0.0 } else { 0.01 };
        OptimizerKind::ALL.map(|kind| Rule { kind, weight_decay: decay(kind), momentum: 0.9 }).to_vec()
    }

    #[test]
    fn every_rule_finds_the_bottom_and_decays_matrices_only() {
        for rule in rules() {
            let (mut two, mut optimizer) = (two(), Optimizer::new(rule));
            for step in 0..800 {
                let gradients = gradients(&two, step);
                let rate = if rule.kind == OptimizerKind::Sgd { 0.01 } else { 0.1 / (1.0 + step as f64 / 50.0) };
                two = optimizer.step(two, gradients, Move { rate, scale: 1.0 });
            }
            let found = host(&two);
            assert!(found[..6].iter().all(|x| (x - 2.0).abs() < 0.06), "{rule:?}: {found:?}");
            assert!(found[6..].iter().all(|x| (x - 1.0).abs() < 0.02), "{rule:?}: {found:?}");
            // Without a gradient to speak of a matrix shrinks by rate times decay, a vector stays.
            let (before, nothing) = (found, Move { rate: 0.5, scale: 0.0 });
            let mut fresh = Optimizer::new(rule);
            let gradients = self::gradients(&two, 0);
            let after = host(&fresh.step(two, gradients, nothing));
            let left = 1.0 - 0.5 * rule.weight_decay as f32;
            for (i, (before, after)) in before.iter().zip(&after).enumerate() {
                let expected = if i < 6 { before * left } else { *before };
                assert!((after - expected).abs() < 1e-6, "{rule:?}: {after} {expected}");
            }
        }
    }

    /// What is told and read back moves on as if nothing had been.
    #[test]
    fn every_rule_is_taken_up_again_bit_for_bit() {
        for rule in rules() {
            let (mut two, mut optimizer) = (two(), Optimizer::new(rule));
            let how = Move { rate: 0.05, scale: 0.7 };
            for step in 0..5 {
                let gradients = gradients(&two, step);
                two = optimizer.step(two, gradients, how);
            }
            let tensors: HashMap<String, TensorData> = optimizer.tensors(&two).into_iter().collect();
            let read = |name: &str, size: usize| {
                assert_eq!(tensors[name].shape().num_elements(), size, "{name}");
                Ok(tensors[name].clone())
            };
            let mut again = Optimizer::restore(rule, &two, &optimizer.moves(&two), read).unwrap();
            let mut other = two.clone();
            for step in 5..9 {
                let gradient = gradients(&two, step);
                two = optimizer.step(two, gradient, how);
                let gradient = gradients(&other, step);
                other = again.step(other, gradient, how);
            }
            let bits = |two: &Two| host(two).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&two), bits(&other), "{rule:?}");
        }
    }
}
