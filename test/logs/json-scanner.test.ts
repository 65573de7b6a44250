// The scanner of lines of JSON against JSON.parse: every edit of one byte of some lines.
import { expect, test } from "vitest";
import { Cells, PATH, roles, STATUS, TIME, USER } from "../../src/logs/cells.ts";
import { memberOf, textOfValue } from "../../src/logs/json-lines.ts";
import { WantedMembers } from "../../src/logs/json-members.ts";
import { JsonScanner } from "../../src/logs/json-scanner.ts";

const wanted = [
  [["ts"], TIME],
  [["user"], USER],
  [["req", "path"], PATH],
  [["status"], STATUS],
] as const;
const members = new WantedMembers();
for (const [path, role] of wanted) members.add(path, role);
const scanner = new JsonScanner(members);
const [encoder, cells] = [new TextEncoder(), new Cells()];
/** Scans a line behind another one; `null` if it is not taken, else the wanted texts. */
function scanned(line: string): readonly string[] | null {
  const bytes = encoder.encode(`}\n${line}\n\n`);
  const end = scanner.scan(new DataView(bytes.buffer, 0, bytes.length), 2, cells);
  if (end === -1) return null;
  if (end !== bytes.length - 1) throw new RangeError(`${line} ends at ${end}`);
  return wanted.map(([, role]) => cells.text(role));
}

/** The object of a line, by JSON.parse; `undefined` if it is none. */
function parsed(line: string): object | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
const parsedTexts = (value: object): string[] =>
  wanted.map(([path]) => textOfValue(memberOf(value, path)) ?? "");

const bytes = [...' \t"\\{}],+-./0:1aefgu\u0000\u001f\u007f'];
function* edited(line: string): Generator<string> {
  for (let at = 0; at <= line.length; at++) {
    yield line.slice(0, at) + line.slice(at + 1);
    for (const byte of bytes) {
      yield line.slice(0, at) + byte + line.slice(at);
      yield line.slice(0, at) + byte + line.slice(at + 1);
    }
  }
}

test.each([
  "{}",
  '{"x":[1,-2.5e+3,0.10,{"y":"\\u00aF\\n\\"","z":null}],"w":true,"v":false}',
  ' \t{ "x" : { } , "y" : [ ] , "z" : [ [ 0 , -0 ] , "" , 120E-07 ] } \r',
])("of %s, it takes exactly the edits that JSON.parse reads as objects", (line) => {
  const wrong = [line, ...edited(line)].filter((each) => {
    const value = parsed(each);
    // Keys with escapes are left to JSON.parse, too.
    const isPlain = value !== undefined && Object.keys(value).every((key) => each.includes(`"${key}"`));
    return (scanned(each) !== null) !== isPlain;
  });
  expect(wrong).toEqual([]);
});

test.each([
  '{"ts":1767323045,"user":"ann","req":{"path":"/a"},"status":200}',
  '{"req" : {"path": "/a"}, "user":17 ,"ts":12.50,"status":null}\r',
])("of %s, what it reads of an edit is what JSON.parse reads", (line) => {
  const same = (text: string, right: string, place: number): boolean =>
    text === right || (place !== 1 && place !== 2 && text !== "" && Number(text) === Number(right));
  const taken = [...edited(line)].filter((each) => scanned(each) !== null);
  const wrong = taken.filter((each) => {
    const value = parsed(each);
    const right = value && parsedTexts(value);
    return !scanned(each)?.every((text, place) => right && same(text, right[place] ?? "", place));
  });
  expect(wrong).toEqual([]);
  expect(taken.length).toBeGreaterThan(line.length * 10);
});

test.each<[line: string, texts: string[] | null]>([
  ['{"user":"a","user":"b"}', ["", "b", "", ""]],
  ['{"user":"a","user":null}', ["", "", "", ""]],
  ['{"req":{"path":"/a"},"req":{}}', ["", "", "", ""]],
  ['{"req":{"path":"/a"},"req":1}', ["", "", "", ""]],
  ['{"req":{"path":"/a","path":"/b"},"path":"/c"}', ["", "", "/b", ""]],
  ['{"user":"a"} {"user":"b"}', null],
  ['{"\\u0061"}', null],
  ['{"\\u0061","user":"a"}', null],
  ['{"user":"a\\n"}', null],
  ['{"user":true}', null],
  ['{"user":0}', ["", "0", "", ""]],
  ['{"user":-1}', null],
  ['{"user":123456789012345}', ["", "123456789012345", "", ""]],
  ['{"user":1234567890123456}', null],
  ['{"ts":8999999999999999}', ["8999999999999999", "", "", ""]],
  ['{"ts":9000000000000000}', null],
  ['{"ts":0.123456}', ["0.123456", "", "", ""]],
  ['{"ts":0.1234567}', null],
  ['{"ts":1.2345678901234}', ["1.2345678901234", "", "", ""]],
  ['{"ts":1.23456789012345}', null],
  ['{"ts":1234567890.123456}', ["1234567890.123456", "", "", ""]],
  ['{"ts":1234567890.1234567}', null],
  ['{"ts":123456789.1234567}', null],
])("%s has the wanted texts %j", (line, texts) => {
  expect(scanned(line)).toEqual(texts);
});

test.each(["[", '{"x":'])("it takes a line with %s thirty-two deep, and no deeper", (open) => {
  const close = open === "[" ? "]" : "}";
  const nested = (depth: number): string => `{"x":${open.repeat(depth)}1${close.repeat(depth)}}`;
  expect(scanned(nested(32))).toEqual(roles.slice(0, wanted.length).map(() => ""));
  expect(scanned(nested(33))).toBeNull();
});
