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
