// Worlds made smaller: to what is needed to fail and no more, within so many tries.
import { describe, expect, test } from "vitest";
import { shrinkWorld } from "../../sim/swarm/shrink.ts";
import { drawWorld } from "../../sim/swarm/world.ts";
import { type PlainObject, scenarioOf, type WorldRecipe } from "../../sim/swarm/world-recipe.ts";

const poller = {
  make: "poller",
  with: [{ every: 250, call: { make: "rest", with: ["/v2/user"] } }],
} as const;
const large: WorldRecipe = {
  name: "large",
  seed: 7,
  duration: 60_000,
  rules: {
    user: { rest: { limit: 9, windowSeconds: 30 } },
    semantics: { reset: "floor", remaining: "signed" },
  },
  network: { latency: { least: 5, most: 700 }, loss: 0.1 },
  populations: {
    first: { clients: 8, behaviour: poller },
    second: { clients: 3, user: "shared", behaviour: poller },
    third: { clients: 5, organization: "globex", behaviour: poller },
  },
};

const usable = (world: WorldRecipe): boolean => {
  try {
    scenarioOf(world);
    return true;
  } catch {
    return false;
  }
};
const shrink = (fails: (world: WorldRecipe) => boolean, triesMost = 1_000) =>
  shrinkWorld(large, async (world) => usable(world) && fails(world), triesMost);

describe("what is left", () => {
  test("is one population and nothing else where every world fails", async () => {
    const { world } = await shrink(() => true);
    expect(world).toEqual({
      name: "large",
      seed: 7,
      duration: 1,
      populations: {
        third: { clients: 1, behaviour: { make: "poller", with: [{ every: 1, call: expect.anything() }] } },
      },
    });
  });

  test("is what the failure needs", async () => {
    const { world } = await shrink(({ rules, populations }) => {
      const semantics = (rules as PlainObject | undefined)?.["semantics"] as PlainObject | undefined;
      const second = populations["second"] as PlainObject | undefined;
      return semantics?.["remaining"] === "signed" && second !== undefined && Number(second["clients"]) >= 2;
    });
    expect(world).toMatchObject({
      rules: { semantics: { remaining: "signed" } },
      populations: { second: { clients: 2 } },
    });
    expect(Object.keys(world.populations)).toEqual(["second"]);
    expect(world).not.toHaveProperty("network");
    expect(world).not.toHaveProperty("rules.semantics.reset");
  });

  test("keeps a low limit, without which the failure needs many clients", async () => {
    const { world } = await shrink(({ rules, populations }) => {
      const user = (rules as PlainObject | undefined)?.["user"] as { rest?: { limit?: number } } | undefined;
      const clients = Object.values(populations).map((each) => Number((each as PlainObject)["clients"]));
      return Math.max(...clients) > (user?.rest?.limit ?? 2);
    });
    expect(world).toMatchObject({
      rules: { user: { rest: { limit: 1 } } },
      populations: { third: { clients: 2 } },
    });
    expect(world.rules).toEqual({ user: { rest: { limit: 1 } } });
    expect(Object.keys(world)).toEqual(["name", "seed", "duration", "rules", "populations"]);
  });

  test("is the world itself where nothing smaller fails", async () => {
    const { world } = await shrink(() => false);
    expect(world).toEqual(large);
  });
});

test("no more worlds are tried than was said", async () => {
  let asked = 0;
  const { tried } = await shrinkWorld(
    drawWorld(1, 1).recipe,
    async () => {
      asked += 1;
      return true;
    },
    5,
  );
  expect([tried, asked]).toEqual([5, 5]);
});

test("where nothing smaller fails, parts are left out in turn, and numbers are lowered in steps", async () => {
  const tried: string[] = [];
  const world = {
    ...{ name: "small", seed: 7, duration: 4_321, rules: { user: { rest: { limit: 9 } } } },
    populations: { one: { clients: 13, behaviour: { make: "poller", with: [{ every: 2 }] } } },
  } as unknown as WorldRecipe;
  await shrinkWorld(
    world,
    async (smaller) => {
      tried.push(JSON.stringify(smaller));
      return false;
    },
    1_000,
  );
  expect(
    tried.map((one) => one.replaceAll('"', "").replace("{name:small,seed:7,", "{")),
  ).toMatchInlineSnapshot(`
    [
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{}}",
      "{rules:{user:{rest:{limit:9}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{}}",
      "{rules:{user:{rest:{limit:9}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{one:{behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{one:{clients:13}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{}]}}}}",
      "{duration:1,rules:{user:{rest:{limit:9}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:2160,rules:{user:{rest:{limit:9}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4000,rules:{user:{rest:{limit:9}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:1}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:4}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:8}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{one:{clients:1,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{one:{clients:6,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:1}]}}}}",
      "{rules:{user:{rest:{limit:9}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}}}",
      "{duration:4321,rules:{},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{one:{behaviour:{make:poller,with:[{every:2}]}}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{one:{clients:13}}}",
      "{duration:4321,rules:{user:{rest:{limit:9}}},populations:{one:{clients:13,behaviour:{make:poller,with:[{}]}}}}",
    ]
  `);
});
