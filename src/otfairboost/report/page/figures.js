// Numbers: rates and their intervals from counts, and how they are written.

const report = JSON.parse(document.getElementById("report-data").textContent);

const isDecision = report.task === "classification";
const RATES = [
  { key: "selection_rate", label: isDecision ? "Selected" : "At or above the threshold", of: "of the group", gap: "demographic_parity_difference" },
  { key: "true_positive_rate", label: "True positive rate", of: "of those with a positive outcome", gap: "true_positive_rate_difference" },
  { key: "false_positive_rate", label: "False positive rate", of: "of those with a negative outcome", gap: "false_positive_rate_difference" },
];
const shownRates = () => (report.hasLabels ? RATES : RATES.slice(0, 1));

// How many rows of a group a rate is taken over, and how many of these are selected at threshold number k.
function countsOf(model, g, k, key) {
  const group = report.groups[g];
  const result = report.models[model].groups[g];
  const positive = result.positive[k];
  const negative = result.negative[k];
  if (key === "true_positive_rate") return { selected: positive, total: group.positive };
  if (key === "false_positive_rate") return { selected: negative, total: group.rows - group.positive };
  return { selected: positive + negative, total: group.rows };
}

// Wilson's score interval.
function wilson({ selected: s, total: n }) {
  if (!n) return { rate: NaN, low: NaN, high: NaN };
  const z2 = report.z * report.z;
  const middle = (s + z2 / 2) / (n + z2);
  const half = (report.z / (n + z2)) * Math.sqrt((s * (n - s)) / n + z2 / 4);
  return { rate: s / n, low: s === 0 ? 0 : middle - half, high: s === n ? 1 : middle + half };
}

function ratesOf(model, k, key) {
  return report.groups.map((_, g) => wilson(countsOf(model, g, k, key)));
}

// Largest difference between groups, with Newcombe's interval for the two extreme ones. As in the metrics, a group
// without rows to take the rate over counts as 0 in the gap.
function gapOf(model, k, key) {
  const counts = report.groups.map((_, g) => countsOf(model, g, k, key));
  const counted = counts.map((one) => (one.total ? one.selected / one.total : 0));
  const gap = Math.max(...counted) - Math.min(...counted);
  const known = counts.filter((one) => one.total);
  if (known.length < 2) return { gap, low: NaN, high: NaN };
  const rates = known.map((one) => one.selected / one.total);
  let top = rates.indexOf(Math.max(...rates));
  let bottom = rates.indexOf(Math.min(...rates));
  if (top === bottom) {
    [top, bottom] = known.map((_, i) => i).sort((a, b) => known[a].total - known[b].total || a - b);
  }
  const [one, two] = [wilson(known[top]), wilson(known[bottom])];
  const difference = one.rate - two.rate;
  return {
    gap,
    low: Math.max(0, difference - Math.hypot(one.rate - one.low, two.high - two.rate)),
    high: Math.max(0, difference + Math.hypot(one.high - one.rate, two.rate - two.low)),
  };
}

// The gap of the report's criterion at threshold number k; null where it does not depend on a threshold.
function criterionGap(model, k) {
  if (report.gap === "equalized_odds_difference") {
    const both = ["true_positive_rate", "false_positive_rate"].map((key) => gapOf(model, k, key));
    return both[0].gap >= both[1].gap ? both[0] : both[1];
  }
  const rate = RATES.find((one) => one.gap === report.gap);
  return rate ? gapOf(model, k, rate.key) : null;
}

const isNumber = (value) => typeof value === "number" && Number.isFinite(value);
const percent = (share, digits = 1) => (isNumber(share) ? `${(100 * share).toFixed(digits)}%` : "–");
const points = (share) => (isNumber(share) ? `${(100 * share).toFixed(1)} points` : "–");
const plain = (value) => (isNumber(value) ? Number(value.toPrecision(6)).toString() : "–");
const count = (value) => value.toLocaleString("en");
const range = (low, high, format = percent) => (isNumber(low) && isNumber(high) ? `${format(low)} to ${format(high)}` : "");

function writeMeasure(key, value) {
  if (!isNumber(value)) return "–";
  const name = report.measures[key];
  if (name.inPoints) return name.kind === "gap" ? points(value) : percent(value);
  return Math.abs(value) < 10 ? value.toFixed(3) : plain(Number(value.toPrecision(4)));
}

function writeInterval(key, [, low, high]) {
  if (!isNumber(low) || !isNumber(high)) return "";
  const name = report.measures[key];
  const factor = name.inPoints ? 100 : 1;
  const digits = name.inPoints ? 1 : 3;
  return `${(factor * low).toFixed(digits)} to ${(factor * high).toFixed(digits)}`;
}
