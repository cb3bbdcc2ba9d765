import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Fleet, joinFleet } from '../../src/fleet/fleet.ts'
import { watchRun } from '../../src/fleet/watch.ts'
import { noCounts } from '../../src/run/count/attempt-counts.ts'
import type { Progress } from '../../src/run/count/progress.ts'
import { readyUs } from '../../src/run/run.ts'
import { type NatsServer, natsServer, withoutNats } from './nats.ts'

let server: NatsServer
let runs = 0
const open: { close(end: null): Promise<void> }[] = []
const skipped = withoutNats !== null
const why = skipped ? ` (skipped: ${withoutNats})` : ''

beforeAll(async () => {
  if (!skipped) server = await natsServer()
})
afterAll(async () => {
  for (const each of open) await each.close(null)
  await server?.close()
})

const newRun = () => `run.${runs++}`

async function shard(runId: string, index: number, of: number, waitMs = 5000): Promise<Fleet> {
  const fleet = await joinFleet({ address: server.address, runId, shard: { index, of }, waitMs })
  open.push(fleet)
  return fleet
}

/** All shards of a run, which have agreed on a start. */
async function fleet(of: number): Promise<readonly Fleet[]> {
  const runId = newRun()
  const shards = await Promise.all(Array.from({ length: of }, (_, at) => shard(runId, at, of)))
  await Promise.all(shards.map((each) => each.begin('plan', undefined)))
  return shards
}

const until = async (holds: () => boolean) => {
  for (let at = 0; at < 3000 && !holds(); at++)
    await new Promise((resolve) => setTimeout(resolve, 10))
}

test.skipIf(skipped)(
  `shards that join one after the other start at one instant and know the differences of their clocks${why}`,
  async () => {
    const runId = newRun()
    const starts = await Promise.all(
      [2, 0, 3, 1].map(async (index, at) => {
        await new Promise((resolve) => setTimeout(resolve, at * 50))
        const own = await shard(runId, index, 4)
        return { ...(await own.begin('plan', undefined))!, errorUs: own.clockErrorUs, index }
      }),
    )
    expect(new Set(starts.map(({ startedAtUs }) => startedAtUs)).size).toBe(1)
    // They are on one machine, whose steady clock shows how far apart they start.
    const zeros = starts.map(({ zeroNs }) => Number(zeroNs) / 1000)
    // Each knows by how much it may be wrong: more on a busy machine.
    const errorUs = Math.max(...starts.map((each) => each.errorUs))
    expect(Math.max(...zeros) - Math.min(...zeros)).toBeLessThanOrEqual(2 * errorUs + 1)
    expect(errorUs).toBeLessThan(1e6)
    const leader = starts.find(({ index }) => index === 0)!
    for (const { zeroNs, errorUs } of starts)
      expect(Math.abs(Number(zeroNs - leader.zeroNs)) / 1000).toBeLessThanOrEqual(errorUs + 1)
    expect(starts[0]!.startedAtUs / 1000 - Date.now()).toBeLessThanOrEqual(readyUs / 1000)
    expect(starts[0]!.startedAtUs / 1000 - Date.now()).toBeGreaterThan(readyUs / 1000 - 4000)
  },
)

test.skipIf(skipped)(
  `the other shards stop waiting at their deadline and name the shard that never joined${why}`,
  { tags: 'whole' },
  async () => {
    const runId = newRun()
    const came = await Promise.all([0, 2].map((index) => shard(runId, index, 4, 400)))
    const ends = await Promise.all(
      came.map((each) => each.begin('plan', undefined).catch((error) => error)),
    )
    for (const end of ends) {
      expect(end).toMatchObject({
        code: 'unreachable',
        message: `--join: of 4 shards of ${runId}, these did not join within 0.4 s: 1, 3. Nothing was sent.`,
      })
    }
    // They left the fleet, so the same run may be tried again.
    const again = await shard(runId, 0, 1)
    const beforeMs = Date.now()
    const { startedAtUs } = (await again.begin('plan', undefined))!
    expect(startedAtUs / 1000 - beforeMs).toBeGreaterThanOrEqual(0)
    expect(startedAtUs / 1000 - Date.now()).toBeLessThanOrEqual(readyUs / 1000)
  },
)

