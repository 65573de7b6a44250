// The wanted members of a JSON object, as a tree in which a line's keys are looked up as they come.
import { Literal } from "../trace/literal.ts";
import { NO_ROLE, textOf } from "./cells.ts";

/** A key, wanted or only seen. */
export interface WantedMember {
  readonly key: string;
  readonly bytes: Uint8Array;
  /** `"key":`, as it mostly stands in a line; `null` if the key has escapes there, or is empty. */
  readonly literal: Literal | null;
  /** Member that came behind this one last: writers keep to an order. */
  next: WantedMember | null;
  /** Role of the value, or `NO_ROLE`. */
  role: number;
  /** Wanted members of the value, if it is an object. */
  child: WantedMembers | null;
  /** Roles of the value and of everything below it. */
  readonly below: number[];
}

const encoder = new TextEncoder();
/** Pattern of keys that stand in JSON without escapes, with the same bytes for the same text. */
const isPlain = /^[ !#-[\]-~]+$/;
/** Greatest number of keys that are remembered of one object. */
const most = 256;

export class WantedMembers {
  readonly list: WantedMember[] = [];
  /** Member that came first last time. */
  first: WantedMember | null = null;
  /** Members by the length of their keys. */
  readonly #byLength: WantedMember[][] = [];

  add(path: readonly string[], role: number): void {
    const [key, ...rest] = path;
    if (key === undefined) throw new RangeError("a path has at least one key");
    const member = this.list.find((each) => each.key === key) ?? this.#new(key);
    member.below.push(role);
    if (rest.length === 0) member.role = role;
    else {
      member.child ??= new WantedMembers();
      member.child.add(rest, role);
    }
  }

  #new(key: string): WantedMember {
    const bytes = encoder.encode(key);
    const literal = isPlain.test(key) ? new Literal(`"${key}":`) : null;
    const member: WantedMember = { key, bytes, literal, next: null, role: NO_ROLE, child: null, below: [] };
    this.list.push(member);
    while (this.#byLength.length <= bytes.length) this.#byLength.push([]);
    this.#byLength[bytes.length]?.push(member);
    return member;
  }

  /** Returns the member of a key. An unknown key is remembered, as long as there are few. */
  find(view: DataView, from: number, to: number): WantedMember | null {
    return this.#known(view, from, to) ?? (this.list.length < most ? this.#remember(view, from, to) : null);
  }

  #remember(view: DataView, from: number, to: number): WantedMember | null {
    const key = textOf(view, from, to);
    return isPlain.test(key) ? this.#new(key) : null;
  }

  #known(view: DataView, from: number, to: number): WantedMember | null {
    const candidates = this.#byLength[to - from];
    if (candidates === undefined) return null;
    for (const member of candidates) {
      const { bytes } = member;
      let index = 0;
      while (index < bytes.length && bytes[index] === view.getUint8(from + index)) index += 1;
      if (index === bytes.length) return member;
    }
    return null;
  }
}
