import { nearestName } from "@nodeloom/kernel";

/** Longer paths aren't compared. */
const MOST_SEGMENTS = 12;
const API = "/api";

/** A slash at the end makes no segment. */
const segmentsOf = (path: string): string[] => path.replace(/\/$/, "").split("/").slice(1);

/** Number of misspelt segments, or undefined if the path is another one. */
const distance = (segments: readonly string[], template: readonly string[]): number | undefined => {
  if (segments.length !== template.length) return undefined;
  let misspelt = 0;
  for (const [index, part] of template.entries()) {
    const segment = segments[index]!;
    if (part === segment || (part.startsWith(":") && segment !== "")) continue;
    if (part.startsWith(":") || nearestName(segment, [part]) === undefined) return undefined;
    misspelt += 1;
  }
  return misspelt;
};

/**
 * The route that a path without one probably means: one with another spelling, with `/api`, or of one workflow instead of all.
 * @param paths templates of routes, such as `/api/workflows/:slug`
 */
export const nearestPath = (path: string, paths: readonly string[]): string | undefined => {
  const segments = segmentsOf(path);
  if (segments.length > MOST_SEGMENTS) return undefined;
  const near = [path, API + path].flatMap((one) =>
    paths.flatMap((template): [string, number][] => {
      const misspelt = distance(segmentsOf(one), segmentsOf(template));
      return misspelt === undefined ? [] : [[template, misspelt]];
    }),
  );
  const [nearest] = near.sort(([, one], [, other]) => one - other);
  if (nearest) return nearest[0];
  const [api, last, ...more] = segments;
  if (`/${api}` !== API || !last || more.length > 0) return undefined;
  return paths.filter((template) => template.endsWith(`/${last}`)).sort((one, other) => one.length - other.length)[0];
};
