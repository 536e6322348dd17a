// Colours of Okabe and Ito; the second series is also dashed, the third dotted.
const colours = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#999999", "#f0e442"];
const dashes = [[], [6, 4], [2, 3], [10, 3, 2, 3]];
const style = getComputedStyle(document.documentElement);
Chart.defaults.color = style.getPropertyValue("--text");
Chart.defaults.borderColor = style.getPropertyValue("--line");
Chart.defaults.animation = false;
Chart.defaults.maintainAspectRatio = false;
for (const chart of charts) {
  new Chart(document.getElementById(chart.id), {
    type: chart.kind,
    data: {
      labels: chart.points,
      datasets: chart.series.map((series, i) => ({
        ...series,
        borderColor: colours[i % colours.length],
        backgroundColor: colours[i % colours.length],
        borderDash: chart.kind === "line" ? dashes[i % dashes.length] : [],
        borderWidth: chart.kind === "line" ? 2 : 0,
        pointRadius: chart.points.length > 60 ? 0 : 2,
      })),
    },
    options: {
      interaction: { mode: "index", intersect: false },
      plugins: { title: { display: true, text: chart.title } },
      scales: {
        x: { title: { display: true, text: chart.x } },
        y: { type: chart.logarithmic ? "logarithmic" : "linear", title: { display: true, text: chart.y } },
      },
    },
  });
}
