/** Notation of seeded workflows: nodes in columns and rows, edges as texts. */

/** @typedef {{ id: string, type: string, position: { x: number, y: number }, data: object }} Node */

const COLUMN = 340;
/** A node with a preview is up to 632 pixels high. */
const ROW = 660;

/** @param {string} id @param {string} type @param {number} column @param {number} row @param {object} data @returns {Node} */
export const node = (id, type, column, row, data) => ({ id, type, position: { x: column * COLUMN, y: row * ROW }, data });

/** An edge written as `from.port -> to.port`. @param {string} text */
export const edge = (text) => {
  const match = /^(\S+)\.(\S+) -> (\S+)\.(\S+)$/.exec(text);
  if (match === null) throw new Error(`not an edge: ${text}`);
  const [, source, sourceHandle, target, targetHandle] = match;
  return { id: text, source, sourceHandle, target, targetHandle };
};

/** @param {string} name @param {string} label @param {string} initial */
export const textField = (name, label, initial) => ({ name, type: "text", label, default: initial });
