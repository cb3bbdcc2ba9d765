import { expect, test } from 'vitest'
import { blockOf } from '../../src/cli/runs/live-block.ts'
import { LiveView, lineOf } from '../../src/cli/runs/live-view.ts'
import { fitted, widthOf } from '../../src/cli/terminal/terminal-width.ts'
import { noCounts } from '../../src/run/count/attempt-counts.ts'
import type { Progress } from '../../src/run/count/progress.ts'

const times = { samples: 700, p50: 12_000, p95: 80_000, p99: 1_500_000 }
const progress: Progress = {
  runId: 'r',
  scenario: 'quick',
  phase: 'steady',
  atUs: 7e6,
  endsUs: 30e6,
  counts: { ...noCounts, planned: 141, sent: 137, ok: 131, httpError: 9, notSent: 1 },
  inFlight: 3,
  creditsSpent: 131,
  money: null,
  maxCredits: 500,
  steps: [
    {
      step: 'chat',
      planned: 141,
      sent: 140,
      ok: 131,
      failures: 9,
      plannedPerS: 20,
      achievedPerS: 19.5,
      responseUs: times,
      serviceUs: times,
      ttftUs: { samples: 700, p50: 800, p95: 4000, p99: 9990 },
    },
    {
      step: 'users',
      planned: 30,
      sent: 30,
      ok: 30,
      failures: 0,
      plannedPerS: null,
      achievedPerS: 12,
      responseUs: null,
      serviceUs: null,
      ttftUs: null,
    },
  ],
  errors: [
    ['429 rate_limit_exceeded', 7],
    ['no-done', 2],
  ],
  keys: [{ name: 'gold', creditsRemaining: 869, rateRemaining: 53 }],
  health: [
    {
      runId: 'r',
      shard: 0,
      atUs: 7e6,
      loopDelayP99Us: 900,
      loopGapUs: 0,
      loopGapEndUs: null,
      utilisation: 0.21,
      lagP99Us: 1300,
      inFlight: 3,
      queuedBatches: 1,
    },
  ],
}

const wide = { columns: 120, rows: 40 }

test('the block shows rates, times, errors, balances and the health of the client', () => {
  expect(blockOf(progress, wide)).toEqual([
    'quick  steady  7.00 s of 30.0 s',
    'planned 141  sent 140  ok 131  failed 9  not sent 1  in flight 3  credits 131/500',
    '                                             response ms          service ms             TTFT ms',
    'step   sent/s  planned  sent  failed     p50   p95   p99     p50   p95   p99     p50   p95   p99',
    'chat     19.5     20.0   140       9    12.0  80.0  1500    12.0  80.0  1500    0.80  4.00  9.99',
    'users    12.0   closed    30       0',
    'errors: 429 rate_limit_exceeded ×7; no-done ×2',
    'left: gold 869 credits, 53 of its limit',
    'thread 0: lag p99 1.30 ms, loop delay 900 us, 21 % busy, 1 batches waiting',
  ])
})

test('in a narrow terminal the times of a step are on separate lines', () => {
  const lines = blockOf(progress, { columns: 80, rows: 40 })
  expect(lines.slice(3, 9)).toEqual([
    'step   sent/s  planned  sent  failed  ms           p50   p95   p99',
    'chat     19.5     20.0   140       9  response    12.0  80.0  1500',
    '                                      service     12.0  80.0  1500',
    '                                      TTFT        0.80  4.00  9.99',
    'users    12.0   closed    30       0  -',
    'errors: 429 rate_limit_exceeded ×7; no-done ×2',
  ])
})

test('in the narrowest terminal no percentile is cut off', () => {
  expect(blockOf(progress, { columns: 40, rows: 40 }).slice(4, 10)).toEqual([
    '             p50   p95   p99 ms',
    'chat  140 sent  9 failed',
    '  response  12.0  80.0  1500',
    '  service   12.0  80.0  1500',
    '  TTFT      0.80  4.00  9.99',
    'users  30 sent  0 failed',
  ])
})

test.each([
  [30, ['  ok 20/s   tokens 306/s', '    over 6.75 s', '']],
  [80, ['  ok 20/s   tokens 306/s   over 6.75 s', '']],
])('a line is broken between words where a terminal of %i columns ends', (columns, lines) => {
  const stream = { isTTY: true, columns }
  expect(fitted('  ok 20/s   tokens 306/s   over 6.75 s\n', stream).split('\n')).toEqual(lines)
  // In a file or a pipe, lines stay whole.
  const long = 'word '.repeat(40)
  expect(fitted(long, { columns })).toBe(long)
})

test('the block fits the terminal in both directions and counts what it omits', () => {
  const many = {
    ...progress,
    steps: Array.from({ length: 20 }, (_, at) => ({
      ...progress.steps[0]!,
      step: `a-step-with-a-name-that-is-long-${at}`,
    })),
    errors: Array.from({ length: 30 }, (_, at): [string, number] => [`500 oops-${at}`, 30 - at]),
    keys: Array.from({ length: 12 }, (_, at) => ({
      name: `key-${at}`,
      creditsRemaining: 1000 - at,
      rateRemaining: at === 7 ? 0 : 20 + at,
    })),
    health: Array.from({ length: 9 }, (_, shard) => ({ ...progress.health[0]!, shard })),
  }
  for (const columns of [60, 80, 120, 200]) {
    for (const rows of [16, 24, 120]) {
      const lines = blockOf(many, { columns, rows })
      expect(lines.length).toBeLessThanOrEqual(rows)
      expect(lines.filter((line) => line.length > columns)).toEqual([])
      // The key with the least left comes first, and the client's own health is always shown.
      const left = lines.filter((line) => line.startsWith('left: '))
      expect(left.map((line) => line.slice(0, 39))).toEqual([
        'left: key-7 993 credits, 0 of its limit',
      ])
      expect(lines.at(-1)).toBe('… and 5 more threads')
      expect(lines.some((line) => /… and \d+ more steps$/.test(line))).toBe(rows < 120)
      expect(lines.some((line) => /^ .*… and \d+ more$/.test(line))).toBe(true)
    }
  }
})

