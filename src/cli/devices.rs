//! `zhuyi devices`.

use clap::Args;

use super::Format;
use super::output::{print, print_json};
use zhuyi::device::DeviceChoice;

/// List the devices of this build.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  zhuyi devices --format json")]
pub struct DevicesArgs {
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub fn run(args: DevicesArgs) -> anyhow::Result<()> {
    for device in DeviceChoice::ALL {
        let default = device == DeviceChoice::default();
        match args.format {
            Format::Text => print(&format!("{:<8} {}", device.name(), device.about()))?,
            Format::Json => print_json(&serde_json::json!({
                "name": device.name(), "about": device.about(), "default": default,
            }))?,
        }
    }
    Ok(())
}
