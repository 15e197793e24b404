/** The product's version: that of all its packages. */
export const PRODUCT_VERSION = (require("../package.json") as { version: string }).version;

export const USER_AGENT = `Nodeloom/${PRODUCT_VERSION}`;
