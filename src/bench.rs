//! How fast this machine trains and translates, and how near that is to what its arithmetic allows.

use std::time::Instant;

use burn::module::Module;
use burn::tensor::{Device, Int, Tensor};
use serde::Serialize;

use crate::device::Opened;
use crate::error::Result;
use crate::kernels::attentive::{Matching, Source};
use crate::kernels::cross_entropy::{Output, cross_entropy};
use crate::kernels::{cores, product_rate};
use crate::model::arithmetic::Work;
use crate::model::host::LaidOut;
use crate::model::{Seq2Seq, batched};
use crate::ranks::Ranks;
use crate::search::SearchConfig;
use crate::train::batch::Example;
use crate::train::examples::Examples;
use crate::train::feed::{Feed, Position};
use crate::train::optimizer::Optimizer;
use crate::train::reward::Baseline;
use crate::train::share::{Share, Team};
use crate::train::update::{Step, update};
use crate::train::{Schedule, TrainConfig};

/// Updates before the clock starts: memory and caches settle.
const WARM_UP: usize = 3;

/// How fast a model trains.
#[derive(Clone, Debug, Serialize)]
pub struct TrainSpeed {
    /// Updates that were timed.
    pub steps: usize,
    /// Real target tokens a second.
    pub target_tokens_per_second: f64,
    /// The most memory that the process has held so far, in MiB.
    pub peak_rss_mib: Option<f64>,
    /// Counted arithmetic ÷ time ÷ the best rate of a product here; 1 is the limit.
    pub arithmetic_utilisation: f64,
    /// The mean time of an update.
    pub seconds_a_step: f64,
    /// Where several processes train together: what of it they spend on adding up their gradients.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange: Option<Exchange>,
    /// The loss of every update, the warm-up's included.
    pub losses: Vec<f64>,
}

/// What processes that train together exchange.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Exchange {
    /// How many there are.
    pub processes: usize,
    /// Bytes of gradients that each has for the others after an update.
    pub bytes_a_step: usize,
    /// The mean time of an update in which they are added up, waiting for the slowest included.
    pub seconds_a_step: f64,
}

/// How long adding up takes by itself, until all processes have the sums, in seconds; the median of some tries.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ExchangeSpeed {
    /// Processes that take part.
    pub processes: usize,
    /// Tensors of the model.
    pub tensors: usize,
    /// Bytes of all of them.
    pub bytes: usize,
    /// In one piece.
    pub fused_seconds: f64,
    /// Tensor by tensor.
    pub by_tensor_seconds: f64,
    /// A single number, twice.
    pub number_seconds: f64,
}

/// Times the sum of a model's gradients over all processes, in one piece and tensor by tensor.
///
/// # Errors
/// The others do not answer.
pub fn exchange_speed(model: &Seq2Seq, ranks: &Ranks, tries: usize) -> Result<ExchangeSpeed> {
    let sizes: Vec<usize> = model.parameters().into_iter().map(|(_, values)| values).collect();
    let median = |pieces: &[usize]| -> Result<f64> {
        let mut times = Vec::with_capacity(tries);
        // The first settles memory and connections.
        for _ in 0..=tries {
            let values: Vec<Vec<f32>> = pieces.iter().map(|&n| vec![1.0; n]).collect();
            ranks.any([false])?;
            let started = Instant::now();
            for values in values {
                ranks.sum(values)?;
            }
            // Done is what is done everywhere: rank 0 may be ready before others have got the sums.
            ranks.any([false])?;
            times.push(started.elapsed().as_secs_f64());
        }
        let mut times = times.split_off(1);
        times.sort_by(f64::total_cmp);
        Ok(times.get(times.len() / 2).copied().unwrap_or(f64::NAN))
    };
    let all = sizes.iter().sum();
    Ok(ExchangeSpeed {
        processes: ranks.size(),
        tensors: sizes.len(),
        bytes: size_of::<f32>() * all,
        fused_seconds: median(&[all])?,
        by_tensor_seconds: median(&sizes)?,
        number_seconds: median(&[1])?,
    })
}

/// How fast a model translates.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TranslateSpeed {
    /// Sentences that were translated.
    pub sentences: usize,
    /// With a beam of 1.
    pub greedy_sentences_per_second: f64,
    /// With a beam of 5.
    pub beam5_sentences_per_second: f64,
}

