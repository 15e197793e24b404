/** Which of the earlier calls that ask for the same each call reuses. */

export interface Position {
  nodeId: string;
  item: number;
}

/**
 * Calls that ask for the same may have given different things: each keeps its own by its position, then takes one of its node that
 * no other call of the step has, then any.
 * @param wanted the calls of one step
 * @param same earlier calls that ask for the same, by the index of a wanted one, the nearest run first
 */
export const assign = <Earlier extends Position>(
  wanted: readonly Position[],
  same: readonly (readonly Earlier[])[],
): (Earlier | undefined)[] => {
  const taken = new Set<Earlier>();
  const take = (earlier: Earlier | undefined): Earlier | undefined => {
    if (earlier) taken.add(earlier);
    return earlier;
  };
  const own = wanted.map(({ nodeId, item }, index) => take(same[index]!.find((one) => one.nodeId === nodeId && one.item === item)));
  return own.map((found, index) => {
    if (found) return found;
    const free = same[index]!.filter((one) => !taken.has(one));
    return take(free.find(({ nodeId }) => nodeId === wanted[index]!.nodeId) ?? free[0] ?? same[index]![0]);
  });
};
