/** Finds the text that matches a query's meaning, among texts that share more words with the query. */

const TEXTS = [
  "The ship leaves the harbour at dawn.",
  "My bank raised the interest on savings.",
  "A recipe for a cake with plums and cinnamon.",
  "The goalkeeper saved a penalty in the last minute.",
  "Heavy rain is expected in the mountains tomorrow.",
];
/** Each query matches the text at its index. */
const QUERIES = [
  "boats early in the morning",
  "money in an account",
  "baking something sweet",
  "a game of football",
  "the weather forecast",
];

/** @param {import("./stage.mjs").Stage} stage */
export const embeddings = async ({ drill, once, run, untilReady }) => {
  await untilReady("local-embeddings");
  let right = 0;
  for (const [index, query] of QUERIES.entries()) {
    const { result } = await once("local-embeddings", { texts: TEXTS, query });
    right += Number(result.text === TEXTS[index] && result.json.order[0] === index);
  }
  drill.check(["texts are found by what they mean", right === QUERIES.length, `${right} of ${QUERIES.length}`]);
  const { json } = await run("local-embeddings", `${TEXTS.length} sentences`, { texts: TEXTS });
  const length = Math.hypot(...json.vectors[0]);
  drill.check(["vectors have the length 1", Math.abs(length - 1) < 0.01 && json.vectors.length === TEXTS.length, length.toFixed(3)]);
};
