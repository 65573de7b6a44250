// Starts a Chromium for the tests that look at pages.
import { type Browser, chromium } from "playwright-core";
import { chromiumPath } from "../support/programs.ts";

/** @throws Error without a Chromium: tests that call it have the tag `chromium` */
export function launchChromium(): Promise<Browser> {
  const path = chromiumPath();
  if (path === null) throw new Error("there is no Chromium");
  // Chromium's sandbox does not start as root, which containers usually are.
  const args = process.getuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath: path, args });
}
