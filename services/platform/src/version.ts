/** The product's version, which all packages share. */
export const PRODUCT_VERSION = (require("../../../package.json") as { version: string }).version;

export const USER_AGENT = `Nodeloom/${PRODUCT_VERSION}`;
