// Prints the path of a Chromium: the package's own, which is unpacked on first use. ES module, which jest can't load.
import chromium from "@sparticuz/chromium";

process.stdout.write(await chromium.executablePath());