test.skipIf(skipped)(
  `without shard 0 there is no clock, and the wait also ends${why}`,
  { tags: 'whole' },
  async () => {
    const runId = newRun()
    const alone = await shard(runId, 1, 2, 400)
    await expect(alone.begin('plan', undefined)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(': 0. Nothing was sent.') as string,
    })
  },
)

test.skipIf(skipped)(`a second shard with one index is refused, also later${why}`, async () => {
  const runId = newRun()
  const both = await Promise.all([shard(runId, 0, 2), shard(runId, 0, 2)])
  const ends = await Promise.all(
    both.map((each) => each.begin('plan', AbortSignal.timeout(300)).catch((error) => error)),
  )
  const refused = ends.find((end) => end !== null)
  expect(ends).toContain(null)
  expect(refused).toMatchObject({ code: 'fleet' })
  expect(refused.message).toMatch(
    /^--join: shard 0 of run\.\d+ joined before from \S+ at \d{4}-.*Z\. Two would send the same load twice; choose another --run-id\.$/,
  )
})

test.skipIf(skipped)(`shards with different plans refuse each other${why}`, async () => {
  const runId = newRun()
  const both = await Promise.all([0, 1].map((index) => shard(runId, index, 2)))
  const ends = await Promise.all(
    both.map((each, at) => each.begin(`plan ${at}`, undefined).catch((error) => error)),
  )
  for (const end of ends) {
    expect(end).toMatchObject({ code: 'fleet' })
    expect(end.message).toContain(
      'have different plans: scenario, prompts, seed, contract, version',
    )
  }
})

test.skipIf(skipped)(
  `a gathering gives every word to all shards by index, and null if a word is missing${why}`,
  { tags: 'whole' },
  async () => {
    const shards = await fleet(3)
    const said = await Promise.all(shards.map((each, at) => each.gather('trial 1', { good: at })))
    expect(said).toEqual(Array(3).fill([{ good: 0 }, { good: 1 }, { good: 2 }]))
    const runId = newRun()
    const [own] = await Promise.all([0, 1].map((index) => shard(runId, index, 2, 300)))
    expect(await own!.gather('trial 1', { good: 1 })).toBeNull()
  },
)

test.skipIf(skipped)(`a stop of one shard stops all, with its reason${why}`, async () => {
  const shards = await fleet(3)
  const heard: (string | undefined)[] = []
  for (const [at, each] of shards.entries())
    each.onStop((reason) => {
      heard[at] = reason
    })
  shards[1]!.stop('errors')
  await until(() => heard[0] !== undefined && heard[2] !== undefined)
  expect(heard).toEqual(['errors', undefined, 'errors'])
  const late: string[] = []
  const again = await fleet(2)
  again[0]!.stop('interrupted')
  await new Promise((resolve) => setTimeout(resolve, 100))
  again[1]!.onStop((reason) => late.push(reason))
  await until(() => late.length > 0)
  expect(late).toEqual(['interrupted'])
})

test.skipIf(skipped)(`credits that others give up reach the shard that asked${why}`, async () => {
  const shards = await fleet(3)
  const asked: number[][] = [[], [], []]
  for (const [at, each] of shards.entries())
    each.onAsked((most) => {
      asked[at]!.push(most)
      return [7, 0, 5][at]!
    })
  // Every shard's word has arrived, and with it that shards may be asked for credits.
  await Promise.all(shards.map((each) => each.gather('here', {})))
  expect(await shards[0]!.askForCredits(20)).toBe(5)
  expect(await shards[1]!.askForCredits(9)).toBe(12)
  expect(asked).toEqual([[9], [20], [20, 9]])
})

const progress = (runId: string, planned: number): Progress => ({
  ...{
    runId,
    scenario: 's',
    phase: 'p',
    atUs: 1e6,
    endsUs: null,
    inFlight: 0,
    creditsSpent: 0,
    money: null,
  },
  ...{ maxCredits: null, steps: [], errors: [], keys: [], health: [] },
  counts: { ...noCounts, planned },
})
const uncounted = { histogramsOfSteps: () => new Map() }

