// Makes the moving picture at the head of the README of a film that the platform made: npm run drill -- films templates keeps it.
//
//   node docs/guide/pictures/draw-film.mjs
import { statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { OUT, runFfmpeg } from "../../../deploy/drills/films/files.mjs";

const FILM = join(OUT, "narrated-slideshow.mp4");
const PICTURE = fileURLToPath(new URL("../../film.gif", import.meta.url));
/** Times as fast as the film: a GIF has no sound to keep in step with. */
const SPEED = 2.6;
const [WIDTH, RATE, COLOURS] = [560, 8, 128];
const MOST_BYTES = 3_000_000;

const paced = `setpts=PTS/${SPEED},fps=${RATE},scale=${WIDTH}:-2:flags=lanczos`;
const filter = `[0:V:0]${paced},split[a][b];[a]palettegen=max_colors=${COLOURS}:stats_mode=diff[p];[b][p]paletteuse=dither=bayer:bayer_scale=5:diff_mode=rectangle`;
const { stderr, status } = runFfmpeg(["-v", "error", "-y", "-i", FILM, "-filter_complex", filter, "-loop", "0", PICTURE]);
if (status !== 0) throw new Error(stderr);
const { size } = statSync(PICTURE);
process.stdout.write(`${(size / 1_000).toFixed(0)} kB\n`);
if (size > MOST_BYTES) throw new Error(`the picture is larger than ${MOST_BYTES} bytes`);