/// A whole epoch of reading, with the model left out.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct EpochSpeed {
    /// Pairs that came by.
    pub pairs: usize,
    /// Batches that they came in.
    pub batches: usize,
    /// Their tokens, of both sides.
    pub tokens: usize,
    /// How long it took.
    pub seconds: f64,
    /// Pearson's correlation of a batch's number and the mean length of its sources: 0 in a good mix, whatever the order of
    /// the files.
    pub order_correlation: f64,
}

/// Reads the batches of the first epoch, as training would.
///
/// # Errors
/// A config that can't be meant; what the system refuses.
pub fn epoch_speed(examples: &Examples, config: &TrainConfig) -> Result<EpochSpeed> {
    let started = Instant::now();
    let mut feed = Feed::new(examples, config.batching()?, config.seed, Position::default());
    let (mut pairs, mut tokens) = (0, 0);
    // Sums of x, y, x², y² and xy.
    let (mut n, mut sums) = (0.0f64, [0.0f64; 5]);
    while let Some(batch) = feed.take(1)?.pop() {
        let sources: usize = batch.iter().map(|example| example.source.len()).sum();
        pairs += batch.len();
        tokens += sources + batch.iter().map(Example::target_tokens).sum::<usize>();
        let (x, y) = (n, sources as f64 / batch.len() as f64);
        for (sum, value) in sums.iter_mut().zip([x, y, x * x, y * y, x * y]) {
            *sum += value;
        }
        n += 1.0;
    }
    let [x, y, xx, yy, xy] = sums.map(|sum| sum / n);
    let spread = ((xx - x * x) * (yy - y * y)).sqrt();
    let order_correlation = if spread > 0.0 { (xy - x * y) / spread } else { 0.0 };
    Ok(EpochSpeed {
        pairs,
        batches: n as usize,
        tokens,
        seconds: started.elapsed().as_secs_f64(),
        order_correlation,
    })
}

/// The batches of the first updates that [`crate::train::train`] would make, in its order.
///
/// # Errors
/// A config that can't be meant; what the system refuses.
pub fn first_batches(examples: &Examples, config: &TrainConfig, steps: usize) -> Result<Vec<Vec<Example>>> {
    let mut feed = Feed::new(examples, config.batching()?, config.seed, Position::default());
    let mut batches = Vec::new();
    while batches.len() < steps && !examples.is_empty() {
        batches.extend(feed.take(steps - batches.len())?);
    }
    Ok(batches)
}

/// Times the first updates of a training (at learning rates as if there were no others), by all processes together.
///
/// # Errors
/// A config that can't be meant; other processes that do not answer.
pub fn train_speed(
    model: Seq2Seq,
    examples: &Examples,
    config: &TrainConfig,
    opened: &Opened,
    steps: usize,
    ranks: &Ranks,
) -> Result<(Seq2Seq, TrainSpeed)> {
    let device = opened.device.clone().autodiff();
    let plan = first_batches(examples, config, WARM_UP + steps)?;
    let schedule = Schedule::new(config, plan.len());
    let mut model = model.fork(&device).train();
    let mut baseline = Baseline::new(model.output().vocabulary());
    let (mut optimizer, mut losses) = (Optimizer::new(config.rule()), Vec::with_capacity(plan.len()));
    let (mut seconds, mut work) = (0.0, Work::default());
    let team = Team::meet(ranks, cores(&device))?;
    let mut exchange = 0.0;
    let before = opened.product_gflops();
    for (i, batch) in plan.iter().enumerate() {
        let chosen: Vec<&Example> = batch.iter().collect();
        let started = Instant::now();
        let share = [Share::deal(&chosen, &team, &device)];
        let step = Step { rate: schedule.rate(i + 1), noise: config.noise(i + 1), baseline, sampling: 0.0 };
        let (next, seen) = update(model, &mut optimizer, &share, step, config, ranks)?;
        model = next;
        baseline = baseline.after(seen.log_prob, config.baseline_decay);
        losses.push(seen.loss);
        if i >= WARM_UP {
            seconds += started.elapsed().as_secs_f64();
            exchange += seen.exchange.as_secs_f64();
            work = work + Work::of(chosen.iter().map(|example| (example.source.len(), example.target_tokens())));
        }
    }
    // The best of before and after: other programs on the machine may have slowed down one of them.
    let [rate] = ranks.sum_wide([before.max(opened.product_gflops())])?;
    let steps = plan.len().saturating_sub(WARM_UP);
    let values: usize = model.parameters().iter().map(|(_, values)| values).sum();
    let speed = TrainSpeed {
        steps,
        seconds_a_step: seconds / steps as f64,
        exchange: (ranks.size() > 1).then(|| Exchange {
            processes: ranks.size(),
            bytes_a_step: size_of::<f32>() * values,
            seconds_a_step: exchange / steps as f64,
        }),
        target_tokens_per_second: work.target_tokens as f64 / seconds,
        peak_rss_mib: peak_memory(),
        arithmetic_utilisation: model.training_flops(work) / seconds / (1e9 * rate),
        losses,
    };
    Ok((model.valid(), speed))
}

