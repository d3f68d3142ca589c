// The colours of pictures, which are those of zhuyi's own (plot/colour.rs), on a light and on a dark ground.

const SCALES = {
  light: [
    [255, 255, 255],
    [198, 219, 239],
    [107, 174, 214],
    [33, 113, 181],
    [8, 48, 107],
  ],
  dark: [
    [27, 30, 36],
    [24, 58, 97],
    [38, 106, 170],
    [107, 174, 214],
    [222, 238, 250],
  ],
};
// From negative to positive by way of nothing.
const SIGNED = { light: ["#b35806", "#ffffff", "#0072b2"], dark: ["#f07f32", "#1b1e24", "#3d9fe0"] };
const CURVES = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#333333"],
  dark: ["#3d9fe0", "#f07f32", "#2fc394", "#dd9cc0", "#f2b93b", "#8ccff5", "#d8d8d8"],
};
const PLAIN = {
  light: { paper: "#ffffff", ink: "#222222", faint: "#666666", grid: "#e8e8e8", accent: "#d55e00", link: "#0b5cad" },
  dark: { paper: "#15171c", ink: "#e6e8ec", faint: "#a3a9b3", grid: "#2f343d", accent: "#f07f32", link: "#7cb7f2" },
};

const query = matchMedia("(prefers-color-scheme: dark)");

export function onGround(change) {
  query.addEventListener("change", change);
}

function ground() {
  return query.matches ? "dark" : "light";
}

export function plain() {
  return PLAIN[ground()];
}

export function curve(n) {
  const curves = CURVES[ground()];
  return curves[n % curves.length];
}

// The colour of a weight in 0..=1.
export function weight(x) {
  const scale = SCALES[ground()];
  const place = Math.min(Math.max(x || 0, 0), 1) * (scale.length - 1);
  const stop = Math.min(Math.floor(place), scale.length - 2);
  return mixed(scale[stop], scale[stop + 1], place - stop);
}

// Text on the colour of a weight.
export function onWeight(x) {
  const [dark, limit] = ground() === "dark" ? ["#10131a", 0.55] : ["#ffffff", 0.66];
  return x > limit ? dark : x > 0.25 ? plain().ink : plain().faint;
}

// The colour of a number in -1..=1.
export function signed(x) {
  const [negative, nothing, positive] = SIGNED[ground()].map(parsed);
  return x < 0 ? mixed(nothing, negative, Math.min(-x, 1)) : mixed(nothing, positive, Math.min(x, 1));
}

function parsed(colour) {
  return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
}

function mixed(from, to, between) {
  const mix = from.map((x, i) => Math.round(x + between * (to[i] - x)));
  return "#" + mix.map((x) => x.toString(16).padStart(2, "0")).join("");
}
