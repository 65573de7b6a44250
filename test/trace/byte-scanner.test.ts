// Values read from bytes beside the same values read by expressions, on drawn texts.
import { expect, test } from "vitest";
import { seededRandom } from "../../src/faults/random.ts";
import { ByteScanner, FAILED, isPlain, NO_NUMBER } from "../../src/trace/byte-scanner.ts";
import { Literal } from "../../src/trace/literal.ts";
import { Names } from "../../src/trace/names.ts";

type Value = "time" | "whole" | "signed" | "name" | "ends";

class Open extends ByteScanner {
  readonly known: Names;

  constructor() {
    const names = new Names();
    super(names);
    this.known = names;
  }

  /** Reads a value at a place of a text, and returns it with the place after it; `null` if there is none. */
  read(value: Value, text: string, from = 0): [number | string | boolean, number] | null {
    const bytes = new TextEncoder().encode(`${text}${"\u0000".repeat(16)}`);
    this.begin({ view: new DataView(bytes.buffer) } as Parameters<ByteScanner["begin"]>[0], from);
    const read = this[value]();
    if (read === (value === "signed" ? NO_NUMBER : value === "ends" ? false : FAILED)) return null;
    if (value !== "name") return [read, this.at];
    const name = this.known.text(Number(read));
    expect(this.known.of(name)).toBe(read);
    return [name, this.at];
  }

  /** Returns the place after a literal, or after nothing. */
  after(literal: string, text: string): number {
    this.begin({ view: new DataView(new TextEncoder().encode(text).buffer) } as never, 1);
    return this.takes(new Literal(literal)) ? this.at : -this.at;
  }
}

/** The same by an expression. */
const expressions: Readonly<Record<Value, RegExp>> = {
  time: /[1-9]\d{12}/y,
  whole: /0|[1-9]\d{0,8}(?!\d)/y,
  signed: /-[1-9]\d{0,8}(?!\d)|0|[1-9]\d{0,8}(?!\d)/y,
  name: /[ !#-[\]-~]*"/y,
  ends: /\}\r?\n/y,
};
function slowly(value: Value, text: string, from: number): [number | string | boolean, number] | null {
  const expression = expressions[value];
  expression.lastIndex = from;
  const found = expression.exec(text)?.[0];
  if (found === undefined) return null;
  const read = value === "name" ? found.slice(0, -1) : value === "ends" ? true : Number(found);
  return [read, from + found.length];
}

test("a byte is plain if a JSON text may hold it as it is, in ASCII", () => {
  const plain = [...isPlain.keys()].filter((byte) => isPlain[byte] === 1);
  const held = [...Array(127).keys()].filter(
    (byte) => JSON.stringify(String.fromCharCode(byte)).length === 3,
  );
  expect(plain).toEqual(held);
});

test("a literal is taken where it stands, or nothing is", () => {
  const [right, wrong] = ['{"sent":17672256', '{"sand":17672256'];
  expect([new Open().after('"sent":', right), new Open().after('"sent":', wrong)]).toEqual([8, -1]);
});

test.each<[Value, string, [number | string | boolean, number] | null]>([
  ["time", "1767225600123,", [1_767_225_600_123, 13]],
  ["time", "1000000000000", [1_000_000_000_000, 13]],
  ["time", "0999999999999", null],
  ["time", "17672256001-3", null],
  ["time", "176722560012:", null],
  ["whole", "999999999,", [999_999_999, 9]],
  ["whole", "1000000000", null],
  ["whole", "01", [0, 1]],
  ["whole", "/", null],
  ["whole", ":", null],
  ["signed", "-1}", [-1, 2]],
  ["signed", "-0", null],
  ["signed", "--1", null],
  ["signed", "-1000000000", null],
  ["name", 'a~ b"', ["a~ b", 5]],
  ["name", '"', ["", 1]],
  ["name", 'a\\"', null],
  ["name", 'é"', null],
  ["ends", "}\n", [true, 2]],
  ["ends", "}\r\n", [true, 3]],
  ["ends", "}\r", null],
  ["ends", "} ", null],
  ["ends", "]\n", null],
])("%s of %j", (value, text, read) => {
  expect(new Open().read(value, text)).toEqual(read);
  expect(slowly(value, text, 0)).toEqual(read);
});

test("of 5,000 drawn texts, each value is read as an expression reads it, or left", () => {
  const draw = seededRandom(7);
  const pick = (from: string): string => from[Math.floor(draw() * from.length)] as string;
  const scanner = new Open();
  const begins = ["17672256", "17672257", "", "-", "00000000", "a", "}"];
  for (let one = 0; one < 5_000; one++) {
    const from = Math.floor(draw() * 3);
    const tail = Array.from({ length: Math.floor(draw() * 12) }, () =>
      pick('0123456789012345678901234567/:-}"\\\n\r a~\u007f'),
    );
    const text = ["x".repeat(from), begins[Math.floor(draw() * begins.length)], ...tail].join("");
    for (const value of Object.keys(expressions) as Value[]) {
      const [read, slow] = [scanner.read(value, text, from), slowly(value, text, from)];
      if (String(read) !== String(slow)) expect([value, text, read]).toEqual([value, text, slow]);
    }
  }
});
