//! What the figures say in a few sentences.

use super::super::figures::OfVariant;
use super::block::Block;
use super::words;
use super::writer::{Which, Writer};
use crate::attention::ScoreKind;
use crate::language::{Language, Text, text};
use crate::metrics::resample::Difference;

/// A lead that a person would call one, in points of BLEU or percent.
const LARGE: f64 = 10.0;

impl Writer<'_> {
    /// The best variant beside the single vector, on the longest sentences.
    pub fn lead(&self) -> Vec<Block> {
        let (Some(best), Some(baseline)) = (self.best(), self.baseline()) else { return Vec::new() };
        let Some(told) = self.difference(best.name, baseline.name, Which::Longest) else { return Vec::new() };
        let (lengths, name, measure) = (self.longest(), best.name, self.told(&self.measure().name()));
        let (reached, vector) = (best.at_longest(), baseline.at_longest());
        let Difference { difference, low, high, p } = told;
        let verdict = match difference {
            _ if high < 0.0 => {
                text!("Here attention is worth less than nothing.", "在这里，注意力反而不如单个向量。")
            }
            _ if low <= 0.0 => {
                text!("These sentences can't tell that from no difference.", "凭这些句子，还不能断定两者有差别。")
            }
            _ if difference < LARGE => text!("That is little, but more than chance.", "差别不大，但不是偶然。"),
            _ => text!(
                "One vector can't carry what attention can look up.",
                "一个向量装不下注意力随时可以查到的东西。"
            ),
        };
        let said = text!(
            "On sources of {lengths} words, `{name}` reaches {reached:.1} ({measure}) and the single vector {vector:.1}: a \
             difference of {difference:.1}, and from {low:.1} to {high:.1} in 95 of 100 samples of these sentences (p = {p:.3}). ",
            "源句为 {lengths} 词时，`{name}` 达到 {reached:.1}（{measure}），单个向量为 {vector:.1}：相差 {difference:.1}，\
             对这些句子重新抽样，95% 的结果在 {low:.1} 和 {high:.1} 之间（p = {p:.3}）。"
        );
        let lead = Block::Say(self.told(&said) + &self.told(&verdict));
        std::iter::once(lead).chain(self.parameters(best)).collect()
    }

    /// Whether it is only the number of parameters.
    fn parameters(&self, best: &OfVariant<'_>) -> Option<Block> {
        let wide = self.wide()?;
        let told = self.difference(best.name, wide.name, Which::Longest)?;
        let (context, parameters) = (wide.rows[0].context, super::tables::grouped(wide.rows[0].parameters));
        let (reached, name, difference) = (wide.at_longest(), best.name, told.difference.abs());
        let [ahead, in_front] = if told.difference < 0.0 { ["behind", "落后"] } else { ["ahead", "领先"] };
        let so = match told.low > 0.0 {
            true => text!("so it is not the number of parameters", "所以原因不在参数多少"),
            false => text!("so the number of parameters may be all there is to it", "所以可能只是参数多少的问题"),
        };
        let [so, therefore] = [so.to(Language::English), so.to(Language::Chinese)];
        Some(self.say(&text!(
            "A vector widened to {context} numbers, with {parameters} parameters in all, reaches {reached:.1} there; `{name}` \
             is {difference:.1} {ahead}, {so}.",
            "把向量加宽到 {context} 个数、共 {parameters} 个参数，在此达到 {reached:.1}；`{name}` {in_front} {difference:.1}，{therefore}。"
        )))
    }

    /// What controls can't do, and what they did here.
    pub fn controls(&self) -> Vec<Block> {
        let said = |variant: &OfVariant<'_>| {
            let limit = words::limit(&variant.rows[0].attention)?;
            let here = self.outcome(variant).map(|here| self.told(&here)).unwrap_or_default();
            Some(Block::Say(self.told(&limit) + &here))
        };
        self.variants.iter().filter_map(said).collect()
    }

    /// How a control did beside the single vector and the best of those that compare contents.
    fn outcome(&self, control: &OfVariant<'_>) -> Option<Text> {
        let (best, baseline) = (self.best()?, self.baseline()?);
        let [reached, most, least] = [control, best, baseline].map(OfVariant::at_longest);
        let (lengths, name) = (self.longest(), best.name);
        let (near_vector, near_best) = (reached - least < most - reached, most - reached < reached - least);
        if near_vector {
            return Some(text!(
                " Here it reaches {reached:.1} at {lengths} words, nearer to the single vector ({least:.1}) than to `{name}` \
                 ({most:.1}).",
                "在这里，源句为 {lengths} 词时它达到 {reached:.1}，更接近单个向量（{least:.1}），而不是 `{name}`（{most:.1}）。"
            ));
        }
        let is_location = control.rows[0].attention == ScoreKind::Location.name();
        if !(near_best && is_location) {
            return Some(text!(
                " Here it reaches {reached:.1} at {lengths} words (`{name}`: {most:.1}; the single vector: {least:.1}).",
                "在这里，源句为 {lengths} 词时它达到 {reached:.1}（`{name}`：{most:.1}；单个向量：{least:.1}）。"
            ));
        }
        let links = self.links(control, best);
        let [links, linked] = [links.to(Language::English), links.to(Language::Chinese)];
        Some(text!(
            " Here that is enough: at {lengths} words it reaches {reached:.1} (`{name}`: {most:.1}; the single vector: \
             {least:.1}), for where the next word stands can be told from how far the translation has got.{links}",
            "在这里，这已足够：源句为 {lengths} 词时它达到 {reached:.1}（`{name}`：{most:.1}；单个向量：{least:.1}），\
             因为从译文写到哪里就能知道下一个词在哪里。{linked}"
        ))
    }

    /// How well the links of a control agree with people's, where they are known.
    fn links(&self, control: &OfVariant<'_>, best: &OfVariant<'_>) -> Text {
        let error = |variant: &OfVariant<'_>| variant.mean(|row| row.all.aer);
        let (Some(its), Some(right), name) = (error(control), error(best), best.name) else {
            return Text::default();
        };
        text!(
            " The error rate of its links is {its:.3}, that of `{name}` {right:.3}.",
            "它的对齐错误率为 {its:.3}，`{name}` 为 {right:.3}。"
        )
    }
}
