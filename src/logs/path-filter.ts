// Keeps the rows of some paths, by globs.
import { quote, SpillwayError } from "../rules/errors.ts";
import { counted } from "../rules/words.ts";
import { globMatcher } from "./glob.ts";
import { trimmed } from "./request-path.ts";
import { withoutSecrets } from "./secrets.ts";

const examplesMost = 5;
const decoder = new TextDecoder();

/** Keeps rows whose path fits one of the globs, and counts rows over all files. */
export class PathFilter {
  kept = 0;
  leftOut = 0;
  readonly #globs: readonly string[];
  readonly #matchers: readonly ((path: string) => boolean)[];
  readonly #others = new Set<string>();

  constructor(globs: readonly string[]) {
    this.#globs = globs;
    this.#matchers = globs.map((glob) => globMatcher(trimmed(glob)));
  }

  /** @param from place where the path begins, without scheme, host and query */
  fits(view: DataView, from: number, to: number): boolean {
    const path = decoder.decode(new Uint8Array(view.buffer, view.byteOffset + from, to - from));
    const fits = this.#matchers.some((matches) => matches(path));
    if (!fits && this.#others.size < examplesMost) this.#others.add(path);
    return fits;
  }

  /** @throws SpillwayError `LOG_INVALID` if rows were read, and all of them were left out */
  requireKept(): void {
    if (this.kept > 0 || this.leftOut === 0) return;
    const others = [...this.#others].map((path) => quote(withoutSecrets(path, false))).join(", ");
    throw new SpillwayError("LOG_INVALID", `none of ${counted(this.leftOut, "row")} is of such a path`, {
      problem: {
        path: "--path",
        got: this.#globs.join(", "),
        allowed: others === "" ? "nothing: no row has a path" : `what fits some of ${others}`,
      },
      hint: "* stands for anything but a slash, ** for anything: '/v2/**'",
    });
  }
}
