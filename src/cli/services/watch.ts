import type { RunSeen, ShardSeen } from '../../fleet/watch.ts'
import { watchRun } from '../../public/fleet.ts'
import { largest } from '../../user/extremes.ts'
import { shellWord } from '../../user/shell-word.ts'
import { wrapped } from '../../user/wrapped.ts'
import type { Options } from '../commands/watch.ts'
import { blockOf } from '../runs/live-block.ts'
import { LiveView, lineOf } from '../runs/live-view.ts'
import { joinWaitMsOf, runIdOf } from '../runs/shard.ts'
import { onStopSignal } from '../terminal/stop-signals.ts'

const everyMs = 1000
/** Shards report each second; one that missed two reports is stale. */
const staleMs = 3000

/** Shows a run on several machines until all of its shards have ended, or until Ctrl-C. */
export async function watchAction(runId: string, options: Options): Promise<void> {
  const waitMs = joinWaitMsOf(options.joinTimeout)
  const watch = await watchRun({ address: options.join, runId: runIdOf(runId)!, waitMs })
  try {
    if (options.stop) {
      await watch.stop()
      process.stderr.write(`Every shard of ${runId} drains and ends.\n`)
      return
    }
    const view = new LiveView()
    const beganMs = performance.now()
    let isLeft = false
    const ignore = onStopSignal(() => {
      isLeft = true
    })
    for (;;) {
      const seen = watch.seen()
      const line = lineOfSeen(runId, seen)
      if (options.json) process.stdout.write(`${JSON.stringify(seen)}\n`)
      else {
        view.draw(
          performance.now() - beganMs,
          (room) => [
            ...wrapped(shardsText(runId, seen), '  ', room.columns),
            ...(seen.progress === null ? [] : blockOf(seen.progress, room)),
          ],
          line,
        )
      }
      const isOver = seen.shards.length > 0 && seen.shards.every(({ ended }) => ended !== null)
      if (isOver || isLeft) break
      await new Promise((resolve) => setTimeout(resolve, everyMs))
    }
    ignore()
    view.clear()
    if (!options.json)
      process.stdout.write(
        `${lineOfSeen(runId, watch.seen())}\nNext: assay merge *.duckdb --db ${shellWord(`${runId}.duckdb`)}  # with the store of each shard; judges the run\n`,
      )
  } finally {
    await watch.close()
  }
}

const lineOfSeen = (runId: string, seen: RunSeen) =>
  [shardsText(runId, seen), ...(seen.progress === null ? [] : [lineOf(seen.progress)])].join(' | ')

/** Such as `launch-7: 4 shards, 1 ended, STALE for 12 s: 2`. */
export function shardsText(runId: string, { shards, isConnected }: RunSeen): string {
  if (shards.length === 0) return `${runId}: no shard has joined yet`
  const ended = shards.filter((shard) => shard.ended !== null)
  const invalid = ended.filter((shard) => shard.ended!.verdict === 'invalid')
  const stale = shards.filter(isStale)
  const silence = largest(stale.map(({ silentMs }) => silentMs ?? 0))
  const list = (some: readonly ShardSeen[]) => some.map(({ index }) => index).join(', ')
  return [
    `${runId}: ${shards.length} ${shards.length === 1 ? 'shard' : 'shards'}`,
    ...(ended.length === 0 ? [] : [`${ended.length} ended`]),
    ...(invalid.length === 0 ? [] : [`INVALID: ${list(invalid)}`]),
    ...(!isConnected
      ? ['STALE: the server is gone; shards go on without it']
      : stale.length > 0
        ? [`STALE for ${(silence / 1000).toFixed(0)} s: ${list(stale)}`]
        : []),
  ].join(', ')
}

const isStale = ({ ended, silentMs }: ShardSeen) => ended === null && (silentMs ?? 0) > staleMs
