// Prints the path of a Chromium: the package's own, unpacked on first use. It is an ES module, which jest can't load.
import chromium from "@sparticuz/chromium";

process.stdout.write(await chromium.executablePath());
