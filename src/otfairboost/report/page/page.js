// The page: what is picked, and everything that follows from it.

const state = { model: report.chosen, threshold: report.threshold, gap: report.gap, performance: report.performance };
const byId = (id) => document.getElementById(id);

function pick(model) {
  state.model = model;
  render();
}

function nameOf(i) {
  return report.models[i].name;
}

// --- the trade-off ---

const inOrder = () => report.models.map((_, i) => i).sort((a, b) => valueOf(a, state.gap) - valueOf(b, state.gap) || a - b);
const valueOf = (i, key) => (report.models[i].measures[key] || [NaN])[0];

function efficientModels() {
  const sign = report.measures[state.performance].greaterIsBetter ? -1 : 1;
  const at = (i) => [valueOf(i, state.gap), sign * valueOf(i, state.performance)];
  return inOrder().filter((i) => {
    const [x, y] = at(i);
    return !report.models.some((_, j) => {
      const [u, v] = at(j);
      return u <= x && v <= y && (u < x || v < y);
    });
  });
}

function renderFrontier() {
  const holder = byId("frontier");
  const hadFocus = holder.contains(document.activeElement);
  const gap = report.measures[state.gap];
  const performance = report.measures[state.performance];
  const order = inOrder();
  const ends = (key) => report.models.flatMap((model) => model.measures[key].filter(isNumber));
  const yRange = padded(report.models.map((_, i) => valueOf(i, state.performance)), 0.18);
  const factor = gap.inPoints ? 100 : 1;
  const { svg, toX, toY, base, box, width } = frame(holder, {
    height: 380,
    x: [0, padded(ends(state.gap))[1]],
    y: performance.greaterIsBetter ? yRange : yRange.slice().reverse(),
    xLabel: `${gap.label}${gap.inPoints ? ", points" : ""}  (left is fairer)`,
    yLabel: performance.label,
    xFormat: (tick) => plain(factor * tick),
    yFormat: (tick) => (performance.inPoints ? percent(tick) : plain(tick)),
    label: `${performance.label} against ${gap.label}, one dot per model`,
    left: 66,
  });
  svg.setAttribute("role", "radiogroup");
  const efficient = efficientModels();
  svg.append(
    draw("polyline", {
      points: efficient.map((i) => `${toX(valueOf(i, state.gap))},${toY(valueOf(i, state.performance))}`).join(" "),
      fill: "none", stroke: "#9fb4c9", "stroke-width": 1.5,
    }),
  );
  const [, low, high] = report.models[state.model].measures[state.gap];
  if (isNumber(low) && isNumber(high)) {
    const y = toY(valueOf(state.model, state.performance));
    svg.append(draw("path", { d: `M${toX(low)} ${y}H${toX(high)}M${toX(low)} ${y - 5}v10M${toX(high)} ${y - 5}v10`, stroke: COLOURS[0], fill: "none", "stroke-width": 1.5 }));
  }
  for (const i of order) svg.append(frontierDot(i, toX, toY, efficient.includes(i), order));
  const label = draw("text", {
    x: Math.min(Math.max(toX(valueOf(state.model, state.gap)), box.left + 40), width - 60),
    y: Math.min(toY(valueOf(state.model, state.performance)) + 28, base - 6), "text-anchor": "middle", class: "on-chart",
  }, nameOf(state.model));
  svg.append(label);
  // A click near a dot is a click on it.
  svg.addEventListener("click", (event) => {
    const area = svg.getBoundingClientRect();
    const [px, py] = [((event.clientX - area.left) / area.width) * width, ((event.clientY - area.top) / area.height) * 380];
    const distance = (i) => Math.hypot(toX(valueOf(i, state.gap)) - px, toY(valueOf(i, state.performance)) - py);
    const nearest = order.reduce((a, b) => (distance(b) < distance(a) ? b : a));
    if (distance(nearest) < 40) pick(nearest);
  });
  if (hadFocus) svg.querySelector('[aria-checked="true"]').focus();
}

