// Which members of a JSON object are wanted, as a tree: a line's keys are looked up in it as they come.
import { NO_ROLE } from "./cells.ts";

/** One key that leads to something wanted. */
export interface WantedMember {
  readonly key: string;
  readonly bytes: Uint8Array;
  /** The role of what stands there, or `NO_ROLE`. */
  role: number;
  /** What is wanted of the object that stands there. */
  child: WantedMembers | null;
  /** All roles that are found there and below. */
  readonly below: number[];
}

const encoder = new TextEncoder();

export class WantedMembers {
  readonly list: WantedMember[] = [];
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
    const member: WantedMember = { key, bytes, role: NO_ROLE, child: null, below: [] };
    this.list.push(member);
    while (this.#byLength.length <= bytes.length) this.#byLength.push([]);
    this.#byLength[bytes.length]?.push(member);
    return member;
  }

  find(view: DataView, from: number, to: number): WantedMember | null {
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
