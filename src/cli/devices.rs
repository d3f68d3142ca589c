//! `zhuyi devices`.

use clap::Args;
use serde_json::{Value, json};

use super::Format;
use super::output::{note, print, print_json};
use zhuyi::device::{DeviceChoice, DeviceKind, Opened, check, memory_mib};

/// List the devices of this build and machine, with what they do.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi devices --format json")]
pub struct DevicesArgs {
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub fn run(args: DevicesArgs) -> anyhow::Result<()> {
    for &kind in DeviceKind::ALL {
        if kind.is_processor() {
            tell(&args, kind, None, kind.open(None))?;
            continue;
        }
        // What is not there at all is told too.
        for place in 0..kind.count().max(1) {
            tell(&args, kind, Some(place), kind.open(Some(place)))?;
        }
    }
    if args.format == Format::Text {
        note("product: the best rate of a 32-bit matrix product here, now; other work on the machine lowers it");
    }
    Ok(())
}

fn tell(
    args: &DevicesArgs,
    kind: DeviceKind,
    place: Option<usize>,
    opened: zhuyi::Result<Opened>,
) -> anyhow::Result<()> {
    let opened = opened.and_then(|opened| check(&opened).map(|()| opened));
    let found = opened.map(|opened| (opened.product_gflops(), memory(&opened), opened));
    let name =
        place.filter(|&place| place > 0).map_or(kind.name().into(), |place| format!("{}:{place}", kind.name()));
    match args.format {
        Format::Json => {
            let default = DeviceChoice::default() == DeviceChoice::Named(kind, None);
            let mut object = json!({"name": name, "about": kind.about(), "default": default});
            match found {
                Ok((rate, memory, opened)) => {
                    object["product_gflops"] = rate.into();
                    object["memory"] = memory;
                    if let Some(adapter) = opened.adapter {
                        object["adapter"] =
                            json!({"name": adapter.name, "api": adapter.api, "software": adapter.software});
                    }
                }
                Err(why) => object["error"] = why.to_string().into(),
            }
            print_json(&object)
        }
        Format::Text => {
            print(&format!("{name:<8} {}", kind.about()))?;
            match found {
                Ok((rate, memory, opened)) => {
                    if opened.adapter.is_some() {
                        print(&format!("         {opened}"))?;
                    }
                    print(&format!("         product {rate:.1} GFLOP/s, {}", told(&memory)))
                }
                Err(why) => print(&format!("         {why}")),
            }
        }
    }
}

/// Of the processor the machine's memory; a graphics driver tells only how large a tensor may be.
fn memory(opened: &Opened) -> Value {
    match &opened.adapter {
        None => memory_mib().map_or(Value::Null, |[total, free]| json!({"total_mib": total, "free_mib": free})),
        Some(adapter) if adapter.limits.tensor_bytes == u64::MAX => Value::Null,
        Some(adapter) => json!({"largest_tensor_mib": adapter.limits.tensor_bytes as f64 / f64::from(1 << 20)}),
    }
}

fn told(memory: &Value) -> String {
    let gib = |key: &str| memory[key].as_f64().map(|mib| format!("{:.1} GiB", mib / 1024.0));
    match (gib("total_mib"), gib("free_mib"), gib("largest_tensor_mib")) {
        (Some(total), Some(free), _) => format!("memory {total}, {free} of it free"),
        (_, _, Some(largest)) => format!("a tensor may have {largest}"),
        _ => "memory not told".into(),
    }
}