function frontierDot(i, toX, toY, isEfficient, order) {
  const [x, y] = [toX(valueOf(i, state.gap)), toY(valueOf(i, state.performance))];
  const checked = i === state.model;
  const dot = draw(
    "g",
    {
      class: "dot", role: "radio", "aria-checked": String(checked), tabindex: checked ? 0 : -1, "data-model": i,
      "aria-label": `${nameOf(i)}: ${report.measures[state.gap].label} ${writeMeasure(state.gap, valueOf(i, state.gap))}, ${report.measures[state.performance].label} ${writeMeasure(state.performance, valueOf(i, state.performance))}${i === report.chosen ? ", the chosen model" : ""}`,
    },
    draw("title", {}, nameOf(i)),
    draw("circle", { class: "halo", cx: x, cy: y, r: checked ? 11 : 9, fill: checked ? "#fff" : "transparent", stroke: checked ? COLOURS[0] : "none", "stroke-width": 2.5 }),
    draw("circle", { cx: x, cy: y, r: checked ? 6.5 : 5, fill: isEfficient ? COLOURS[0] : "#fff", stroke: isEfficient ? "#fff" : "#5c6b7a", "stroke-width": 1.5 }),
  );
  if (i === report.chosen) dot.append(draw("path", { d: `M${x} ${y - 27}l6 9h-12z`, fill: "#b34700" }));
  dot.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (step) pick(order[(order.indexOf(i) + step + order.length) % order.length]);
    else if (event.key === "Home") pick(order[0]);
    else if (event.key === "End") pick(order[order.length - 1]);
    else if (event.key === " " || event.key === "Enter") pick(i);
    else return;
    event.preventDefault();
  });
  return dot;
}

function pair(term, value, small, attributes = {}) {
  const text = make("dd", attributes, value);
  if (small) text.append(" ", make("span", { class: "small" }, small));
  return make("div", {}, make("dt", {}, term), text);
}

function renderPicked() {
  const model = report.models[state.model];
  const list = make("dl");
  if (isNumber(model.weight)) list.append(pair("Fairness weight", plain(model.weight)));
  for (const key of new Set([report.gap, report.performance, state.gap, state.performance])) {
    if (!model.measures[key]) continue;
    const interval = writeInterval(key, model.measures[key]);
    list.append(
      pair(report.measures[key].label, writeMeasure(key, model.measures[key][0]), interval && `(${interval})`, { "data-measure": key, "data-value": model.measures[key][0] }),
    );
  }
  const order = inOrder();
  const step = (by) => () => pick(order[(order.indexOf(state.model) + by + order.length) % order.length]);
  const buttons = [["Fairer", step(-1)], ["Less fair", step(1)], ["Chosen", () => pick(report.chosen)]].map(([text, act]) => {
    const button = make("button", { type: "button" }, text);
    button.addEventListener("click", act);
    return button;
  });
  byId("picked").replaceChildren(
    make("h3", {}, model.name, " ", state.model === report.chosen ? make("span", { class: "badge" }, "chosen") : null),
    list,
    make("div", { class: "steps screen-only" }, ...buttons),
    make("p", { class: "note" }, "▲ marks the chosen model. Filled dots: no other model is both fairer and better."),
  );
}

