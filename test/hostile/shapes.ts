// Ways to spoil a document, whatever its format; a new one joins by one line.

/** Remains of a good document's text. */
export type Shape = (text: string) => string | Uint8Array;

const many = 100_000;
const deep = "[".repeat(many) + "]".repeat(many);
const members = `{${Array.from({ length: many }, (_, n) => `"m${n}":0`).join(",")}}`;
const firstMember = /\{\s*("(?:[^"\\]|\\.)*"\s*:)/;

/** Shapes by what they are. */
export const shapes: Readonly<Record<string, Shape>> = {
  empty: () => "",
  "cut off": (text) => text.slice(0, text.length >> 1),
  "cut off in its first line": (text) => text.slice(0, 20),
  "bytes that are no UTF-8": (text) =>
    Buffer.concat([Buffer.from(text), Buffer.from([0xc3, 0x28, 0xff, 0xfe])]),
  "a member of a prototype": (text) => text.replace(firstMember, '{"__proto__":{"format":"x","limit":-1},$1'),
  "numbers beyond all numbers": (text) => text.replaceAll(/(?<=[:[,]\s*)\d+(?=[,\]}\s])/g, "1e999"),
  "numbers below zero": (text) => text.replaceAll(/(?<=[:[,]\s*)\d+(?=[,\]}\s])/g, "-7"),
  "null for every text": (text) => text.replaceAll(/(?<=:\s*)"(?:[^"\\]|\\.)*"/g, "null"),
  "another kind of JSON": () => "null",
  "lists in lists": () => deep,
  "objects in objects": () => `${'{"a":'.repeat(many)}1${"}".repeat(many)}`,
  "lists in lists for a number": (text) => text.replace(/(?<=[:[,]\s*)\d+(?=[,\]}\s])/, deep),
  "more members than anybody writes": () => members,
  "a list of nothing": () => "[]",
  "an object of nothing": () => "{}",
};
