"use strict";
// Twenty colours that can be told apart, the first six those of Okabe and Ito, which most colour-blind people can; lines
// also differ in dashes, marks in shape. None is near the grey of what has no label. On dark paper others are lighter.
const colours = [
  "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#0000f0",
  "#2d5a00", "#96002d", "#00e12d", "#ffb4a5", "#005a5a", "#ff1e4b", "#8769e1",
  "#879600", "#694b2d", "#4b4b69", "#c3b4ff", "#b40096", "#96d2c3",
];
const lightColours = [
  "#3d9fdb", "#f27f3d", "#2bc49a", "#e09ac2", "#8ed2f7", "#f2b733", "#e100ff",
  "#d21e1e", "#00ff3c", "#00873c", "#007878", "#966900", "#ffd2c3", "#a596ff",
  "#d2f0c3", "#f00f78", "#96a54b", "#876996", "#0f5aff", "#e1f000",
];
const grey = "#8c8c8c";
const scheme = matchMedia("(prefers-color-scheme: dark)");
let printing = false;  // paper is light
const isDark = () => scheme.matches && !printing;
const colour = (i) => (isDark() ? lightColours : colours)[i % colours.length];
const dashes = [[], [6, 4], [2, 3], [10, 3, 2, 3]];
const shapes = ["circle", "triangle", "rect", "rectRot", "star", "crossRot", "cross"];
// From dark to light, for groups that are ranges of a number.
const ramp = ["#30123b", "#3e5ba9", "#21908c", "#73c05b", "#e8b21a"];
const lightRamp = ["#8f6bd1", "#6d93e8", "#33b8b0", "#8bd873", "#f5cb45"];

// Colours of the scheme, asked for whenever something is drawn: it may change while the page is open.
const styled = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const textColour = () => (printing ? "#1b1b1b" : styled("--text")), lineColour = () => (printing ? "#d5d5d5" : styled("--line"));
const axis = (title, more) => ({
  title: { display: title !== "", text: title, color: textColour },
  grid: { color: lineColour, borderColor: lineColour },
  ...more,
  ticks: { color: textColour, ...more.ticks },
});
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.font.size = 13;

// Columns of numbers are aligned at the right.
for (const table of document.querySelectorAll("table:not(.confusion)")) {
  const looksNumeric = (text) => text === "" || /^[-+\u2212]?[\d.,]+(e[-+]?\d+)?( ?(%|s|GB|MB))?( .*)?$/i.test(text);
  const rows = [...table.tBodies[0].rows];
  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const cells = rows.map((row) => row.cells[column]);
    if (column === 0 || !cells.every((cell) => looksNumeric(cell.textContent))) return;
    for (const cell of [head, ...cells]) cell.classList.add("number");
  });
}

// A line as its legend and the chart show it; later lines are drawn over earlier ones, whose dashes let them through.
function lineSets(series, i, points) {
  const line = {
    label: series.label,
    data: series.data,
    order: -i,
    borderColor: () => colour(i),
    backgroundColor: () => colour(i),
    borderDash: dashes[i % dashes.length],
    borderWidth: 2,
    pointStyle: shapes[i % shapes.length],
    pointRadius: points > 60 ? 0 : 3,
  };
  if (!series.spread) return [line];
  // The spread is a band between two lines that are not drawn.
  const edge = (sign, fill) => ({
    label: series.label + (sign < 0 ? ", less a deviation" : ", and a deviation"),
    data: series.data.map((value, p) => (value === null || series.spread[p] === null ? null : value + sign * series.spread[p])),
    band: true, order: 1, borderWidth: 0, pointRadius: 0, pointHoverRadius: 0, backgroundColor: () => colour(i) + "38", fill,
  });
  return [line, edge(-1, false), edge(1, "-1")];
}

function barSets(series, i) {
  return [{ label: series.label, data: series.data, backgroundColor: () => colour(i) }];
}

// Bars with names; what the embeddings are compared with is paler.
function scoreSets(series, names) {
  return [{
    label: series.label, data: series.data, low: series.low, high: series.high, maxBarThickness: 26,
    backgroundColor: (bar) => (names[0] !== "embeddings" || bar.dataIndex === 0 ? colour(0) : colour(0) + "60"),
  }];
}

