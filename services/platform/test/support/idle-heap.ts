import { getHeapStatistics } from "node:v8";
import { collectWhenIdle } from "../../src/process/heap";

/** A process that works for a moment and then idles. Prints its heap size after the work and after the collection. */

const LOOK_MS = 20;
const HELD = 400_000;
const MB = 1024 * 1024;

const heapMb = (): number => getHeapStatistics().total_heap_size / MB;

collectWhenIdle(LOOK_MS);
let heldObjects: object[] | undefined = Array.from({ length: HELD }, (_, number) => ({
  text: `held ${number}`,
  numbers: [number, number, number],
}));
const grownMb = heapMb();
process.stderr.write(`${heldObjects.length}\n`);
heldObjects = undefined;

const look = setInterval(() => {
  if (heapMb() > grownMb / 2) return;
  clearInterval(look);
  process.stdout.write(JSON.stringify({ grownMb, leftMb: heapMb() }));
}, LOOK_MS);
