/**
 * Draws Grafana's time series panels well enough to judge units, legends and objective lines, from Prometheus's data.
 * @typedef {import("./prometheus.mjs").Series} Series
 * @typedef {{ legend: string, points: [number, number][] }} Line
 * @typedef {object} Panel
 * @property {string} type
 * @property {string} title
 * @property {string} [description]
 * @property {{ x: number, y: number, w: number, h: number }} gridPos
 * @property {{ defaults: { unit: string, decimals?: number, thresholds: { steps: { value: number | null }[] } } }} [fieldConfig]
 * @property {{ expr: string, legendFormat: string }[]} [targets]
 */

const [UNIT_X, UNIT_Y] = [62, 36];
const COLOURS = [
  "#56a64b",
  "#e0b400",
  "#3274d9",
  "#ff780a",
  "#e02f44",
  "#8f3bb8",
  "#37872d",
  "#96d98d",
  "#8ab8ff",
  "#b877d9",
  "#ffa6b0",
  "#5195ce",
];
const [LEFT, RIGHT, TOP, BOTTOM] = [64, 12, 8, 20];
const CHART_HEIGHT = 150;
const LEGEND_ROWS = 4;
const MARKS = 4;

/** @param {readonly [number, string][]} scales smallest first @param {number} value @param {number | undefined} decimals */
const scaled = (scales, value, decimals) => {
  const [factor, name] = scales.findLast(([from]) => Math.abs(value) >= from) ?? /** @type {[number, string]} */ (scales[0]);
  const amount = value / factor;
  const digits = decimals ?? (Math.abs(amount) >= 100 || amount === 0 ? 0 : Math.abs(amount) >= 10 ? 1 : 2);
  return `${Number(amount.toFixed(digits))}${name}`;
};
/** @type {[number, string][]} */
const TIMES = [
  [1e-6, " µs"],
  [1e-3, " ms"],
  [1, " s"],
  [60, " min"],
];
/** @type {[number, string][]} */
const COUNTS = [
  [1, ""],
  [1e3, " K"],
  [1e6, " Mil"],
];
/** @type {[number, string][]} */
const BYTES = [
  [1, " B"],
  [2 ** 10, " KiB"],
  [2 ** 20, " MiB"],
  [2 ** 30, " GiB"],
];
/** @param {string} unit @param {number | undefined} decimals @returns {(value: number) => string} */
const formatter = (unit, decimals) => {
  switch (unit) {
    case "s":
      return (value) => scaled(TIMES, value, decimals);
    case "percentunit":
      return (value) => `${Number((value * 100).toPrecision(3))}%`;
    case "reqps":
      return (value) => `${scaled(COUNTS, value, decimals)} req/s`;
    case "bytes":
      return (value) => scaled(BYTES, value, decimals);
    case "short":
      return (value) => scaled(COUNTS, value, decimals);
    default:
      throw new Error(`a unit that is not drawn here: ${unit}`);
  }
};

/** @param {string} format @param {Record<string, string>} labels */
const legendOf = (format, labels) => format.replace(/\{\{(\w+)\}\}/g, (_, name) => labels[name] ?? "");

/** @param {Line} line */
const lastOf = ({ points }) => points.at(-1)?.[1] ?? 0;

/** @param {string} legendFormat @param {readonly Series[]} series @returns {Line[]} lines with points, the highest last value first */
export const linesOf = (legendFormat, series) =>
  series
    .map(({ metric, values }) => ({
      legend: legendOf(legendFormat, metric),
      points: values
        .map(([at, value]) => /** @type {[number, number]} */ ([at, Number(value)]))
        .filter(([, value]) => Number.isFinite(value)),
    }))
    .filter(({ points }) => points.length > 0)
    .sort((one, other) => lastOf(other) - lastOf(one));

/** @param {string} text */
const escape = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Rounds a number up to a round one. @param {number} value */
const roundUp = (value) => {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return ([1, 2, 2.5, 4, 5, 8, 10].find((step) => step * power >= value) ?? 10) * power;
};