function renderModelsTable() {
  const keys = Object.keys(report.measures);
  const rows = inOrder().map((i) =>
    make(
      "tr", { "aria-current": i === state.model ? "true" : null },
      make("th", { scope: "row" }, nameOf(i), i === report.chosen ? " ▲" : ""),
      ...keys.map((key) => make("td", {}, report.measures[key].inPoints ? (100 * valueOf(i, key)).toFixed(1) : writeMeasure(key, valueOf(i, key)))),
    ),
  );
  const head = make("tr", {}, make("th", { scope: "col" }, "model"), ...keys.map((key) => make("th", { scope: "col", title: report.measures[key].label }, `${report.measures[key].short}${report.measures[key].inPoints ? " (%)" : ""}`)));
  byId("models-table").replaceChildren(make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

// --- scores and threshold ---

function renderLegend() {
  byId("legend").replaceChildren(
    ...report.groups.map((group, g) =>
      make("span", {}, draw("svg", { viewBox: "0 0 28 12", "aria-hidden": "true" },
        draw("line", { x1: 0, x2: 28, y1: 6, y2: 6, stroke: colourOf(g), "stroke-width": 2.5, "stroke-dasharray": dashOf(g) }),
        markAt(g, 14, 6, 4)), group.label),
    ),
  );
}

function renderDistributions() {
  const shown = report.reference !== null && report.reference !== state.model ? [report.reference, state.model] : [state.model];
  const holder = byId("distributions");
  holder.replaceChildren(...shown.map((i) => make("div", { class: "panel" },
    make("h3", {}, nameOf(i), " ", make("span", { class: "tag" }, i === state.model ? "picked" : "for comparison")), make("div", {}))));
  const top = Math.max(...shown.flatMap((i) => report.models[i].groups.flatMap((group) => group.density)));
  const at = report.thresholds[state.threshold];
  shown.forEach((i, n) => {
    const chart = frame(holder.children[n].lastChild, {
      height: 250, x: [report.edges[0], report.edges[report.edges.length - 1]], y: [0, top * 1.05], xLabel: "score", yLabel: null,
      xFormat: plain, label: `Distribution of scores by group, ${nameOf(i)}`,
    });
    report.models[i].groups.forEach((group, g) => {
      const path = stepPath(report.edges, group.density, chart.toX, chart.toY);
      chart.svg.append(
        draw("path", { d: path, fill: colourOf(g), "fill-opacity": report.groups.length > 3 ? 0.04 : 0.14, stroke: "none" }),
        draw("path", { d: path, fill: "none", stroke: colourOf(g), "stroke-width": 2, "stroke-dasharray": dashOf(g) }),
      );
    });
    const x = chart.toX(at);
    const onLeft = x > chart.width * 0.7;
    chart.svg.append(
      draw("line", { x1: x, x2: x, y1: chart.box.top, y2: chart.base, stroke: "#1b2430", "stroke-width": 1.5, "stroke-dasharray": "5 3" }),
      draw("text", { x: x + (onLeft ? -6 : 6), y: chart.box.top + 10, "text-anchor": onLeft ? "end" : "start", class: "on-chart" }, isDecision ? (onLeft ? "selected from here →" : "selected →") : "at or above →"),
    );
  });
}

function renderThreshold() {
  const at = plain(report.thresholds[state.threshold]);
  const slider = byId("threshold");
  slider.value = state.threshold;
  slider.setAttribute("aria-valuetext", at);
  byId("threshold-value").textContent = at;
  byId("threshold-print").textContent = `Threshold: ${at}.`;
  byId("threshold-reset").disabled = state.threshold === report.threshold;
}

// --- rates ---

function renderSummary() {
  const at = plain(report.thresholds[state.threshold]);
  const gap = criterionGap(state.model, state.threshold) || gapOf(state.model, state.threshold, "selection_rate");
  const what = RATES.find((one) => one.gap === report.gap);
  const rates = ratesOf(state.model, state.threshold, "selection_rate").map((one) => one.rate);
  const ratio = Math.min(...rates) / Math.max(...rates);
  const name = report.gap === "equalized_odds_difference" ? "the larger of both gaps" : `the gap (${(what || RATES[0]).label.toLowerCase()})`;
  const summary = byId("summary");
  summary.replaceChildren(
    `At threshold ${at}, ${name} is `, make("span", { id: "gap-value", "data-value": gap.gap, "data-low": gap.low, "data-high": gap.high }, points(gap.gap)),
    isNumber(gap.low) ? ` (95% interval ${(100 * gap.low).toFixed(1)} to ${(100 * gap.high).toFixed(1)}).` : ".",
    !isDecision ? "" : isNumber(ratio) ? ` The lowest selection rate is ${percent(ratio, 0)} of the highest; a common rule of thumb asks for 80%.` : " Nobody is selected.",
  );
}

function renderRateCharts() {
  const holder = byId("rate-charts");
  holder.replaceChildren(...shownRates().map((rate) => make("div", { class: "panel" }, make("h3", {}, rate.label), make("p", { class: "note" }, rate.of), make("div", {}))));
  shownRates().forEach((rate, n) => {
    const rates = ratesOf(state.model, state.threshold, rate.key);
    const step = 30;
    const { svg, toX } = frame(holder.children[n].lastChild, {
      height: 56 + step * rates.length, x: [0, 1], y: [0, 1], xLabel: "", yLabel: null, xFormat: (tick) => percent(tick, 0),
      label: `${rate.label}: ${rates.map((one, g) => `${report.groups[g].label} ${percent(one.rate)}`).join(", ")}`,
    });
    rates.forEach((one, g) => {
      const y = 22 + step * g;
      if (!isNumber(one.rate)) {
        svg.append(draw("text", { x: toX(0), y: y + 4 }, `${report.groups[g].label}: no rows`));
        return;
      }
      const right = toX(one.high) < toX(0.62);
      svg.append(
        draw("line", { x1: toX(one.low), x2: toX(one.high), y1: y, y2: y, stroke: colourOf(g), "stroke-width": 5, "stroke-opacity": 0.35 }),
        markAt(g, toX(one.rate), y, 5),
        draw("text", { x: right ? toX(one.high) + 9 : toX(one.low) - 9, y: y + 4, "text-anchor": right ? "start" : "end" },
          clip(report.groups[g].label, 22), " ", draw("tspan", { "font-weight": 700 }, percent(one.rate))),
      );
    });
  });
}

const clip = (text, length) => (text.length > length ? `${text.slice(0, length - 1)}…` : text);

function renderRatesTable() {
  const head = make("tr", {}, make("th", { scope: "col" }, report.sensitive), make("th", { scope: "col" }, "rows"),
    ...shownRates().map((rate) => make("th", { scope: "col" }, rate.label)),
    report.hasLabels ? make("th", { scope: "col" }, "Right decisions") : null,
    report.task === "regression" ? make("th", { scope: "col" }, "Mean prediction") : null,
    report.models[state.model].groups[0].error ? make("th", { scope: "col" }, "Mean absolute error") : null);
  const rows = report.groups.map((group, g) => {
    const result = report.models[state.model].groups[g];
    const cells = shownRates().map((rate) => {
      const one = wilson(countsOf(state.model, g, state.threshold, rate.key));
      return make("td", { "data-label": rate.label, "data-rate": rate.key, "data-group": g, "data-value": one.rate, "data-low": one.low, "data-high": one.high }, percent(one.rate), make("small", {}, range(one.low, one.high)));
    });
    if (report.hasLabels) {
      const right = result.positive[state.threshold] + (group.rows - group.positive - result.negative[state.threshold]);
      const one = wilson({ selected: right, total: group.rows });
      cells.push(make("td", { "data-label": "Right decisions", "data-rate": "accuracy", "data-group": g, "data-value": one.rate }, percent(one.rate), make("small", {}, range(one.low, one.high))));
    }
    if (report.task === "regression") cells.push(make("td", { "data-label": "Mean prediction" }, plain(Number(result.mean.toPrecision(4)))));
    if (result.error) {
      const [value, low, high] = result.error.map((one) => Number(one.toPrecision(3)));
      cells.push(make("td", { "data-label": "Mean absolute error" }, plain(value), make("small", {}, range(low, high, plain))));
    }
    return make("tr", {}, make("th", { scope: "row" }, group.label), make("td", { "data-label": "rows" }, count(group.rows)), ...cells);
  });
  const gaps = make("tr", {}, make("th", { scope: "row" }, "largest gap"), make("td"),
    ...shownRates().map((rate) => {
      const gap = gapOf(state.model, state.threshold, rate.key);
      return make("td", { "data-label": rate.label, "data-gap": rate.gap, "data-value": gap.gap, "data-low": gap.low, "data-high": gap.high }, points(gap.gap), make("small", {}, isNumber(gap.low) ? `${(100 * gap.low).toFixed(1)} to ${(100 * gap.high).toFixed(1)}` : ""));
    }));
  byId("rates-table").replaceChildren(make("table", { class: "stacked" }, make("thead", {}, head), make("tbody", {}, ...rows, gaps)));
}

function renderConfusion() {
  byId("confusion").replaceChildren(
    ...report.groups.map((group, g) => {
      const result = report.models[state.model].groups[g];
      const tp = result.positive[state.threshold];
      const fp = result.negative[state.threshold];
      const fn = group.positive - tp;
      const tn = group.rows - group.positive - fp;
      const cell = (value, kind, name) => make("td", { class: kind, "data-cell": name, "data-group": g }, count(value), make("small", {}, percent(value / group.rows)));
      return make("div", { class: "tile" }, make("h3", {}, group.label),
        make("table", {},
          make("thead", {}, make("tr", {}, make("td"), make("th", { scope: "col" }, "selected"), make("th", { scope: "col" }, "not selected"))),
          make("tbody", {},
            make("tr", {}, make("th", { scope: "row" }, "positive outcome"), cell(tp, "right", "tp"), cell(fn, "wrong", "fn")),
            make("tr", {}, make("th", { scope: "row" }, "negative outcome"), cell(fp, "wrong", "fp"), cell(tn, "right", "tn")))));
    }),
  );
}

function renderCalibration() {
  const groups = report.models[state.model].groups.map((group) => group.calibration);
  const shown = groups.every(Boolean);
  byId("calibration-section").hidden = !shown;
  if (!shown) return;
  const predicted = groups.flatMap((bins) => bins.map(([value]) => value));
  const observed = groups.flatMap((bins) => bins.flatMap(([, , low, high]) => [low, high]));
  const isShare = isDecision;
  const x = isShare ? [0, Math.min(1, padded(predicted, 0.05)[1])] : padded(predicted, 0.04);
  const y = isShare ? [0, Math.min(1, padded(observed, 0.05)[1])] : padded(observed, 0.04);
  const format = isShare ? (tick) => percent(tick, 0) : plain;
  const { svg, toX, toY } = frame(byId("calibration"), {
    height: 340, x, y, xLabel: isShare ? "predicted probability" : "prediction", yLabel: isShare ? "positive outcome" : report.target, xFormat: format, yFormat: format,
    label: "Calibration by group", left: 60,
  });
  const [low, high] = [Math.max(x[0], y[0]), Math.min(x[1], y[1])];
  svg.append(draw("line", { x1: toX(low), y1: toY(low), x2: toX(high), y2: toY(high), stroke: "#98a4b3", "stroke-dasharray": "3 3" }));
  groups.forEach((bins, g) => {
    svg.append(draw("polyline", { points: bins.map(([p, o]) => `${toX(p)},${toY(o)}`).join(" "), fill: "none", stroke: colourOf(g), "stroke-width": 2, "stroke-dasharray": dashOf(g) }));
    for (const [p, o, from, to] of bins) {
      svg.append(draw("line", { x1: toX(p), x2: toX(p), y1: toY(from), y2: toY(to), stroke: colourOf(g), "stroke-opacity": 0.45 }), markAt(g, toX(p), toY(o), 4));
    }
  });
}

function renderParameters() {
  const model = report.models[state.model];
  const rows = model.parameters.map(([name, value]) => make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, value)));
  byId("parameters").replaceChildren(...(rows.length ? [make("h3", {}, `Model ${model.name}`), make("table", { class: "pairs" }, make("tbody", {}, ...rows))] : []));
}

