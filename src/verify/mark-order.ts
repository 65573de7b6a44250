// Marks in the order of a key. One order serves window after window.
export class Order {
  keys = new Float64Array(0);
  marks = new Int32Array(0);

  fit(size: number): void {
    if (size <= this.keys.length) return;
    this.keys = new Float64Array(2 * size);
    this.marks = new Int32Array(2 * size);
  }

  /** Orders marks by a column. @returns `false` if they are too far out of order */
  by(column: Float64Array, size: number): boolean {
    this.fit(size);
    for (let mark = 0; mark < size; mark++) {
      this.keys[mark] = column[mark] as number;
      this.marks[mark] = mark;
    }
    return this.sort(size);
  }

  /** Sorts by insertion, since answers come nearly in order. Equal keys keep their order. */
  sort(size: number): boolean {
    const { keys, marks } = this;
    let moves = 16 * size + 256;
    for (let next = 1; next < size; next++) {
      const key = keys[next] as number;
      if (key >= (keys[next - 1] as number)) continue;
      const mark = marks[next] as number;
      let at = next;
      for (; at > 0 && (keys[at - 1] as number) > key; at--) {
        keys[at] = keys[at - 1] as number;
        marks[at] = marks[at - 1] as number;
      }
      keys[at] = key;
      marks[at] = mark;
      moves -= next - at;
      if (moves < 0) return false;
    }
    return true;
  }
}