/** @param {Panel} panel @param {readonly Line[]} lines @param {{ from: number, to: number }} span */
const chart = ({ gridPos, fieldConfig }, lines, { from, to }) => {
  const { unit = "short", decimals, thresholds } = fieldConfig?.defaults ?? {};
  const format = formatter(unit, decimals);
  const width = gridPos.w * UNIT_X - 24;
  const highest = Math.max(...lines.flatMap(({ points }) => points.map(([, value]) => value)), 0);
  // Axes of counts have only whole numbers.
  const top = decimals === 0 ? Math.ceil(Math.max(highest, 1) / MARKS) * MARKS : roundUp(highest || 1);
  const x = (/** @type {number} */ at) => LEFT + ((at - from) / (to - from)) * (width - LEFT - RIGHT);
  const y = (/** @type {number} */ value) => TOP + (1 - value / top) * (CHART_HEIGHT - TOP - BOTTOM);
  const marks = Array.from({ length: MARKS + 1 }, (_, index) => (top * index) / MARKS);
  const times = Array.from({ length: MARKS }, (_, index) => from + ((to - from) * index) / MARKS);
  const limits = (thresholds?.steps ?? []).flatMap(({ value }) => (value !== null && value <= top ? [value] : []));
  return `<svg width="${width}" height="${CHART_HEIGHT}">
    ${marks.map((mark) => `<line class="grid" x1="${LEFT}" x2="${width - RIGHT}" y1="${y(mark)}" y2="${y(mark)}"/><text x="${LEFT - 6}" y="${y(mark) + 4}" text-anchor="end">${format(mark)}</text>`).join("")}
    ${times.map((at) => `<text x="${x(at)}" y="${CHART_HEIGHT - 4}">${new Date(at * 1_000).toISOString().slice(11, 19)}</text>`).join("")}
    ${limits.map((limit) => `<line class="limit" x1="${LEFT}" x2="${width - RIGHT}" y1="${y(limit)}" y2="${y(limit)}"/>`).join("")}
    ${lines.map(({ points }, index) => `<polyline stroke="${COLOURS[index % COLOURS.length]}" points="${points.map(([at, value]) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`).join(" ")}"/>`).join("")}
  </svg>
  <table><tr><th></th><th>Last</th><th>Max</th></tr>${lines
    .slice(0, LEGEND_ROWS)
    .map(({ legend, points }, index) => {
      const values = points.map(([, value]) => value);
      const key = `<td><i style="background:${COLOURS[index % COLOURS.length]}"></i>${escape(legend)}</td>`;
      return `<tr>${key}<td>${format(/** @type {number} */ (values.at(-1)))}</td><td>${format(Math.max(...values))}</td></tr>`;
    })
    .join("")}</table>${lines.length > LEGEND_ROWS ? `<small>and ${lines.length - LEGEND_ROWS} more</small>` : ""}`;
};

const STYLE = `body{margin:8px;background:#f4f5f5;font:12px sans-serif;color:#24292e;position:relative}
  section{position:absolute;background:#fff;border:1px solid #e4e5e6;box-sizing:border-box;padding:4px 8px;overflow:hidden}
  h1{font-size:15px;margin:6px 4px;position:absolute} h2{font-size:13px;margin:2px 0 4px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
  svg text{font-size:10px;fill:#666} .grid{stroke:#eee} .limit{stroke:#e02f44;stroke-dasharray:6 4} polyline{fill:none;stroke-width:1.5}
  table{font-size:11px;width:100%;border-spacing:0} th{text-align:right;color:#3274d9;font-weight:500} td,th{padding-left:10px} td{text-align:right;white-space:nowrap}
  td:first-child{text-align:left;width:100%} i{display:inline-block;width:12px;height:3px;margin-right:6px;vertical-align:middle} p{color:#999;text-align:center;margin-top:50px}`;

/** @param {{ panel: Panel, lines: Line[] }[]} panelLines @param {{ from: number, to: number }} span @returns {string} an HTML page */
export const page = (panelLines, span) => {
  const bodies = panelLines.map(({ panel, lines }) => {
    const { x, y, w, h } = panel.gridPos;
    const at = `left:${x * UNIT_X}px;top:${y * UNIT_Y}px;width:${w * UNIT_X - 6}px;height:${h * UNIT_Y - 6}px`;
    if (panel.type === "row") return `<h1 style="${at}">${escape(panel.title)}</h1>`;
    return `<section style="${at}"><h2>${escape(panel.title)}</h2>${lines.length > 0 ? chart(panel, lines, span) : "<p>No data</p>"}</section>`;
  });
  const height = Math.max(...panelLines.map(({ panel: { gridPos } }) => gridPos.y + gridPos.h)) * UNIT_Y;
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style><body style="height:${height}px">${bodies.join("")}`;
};
