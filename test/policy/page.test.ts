// The page of the policies that come with the package says what they say.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { page, pageFile } from "./page.ts";

test("the published page is made of the presets", () => {
  const published = readFileSync(pageFile, "utf8");
  expect(published, `${pageFile} is stale: \`npm run policies\` makes it again`).toBe(page());
});
