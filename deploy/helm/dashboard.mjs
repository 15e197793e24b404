// Writes the chart's dashboard for Grafana, files/dashboards/nodeloom.json, from the panels of dashboard-panels.mjs.
import { writeGenerated } from "../local/generate/write.mjs";
import { ROWS } from "./dashboard-panels.mjs";

/** Width in Grafana's 24 columns. */
const [WIDTH, HEIGHT, COLUMNS] = [8, 7, 24];
const SOURCE = { type: "prometheus", uid: "${source}" };

/** @typedef {import("./dashboard-panels.mjs").Panel} Panel */

/** @param {Panel} panel @param {number} id @param {{ x: number, y: number }} at */
const panelJson = ({ title, about, unit, queries, limit, decimals }, id, at) => ({
  id,
  type: "timeseries",
  title,
  description: about,
  datasource: SOURCE,
  gridPos: { ...at, w: WIDTH, h: HEIGHT },
  fieldConfig: {
    defaults: {
      unit,
      min: 0,
      ...(decimals === undefined ? {} : { decimals }),
      custom: { fillOpacity: 8, showPoints: "never", thresholdsStyle: { mode: limit === undefined ? "off" : "dashed" } },
      thresholds: {
        mode: "absolute",
        steps: [{ color: "green", value: null }, ...(limit === undefined ? [] : [{ color: "red", value: limit }])],
      },
    },
    overrides: [],
  },
  options: {
    legend: { displayMode: "table", placement: "bottom", calcs: ["lastNotNull", "max"], sortBy: "Last *", sortDesc: true },
    tooltip: { mode: "multi", sort: "desc" },
  },
  targets: Object.entries(queries).map(([legendFormat, expr], index) => ({ refId: String.fromCharCode(65 + index), expr, legendFormat })),
});

const panels = () => {
  const placedPanels = [];
  let y = 0;
  for (const [title, row] of Object.entries(ROWS)) {
    placedPanels.push({
      id: placedPanels.length + 1,
      type: "row",
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    for (const [index, panel] of row.entries()) {
      const x = (index * WIDTH) % COLUMNS;
      placedPanels.push(panelJson(panel, placedPanels.length + 1, { x, y: y + Math.floor((index * WIDTH) / COLUMNS) * HEIGHT }));
    }
    y += Math.ceil((row.length * WIDTH) / COLUMNS) * HEIGHT;
  }
  return placedPanels;
};

const dashboard = {
  title: "Nodeloom",
  uid: "nodeloom",
  schemaVersion: 39,
  version: 2,
  editable: true,
  refresh: "30s",
  time: { from: "now-6h", to: "now" },
  templating: { list: [{ name: "source", type: "datasource", query: "prometheus", label: "Prometheus" }] },
  panels: panels(),
};
await writeGenerated("deploy/helm/nodeloom/files/dashboards/nodeloom.json", JSON.stringify(dashboard));
