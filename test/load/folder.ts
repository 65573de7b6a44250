// A folder for the tests of one file.
import { afterAll, beforeAll } from "vitest";
import { newFolder, removed } from "./support.ts";

/** Makes a folder before the tests of a file, and removes it after them. Its path is there once they run. */
export function testFolder(): { readonly path: string } {
  const folder = { path: "" };
  beforeAll(async () => {
    folder.path = await newFolder();
  });
  afterAll(() => removed(folder.path));
  return folder;
}
