"use strict";
// Drawing: elements, scales, axes. Text only ever goes into text nodes, so no string of a user can become markup.

const SVG = "http://www.w3.org/2000/svg";
const COLOURS = ["#0072B2", "#C24E00", "#00775A", "#A03C7E", "#6B5B00", "#3A3F47", "#4F6FD0", "#A32B2B"];
const DASHES = ["", "7 4", "2 3", "9 3 2 3"];

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== null) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const colourOf = (i) => COLOURS[i % COLOURS.length];
const dashOf = (i) => DASHES[Math.floor(i / 2 + (i % 2 ? 0.5 : 0)) % DASHES.length];

// A mark per group: a second cue besides the colour.
function markAt(i, x, y, size) {
  const s = size;
  const shapes = [
    () => draw("circle", { cx: x, cy: y, r: s }),
    () => draw("rect", { x: x - s * 0.9, y: y - s * 0.9, width: s * 1.8, height: s * 1.8 }),
    () => draw("path", { d: `M${x} ${y - s * 1.2}L${x + s * 1.15} ${y + s}H${x - s * 1.15}Z` }),
    () => draw("path", { d: `M${x} ${y - s * 1.3}L${x + s * 1.3} ${y}L${x} ${y + s * 1.3}L${x - s * 1.3} ${y}Z` }),
  ];
  const mark = shapes[i % shapes.length]();
  mark.setAttribute("fill", colourOf(i));
  return mark;
}

function scale([d0, d1], [r0, r1]) {
  const span = d1 - d0 || 1;
  return (value) => r0 + ((value - d0) / span) * (r1 - r0);
}

// Round numbers between two ends, in whichever order, about `count` of them.
function ticks(start, end, count = 5) {
  const [low, high] = [Math.min(start, end), Math.max(start, end)];
  const span = high - low || 1;
  const raw = span / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k += 1) {
    found.push(Number((k * step).toPrecision(12)));
  }
  return found;
}

function padded(values, share = 0.08) {
  const finite = values.filter(Number.isFinite);
  const low = Math.min(...finite);
  const high = Math.max(...finite);
  const room = (high - low || Math.abs(high) || 1) * share;
  return [low - room, high + room];
}

// An empty chart with axes; returns the svg and the scales.
function frame(holder, { height, x, y, xLabel, yLabel, xFormat = String, yFormat = String, label, left = 52 }) {
  const width = Math.max(260, Math.round(holder.clientWidth || 600));
  const box = { left: yLabel === null ? 8 : left, right: 12, top: 10, bottom: 42 };
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  const toX = scale(x, [box.left, width - box.right]);
  const toY = scale(y, [height - box.bottom, box.top]);
  const axis = draw("g", { class: "axis" });
  const base = height - box.bottom;
  for (const tick of ticks(x[0], x[1], Math.max(3, Math.floor(width / 95)))) {
    axis.append(
      draw("line", { class: "gridline", x1: toX(tick), x2: toX(tick), y1: box.top, y2: base }),
      draw("text", { x: toX(tick), y: base + 17, "text-anchor": "middle" }, xFormat(tick)),
    );
  }
  if (yLabel !== null) {
    for (const tick of ticks(y[0], y[1], Math.max(3, Math.floor(height / 60)))) {
      axis.append(
        draw("line", { class: "gridline", x1: box.left, x2: width - box.right, y1: toY(tick), y2: toY(tick) }),
        draw("text", { x: box.left - 7, y: toY(tick) + 4, "text-anchor": "end" }, yFormat(tick)),
      );
    }
    const middle = (box.top + base) / 2;
    axis.append(
      draw("text", { x: 11, y: middle, transform: `rotate(-90 11 ${middle})`, "text-anchor": "middle" }, yLabel),
    );
  }
  axis.append(
    draw("path", { d: `M${box.left} ${base}H${width - box.right}` }),
    draw("text", { x: (box.left + width - box.right) / 2, y: height - 5, "text-anchor": "middle" }, xLabel),
  );
  svg.append(axis);
  holder.replaceChildren(svg);
  return { svg, toX, toY, width, height, base, box };
}

function stepPath(edges, values, toX, toY) {
  let path = `M${toX(edges[0]).toFixed(1)} ${toY(0).toFixed(1)}`;
  values.forEach((value, i) => {
    path += `V${toY(value).toFixed(1)}H${toX(edges[i + 1]).toFixed(1)}`;
  });
  return `${path}V${toY(0).toFixed(1)}`;
}