/// Times the translation of sources (ids with their end).
///
/// # Errors
/// Token ids that the model has no vectors for.
pub fn translate_speed(
    model: &Seq2Seq,
    sources: &[&[usize]],
    search: &SearchConfig,
    device: &Device,
) -> Result<TranslateSpeed> {
    let laid = LaidOut::default();
    let rate = |beam| -> Result<f64> {
        let search = SearchConfig { beam, ..search.clone() };
        let started = Instant::now();
        let found = batched::translate(model, &laid, sources, &search, 1, device)?;
        Ok(found.len() as f64 / started.elapsed().as_secs_f64())
    };
    Ok(TranslateSpeed {
        sentences: sources.len(),
        greedy_sentences_per_second: rate(1)?,
        beam5_sentences_per_second: rate(5)?,
    })
}

/// What a step costs as sources and vocabularies grow.
#[derive(Clone, Debug, Serialize)]
pub struct Scaling {
    /// One look with K = C = 512, by source length.
    pub attention: Vec<LookCost>,
    /// Output, loss and their gradients with R = 512, by vocabulary.
    pub vocabulary: Vec<OutputCost>,
}

/// What one look of one query costs.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LookCost {
    /// Source tokens.
    pub source: usize,
    /// Microseconds with a product score.
    pub product_us: f64,
    /// Microseconds with an additive score.
    pub additive_us: f64,
}

/// What the output costs a target token in training.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct OutputCost {
    /// V.
    pub vocabulary: usize,
    /// Microseconds a token, forward and backward.
    pub us: f64,
    /// What its three products alone take at the best rate of a product here.
    pub products_us: f64,
}

/// Measures how costs grow; the best of many tries each.
pub fn scaling(device: &Device) -> Scaling {
    Scaling {
        attention: [16, 32, 64, 128, 256, 512].map(look_cost).into(),
        vocabulary: [1000, 2000, 4000, 8000, 16000, 32000].map(|v| output_cost(v, device)).into(),
    }
}

fn look_cost(source: usize) -> LookCost {
    let size = 512;
    let memory: Vec<f32> = (0..source * size).map(|i| (i % 89) as f32 / 89.0 - 0.5).collect();
    let (query, rows) = (&memory[..size], Source { keys: &memory, values: &memory });
    let (mut weights, mut context) = (vec![0.0; source], vec![0.0; size]);
    let mut cost =
        |matching: Matching| 1e6 * best(200, || matching.look(query, query, rows, &mut weights, &mut context));
    LookCost { source, product_us: cost(Matching::Product { scale: 0.05 }), additive_us: cost(Matching::Additive) }
}

fn output_cost(vocabulary: usize, device: &Device) -> OutputCost {
    let (tokens, size) = (960, 512);
    let device = device.clone().autodiff();
    let readouts = Tensor::<2>::ones([tokens, size], &device).mul_scalar(0.1).require_grad();
    let weight = Tensor::<2>::ones([size, vocabulary], &device).mul_scalar(0.1).require_grad();
    let targets = Tensor::<1, Int>::ones([tokens], &device).mul_scalar(3);
    let seconds = best(7, || {
        let output = Output::Own(weight.clone());
        let gradients = cross_entropy(readouts.clone(), output, targets.clone(), 0.1, tokens).backward();
        // A device may still be at work.
        let _ = weight.grad(&gradients).map(|gradient| gradient.slice([0..1, 0..1]).try_into_scalar::<f32>());
    });
    OutputCost {
        vocabulary,
        us: 1e6 * seconds / tokens as f64,
        products_us: 1e6 * 6.0 * (size * vocabulary) as f64 / (1e9 * product_rate()),
    }
}

/// The shortest of some tries, in seconds.
fn best(tries: usize, mut work: impl FnMut()) -> f64 {
    let times = (0..tries).map(|_| {
        let started = Instant::now();
        work();
        started.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// The most memory that this process has held, in MiB, where the system tells.
pub fn peak_memory() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib / 1024.0)
}
