// Which members of a JSON object are wanted, as a tree: a line's keys are looked up in it as they come.
import { Literal } from "../trace/literal.ts";
import { NO_ROLE, textOf } from "./cells.ts";

/** One key: of something wanted, or of something else that was seen. */
export interface WantedMember {
  readonly key: string;
  readonly bytes: Uint8Array;
  /** `"key":`, as it mostly stands in a line; `null` where the key is escaped there, or empty. */
  readonly literal: Literal | null;
  /** The member that came behind this one last: writers keep to an order. */
  next: WantedMember | null;
  /** The role of what stands there, or `NO_ROLE`. */
  role: number;
  /** Wanted members of the object that stands there. */
  child: WantedMembers | null;
  /** All roles that are found there and below. */
  readonly below: number[];
}

const encoder = new TextEncoder();
/** Stands in JSON as it is, and is the same bytes for the same text. */
const isPlain = /^[ !#-[\]-~]+$/;
/** Keys of one object that are remembered, at most. */
const most = 256;

export class WantedMembers {
  readonly list: WantedMember[] = [];
  /** The member that came first last. */
  first: WantedMember | null = null;
  /** The same, by the length of their keys. */
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

  /** The member of this key; a key that is not known yet is remembered, as long as there are few. */
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
