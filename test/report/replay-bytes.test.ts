// Documents of replays, byte for byte: see bytes.ts.
import { test } from "vitest";
import { renderReplayJunit, renderReplayMarkdown } from "../../src/report/replay-documents.ts";
import { renderReplay } from "../../src/report/replay-page.ts";
import { expectBytes, type Named, partsOf } from "./bytes.ts";
import { replayed, replayedByQuotas } from "./results.ts";

test("documents of replays have the bytes that they had", async () => {
  const replays = {
    plain: await replayed(false),
    reacting: await replayed(true),
    quotas: await replayedByQuotas(),
  };
  expectBytes(
    "replays",
    Object.entries(replays).flatMap(([name, replay]): Named[] => [
      ...partsOf(name, renderReplay(replay, "0.1.0", "pictures")),
      [`${name}.md`, renderReplayMarkdown(replay)],
      [`${name}.junit`, renderReplayJunit(replay)],
    ]),
  );
});
