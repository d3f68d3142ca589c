//! How the figures were made, and what they can't say.

use super::super::{Measure, Variant};
use super::block::Block;
use super::tables::grouped;
use super::writer::Writer;
use super::{Report, words};
use crate::corpus::sequences::SYMBOLS;
use crate::language::text;

impl Writer<'_> {
    pub fn method(&self) -> Vec<Block> {
        let mut blocks = vec![self.heading("How this was made", "如何得出")];
        blocks.extend(self.data());
        blocks.push(self.say(&words::fair()));
        blocks.extend(self.wide().map(|_| self.say(&words::wide())));
        blocks.extend(self.other_decoders());
        blocks.push(self.say(&words::seeds(self.report.plan.seeds.len())));
        blocks.push(self.say(&words::bands()));
        blocks.extend(self.report.results.failed.iter().map(|failure| {
            let (variant, seed, why) = (&failure.variant, failure.seed, &failure.why);
            self.say(&text!(
                "`{variant}` with seed {seed} is missing: {why}.",
                "缺少种子 {seed} 的 `{variant}`：{why}。"
            ))
        }));
        blocks.extend(self.commands());
        blocks
    }

    /// What was trained and judged on.
    fn data(&self) -> Option<Block> {
        let Report { results, plan, test, .. } = self.report;
        let (data, row) = (&plan.variants.first()?.config.data, results.rows.first()?);
        // A backtick in a name would end the code that it stands in.
        let named = |place: String| place.replace('`', "'");
        let [train, dev] = [&data.train, &data.dev].map(|place| named(place.to_string()));
        let judged = named(data.test.as_ref().map(ToString::to_string).unwrap_or_default());
        let (pairs, sentences) = (grouped(row.train.pairs as usize), grouped(test.pairs.len()));
        let (steps, seeds) = (grouped(row.train.steps as usize), &plan.seeds);
        let [measure, measured] = match self.measure() {
            Measure::Bleu => {
                let signature = test.bleu.signature(1);
                [
                    format!("BLEU is sacreBLEU's: `{signature}`."),
                    format!("BLEU 与 sacreBLEU 一致：`{signature}`。"),
                ]
            }
            Measure::TokenAccuracy => {
                let chance = 100.0 / SYMBOLS as f64;
                [
                    format!(
                        "Token accuracy is the share of places that hold the right symbol; guessing is right {chance:.1} % of the time."
                    ),
                    format!("词元准确率是符号正确的位置所占的比例；猜测的准确率是 {chance:.1}%。"),
                ]
            }
        };
        Some(self.say(&text!(
            "Trained on {pairs} pairs (`{train}`) for {steps} updates with seeds {seeds:?}; the model was chosen on \
             `{dev}` and judged on {sentences} sentences of `{judged}`. {measure}",
            "在 {pairs} 对句子（`{train}`）上训练，更新 {steps} 次，种子 {seeds:?}；用 `{dev}` 选模型，\
             用 `{judged}` 的 {sentences} 句评判。{measured}"
        )))
    }

    /// Presets bring a decoder of their own.
    fn other_decoders(&self) -> Option<Block> {
        let decoder = |variant: &Variant| (variant.config.decoder.timing, variant.config.decoder.input_feeding);
        let first = decoder(self.report.plan.variants.first()?);
        let others: Vec<String> = self
            .report
            .plan
            .variants
            .iter()
            .filter(|variant| decoder(variant) != first)
            .map(|variant| format!("`{}`", variant.name))
            .collect();
        let others = others.join(", ");
        (!others.is_empty()).then(|| self.say(&text!(
            "Not only the attention of {others} is another: so is when the decoder looks, or what is fed to it, as the paper \
             has it.",
            "{others} 不同的不只是注意力：按论文的做法，解码器何时看、输入什么也不同。"
        )))
    }

    fn commands(&self) -> Vec<Block> {
        let Report { results, command, place, .. } = self.report;
        let out = place.display();
        let mut lines = vec![(*command).to_owned()];
        lines.extend(
            results
                .rows
                .first()
                .map(|row| format!("zhuyi train --config {out}/{}/config.toml --run again", row.run)),
        );
        lines.push(format!("zhuyi plot curves {out}/{}", super::super::files::RESULTS));
        let said = self.said(
            "The command that made this report, one that trains its first run again, and one that draws its first picture:",
            "生成本报告的命令、重新训练第一次运行的命令、重画第一张图的命令：",
        );
        vec![Block::Say(said), Block::Code(lines)]
    }
}
