// Modules of the user's, bundled into files that can be imported.
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { bundleScenarioFile } from "../../src/load/scenario-file.ts";
import { placeModules } from "../../src/load/user-module.ts";

test("bundles lie where only this user can read them, until they are removed or the process ends", async () => {
  const before = process.listeners("exit");
  const modules = [await bundleScenarioFile("steady")];
  const { placed, remove } = await placeModules(modules);
  const [{ file: bundle } = { file: "" }] = placed;
  expect((await stat(bundle)).mode & 0o777).toBe(0o600);
  expect(placed).toMatchObject([{ kind: { name: "scenario" }, isBuiltIn: true }]);
  await remove();
  await expect(stat(dirname(bundle))).rejects.toThrow("ENOENT");
  await remove();
  expect(process.listeners("exit")).toEqual(before);
  const { placed: others, remove: removeOthers } = await placeModules(modules);
  const [atExit] = process.listeners("exit").filter((one) => !before.includes(one));
  for (let times = 0; times < 2; times++) atExit?.(0);
  await expect(stat(dirname(others[0]?.file ?? "/"))).rejects.toThrow("ENOENT");
  await removeOthers();
});
