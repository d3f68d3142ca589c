//! `zhuyi bench`.

use std::path::{Path, PathBuf};
use std::time::Instant;

use burn::tensor::Device;
use clap::Args;
use serde_json::json;

use super::choice::ConfigArgs;
use super::output::{note, print, print_json};
use super::{DeviceArgs, Format};
use zhuyi::Error;
use zhuyi::bench::{epoch_speed, exchange_speed, first_batches, scaling, train_speed, translate_speed};
use zhuyi::config::Config;
use zhuyi::model::{Seq2Seq, Vocabularies};
use zhuyi::prepare::Prepared;
use zhuyi::ranks::Ranks;
use zhuyi::rng::Rng;
use zhuyi::run::{RunDir, prepare, settled};
use zhuyi::train::Schedule;

/// Measure how fast this machine trains and translates.
///
/// Trains some steps of a config, then translates its dev set greedily and with a beam of 5: with the model of
/// --run, or with what the steps have taught, which mostly runs into the length limit.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi bench --attention luong
  zhuyi bench --config configs/multi30k-de-en.toml --run runs/deen --steps 60 --format json")]
pub struct BenchArgs {
    #[command(flatten)]
    choice: ConfigArgs,
    /// Updates to time, after a few to warm up; 0 leaves training out
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u64).range(0..=MOST_STEPS))]
    steps: u64,
    /// A trained run to translate with [default: the model of the steps]
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Sentences to translate; 0 leaves translation out [default: the whole dev set]
    #[arg(long, value_name = "N")]
    sentences: Option<usize>,
    /// Write first weights (or those of --run), --steps batches and the dev set there, for another system
    #[arg(long, value_name = "DIR", conflicts_with_all = ["sentences", "format"])]
    export: Option<PathBuf>,
    /// Read a whole epoch first, as training does, with the model left out
    #[arg(long, conflicts_with_all = ["scaling", "export", "exchange"])]
    epoch: bool,
    /// Measure instead how costs grow with source length and vocabulary, as JSON
    #[arg(long, conflicts_with_all = ["export", "run", "steps", "sentences", "config", "format"])]
    scaling: bool,
    /// Measure instead how long processes under mpirun take to add up gradients, as JSON
    #[arg(long, conflicts_with_all = ["scaling", "export", "run", "steps", "sentences", "format"])]
    exchange: bool,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    device: DeviceArgs,
}

/// Sums of gradients that are timed.
const EXCHANGES: usize = 20;

/// More would take days to time.
const MOST_STEPS: u64 = 1_000_000;

pub fn run(args: BenchArgs, ranks: &Ranks) -> anyhow::Result<()> {
    let opened = args.device.open()?;
    let device = opened.device.clone();
    if args.scaling && !ranks.leads() {
        return Ok(());
    }
    if args.scaling {
        return print_json(&json!(scaling(&device)));
    }
    let config = args.choice.resolve()?;
    let steps = args.steps as usize;
    let reading = Instant::now();
    let data = prepare(&config)?;
    let prepared = reading.elapsed().as_secs_f64();
    let config = settled(config, &data, &opened, ranks)?;
    let epoch = args.epoch.then(|| epoch_speed(&data.examples, &config.train)).transpose()?;
    let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
    let mut model = config.model().init(vocabularies, &mut Rng::new(config.train.seed, 0), &device)?;
    if args.exchange {
        let speed = exchange_speed(&model, ranks, EXCHANGES)?;
        return if ranks.leads() { print_json(&speed) } else { Ok(()) };
    }
    let trained = match &args.run {
        Some(path) => Some(trained(path, &config, &data, &device)?),
        None => None,
    };
    if let Some(path) = &args.export {
        if !ranks.leads() {
            return Ok(());
        }
        let dir = RunDir::create(path)?;
        let model = trained.as_ref().unwrap_or(&model);
        let parameters = model.parameters().iter().map(|(_, values)| values).sum();
        dir.write_start(&config, &data.source, &data.target, parameters)?;
        dir.save_model(model)?;
        let plan = first_batches(&data.examples, &config.train, steps)?;
        dir.write_dev(&data.dev.examples)?;
        dir.write_batches(&plan, &Schedule::new(&config.train, plan.len()))?;
        note(&format!("{} batches: {}", plan.len(), path.display()));
        return Ok(());
    }
    let product = opened.product_gflops();
    let mut train = None;
    if steps > 0 {
        let (trained, speed) = train_speed(model, &data.examples, &config.train, &opened, steps, ranks)?;
        (model, train) = (trained, Some(speed));
    }
    // Translation is measured on one process.
    if !ranks.leads() {
        return Ok(());
    }
    let mut sources: Vec<&[usize]> = data.dev.examples.iter().map(|example| example.source.as_slice()).collect();
    sources.truncate(args.sentences.unwrap_or(usize::MAX));
    if let Some(trained) = trained {
        model = trained;
    }
    let translate = match sources.is_empty() {
        true => None,
        false => Some(translate_speed(&model, &sources, &config.search, &device)?),
    };
    match args.format {
        Format::Json => {
            let mut told = json!({"product_gflops": product, "train": train, "translate": translate});
            if let Some(epoch) = epoch {
                told["epoch"] = json!(epoch);
                told["epoch"]["prepare_seconds"] = json!(prepared);
                told["epoch"]["kept"] = json!(data.reports[0].kept);
            }
            print_json(&told)?;
        }
        Format::Text => {
            print(&format!("product: {product:.0} GFLOP/s"))?;
            if let Some(epoch) = epoch {
                print(&format!(
                    "epoch: {} pairs in {} batches, read, filtered and cut in {prepared:.1} s and mixed in {:.1} s; correlation of a batch's \
                     number with its length {:.4}",
                    epoch.pairs, epoch.batches, epoch.seconds, epoch.order_correlation
                ))?;
            }
            if let Some(speed) = train {
                let memory = speed.peak_rss_mib.map_or(String::new(), |mib| format!(", {mib:.0} MiB at most"));
                print(&format!(
                    "train: {:.0} target tokens/s over {} steps, {:.2} of the product\'s rate{memory}",
                    speed.target_tokens_per_second, speed.steps, speed.arithmetic_utilisation
                ))?;
                if let Some(exchange) = speed.exchange {
                    print(&format!(
                        "       {} processes; of {:.1} ms a step {:.1} ms go into adding up {:.1} MB of gradients",
                        exchange.processes,
                        1e3 * speed.seconds_a_step,
                        1e3 * exchange.seconds_a_step,
                        exchange.bytes_a_step as f64 / 1e6
                    ))?;
                }
            }
            if let Some(speed) = translate {
                print(&format!(
                    "translate: greedy {:.0}, beam 5 {:.0} sentences/s over {} sentences",
                    speed.greedy_sentences_per_second, speed.beam5_sentences_per_second, speed.sentences
                ))?;
            }
        }
    }
    Ok(())
}

/// The model of a run that is what this config describes.
fn trained(path: &Path, config: &Config, data: &Prepared, device: &Device) -> anyhow::Result<Seq2Seq> {
    let loaded = RunDir::find(Some(path), path)?.load(device)?;
    let same_words =
        loaded.source.hash()? == data.source.hash()? && loaded.target.hash()? == data.target.hash()?;
    if !same_words || loaded.config.model() != config.model() {
        return Err(Error::Usage(format!(
            "the run {} has other vocabularies or sizes than this config: name the config it was trained with",
            path.display()
        ))
        .into());
    }
    Ok(loaded.model)
}
