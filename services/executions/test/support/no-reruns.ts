import type { Reruns } from "../../src/reuse/reruns";

/** Where nothing is run once more. */
export const noReruns: Reruns = { planningOf: () => Promise.reject(new Error("nothing is run once more here")) };
