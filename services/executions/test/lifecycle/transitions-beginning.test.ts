import { TRANSITIONS } from "../../src/run/states";
import { BEGINNING, CASES, describeTransitions, ENDING, PLAYED_ELSEWHERE, SCENARIOS } from "../support/transitions";

describeTransitions(BEGINNING);

it("has a scenario for every transition, and for nothing else", () => {
  const covered = Object.entries(SCENARIOS).flatMap(([name, from]) => Object.keys(from).map((status) => `${name} from ${status}`));
  expect(covered.sort()).toEqual([...new Set(CASES.map(({ name, from }) => `${name} from ${from}`))].sort());
  expect([...BEGINNING, ...ENDING, ...PLAYED_ELSEWHERE].sort()).toEqual(Object.keys(TRANSITIONS).sort());
});