// --- all of it ---

function render() {
  for (const tag of document.querySelectorAll("[data-model-name]")) {
    tag.textContent = nameOf(state.model);
    tag.hidden = report.models.length === 1;
  }
  if (report.models.length > 1) {
    renderFrontier();
    renderPicked();
    renderModelsTable();
  }
  renderParameters();
  renderCalibration();
  renderAtThreshold();
}

function renderAtThreshold() {
  renderThreshold();
  renderDistributions();
  renderSummary();
  renderRateCharts();
  renderRatesTable();
  if (report.hasLabels) renderConfusion();
}

function start() {
  byId("tradeoff").hidden = report.models.length === 1;
  byId("decisions").hidden = !report.hasLabels;
  byId("scores-help").textContent = isDecision
    ? "How the scores of each group are spread. Everyone at or above the threshold is selected. The more the shapes overlap, the less the score depends on the group. Move the threshold to see what it does to the rates below."
    : "How the predictions for each group are spread. The more the shapes overlap, the less they depend on the group. Move the threshold to see which share of each group lies at or above it.";
  for (const kind of ["gap", "performance"]) {
    const select = byId(`axis-${kind}`);
    const keys = Object.keys(report.measures).filter((key) => report.measures[key].kind === kind);
    if (keys.length === 0) state[kind] = Object.keys(report.measures).find((key) => key !== report.gap);
    select.append(...keys.map((key) => make("option", { value: key, selected: key === state[kind] ? "" : null }, report.measures[key].label)));
    select.parentElement.hidden = keys.length < 2;
    select.addEventListener("change", () => {
      state[kind] = select.value;
      render();
    });
  }
  const slider = byId("threshold");
  slider.max = report.thresholds.length - 1;
  slider.addEventListener("input", () => {
    state.threshold = Number(slider.value);
    renderAtThreshold();
  });
  byId("threshold-reset").addEventListener("click", () => {
    state.threshold = report.threshold;
    renderAtThreshold();
  });
  window.addEventListener("beforeprint", () => {
    byId("all-models").open = true;
  });
  let width = window.innerWidth;
  window.addEventListener("resize", () => {
    if (window.innerWidth !== width) {
      width = window.innerWidth;
      render();
    }
  });
  renderLegend();
  render();
  document.documentElement.dataset.ready = "true";
}

start();
