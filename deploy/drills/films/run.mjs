import { createApi } from "../support/api.mjs";
import { readLocal, startPlatform } from "../support/platform.mjs";
import { runDrill } from "../support/run-drill.mjs";
import { untilFetched } from "../local-models/service.mjs";
import { kills } from "./kills.mjs";
import { templates, untilSeeded } from "./templates.mjs";
import { tiers } from "./tiers.mjs";

export const DRILL = {
  sentence: "runs every seeded template, also as Free and Pro, and makes a film while its services are killed at every stage",
  minutes: 15,
};

/**
 * Runs every template of a new installation, with local models if possible and the sandbox otherwise; then makes a film in the sandbox
 * while its processes are killed at every stage. Results are stored in .nodeloom/drills/films.
 *
 * npm run drill -- films [templates | tiers | kills]
 */

const FETCH_MS = 15 * 60_000;
const only = process.argv[2];

await runDrill("films", async (drill) => {
  const api = createApi(() => readLocal().baseUrl);
  if (only !== "kills") {
    const platform = await startPlatform({ LOCAL_MODELS: "on", SEED_TEMPLATES: "on", CI: "" });
    try {
      const { apiKey: key } = readLocal().accounts.business;
      await untilFetched(async () => (await api.call("GET", "/api/local-models", { key })).body, drill.say, FETCH_MS);
      await untilSeeded(api, key);
      if (only !== "tiers") await templates(drill, api);
      if (only !== "templates") await tiers(drill, api);
    } finally {
      await platform.stop();
    }
  }
  if (only === "templates" || only === "tiers") return;
  // The platform has downloaded ffmpeg by now.
  const platform = await startPlatform({});
  drill.atEnd(platform.stop);
  await kills(drill, api);
});
