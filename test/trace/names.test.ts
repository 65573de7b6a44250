// Names and values that come over and over are known by their bytes: never mixed up, however alike they are.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hashStep, Names } from "../../src/trace/names.ts";
import { ValueMemory } from "../../src/trace/value-memory.ts";

const encoder = new TextEncoder();
const viewOf = (text: string): DataView => new DataView(encoder.encode(text).buffer);

describe("names", () => {
  test("each has a number of its own, from 0 on in the order they came, and keeps it", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 0x400 }), { maxLength: 60 }), (codes) => {
        const texts = codes.map((code) => String.fromCodePoint(code).repeat(code % 3));
        const names = new Names();
        const first = [...new Set(texts)];
        expect(texts.map((text) => names.of(text))).toEqual(texts.map((text) => first.indexOf(text)));
        expect(first.map((text) => names.of(text))).toEqual([...first.keys()]);
        expect([names.size, first.map((_, id) => names.text(id))]).toEqual([first.length, first]);
        expect(() => names.text(first.length)).toThrow(`no name has the number ${first.length}`);
      }),
      { numRuns: 50 },
    );
  });

  test("thousands, whose bytes and places outgrow what was set aside", () => {
    const names = new Names();
    const texts = Array.from({ length: 3000 }, (_, index) => `client-${index}`);
    for (const _ of [1, 2]) expect(texts.map((text) => names.of(text))).toEqual([...texts.keys()]);
    expect(texts.map((_, id) => names.text(id))).toEqual(texts);
    const long = "x".repeat(100_000);
    expect([names.of(long), names.of(`${long}y`), names.of(long)]).toEqual([3000, 3001, 3000]);
    expect([names.text(3000), names.of("client-7")]).toEqual([long, 7]);
  });

  test.each([0, 7, -1])("of one hash, %d: told apart by length and by each byte", (hash) => {
    const names = new Names();
    const texts = [
      "abc",
      "abd",
      "xbc",
      "axc",
      "ab",
      "abcd",
      "",
      ...Array.from({ length: 600 }, (_, at) => `n${at}`),
    ];
    const find = (text: string): number =>
      names.find(viewOf(`>>${text}<<`), 2, 2 + encoder.encode(text).length, hash);
    expect(texts.map(find)).toEqual([...texts.keys()]);
    expect(texts.map(find)).toEqual([...texts.keys()]);
    expect(texts.map((_, id) => names.text(id))).toEqual(texts);
  });

  test("one that is asked for as a text, and read from bytes with its hash as they come", () => {
    const names = new Names();
    const texts = ["ann", "bob", "ä€😀"];
    expect(texts.map((text) => names.of(text))).toEqual([0, 1, 2]);
    const read = texts.map((text) => {
      const hash = encoder.encode(text).reduce(hashStep, 0);
      return names.find(viewOf(text), 0, encoder.encode(text).length, hash);
    });
    expect(read).toEqual([0, 1, 2]);
  });

  test("a name whose hash is another's beside it in the table", () => {
    const names = new Names();
    // All of these hashes begin at the table's last place, and go on at its first.
    const ids = Array.from({ length: 5 }, (_, at) =>
      names.find(viewOf(`n${at}`), 0, 2, 1023 + 1024 * at * 32),
    );
    expect(ids).toEqual([0, 1, 2, 3, 4]);
    expect(
      Array.from({ length: 5 }, (_, at) => names.find(viewOf(`n${at}`), 0, 2, 1023 + 1024 * at * 32)),
    ).toEqual(ids);
  });
});

describe("values of objects", () => {
  /** Reads an object that stands behind two other bytes; what it says, and what was left behind it. */
  function reading() {
    const read: unknown[] = [];
    const memory = new ValueMemory((value) => {
      read.push(value);
      if (JSON.stringify(value).includes("bad")) throw new TypeError("bad");
      return value;
    });
    const at = (text: string, key = 1): readonly [value: unknown, rest: string | null] => {
      const end = memory.read(viewOf(`  ${text}`), 2, key);
      return [memory.last, end === -1 ? null : text.slice(end - 2)];
    };
    return { at, parsed: () => read.length };
  }

  test.each([
    ["an empty one", "{}", ""],
    ["and what stands behind it", '{"a":1},"b":2}', ',"b":2}'],
    ["a list of them", '[{"a":1},{}],"b":2}', ',"b":2}'],
    ["objects and lists in it", '{"a":[{"b":[]}],"c":{}}]', "]"],
    ["brackets in texts", '{"a":"}]{["}}', "}"],
    ["all of ASCII", '{"a":" !~"}\n', "\n"],
  ])("%s", (_name, text, rest) => {
    const { at, parsed } = reading();
    const value: unknown = JSON.parse(text.slice(0, text.length - rest.length));
    expect(at(text)).toEqual([value, rest]);
    expect(at(text)).toEqual([value, rest]);
    expect(parsed()).toBe(1);
  });

  test.each([
    ["a line's end within it", '{"a":\n1}'],
    ["what is not ASCII", '{"a":"\u007f"}'],
    ["umlauts", '{"a":"ä"}'],
    ["escapes", '{"a":"\\n"}'],
    ["what is not JSON", '{"a":}'],
    ["what is refused", '{"a":"bad"}'],
  ])("%s cannot be read", (_name, text) => {
    const { at } = reading();
    at('{"a":1}', 2);
    expect(at(text)).toEqual([{ a: 1 }, null]);
  });

  test("one that differs in any byte is read anew, and the last one of a key is known", () => {
    const { at, parsed } = reading();
    const texts = ["12345678", "02345678", "12340678", "12345670", "1234567"].map(
      (digits) => `{"a":"${digits}"}`,
    );
    for (const text of texts) expect(at(text)).toEqual([JSON.parse(text), ""]);
    expect(parsed()).toBe(5);
    expect(at(texts[4] ?? "")).toEqual([{ a: "1234567" }, ""]);
    expect(at(texts[0] ?? "", 2)).toEqual([{ a: "12345678" }, ""]);
    expect(parsed()).toBe(6);
    expect(at(texts[4] ?? "")).toEqual([{ a: "1234567" }, ""]);
    expect(at(texts[0] ?? "", 2 + 8192)).toEqual([{ a: "12345678" }, ""]);
    expect(parsed()).toBe(6);
  });

  test("the longest that is known has 1,024 bytes", () => {
    const { at, parsed } = reading();
    const longest = `{"a":"${"x".repeat(1024 - 8)}"}`;
    for (const text of [longest, longest, `${longest.slice(0, -2)}x"}`, `${longest.slice(0, -2)}x"}`])
      expect(at(text)).toEqual([JSON.parse(text), ""]);
    expect(parsed()).toBe(3);
  });

  test("one that is cut off by its end is not the one that is known", () => {
    const { at } = reading();
    at('{"a":[1]}');
    expect(() => at('{"a":[1]')).toThrow(RangeError);
  });
});
