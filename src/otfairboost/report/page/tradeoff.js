// The trade-off: all models as dots, the one that is picked, and all as a table.

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
