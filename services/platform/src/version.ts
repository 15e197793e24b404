/** The product's version: that of all its packages. */
export const PRODUCT_VERSION = (require("../package.json") as { version: string }).version;

/** What every outgoing request says of itself. */
export const USER_AGENT = `Nodeloom/${PRODUCT_VERSION}`;
