// Bodies of answers as text, whatever the coding in which they were sent.
import { brotliDecompressSync, gunzipSync, inflateSync, type ZlibOptions } from "node:zlib";

/** More than any status or refusal. */
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

  /** Takes a chunk. @returns false where enough is there */
  add(chunk: Uint8Array): boolean {
    this.#chunks.push(Buffer.from(chunk));
    this.#length += chunk.byteLength;
    return this.#length <= bodyMost;
  }

  /** The body as text; its bytes as they are where they are not of that coding. */
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