test.skipIf(skipped)(
  `a watch shows all shards combined and which have ended, and can stop them${why}`,
  async () => {
    const runId = newRun()
    const shards = await Promise.all([0, 1].map((index) => shard(runId, index, 2)))
    const watch = await watchRun({ address: server.address, runId, waitMs: 5000 })
    open.push(watch)
    expect(watch.seen()).toEqual({ shards: [], progress: null, isConnected: true })
    const stops: string[] = []
    for (const each of shards) each.onStop((reason) => stops.push(reason))
    await Promise.all(shards.map((each) => each.begin('plan', undefined)))
    for (const [at, each] of shards.entries()) each.show(progress(runId, at + 1), uncounted)
    await until(() => watch.seen().progress?.counts.planned === 3)
    const seen = watch.seen()
    expect(seen.progress!.counts.planned).toBe(3)
    expect(seen.shards.map(({ index, ended }) => [index, ended])).toEqual([
      [0, null],
      [1, null],
    ])
    // Since their last sign, not since the epoch or the start of the machine.
    for (const { silentMs } of seen.shards) expect(silentMs).toBeLessThan(30_000)
    await watch.stop()
    await until(() => stops.length === 2)
    expect(stops).toEqual(['interrupted', 'interrupted'])
    await shards[0]!.close({ verdict: 'valid', stopped: 'interrupted' })
    await until(() => watch.seen().shards[0]!.ended !== null)
    expect(watch.seen().shards.map(({ ended }) => ended)).toEqual([
      { verdict: 'valid', stopped: 'interrupted' },
      null,
    ])
  },
)

test.skipIf(skipped)(
  `losing the server only ends the exchange of messages${why}`,
  { tags: 'whole' },
  async () => {
    const own = await natsServer()
    const shards = await Promise.all(
      [0, 1].map((index) =>
        joinFleet({ address: own.address, runId: 'r', shard: { index, of: 2 }, waitMs: 3000 }),
      ),
    )
    const watch = await watchRun({ address: own.address, runId: 'r', waitMs: 1000 })
    await Promise.all(shards.map((each) => each.begin('plan', undefined)))
    await own.close()
    await until(() => !watch.seen().isConnected)
    expect(watch.seen().isConnected).toBe(false)
    const [first, second] = shards as [Fleet, Fleet]
    first.show(progress('r', 1), uncounted)
    first.stop('errors')
    expect(await second.askForCredits(5)).toBe(0)
    expect(second.clockErrorUs).toBeLessThan(1e6)
    expect(await first.gather('trial 1', { good: 1 })).toBeNull()
    await first.close({ verdict: 'valid', stopped: null })
    await second.close(null)
    await watch.close()
  },
)

test.skipIf(skipped)(
  `a server without JetStream, wrong credentials or no server give one sentence${why}`,
  { tags: 'whole' },
  async () => {
    const join = (address: string) =>
      joinFleet({ address, runId: 'r', shard: { index: 0, of: 2 }, waitMs: 1000 })
    const plain = await natsServer('-m', '0')
    await expect(join(plain.address)).rejects.toMatchObject({
      code: 'fleet',
      message: expect.stringContaining('Start it with JetStream: nats-server -js.') as string,
    })
    await plain.close()
    const guarded = await natsServer('-js', '--user', 'assay', '--pass', 's3cret+pass')
    const withUser = (user: string) => guarded.address.replace('//', `//${user}@`)
    const refused = await join(withUser('assay:wrong-pass')).catch((error) => error)
    expect(refused).toMatchObject({ code: 'fleet' })
    expect(refused.message).toContain('refuses these credentials')
    expect(refused.message).not.toContain('wrong-pass')
    const allowed = await join(withUser(`assay:${encodeURIComponent('s3cret+pass')}`))
    await allowed.close(null)
    await guarded.close()
    const none = await join(withUser('assay:s3cret+pass')).catch((error) => error)
    expect(none).toMatchObject({ code: 'unreachable' })
    expect(none.message).toMatch(/^--join: nats:\/\/127\.0\.0\.1:\d+ was not reached in time \(/)
    await expect(join('http://127.0.0.1')).rejects.toMatchObject({ code: 'usage' })
  },
)