function curveSets(series, i, count) {
  return [{
    label: series.label,
    data: series.data.map((y, p) => ({ x: series.x[p], y })),
    showLine: true,
    borderColor: () => (series.reference ? grey : colour(i)),
    backgroundColor: () => (series.reference ? grey : colour(i)),
    borderDash: series.reference ? [4, 4] : dashes[Math.floor(i / 6) % dashes.length],
    borderWidth: series.reference ? 1 : 2,
    pointRadius: !series.reference && series.data.length <= 12 && count <= 4 ? 3 : 0,
    order: series.reference ? 1 : 0,
  }];
}

// Intervals as whiskers over the bars of scores.
const whiskers = {
  id: "whiskers",
  afterDatasetsDraw(chart) {
    const { ctx, scales } = chart;
    chart.data.datasets.forEach((set, d) => {
      if (!set.low) return;
      ctx.save();
      ctx.strokeStyle = textColour();
      ctx.lineWidth = 1.5;
      chart.getDatasetMeta(d).data.forEach((bar, p) => {
        if (set.low[p] === null || set.high[p] === null) return;
        const from = scales.x.getPixelForValue(set.low[p]), to = scales.x.getPixelForValue(set.high[p]);
        ctx.beginPath();
        ctx.moveTo(from, bar.y);
        ctx.lineTo(to, bar.y);
        for (const end of [from, to]) {
          ctx.moveTo(end, bar.y - 5);
          ctx.lineTo(end, bar.y + 5);
        }
        ctx.stroke();
      });
      ctx.restore();
    });
  },
};

// Ticks at 1, 2 and 5 of every decade.
const logarithmicTick = (value) => (/^[125](\.0+)?e/.test(value.toExponential()) ? String(+value.toPrecision(3)) : "");

// The lines of a legend are dashed as those of the chart.
function legendLabels(chart) {
  const items = Chart.defaults.plugins.legend.labels.generateLabels(chart);
  for (const item of items) item.lineDash = chart.data.datasets[item.datasetIndex].borderDash || [];
  return items;
}

// What a score says under the pointer.
function scoreText(item) {
  const { low, high } = item.dataset, p = item.dataIndex;
  const value = `${item.label}: ${item.formattedValue}`;
  return low[p] === null ? value : `${value} (${low[p]} to ${high[p]})`;
}

function drawScores(chart) {
  const set = scoreSets(chart.series[0], chart.points)[0];
  const ends = [...set.data, ...set.low, ...set.high].filter((value) => value !== null);
  return new Chart(document.getElementById(chart.id), {
    type: "bar",
    plugins: [whiskers],
    data: { labels: chart.points, datasets: [set] },
    options: {
      indexAxis: "y",
      plugins: {
        title: { display: true, text: chart.title, color: textColour },
        legend: { display: false },
        tooltip: { callbacks: { title: () => "", label: scoreText } },
      },
      scales: {
        x: axis(chart.x, { min: Math.min(0, ...ends), suggestedMax: Math.max(...ends) }),
        y: axis("", { ticks: { autoSkip: false }, grid: { display: false } }),
      },
    },
  });
}

function drawCurves(chart) {
  const datasets = chart.series.flatMap((series, i) => curveSets(series, i, chart.series.length));
  const range = { min: 0, max: 1 };
  return new Chart(document.getElementById(chart.id), {
    type: "scatter",
    data: { datasets },
    options: {
      interaction: { mode: "nearest", intersect: false },
      plugins: {
        title: { display: true, text: chart.title, color: textColour },
        legend: {
          display: datasets.length > 1,
          labels: { color: textColour, usePointStyle: true, pointStyle: "line", pointStyleWidth: 34, generateLabels: legendLabels },
        },
      },
      scales: { x: axis(chart.x, range), y: axis(chart.y, range) },
    },
  });
}

