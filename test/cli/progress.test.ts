import { expect, test, vi } from 'vitest'
import { LiveView } from '../../src/cli/runs/live-view.ts'
import { progressLine, shown } from '../../src/cli/terminal/progress.ts'

/** The stderr of work with three parts of 4 s each. */
async function written(isTTY: boolean): Promise<readonly string[]> {
  const texts: string[] = []
  const out = { isTTY, columns: 24, rows: 10, write: (text: string) => texts.push(text) }
  let nowMs = 0
  const live = new LiveView(out as unknown as NodeJS.WriteStream)
  vi.useFakeTimers()
  try {
    const work = shown(
      async ({ onProgress, say }) => {
        for (const done of [0, 1, 2]) {
          onProgress({ doing: `part ${done}`, done, of: 3 })
          nowMs += 4000
        }
        say('a line that stays')
        return 'made'
      },
      live,
      () => nowMs,
    )
    expect(await work).toBe('made')
  } finally {
    vi.useRealTimers()
  }
  return texts
}

test('long work writes a line every five seconds off a terminal', async () => {
  expect(await written(false)).toEqual([
    'part 2 | 2 of 3 done | 8 s | about 4 s left\n',
    'a line that stays\n',
  ])
})

test("on a terminal one line is redrawn at the terminal's width and then removed", async () => {
  const away = '\u001b[1F\u001b[2K'
  expect(await written(true)).toEqual([
    'part 1 | 1 of 3 done | 4\n',
    away,
    'part 2 | 2 of 3 done | 8\n',
    away,
    'a line that stays\n',
  ])
})

test('the remaining time is not estimated before the first part is done', () => {
  expect(progressLine({ doing: 'reading', done: 0, of: 3 }, 9000)).toBe(
    'reading | 0 of 3 done | 9 s',
  )
})

test('a name of a step in a store of others does not act in a terminal', () => {
  expect(progressLine({ doing: 'step \u001b]0;owned\u0007a', done: 0, of: 3 }, 9000)).toBe(
    'step a | 0 of 3 done | 9 s',
  )
})
