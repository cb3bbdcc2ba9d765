import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** What lives for some turns, as streams do, until the young generation has had all reason to grow. */
const load = `
  const kept = []
  for (let turn = 0; turn < 400; turn++) {
    for (let at = 0; at < 5_000; at++) kept.push({ at })
    if (kept.length > 300_000) kept.length = 0
    await new Promise((resolve) => setImmediate(resolve))
  }
  const spaces = v8.getHeapSpaceStatistics()
  const young = spaces.find((each) => each.space_name === 'new_space')
  const halfBytes = young.space_used_size + young.space_available_size
  process.stdout.write(String(Math.round(halfBytes / 2 ** 20)))`

/** A half of the young generation of a process of its own, after some load. */
function halfMiB(begin: string): number {
  const pauses = new URL('../../src/service/pauses.ts', import.meta.url)
  const program = `import v8 from 'node:v8'
    import { holdYoung, keepPausesShort } from '${pauses}'
    ${begin}
    ${load}`
  const args = ['--no-warnings', '--input-type=module', '-e', program]
  return Number(execFileSync(process.execPath, args, { encoding: 'utf8' }))
}

test('the young generation of a service grows to 4 MB a half, and no further', () => {
  expect(halfMiB('holdYoung(); keepPausesShort()')).toBe(4)
})

test('until it is let grow, the young generation stays as small as it began', () => {
  expect(halfMiB('holdYoung()')).toBe(1)
})