function drawChart(chart) {
  if (chart.kind === "scores") return drawScores(chart);
  if (chart.kind === "curves") return drawCurves(chart);
  const line = chart.kind === "line";
  const datasets = chart.series.flatMap((series, i) => (line ? lineSets(series, i, chart.points.length) : barSets(series, i)));
  const shown = (item, data) => !data.datasets[item.datasetIndex].band;
  let range = chart.fromZero ? { min: 0 } : {};
  const positive = datasets.flatMap((set) => set.data).filter((value) => value !== null && value > 0);
  if (chart.logarithmic && positive.length) range = { min: Math.min(...positive) * 0.8, max: Math.max(...positive) * 1.25 };
  return new Chart(document.getElementById(chart.id), {
    type: chart.kind,
    data: { labels: chart.points, datasets },
    options: {
      interaction: { mode: "index", intersect: false },
      plugins: {
        title: { display: true, text: chart.title, color: textColour },
        legend: {
          display: chart.series.length > 1 || (chart.series.length === 1 && chart.series[0].label !== chart.y),
          reverse: line,
          labels: { color: textColour, usePointStyle: line, pointStyle: "line", pointStyleWidth: 34, filter: shown, generateLabels: legendLabels },
        },
        tooltip: { filter: (item) => !item.dataset.band },
      },
      scales: {
        x: axis(chart.x, { ticks: { autoSkipPadding: 12, maxRotation: 45 } }),
        y: axis(chart.y, {
          type: chart.logarithmic ? "logarithmic" : "linear",
          ticks: chart.logarithmic ? { callback: logarithmicTick, autoSkip: false } : {},
          ...range,
        }),
      },
    },
  });
}

const redraws = [];  // what else changes with the colours of the paper

// Structures of some molecules, each group's first ones, for paper and for those who do not point.
function showStructures(map, members, figure) {
  const shown = [];
  for (let round = 0; shown.length < 12 && members.some((points) => round < points.length); ++round) {
    for (const points of members) {
      if (shown.length < 12 && round < points.length && map.drawings[points[round]]) shown.push(points[round]);
    }
  }
  const gallery = document.createElement("div");
  gallery.className = "gallery";
  for (const point of shown) {
    const one = document.createElement("figure"), image = document.createElement("img"), text = document.createElement("figcaption");
    image.alt = `structure of ${map.ids[point]}`;
    image.src = "data:image/svg+xml," + encodeURIComponent(map.drawings[point]);
    text.textContent = map.groupedBy ? `${map.groupedBy} ${map.groups[map.group[point]]}` : map.ids[point];
    one.append(image, text);
    gallery.append(one);
  }
  if (shown.length) figure.append(gallery);
}

