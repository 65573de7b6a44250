// Documents on disk, good and hostile, for the tests that run command lines over them; and a folder beside them that no
// command line may touch.
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { type FormatName, formats, type Material } from "./formats.ts";
import type { Beside } from "./verbs.ts";

export class Materials {
  readonly root: string;
  /** A folder with one file, `victim`. */
  readonly outside: string;
  #made = 0;

  private constructor(root: string) {
    this.root = root;
    this.outside = join(root, "outside");
  }

  static async make(): Promise<Materials> {
    const materials = new Materials(await realpath(await mkdtemp(join(tmpdir(), "spillway-hostile-"))));
    await mkdir(materials.outside);
    await writeFile(join(materials.outside, "victim"), "untouched");
    return materials;
  }

  /** A path in a new folder of its own. */
  async place(name: string): Promise<string> {
    this.#made += 1;
    const path = join(this.root, `case-${this.#made}`, name);
    await mkdir(dirname(path));
    return path;
  }

  /** Writes a document into a folder of its own; its path. */
  async put(format: FormatName, material: Material | Uint8Array): Promise<string> {
    const path = await this.place(formats[format].file);
    if (typeof material === "string" || material instanceof Uint8Array) await writeFile(path, material);
    else {
      await mkdir(path);
      for (const [name, text] of Object.entries(material)) await writeFile(join(path, name), text);
    }
    return path;
  }

  /** Writes the good documents that a case may name beside the hostile one. */
  async putGood(): Promise<Omit<Beside, "fresh">> {
    const put = (format: FormatName) =>
      this.put(
        format,
        formats[format].write(() => "good"),
      );
    return {
      rules: await put("rules"),
      tokens: await put("tokens"),
      scenario: await put("scenario"),
      trace: await put("trace"),
      run: await put("run"),
      log: await put("CSV"),
    };
  }

  /** Expects that nothing was changed outside. */
  async expectUntouched(): Promise<void> {
    expect(await readdir(this.outside)).toEqual(["victim"]);
    expect(await readFile(join(this.outside, "victim"), "utf8")).toBe("untouched");
  }

  async remove(): Promise<void> {
    await rm(this.root, { recursive: true, force: true });
  }
}
