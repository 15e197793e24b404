/** @param {string} id @param {string} type @param {object} [data] */
export const node = (id, type, data = {}) => ({ id, type, position: { x: 0, y: 0 }, data });

/** @param {string} from @param {string} to both in the form `node.port` */
export const edge = (from, to) => {
  const [source = "", sourceHandle = ""] = from.split(".");
  const [target = "", targetHandle = ""] = to.split(".");
  return { id: `${from}-${to}`, source, sourceHandle, target, targetHandle };
};
