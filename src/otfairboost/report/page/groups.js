// What the picked model does to each group: scores, rates, decisions, calibration.

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
