//! `zhuyi parity`.

use clap::{Args, ValueEnum};
use serde_json::json;

use super::choice::ConfigArgs;
use super::output::{note, print, print_json};
use zhuyi::config::{AttentionName, Config};
use zhuyi::device::{DeviceChoice, DeviceKind, Opened};
use zhuyi::parity::{LOGITS, LOSSES, Parity, Reference, SENTENCES, UPDATES};
use zhuyi::prepare::prepare;
use zhuyi::{Error, Result};

/// Compare devices with the processor, for every attention.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi parity --device wgpu --format markdown
  zhuyi parity --attention luong --device ndarray")]
pub struct ParityArgs {
    /// The devices to compare, separated by commas [default: all of this build]
    #[arg(long, value_name = "DEVICE,…", value_delimiter = ',')]
    device: Vec<String>,
    #[command(flatten)]
    choice: ConfigArgs,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: ParityFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ParityFormat {
    /// For people
    Text,
    /// For programs, an object a line
    Json,
    /// A table for a page
    Markdown,
}

pub fn run(args: ParityArgs) -> anyhow::Result<()> {
    let config = args.choice.resolve()?;
    let devices = devices(&args)?;
    devices.iter().for_each(|opened| note(&format!("device: {opened}")));
    note(&format!(
        "each against --device cpu: {SENTENCES} sentences, {UPDATES} updates; logits may differ by {LOGITS}, losses by \
         {} %",
        100.0 * LOSSES
    ));
    if args.format == ParityFormat::Markdown {
        print(
            "| `--attention` | device | logits | greedy | losses | trained there, read here |\n|---|---|---|---|---|---|",
        )?;
    }
    let mut off = 0;
    for (name, config) in variants(&args, &config)? {
        // What a variant can't attend to is left out of its data.
        let data = prepare(&config)?;
        let reference = Reference::new(&name, &config, &data)?;
        for opened in &devices {
            let parity = reference.compare(&opened.device)?;
            off += usize::from(!parity.holds());
            tell(args.format, &parity, opened)?;
        }
    }
    match off {
        0 => Ok(()),
        n => {
            Err(Error::Device(format!("{n} comparisons are out of bounds: do not trust that device with them"))
                .into())
        }
    }
}

fn devices(args: &ParityArgs) -> Result<Vec<Opened>> {
    if args.device.is_empty() {
        let others = DeviceKind::ALL.iter().filter(|&&kind| kind != DeviceKind::default());
        return others.map(|kind| kind.open(None)).collect();
    }
    // Not checked beforehand: here wrong numbers are to be seen.
    let open = |name: &String| match name.parse()? {
        DeviceChoice::Named(DeviceKind::Cpu, _) => {
            Err(Error::Usage("--device cpu is what the others are compared with: name another".into()))
        }
        DeviceChoice::Named(kind, place) => kind.open(place),
        DeviceChoice::Auto => Err(Error::Usage("--device auto: name what is to be compared".into())),
    };
    args.device.iter().map(open).collect()
}

/// The attention asked for, else each.
fn variants(args: &ParityArgs, config: &Config) -> Result<Vec<(String, Config)>> {
    if args.choice.names_attention() {
        return Ok(vec![(args.choice.attention_name(config), config.clone())]);
    }
    AttentionName::all().map(|name| Ok((name.name().to_owned(), config.with(&name.settings())?))).collect()
}

fn tell(format: ParityFormat, parity: &Parity, opened: &Opened) -> anyhow::Result<()> {
    let Parity { variant, logits, same, ties, different, losses, carried } = parity;
    let mut greedy = format!("{same} of {} the same", same + ties + different);
    if *ties > 0 {
        greedy += &format!(", {ties} as good");
    }
    if *different > 0 {
        greedy += &format!(", {different} others");
    }
    let device = opened.kind.name();
    match format {
        ParityFormat::Json => {
            let mut object = json!(parity);
            object["device"] = device.into();
            object["holds"] = parity.holds().into();
            print_json(&object)
        }
        ParityFormat::Markdown => {
            print(&format!("| `{variant}` | {device} | {logits:.1e} | {greedy} | {losses:.1e} | {carried:.1e} |"))
        }
        ParityFormat::Text => {
            let verdict = if parity.holds() { "" } else { "   OUT OF BOUNDS" };
            print(&format!(
                "{variant:<11} {device:<8} logits {logits:.1e}   greedy {greedy}   losses {losses:.1e}   carried \
                 {carried:.1e}{verdict}"
            ))
        }
    }
}
