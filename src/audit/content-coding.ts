// Reads bodies of answers as text, in whatever coding they came.
import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from "node:zlib";

/** Most bytes of a body, more than any status or refusal has. */
const bodyMost = 1 << 20;
const limits: ZlibOptions = { maxOutputLength: bodyMost };

const decoders: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes, limits),
  deflate: (bytes) => inflateSync(bytes, limits),
  br: (bytes) => brotliDecompressSync(bytes, { maxOutputLength: bodyMost }),
};

/** Collects a body, up to a bound. */
export class BodyBytes {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  /** Adds a chunk. @returns false if the body is now too long */
  add(chunk: Uint8Array): boolean {
    this.#chunks.push(Buffer.from(chunk));
    this.#length += chunk.byteLength;
    return this.#length <= bodyMost;
  }

  /** Returns the body as text; its bytes as they are if they are not in that coding. */
  text(coding: string | undefined): string {
    const bytes = Buffer.concat(this.#chunks);
    const decode = decoders[coding?.trim().toLowerCase() ?? ""];
    if (decode === undefined) return bytes.toString("utf8");
    try {
      return decode(bytes).toString("utf8");
    } catch {
      return bytes.toString("utf8");
    }
  }
}
