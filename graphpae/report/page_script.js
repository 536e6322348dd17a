"use strict";
// Colours of Okabe and Ito, which most colour-blind people tell apart; lines also differ in dashes, marks in shape.
// On dark paper the same hues are lighter.
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#8c8c8c", "#b8a800"];
const lightColours = ["#3d9fdb", "#f27f3d", "#2bc49a", "#e09ac2", "#8ed2f7", "#f2b733", "#b4b4b4", "#d8cb3c"];
const dark = matchMedia("(prefers-color-scheme: dark)");
const colour = (i) => (dark.matches ? lightColours : colours)[i % colours.length];
const dashes = [[], [6, 4], [2, 3], [10, 3, 2, 3]];
const shapes = ["circle", "triangle", "rect", "rectRot", "star", "crossRot", "cross"];
// From dark to light, for groups that are ranges of a number.
const ramp = ["#30123b", "#3e5ba9", "#21908c", "#73c05b", "#e8b21a"];
const lightRamp = ["#8f6bd1", "#6d93e8", "#33b8b0", "#8bd873", "#f5cb45"];

// Colours of the scheme, asked for whenever something is drawn: it may change while the page is open.
const scheme = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const textColour = () => scheme("--text"), lineColour = () => scheme("--line");
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

// Ticks at 1, 2 and 5 of every decade.
const logarithmicTick = (value) => (/^[125](\.0+)?e/.test(value.toExponential()) ? String(+value.toPrecision(3)) : "");

// The lines of a legend are dashed as those of the chart.
function legendLabels(chart) {
  const items = Chart.defaults.plugins.legend.labels.generateLabels(chart);
  for (const item of items) item.lineDash = chart.data.datasets[item.datasetIndex].borderDash || [];
  return items;
}

function drawChart(chart) {
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

function drawMap(map) {
  const figure = document.getElementById(map.id);
  const [choices, groups] = figure.querySelectorAll(".choices");
  const about = figure.querySelector(".about"), said = figure.querySelector(".point");
  const drawing = figure.querySelector(".drawing"), canvas = figure.querySelector(".square canvas");
  const members = map.groups.map(() => []);  // points of each group
  map.group.forEach((g, point) => members[g].push(point));
  const ranges = map.groups.filter((name) => name !== "no label").length;
  const colourOf = (g) => map.groups[g] === "no label" ? "#8c8c8c"
      : map.ordered ? (dark.matches ? lightRamp : ramp)[Math.round(g * (ramp.length - 1) / Math.max(1, ranges - 1))] : colour(g);
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
  if (map.drawings.length) drawing.hidden = false;
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
    dark.addEventListener("change", drawMark);
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
dark.addEventListener("change", () => drawn.forEach((chart) => chart.update()));
