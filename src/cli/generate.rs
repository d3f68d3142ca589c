//! `zhuyi completions` and `zhuyi man`: from the same definitions as the help.

use clap::{Args, Command};

use super::output::stdout;

/// Write shell completions to standard output.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  zhuyi completions bash > ~/.local/share/bash-completion/completions/zhuyi")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: clap_complete::Shell,
}

pub fn completions(args: CompletionsArgs, command: &mut Command) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "zhuyi", &mut script);
    write(&script)
}

pub fn man(command: Command) -> anyhow::Result<()> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    write(&page)
}

fn write(bytes: &[u8]) -> anyhow::Result<()> {
    use std::io::Write;
    let mut out = stdout();
    out.write_all(bytes)?;
    out.flush()?;
    Ok(())
}
