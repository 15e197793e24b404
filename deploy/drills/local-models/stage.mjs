/**
 * Shared types of the drill's parts.
 * @typedef {object} Stage
 * @property {import("../support/run-drill.mjs").Drill} drill
 * @property {(model: string) => Promise<void>} untilReady
 * @property {(model: string, inputs: object) => Promise<any>} once runs a model
 * @property {(model: string, what: string, inputs: object) => Promise<any>} run runs a model twice, measures the second run, when the model
 *   is loaded, and returns its result
 * @property {(bytes: Buffer, contentType?: string) => Promise<string>} upload uploads a file, a PNG by default, and returns its id
 * @property {(url: string) => Promise<Buffer>} fetched
 * @property {any} sharp
 * @property {(svg: Buffer) => Promise<Buffer>} png
 * @property {(picture: any) => Promise<Buffer>} pixels three bytes each
 */

export {};
