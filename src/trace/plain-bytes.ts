// Unpacks gzip and UTF-16, known by their first bytes and not by a name: a trace may come from a pipe. zlib unpacks
// gzip, because DecompressionStream rejects a second member from Node 24 on.
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { SpillwayError } from "../rules/errors.ts";
import { textCoding } from "../rules/text-coding.ts";

/**
 * Yields the source as it is; unpacked if it begins as gzip does (several members may follow each other); or as UTF-8
 * text if it begins as UTF-16 does, as written by PowerShell's `>`.
 * @param source chunks that are valid until the next one is asked for
 */
export async function* plainBytes(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const chunks = source[Symbol.asyncIterator]();
  let first: Uint8Array = new Uint8Array(0);
  while (first.length < 2) {
    const next = await chunks.next();
    if (next.done === true) break;
    // A short chunk is copied, since the next one may lie in its place.
    first = first.length === 0 && next.value.length > 1 ? next.value : Buffer.concat([first, next.value]);
  }
  const rest = async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      yield first;
      for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) yield next.value;
    } finally {
      await chunks.return?.();
    }
  };
  const coding = textCoding(first);
  if (first[0] === 0x1f && first[1] === 0x8b) yield* gunzipped(rest());
  else if (coding !== "utf-8") yield* recoded(rest(), coding);
  else yield* rest();
}

async function* recoded(wide: AsyncIterable<Uint8Array>, coding: string): AsyncGenerator<Uint8Array, void> {
  const [decoder, encoder] = [new TextDecoder(coding), new TextEncoder()];
  for await (const chunk of wide) yield encoder.encode(decoder.decode(chunk, { stream: true }));
  yield encoder.encode(decoder.decode());
}

/** Size of an unpacked chunk, bytes. Few chunks are held at a time, however much a member unpacks to. */
const chunkSize = 1 << 16;

async function* gunzipped(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  // The stream asks for the next chunk before it has used this one, so that each chunk is copied.
  const kept = async function* (): AsyncGenerator<Uint8Array, void> {
    for await (const chunk of packed) yield Uint8Array.from(chunk);
  };
  // Errors of the source destroy the stream, and reading it throws them.
  const unpacked = pipeline(kept, createGunzip({ chunkSize }), () => {});
  try {
    yield* unpacked;
  } catch (cause) {
    if (!(cause instanceof Error && "code" in cause && String(cause.code).startsWith("Z_"))) throw cause;
    throw new SpillwayError("TRACE_INVALID", "this trace's gzip cannot be unpacked", {
      problem: { path: "trace", got: cause.message, allowed: "whole gzip data" },
      hint: "was it copied whole? gzip -t FILE tells",
      cause,
    });
  }
}
