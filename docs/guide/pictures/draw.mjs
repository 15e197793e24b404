// Draws the graphs of graphs.json, one SVG file each, readable on light and on dark pages.
//
//   node docs/guide/pictures/draw.mjs       writes them
//   node docs/guide/pictures/draw.mjs -     prints them as JSON instead, by name
import { readFileSync, writeFileSync } from "node:fs";

const file = (name) => new URL(name, import.meta.url);
const graphs = JSON.parse(readFileSync(file("graphs.json"), "utf8"));

const WIDTH = 192;
const GAP = 112;
/** The straight end of an edge, over which its port is written. */
const STUB = 44;
const PORT = 17;
const HEAD = 46;
const LINE = 18;
const ROW_GAP = 26;
const MARGIN = 20;
const TITLE = 34;

const STYLE = `
  text { font: 12px ui-sans-serif, system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328; }
  .page { fill: #ffffff; stroke: #d1d9e0; }
  .title { font-size: 14px; font-weight: 600; }
  .name { font-weight: 600; }
  .kind, .port, .band { fill: #59636e; font-size: 11px; }
  .port { font-size: 10px; }
  .box { fill: #f6f8fa; stroke: #818b98; stroke-width: 1.5; }
  .rule { stroke: #d1d9e0; }
  .edge { fill: none; stroke: #818b98; stroke-width: 1.5; }
  .tip { fill: #818b98; }
  .together { fill: none; stroke: #0969da; stroke-dasharray: 5 4; }
  .band { fill: #0969da; }
  .completed { stroke: #1a7f37; } .failed { stroke: #cf222e; } .cancelled { stroke: #9a6700; } .skipped { stroke: #818b98; stroke-dasharray: 4 3; }
  text.completed { fill: #1a7f37; stroke: none; } text.failed { fill: #cf222e; stroke: none; }
  text.cancelled { fill: #9a6700; stroke: none; } text.skipped { fill: #59636e; stroke: none; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .page { fill: #0d1117; stroke: #3d444d; }
    .kind, .port, text.skipped { fill: #9198a1; }
    .box { fill: #151b23; stroke: #9198a1; }
    .rule { stroke: #3d444d; }
    .edge { stroke: #9198a1; } .tip { fill: #9198a1; }
    .together { stroke: #4493f8; } .band { fill: #4493f8; }
    .completed { stroke: #3fb950; } .failed { stroke: #f85149; } .cancelled { stroke: #d29922; } .skipped { stroke: #9198a1; }
    text.completed { fill: #3fb950; } text.failed { fill: #f85149; } text.cancelled { fill: #d29922; }
  }`;

const SIGNS = { completed: "✓", failed: "✕", cancelled: "■", skipped: "–" };
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
const text = (x, y, kind, content, more = "") => `<text class="${kind}" x="${x}" y="${y}"${more}>${escaped(content)}</text>`;

/** What stands in a node's box below its name. */
const linesOf = ({ shows = [], status, report }) => (status ? [`${SIGNS[status]} ${status}${report ? `: ${report}` : ""}`] : shows);
const heightOf = (node, edges) => {
  const lines = linesOf(node).length;
  const ports = edges.filter(({ target }) => target === node.id).length;
  return Math.max(HEAD + (lines > 0 ? lines * LINE + 6 : 0), ports * PORT + 6);
};

const place = (nodes, edges) => {
  const row = Math.max(...nodes.map((node) => heightOf(node, edges))) + ROW_GAP;
  return nodes.map((node) => {
    const height = heightOf(node, edges);
    const x = MARGIN + node.at[0] * (WIDTH + GAP);
    const y = MARGIN + TITLE + node.at[1] * row + (row - ROW_GAP - height) / 2;
    return { ...node, x, y, height };
  });
};

const drawNode = (node) => {
  const { id, type, x, y, height, status } = node;
  const lines = linesOf(node);
  return [
    `<rect class="box ${status ?? ""}" x="${x}" y="${y}" width="${WIDTH}" height="${height}" rx="8"/>`,
    text(x + 12, y + 19, "name", id),
    text(x + 12, y + 35, "kind", type),
    ...(lines.length > 0 ? [`<path class="rule" d="M${x} ${y + HEAD - 2}h${WIDTH}"/>`] : []),
    ...lines.map((line, index) => text(x + 12, y + HEAD + 14 + index * LINE, status ?? "value", line)),
  ];
};

/** Where an edge arrives: those of one node leave room for one another's ports. */
const arrival = (edges, node, edge) => {
  const own = edges.filter(({ target }) => target === node.id);
  return node.y + node.height / 2 + (own.indexOf(edge) - (own.length - 1) / 2) * PORT;
};

const drawEdge = (edges, byId, edge) => {
  const [from, to] = [byId.get(edge.source), byId.get(edge.target)];
  const [x1, x2] = [from.x + WIDTH, to.x - 7];
  const [y1, y2] = [from.y + from.height / 2, arrival(edges, to, edge)];
  const bend = (x2 - STUB - x1) / 2;
  return [
    `<path class="edge" d="M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - STUB - bend} ${y2} ${x2 - STUB} ${y2}H${x2}"/>`,
    `<path class="tip" d="M${x2} ${y2 - 4}l7 4l-7 4z"/>`,
    text(x2 - 4, y2 - 4, "port", edge.targetHandle, ' text-anchor="end"'),
  ];
};

const drawTogether = (byId, { nodes, text: caption }) => {
  const members = nodes.map((id) => byId.get(id));
  // Ports are written to the left of their nodes.
  const [left, top] = [Math.min(...members.map(({ x }) => x)) - STUB - 12, Math.min(...members.map(({ y }) => y)) - 11];
  const bottom = Math.max(...members.map(({ y, height }) => y + height)) + 11;
  return [
    `<rect class="together" x="${left}" y="${top}" width="${WIDTH + STUB + 24}" height="${bottom - top}" rx="12"/>`,
    text(left + (WIDTH + STUB + 24) / 2, bottom + 15, "band", caption, ' text-anchor="middle"'),
  ];
};

const draw = ({ title, nodes, edges, together }) => {
  const placed = place(nodes, edges);
  const byId = new Map(placed.map((node) => [node.id, node]));
  const width = Math.max(...placed.map(({ x }) => x + WIDTH)) + MARGIN;
  const height = Math.max(...placed.map(({ y, height }) => y + height)) + MARGIN + (together ? 22 : 0);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}\n</style>`,
    `<rect class="page" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>`,
    text(MARGIN, MARGIN + 8, "title", title),
    ...(together ? drawTogether(byId, together) : []),
    ...edges.flatMap((edge) => drawEdge(edges, byId, edge)),
    ...placed.flatMap(drawNode),
    "</svg>",
    "",
  ].join("\n");
};

const pictures = Object.fromEntries(Object.entries(graphs).map(([name, graph]) => [`${name}.svg`, draw(graph)]));
if (process.argv[2] === "-") process.stdout.write(JSON.stringify(pictures));
else for (const [name, picture] of Object.entries(pictures)) writeFileSync(file(name), picture);
