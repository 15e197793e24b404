import type { Reruns } from "../../src/reuse/reruns";

/** For tests without reruns. */
export const noReruns: Reruns = { planningOf: () => Promise.reject(new Error("nothing is run once more here")) };
