import type { Reruns } from "../../src/requests/rerun/reruns";

/** Where nothing is run once more. */
export const noReruns: Reruns = { planningOf: () => Promise.reject(new Error("nothing is run once more here")) };
