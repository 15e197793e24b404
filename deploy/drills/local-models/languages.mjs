import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { wordErrors } from "./pictures.mjs";

/** Transcribes speech in languages other than English, from Asterisk's announcements, which Debian packages with their texts. */

/** Announcements and their words. */
const SAID = {
  fr: ["tt-allbusy", "queue-periodic-announce", "vm-intro", "demo-echotest"],
  ru: ["queue-periodic-announce", "vm-intro", "dir-intro"],
};
/** Phone recordings lack half of the audible frequencies. */
const MOST_WORD_ERRORS = 0.3;

/** @typedef {{ name: string, text: string, bytes: Buffer }} Recording */

/** @param {string} folder @param {string} name name of a package @returns true if it was unpacked */
const unpack = (folder, name) => {
  if (spawnSync("apt-get", ["download", name], { cwd: folder }).status !== 0) return false;
  const file = readdirSync(folder).find((one) => one.startsWith(`${name}_`));
  return file !== undefined && spawnSync("dpkg-deb", ["-x", file, "."], { cwd: folder }).status === 0;
};

/** @param {string} folder */
const filesBelow = (folder) =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
    entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
  );

/** @param {string} folder @param {keyof typeof SAID} language @returns {Recording[] | undefined} undefined if they aren't available */
const recordings = (folder, language) => {
  const name = `asterisk-core-sounds-${language}`;
  if (!unpack(folder, name) || !unpack(folder, `${name}-wav`)) return undefined;
  const files = filesBelow(folder);
  const list = files.find((file) => file.endsWith(`core-sounds-${language}.txt.gz`));
  if (list === undefined) return undefined;
  const texts = new Map(
    gunzipSync(readFileSync(list))
      .toString("utf8")
      .split("\n")
      .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
  );
  return SAID[language].flatMap((clipName) => {
    const [file, text] = [files.find((one) => one.endsWith(`/${clipName}.wav`)), texts.get(clipName)];
    return file === undefined || text === undefined ? [] : [{ name: clipName, text, bytes: readFileSync(file) }];
  });
};

/** @param {import("./stage.mjs").Stage} stage */
export const languages = async ({ drill, once, run, upload, untilReady }) => {
  await untilReady("local-languages");
  for (const language of /** @type {const} */ (["fr", "ru"])) {
    const folder = mkdtempSync(join(tmpdir(), "recordings-"));
    drill.atEnd(() => rmSync(folder, { recursive: true, force: true }));
    const all = recordings(folder, language);
    const [first] = all ?? [];
    if (!all || !first) {
      drill.say(`what is said in "${language}" was not transcribed: its recordings can't be had here (apt-get and dpkg-deb, of Debian)`);
      continue;
    }
    let errors = 0;
    for (const { text, bytes } of all) {
      const audio = await upload(bytes, "audio/wav");
      const { result } = await once("local-languages", { audio });
      errors += wordErrors(text, result.text) / all.length;
      drill.check([`it detects that a recording is in "${language}"`, result.json.language === language, result.json.language]);
    }
    drill.check([
      `${all.length} recordings of people in "${language}" are read`,
      errors <= MOST_WORD_ERRORS,
      `${(errors * 100).toFixed(1)} % of the words are wrong`,
    ]);
    if (language === "fr") await run("local-languages", "8 s of French", { audio: await upload(first.bytes, "audio/wav") });
  }
};
