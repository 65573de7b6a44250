// A deployment that was closed leaves no timer: one would keep the program from its end.
import { afterEach, expect, test, vi } from "vitest";
import { parseRules } from "../../src/rules/parse.ts";
import { serve } from "../../src/service/serve.ts";

afterEach(() => vi.useRealTimers());

test("close leaves no timer behind, called once or twice", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "setTimeout", "clearTimeout"] });
  for (const times of [1, 2]) {
    const serving = await serve({ rules: parseRules({}), tokens: [], port: 0 });
    // The sweep of idle keys.
    expect(vi.getTimerCount()).toBe(1);
    await Promise.all(Array.from({ length: times }, () => serving.close()));
    expect(vi.getTimerCount()).toBe(0);
  }
});