function drawMap(map) {
  const figure = document.getElementById(map.id);
  const [choices, groups] = figure.querySelectorAll(".choices");
  const about = figure.querySelector(".about"), said = figure.querySelector(".point");
  const drawing = figure.querySelector(".drawing"), canvas = figure.querySelector(".square canvas");
  const members = map.groups.map(() => []);  // points of each group
  map.group.forEach((g, point) => members[g].push(point));
  const ranges = map.groups.filter((name) => name !== "no label").length;
  const colourOf = (g) => map.groups[g] === "no label" ? grey
      : map.ordered ? (isDark() ? lightRamp : ramp)[Math.round(g * (ramp.length - 1) / Math.max(1, ranges - 1))] : colour(g);
  // Colours come round again with another shape.
  const shapeOf = (g) => shapes[(g + Math.floor(g / colours.length)) % shapes.length];
  const coordinates = (g, p) => members[g].map((i) => ({ x: p.x[i], y: p.y[i] }));
  const outlined = new Set(["star", "cross", "crossRot"]);
  let projection = 0;
  const textOf = (point) => `${map.kind} ${map.ids[point]}${map.groupedBy ? `, ${map.groupedBy} ${map.groups[map.group[point]]}` : ""}`;
  const chart = new Chart(canvas, {
    type: "scatter",
    data: {
      datasets: map.groups.map((name, g) => ({
        label: name,
        data: coordinates(g, map.projections[projection]),
        backgroundColor: () => colourOf(g) + "b0",
        borderColor: () => colourOf(g),
        borderWidth: outlined.has(shapeOf(g)) ? 1.2 : 0,
        pointStyle: shapeOf(g),
        pointRadius: map.ids.length > 1500 ? 3 : 4,
        pointHoverRadius: 8,
      })),
    },
    options: {
      plugins: {
        legend: { display: false },
        tooltip: { callbacks: { label: (item) => textOf(members[item.datasetIndex][item.dataIndex]) } },
      },
      scales: { x: { display: false }, y: { display: false } },
      onHover: (event, active) => { if (active.length) show(active[0].datasetIndex, active[0].index); },
    },
  });
  if (map.drawings.length) {
    drawing.hidden = false;
    showStructures(map, members, figure);
  }
  let current = null;
  function show(g, index) {
    const point = members[g][index];
    if (point === current) return;
    current = point;
    said.textContent = textOf(point);
    if (!map.drawings.length) return;
    drawing.replaceChildren();
    if (map.drawings[point]) {
      const image = document.createElement("img");
      image.alt = `structure of ${map.ids[point]}`;
      image.src = "data:image/svg+xml," + encodeURIComponent(map.drawings[point]);
      drawing.append(image);
    }
  }
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const visible = members.flatMap((points, g) => chart.isDatasetVisible(g) ? points.map((point, index) => ({ point, g, index })) : []);
    if (!visible.length) return;
    visible.sort((a, b) => a.point - b.point);
    const at = visible.findIndex((one) => one.point === current);
    const next = visible[(at + steps[event.key] + visible.length) % visible.length];
    const active = [{ datasetIndex: next.g, index: next.index }];
    const { x, y } = chart.getDatasetMeta(next.g).data[next.index].getCenterPoint();
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, { x, y });
    chart.update();
    show(next.g, next.index);
  });

  const button = (into, text, pressed, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.append(text);
    if (pressed !== null) made.setAttribute("aria-pressed", pressed);
    made.addEventListener("click", () => act(made));
    into.append(made);
    return made;
  };
  const setPressed = (made, pressed) => made.setAttribute("aria-pressed", pressed);
  const chooseProjection = (k) => {
    projection = k;
    projectionButtons.forEach((made, i) => setPressed(made, i === k));
    about.textContent = map.projections[k].note;
    chart.data.datasets.forEach((dataset, g) => { dataset.data = coordinates(g, map.projections[k]); });
    chart.setActiveElements([]);
    chart.tooltip.setActiveElements([], { x: 0, y: 0 });
    chart.update();
  };
  const projectionButtons = map.projections.map((p, k) => button(choices, p.name, k === 0, () => chooseProjection(k)));
  const setVisible = (g, visible) => {
    chart.setDatasetVisibility(g, visible);
    setPressed(groupButtons[g], visible);
  };
  const groupButtons = map.groups.map((name, g) => {
    const made = button(groups, `${name} (${members[g].length})`, true, () => {
      setVisible(g, !chart.isDatasetVisible(g));
      chart.update();
    });
    // The mark of the group, as the chart draws it.
    const mark = document.createElement("canvas");
    mark.width = mark.height = 16;
    const drawMark = () => {
      const context = mark.getContext("2d");
      context.clearRect(0, 0, 16, 16);
      context.fillStyle = context.strokeStyle = colourOf(g);
      context.lineWidth = 1.5;
      Chart.helpers.drawPoint(context, { pointStyle: shapeOf(g), radius: 6, borderWidth: outlined.has(shapeOf(g)) ? 1.5 : 0 }, 8, 8);
    };
    drawMark();
    redraws.push(drawMark);
    made.prepend(mark);
    return made;
  });
  if (map.groups.length > 1) {
    for (const [text, visible] of [["all", true], ["none", false]]) {
      button(groups, text, null, () => {
        map.groups.forEach((_, g) => setVisible(g, visible));
        chart.update();
      });
    }
  }
  chooseProjection(0);
  return chart;
}

const drawn = [...charts.map(drawChart), ...maps.map(drawMap)];
function redraw() {
  for (const chart of drawn) chart.update();
  for (const again of redraws) again();
}
scheme.addEventListener("change", redraw);
// Charts are redrawn for paper: light, and no wider than it.
addEventListener("beforeprint", () => {
  printing = true;
  for (const chart of drawn) chart.resize(Math.min(640, chart.canvas.parentNode.clientWidth), chart.canvas.parentNode.clientHeight);
  redraw();
});
addEventListener("afterprint", () => {
  printing = false;
  for (const chart of drawn) chart.resize();
  redraw();
});
