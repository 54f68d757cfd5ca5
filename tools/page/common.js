// Shared by the pages of results.
const $ = id => document.getElementById(id);
const escape = text => String(text).replace(/[&<>"]/g, c => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
// Three significant digits, thousands apart.
const digits = x => !isFinite(x) ? "–" : x === 0 ? "0" : x < 1e-3 ? "<0.001" :
  x >= 999.5 ? Math.round(x).toLocaleString("en").replace(/,/g, "\u202f") : x.toPrecision(3);
const percent = x => (x >= 9.95 && (x < 99 || x >= 99.95) ? Math.round(x) : x.toFixed(1)) + " %";
const time = us => us >= 1e6 ? digits(us / 1e6) + " s" : us >= 1000 ? digits(us / 1000) + " ms" : digits(us) + " µs";
const bytes = b => b >= 1e9 ? digits(b / 1e9) + " GB" : b >= 1e6 ? digits(b / 1e6) + " MB" : b >= 1e3 ? digits(b / 1e3) + " kB" : digits(b) + " B";
const flops = f => f >= 1e9 ? digits(f / 1e9) + " GFLOP" : f >= 1e6 ? digits(f / 1e6) + " MFLOP" : digits(f / 1e3) + " kFLOP";

// Light or dark: as the system says, until the button is pressed.
const root = document.documentElement;
const system = matchMedia("(prefers-color-scheme: dark)");
const follow = () => root.dataset.theme = system.matches ? "dark" : "light";
follow();
system.addEventListener("change", follow);
$("theme").onclick = () => root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
