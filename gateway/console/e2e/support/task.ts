import { expect, test, type Page } from "@playwright/test";
import type { Account } from "../../../../test-support/client";
import { handOf, type Hand } from "./hand";
import type { Stage } from "./stage";

const MS = 1_000;

/** Maximum effort of a task. Letters count as keys. */
export interface Bound {
  clicks: number;
  keys: number;
}

/** Tasks of a signed-in user, each counted and timed. */
export const taskOn =
  (stage: Stage, account: () => Account) =>
  /** @param ready prepares the page without being counted */
  (name: string, { clicks, keys }: Bound, ready: (page: Page) => Promise<void>, act: (hand: Hand, page: Page) => Promise<void>): void =>
    test(name, async () => {
      const { page, context, complaints } = await stage.signedIn(account());
      await ready(page);
      const hand = handOf(page);
      const from = Date.now();
      await act(hand, page);
      const { effort } = hand;
      const used = effort.presses + effort.letters;
      process.stdout.write(`${name}: ${effort.clicks} clicks, ${used} keys, ${((Date.now() - from) / MS).toFixed(1)} s\n`);
      expect({ clicks: effort.clicks <= clicks, keys: used <= keys, effort }).toMatchObject({ clicks: true, keys: true });
      expect(complaints).toEqual([]);
      await context.close();
    });
