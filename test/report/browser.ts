// Finds a Chromium for the tests that look at pages. Without one they fail: a page that nobody has opened is
// not known to open.
import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

const usualPaths = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
  "/snap/bin/chromium",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** @throws Error that says how to get one */
export function launchChromium(): Promise<Browser> {
  const named = process.env["CHROMIUM_PATH"];
  const path = named ?? usualPaths.find((one) => existsSync(one));
  if (path === undefined || !existsSync(path))
    throw new Error(
      `no Chromium at ${named ?? usualPaths.join(", ")}: install one (Debian: apt-get install chromium) ` +
        "or set CHROMIUM_PATH to its executable",
    );
  // Chromium's sandbox does not start as root, which containers usually are.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: path, args });
}