test('without a terminal a line is written every five seconds', () => {
  const written: string[] = []
  const out = { isTTY: false, write: (text: string) => written.push(text) }
  const live = new LiveView(out as unknown as NodeJS.WriteStream)
  for (const seconds of [1, 5, 6, 9, 10.5]) live.show({ ...progress, atUs: seconds * 1e6 })
  expect(written.map((line) => line.split(' | ')[0])).toEqual(['5 s', '11 s'])
  expect(lineOf(progress)).toBe(
    '7 s | steady | 31.5/s of 20.0/s | 140 sent | 131 ok | 9 failed | 1 not sent | 3 in flight | 131 credits',
  )
})

test('on a terminal the block is redrawn in place and removed at the end', () => {
  const written: string[] = []
  const out = { isTTY: true, columns: 40, write: (text: string) => written.push(text) }
  const live = new LiveView(out as unknown as NodeJS.WriteStream)
  live.show(progress)
  const high = written[0]!.split('\n').length - 1
  // Line by line: tmux keeps a screen that is erased as a whole in its scrollback.
  const taken = `\x1b[${high}F${'\x1b[2K\x1b[1E'.repeat(high - 1)}\x1b[2K\x1b[${high - 1}F`
  live.show(progress)
  live.say('Draining.')
  live.show(progress)
  live.clear()
  expect(written[0]!.split('\n').every((line) => line.length <= 40)).toBe(true)
  // A message stays above the block that is drawn next.
  expect(written).toEqual([written[0], taken, written[0], taken, 'Draining.\n', written[0], taken])
})

test('times keep apart and have three digits, from microseconds to minutes', () => {
  const [step] = progress.steps
  const shown = (p50: number, p95: number, p99: number) => {
    const responseUs = { ...times, samples: 5000, p50, p95, p99 }
    const { columns, rows } = { columns: 40, rows: 40 }
    return blockOf({ ...progress, steps: [{ ...step!, responseUs }] }, { columns, rows }).find(
      (line) => line.startsWith('  response'),
    )
  }
  expect(shown(101e6, 120e6, 599e6)).toBe('  response  101s  120s  599s')
  expect(shown(9_994, 9_999, 99_970)).toBe('  response  9.99  10.0   100')
  expect(shown(99_999_499, 99_999_500, 1e8)).toBe('  response 99999  100s  100s')
})

test('a head that does not fit is not counted as a step', () => {
  const steps = ['a', 'b', 'c'].map((step) => ({ ...progress.steps[0]!, step }))
  const lines = blockOf({ ...progress, steps }, { columns: 120, rows: 6 })
  expect(lines.filter((line) => line.includes('more steps'))).toEqual(['… and 3 more steps'])
})

test('a percentile with too few samples is withheld, as on every page', () => {
  const [step] = progress.steps
  const few = (samples: number) =>
    blockOf({ ...progress, steps: [{ ...step!, ttftUs: { ...times, samples } }] }, wide).find(
      (line) => line.startsWith('chat'),
    )
  expect(few(17)).toMatch(/12\.0 {3}few {3}few$/)
  expect(few(200)).toMatch(/12\.0 {2}80\.0 {3}few$/)
  expect(few(662)).toMatch(/12\.0 {2}80\.0 {2}1500$/)
})

test('a terminal that does not know its size is 80 columns wide', () => {
  const written: string[] = []
  const out = { isTTY: true, columns: 0, rows: 0, write: (text: string) => written.push(text) }
  new LiveView(out as unknown as NodeJS.WriteStream).show(progress)
  expect(written[0]).toBe(`${blockOf(progress, { columns: 80, rows: 23 }).join('\n')}\n`)
  expect(widthOf({ columns: 0, isTTY: true })).toBe(80)
  expect(widthOf({})).toBe(Infinity)
})

test('a wait says what it waits for, and how long', () => {
  const waiting: Progress = { ...progress, waiting: { us: 60e6, endsUs: 49e6 } }
  const words = 'waits 60.0 s between requests, as the phase asks; about 42.0 s left'
  expect(lineOf(waiting)).toContain(words)
  expect(blockOf(waiting, { columns: 80, rows: 24 })).toContain(`  ${words}`)
  expect(lineOf(progress)).not.toContain('waits')
})

test('of two measurements with one view, each has its lines where there is no terminal', () => {
  const written: string[] = []
  const out = { isTTY: false, write: (text: string) => written.push(text) }
  const view = new LiveView(out as unknown as NodeJS.WriteStream)
  for (const [name, seconds] of [
    ['first', [2, 5, 7, 10]],
    ['second', [1, 5, 6]],
  ] as const)
    for (const second of seconds) view.draw(second * 1000, () => [], `${name} ${second}`)
  expect(written.join('')).toBe('first 5\nfirst 10\nsecond 5\n')
})
